//! Text
//!
//! A piece of UTF-8 that belongs to the caller: the JSON reports of an engine.

#![allow(non_camel_case_types)]

use super::{lend, take_back};

/// An owned piece of UTF-8.
pub struct mcp_select_text(pub(super) String);

/// The bytes of a text; NULL and 0 when `text` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_text_bytes(text: *const mcp_select_text, len: *mut usize) -> *const u8 {
    // SAFETY: `text` is NULL or alive, `len` may be written (Ownership, Outputs).
    unsafe { lend(len, || text.as_ref().map(|text| text.0.as_bytes())) }
}

/// Frees a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_text_free(text: *mut mcp_select_text) {
    // SAFETY: `text` is NULL or came from this library and is given up (Ownership).
    unsafe { take_back(text) }
}
