//! Why a result was refused: code, byte, member, and a way out.
//!
//! A refusal reads `CODE at byte N (from 0), in MEMBER: what and how to mend`. It is made on the cold path only, so
//! the member's path is found by walking the input once more.

use super::json::{Fault, Malformed, Span, end_of_valid_string, text_of};
use crate::error::Status;

/// Why a result was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub status: Status,
    /// The byte where the fault stands, from 0.
    pub at: usize,
    /// `structuredContent.items[3]`; empty for the result itself.
    pub member: String,
    /// What is wrong, and how to mend it.
    pub message: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {} (from 0)", self.status.code(), self.at)?;
        if !self.member.is_empty() {
            write!(f, ", in {}", self.member)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// What is wrong with the shape of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    NoObject,
    NoArray,
    NoBoolean,
    NoMetaObject,
    NoContent,
    NothingAsked,
    NoToolResult,
    NoToolUseId,
}

impl Refusal {
    pub fn too_large(length: usize, most: usize) -> Refusal {
        Refusal {
            status: Status::ErrSize,
            at: most,
            member: String::new(),
            message: format!(
                "the result has {length} bytes, more than the {most} that are allowed; raise `[input] max_bytes` (at most 67108864) or ask the server for less"
            ),
        }
    }

    pub fn invalid_utf8(bytes: &[u8]) -> Refusal {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        Refusal {
            status: Status::ErrUtf8,
            at,
            member: path_to(bytes, at),
            message: "this byte is no UTF-8; decode the text with its real encoding first".into(),
        }
    }

    pub fn malformed(bytes: &[u8], malformed: Malformed, max_depth: u32) -> Refusal {
        let Malformed { at, fault } = malformed;
        let status = if fault == Fault::Depth { Status::ErrDepth } else { Status::ErrJson };
        let shown = match bytes.get(at) {
            Some(byte @ 0x21..=0x7E) => format!("'{}'", char::from(*byte)),
            Some(byte) => format!("byte 0x{byte:02X}"),
            None => "the end".into(),
        };
        let message = match fault {
            Fault::End => "the input ends inside a value; send the whole result".into(),
            Fault::Unexpected => format!("{shown} cannot stand here; write the result with a JSON library"),
            Fault::NotFinite => {
                let rest = bytes.get(at..).unwrap_or_default();
                let name = match rest.first() {
                    Some(b'N' | b'n') => "NaN",
                    Some(b'-') => "-Infinity",
                    _ => "Infinity",
                };
                format!("{name} is no JSON number; write null, a string, or leave the member out")
            }
            Fault::Control => format!("a string holds the control character {shown}; escape it as \\u00XX"),
            Fault::Escape => format!("{shown} ends no escape that JSON knows; write a backslash as \\\\"),
            Fault::Number => format!(
                "{shown} cannot stand in a JSON number here; no leading zeros, and digits on both sides of the point"
            ),
            Fault::Depth => {
                format!(
                    "more than {max_depth} levels of nesting (the result is level 1); flatten the value, or raise `[input] max_depth` (at most 128)"
                )
            }
        };
        Refusal { status, at, member: path_to(bytes, at), message }
    }

    pub fn shape(span: Span, member: String, wrong: Wrong) -> Refusal {
        let message = match wrong {
            Wrong::NoObject => "a tool result is a JSON object; hand over the `result` member of the response",
            Wrong::NoArray => "`content` must be an array of blocks",
            Wrong::NoBoolean => "`isError` must be true or false",
            Wrong::NoMetaObject => "`_meta` must be an object",
            Wrong::NoContent => {
                "the result has neither `content` nor `structuredContent`; a tool result has a `content` array, which may be empty"
            }
            Wrong::NothingAsked => {
                "`resultType` is \"input_required\", but there is neither `inputRequests` nor `requestState`"
            }
            Wrong::NoToolResult => {
                "`type` must be \"tool_result\" in a block of a sampling message; hand over a result of tools/call as what it is"
            }
            Wrong::NoToolUseId => "`toolUseId` must be a string in a block of a sampling message",
        };
        Refusal { status: Status::ErrShape, at: span.start as usize, member, message: message.into() }
    }

    pub fn result_type(bytes: &[u8], span: Span, is_task: bool) -> Refusal {
        let mut shown = String::from_utf8_lossy(span.of(bytes)).into_owned();
        if shown.chars().count() > 60 {
            shown = shown.chars().take(60).chain("…".chars()).collect();
        }
        let message = if is_task {
            format!(
                "`resultType` is {shown}, but the tasks extension was not negotiated; add `io.modelcontextprotocol/tasks` to the request if it was"
            )
        } else {
            format!(
                "`resultType` is {shown}, which is neither \"complete\" nor \"input_required\"; update the host, or ask the server for a known revision"
            )
        };
        Refusal { status: Status::ErrResultType, at: span.start as usize, member: "resultType".into(), message }
    }

    pub fn outputs(span: Span) -> Refusal {
        Refusal {
            status: Status::ErrResultType,
            at: span.start as usize,
            member: "outputs".into(),
            message: "the result carries `outputs` (SEP-3279) and no `content`, a form that no published revision has; ask the server for a published revision".into(),
        }
    }
}

/// The longest path that is printed, in steps from the result inwards.
const STEPS: usize = 12;

/// The path of the member that byte `at` stands in, as far as the input before it is JSON.
pub fn path_to(bytes: &[u8], at: usize) -> String {
    enum Step {
        Name(Span),
        Index(usize),
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut here = 0;
    // Whether the next string is a member's name: after `{` and after `,` in an object.
    let mut names = false;
    while here < at.min(bytes.len()) {
        match bytes.get(here) {
            Some(b'"') => {
                let end = end_of_valid_string(bytes, here + 1);
                if names {
                    if end >= at {
                        break;
                    }
                    if let Some(Step::Name(name)) = steps.last_mut() {
                        *name = Span::new(here + 1, end);
                    }
                    names = false;
                } else if end >= at {
                    break;
                }
                here = end;
            }
            Some(b'{') => {
                steps.push(Step::Name(Span::ABSENT));
                names = true;
            }
            Some(b'[') => {
                steps.push(Step::Index(0));
                names = false;
            }
            Some(b'}' | b']') => {
                steps.pop();
                names = false;
            }
            Some(b',') => match steps.last_mut() {
                Some(Step::Index(index)) => *index += 1,
                Some(Step::Name(name)) => {
                    *name = Span::ABSENT;
                    names = true;
                }
                None => {}
            },
            _ => {}
        }
        here += 1;
    }
    let mut path = String::new();
    let shown = steps.iter().filter(|step| !matches!(step, Step::Name(name) if name.is_absent()));
    for (count, step) in shown.enumerate() {
        if count == STEPS {
            path.push('…');
            break;
        }
        match step {
            Step::Index(index) => path.push_str(&format!("[{index}]")),
            Step::Name(name) => {
                let name = text_of(name.of(bytes));
                let plain =
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'));
                if plain && path.is_empty() {
                    path.push_str(&name);
                } else if plain {
                    path.push('.');
                    path.push_str(&name);
                } else {
                    let name: String = name.chars().take(60).collect();
                    path.push_str(&format!("[{name:?}]"));
                }
            }
        }
    }
    path
}
