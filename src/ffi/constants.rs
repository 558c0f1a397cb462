//! Constants
//!
//! Plain enumerators, so that cgo, cffi and the preprocessor all see them. Numbers are never reused. Functions take and
//! give them as int32_t.

#![allow(non_camel_case_types)]

use crate::policy::rule::Lane;
use crate::result::scan::{Input, Outcome};
use crate::select::Fate;

/// What kind of object the bytes are. Said by the host, never guessed from bytes that a server wrote.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum mcp_select_input {
    /// The `result` of tools/call or tasks/result (this is the default).
    Result = 0,
    /// A tool_result block of a sampling message: its type, toolUseId and _meta stay.
    Sampling = 1,
}

/// Who should read the result at all.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum mcp_select_outcome {
    /// A result to select from.
    Selected = 0,
    /// resultType input_required: for the protocol driver.
    NeedsInput = 1,
    /// resultType task, and the extension was negotiated: for the protocol driver.
    Task = 2,
}

/// The way in which what is seen was built.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum mcp_select_lane {
    /// The placeholder.
    Nothing = 0,
    /// The blocks.
    Content = 1,
    /// The structured value in the place of the text blocks.
    Structured = 2,
    /// The structured value alone.
    StructuredOnly = 3,
    /// The blocks and the structured value.
    Both = 4,
    /// The whole result as JSON text.
    Raw = 5,
    /// The result as it came (MCP Apps).
    Whole = 6,
}

/// What became of a block of the output.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub enum mcp_select_block {
    /// Byte for byte the source block.
    Kept = 0,
    /// Cut, sanitised, projected, turned into text, or its _meta filtered.
    Rewritten = 1,
    /// Stands in the place of the source block.
    Note = 2,
    /// Structured value, extras or placeholder: no source block.
    Added = 3,
}

impl mcp_select_input {
    /// The input of this number.
    pub(super) fn named(number: i32) -> Option<Input> {
        [(mcp_select_input::Result, Input::Result), (mcp_select_input::Sampling, Input::Sampling)]
            .into_iter()
            .find_map(|(name, input)| (name as i32 == number).then_some(input))
    }
}

impl From<Outcome> for mcp_select_outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Selected => mcp_select_outcome::Selected,
            Outcome::NeedsInput => mcp_select_outcome::NeedsInput,
            Outcome::Task => mcp_select_outcome::Task,
        }
    }
}

impl From<Lane> for mcp_select_lane {
    fn from(lane: Lane) -> Self {
        match lane {
            Lane::Nothing => mcp_select_lane::Nothing,
            Lane::Content => mcp_select_lane::Content,
            Lane::Structured => mcp_select_lane::Structured,
            Lane::StructuredOnly => mcp_select_lane::StructuredOnly,
            Lane::Both => mcp_select_lane::Both,
            Lane::Raw => mcp_select_lane::Raw,
            Lane::Whole => mcp_select_lane::Whole,
        }
    }
}

impl From<Fate> for mcp_select_block {
    fn from(fate: Fate) -> Self {
        match fate {
            Fate::Kept => mcp_select_block::Kept,
            Fate::Rewritten => mcp_select_block::Rewritten,
            Fate::Note => mcp_select_block::Note,
            Fate::Added => mcp_select_block::Added,
        }
    }
}
