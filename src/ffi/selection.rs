//! Selection
//!
//! The buffer for the output of a call, and what the last call with it came to. Make one for each thread, or keep a pool,
//! and use it again and again: once it has grown, a call with an ordinary result allocates nothing.
//!
//! A selection is empty before the first call and after a call that failed: it has no JSON, no text, no blocks and no
//! decision record then, outcome, lane and generation are 0.

#![allow(non_camel_case_types)]

use super::constants::{mcp_select_block, mcp_select_lane, mcp_select_outcome};
use super::engine::mcp_select_engine;
use super::error::mcp_select_error;
use super::request::mcp_select_request;
use super::{address, bad_argument, bytes, give, guard, guard_or, lend, object, object_mut, out, take_back, utf8};
use crate::{Error, Selection, Status};

/// A reusable output buffer, and what the last call came to.
#[derive(Default)]
pub struct mcp_select_selection {
    inner: Selection,
    /// What the last call came to and how many bytes it was given; `None`: the selection is empty.
    last: Option<(Status, usize)>,
    /// Something is writing into `inner`, or panicked while it did.
    half_written: bool,
}

impl mcp_select_selection {
    /// Changes `inner`. When `body` panics, the selection is empty, and what is half written is thrown away by the next one
    /// who comes here.
    fn change<T>(&mut self, body: impl FnOnce(&mut Selection) -> T) -> T {
        if self.half_written {
            self.last = None;
            drop(std::mem::take(&mut self.inner));
        }
        self.half_written = true;
        let value = body(&mut self.inner);
        self.half_written = false;
        value
    }

    /// Starts a call with it: whatever fails from here on, it is empty.
    pub(super) fn select(
        &mut self,
        bytes_in: usize,
        body: impl FnOnce(&mut Selection) -> Result<Status, Error>,
    ) -> Result<Status, Error> {
        self.last = None;
        let status = self.change(body)?;
        self.last = Some((status, bytes_in));
        Ok(status)
    }

    fn empty(&mut self) {
        self.last = None;
    }

    /// The result of the last call, if it went well.
    fn read(&self) -> Option<&Selection> {
        (self.last.is_some() && !self.half_written).then_some(&self.inner)
    }
}

/// Makes an empty selection.
///
/// Returns 0, or MCP_SELECT_ERR_ARGUMENT when `out` is NULL. Free `*out` with mcp_select_selection_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_new(out: *mut *mut mcp_select_selection) -> i32 {
    // SAFETY: `out` may be written (Outputs); there is no `err` to write.
    unsafe { guard(std::ptr::null_mut(), || give(self::out(out, "out")?, mcp_select_selection::default())) }
}

/// Selects what the request's audience sees of a result, by the engine's policy.
///
/// Returns MCP_SELECT_UNCHANGED (use your own bytes), MCP_SELECT_CHANGED (read the selection) or
/// MCP_SELECT_NOT_FOR_READERS (hand your bytes to the protocol driver); or an error, and then the selection is empty: never a
/// part of a result. `result` is not needed after the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_result(
    engine: *const mcp_select_engine,
    request: *const mcp_select_request,
    result: *const u8,
    result_len: usize,
    selection: *mut mcp_select_selection,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `engine` and `request` are NULL or alive, `selection` too and used by nobody else, `result` may be read and `err`
    // written (Ownership, Threads, Inputs, Outputs).
    unsafe {
        guard(err, || {
            let selection = object_mut(selection, "selection")?;
            selection.empty();
            let engine = object(engine, "engine")?;
            let request = object(request, "request")?;
            let result = bytes(result, result_len, "result")?;
            selection.select(result.len(), |inner| engine.0.select(&request.0, result, inner))
        })
    }
}

/// The selected result as JSON; NULL and 0 unless the call said MCP_SELECT_CHANGED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_json(
    selection: *const mcp_select_selection,
    len: *mut usize,
) -> *const u8 {
    // SAFETY: `selection` is NULL or alive, `len` may be written (Ownership, Outputs).
    unsafe { lend(len, || selection.as_ref()?.read()?.json()) }
}

/// Every text that the reader sees, joined with `separator`: the string for a model API that takes one.
///
/// `result` must be the bytes of the call, since a result that did not change was not copied; after MCP_SELECT_CHANGED it may
/// be NULL with length 0. The text is empty when the selection is, or when the result is not for readers.
/// Returns 0, or MCP_SELECT_ERR_ARGUMENT when a pointer is NULL, `separator` is no UTF-8, or `result` has another length than
/// the bytes of the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_text(
    selection: *mut mcp_select_selection,
    result: *const u8,
    result_len: usize,
    separator: *const u8,
    separator_len: usize,
    text: *mut *const u8,
    text_len: *mut usize,
) -> i32 {
    // SAFETY: `selection` is NULL or alive and used by nobody else, `result` and `separator` may be read, `text` and `text_len`
    // may be written (Ownership, Threads, Inputs, Outputs); there is no `err` to write.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let selection = object_mut(selection, "selection")?;
            let result = bytes(result, result_len, "result")?;
            let separator = utf8(separator, separator_len, "separator")?;
            let place = out(text, "text")?;
            let place_of_length = out(text_len, "text_len")?;
            let (at, len) = match selection.read().and(selection.last) {
                Some((Status::Unchanged, bytes_in)) if bytes_in != result.len() => {
                    return Err(bad_argument(format_args!("result is not what was selected from")));
                }
                Some(_) => selection.change(|inner| {
                    let text = inner.text(result, separator).as_bytes();
                    (address(text), text.len())
                }),
                None => (address(&[]), 0),
            };
            place.write(at);
            place_of_length.write(len);
            Ok(Status::Unchanged)
        })
    }
}

/// One of enum mcp_select_outcome; MCP_SELECT_ERR_ARGUMENT when `selection` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_outcome(selection: *const mcp_select_selection) -> i32 {
    guard_or(Status::ErrArgument as i32, || {
        // SAFETY: `selection` is NULL or alive (Ownership).
        let selection = unsafe { selection.as_ref() }?;
        Some(selection.read().map_or(0, |inner| mcp_select_outcome::from(inner.outcome()) as i32))
    })
}

/// One of enum mcp_select_lane; MCP_SELECT_ERR_ARGUMENT when `selection` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_lane(selection: *const mcp_select_selection) -> i32 {
    guard_or(Status::ErrArgument as i32, || {
        // SAFETY: `selection` is NULL or alive (Ownership).
        let selection = unsafe { selection.as_ref() }?;
        Some(selection.read().map_or(0, |inner| mcp_select_lane::from(inner.lane()) as i32))
    })
}

/// 1 when the result's isError was true, else 0; MCP_SELECT_ERR_ARGUMENT when `selection` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_is_error(selection: *const mcp_select_selection) -> i32 {
    guard_or(Status::ErrArgument as i32, || {
        // SAFETY: `selection` is NULL or alive (Ownership).
        let selection = unsafe { selection.as_ref() }?;
        Some(selection.read().is_some_and(Selection::is_error).into())
    })
}

/// The generation of the policy that decided; 0 when the selection is empty or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_generation(selection: *const mcp_select_selection) -> u64 {
    // SAFETY: `selection` is NULL or alive (Ownership).
    guard_or(0, || unsafe { selection.as_ref() }?.read().map(Selection::generation))
}

/// How many blocks the output has, for a host that holds parsed blocks and only wants to know which to keep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_block_count(selection: *const mcp_select_selection) -> usize {
    // SAFETY: `selection` is NULL or alive (Ownership).
    guard_or(0, || unsafe { selection.as_ref() }?.read().map(|inner| inner.blocks().len()))
}

/// The index in the input's content of the block that this block of the output was made of; -1 when there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_block_source(
    selection: *const mcp_select_selection,
    index: usize,
) -> i64 {
    guard_or(-1, || {
        // SAFETY: `selection` is NULL or alive (Ownership).
        let block = unsafe { selection.as_ref() }?.read()?.block(index)?;
        i64::try_from(block.source?).ok()
    })
}

/// What became of a block of the output, one of enum mcp_select_block; -1 when there is no such block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_block_kind(selection: *const mcp_select_selection, index: usize) -> i32 {
    guard_or(-1, || {
        // SAFETY: `selection` is NULL or alive (Ownership).
        let block = unsafe { selection.as_ref() }?.read()?.block(index)?;
        Some(mcp_select_block::from(block.fate) as i32)
    })
}

/// The decision record as JSON: what was decided, by which rules, what was measured and what was left out. Never a value
/// out of _meta. NULL and 0 when the selection is empty.
///
/// It is built on the first call and needs nothing of the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_decision(
    selection: *mut mcp_select_selection,
    len: *mut usize,
) -> *const u8 {
    // SAFETY: `selection` is NULL or alive and used by nobody else, `len` may be written (Ownership, Threads, Outputs).
    unsafe {
        lend(len, || {
            let selection = selection.as_mut()?;
            selection.read()?;
            selection.change(|inner| {
                inner.decision();
            });
            // Built already: this only lends it.
            Some(selection.inner.decision())
        })
    }
}

/// Gives memory back when the buffers are larger than `keep` bytes, after one result of 60 MiB, say. What was selected can
/// be read as before, so the output itself stays until the next call; the bytes that accessors gave are no longer valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_trim(selection: *mut mcp_select_selection, keep: usize) {
    guard_or((), || {
        // SAFETY: `selection` is NULL or alive and used by nobody else (Ownership, Threads).
        unsafe { selection.as_mut() }?.change(|inner| inner.trim(keep));
        Some(())
    });
}

/// Frees a selection, and the bytes that its accessors gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_selection_free(selection: *mut mcp_select_selection) {
    // SAFETY: `selection` is NULL or came from this library and is given up (Ownership).
    unsafe { take_back(selection) }
}
