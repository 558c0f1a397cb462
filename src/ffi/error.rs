//! Error
//!
//! Why a call failed. It is made only when the caller handed in an `err`, and belongs to the caller.

#![allow(non_camel_case_types)]

use super::{guard_or, lend, take_back};
use crate::{Error, Status};

/// Why a call failed.
pub struct mcp_select_error {
    status: Status,
    message: String,
    offset: Option<usize>,
    json: Vec<u8>,
}

/// Handed out after a panic when no other error object could be made.
static OF_A_PANIC: mcp_select_error =
    mcp_select_error { status: Status::ErrInternal, message: String::new(), offset: None, json: Vec::new() };
const PANIC_MESSAGE: &str = "internal: a panic was caught; this is a bug in mcp-select, please report it";
const PANIC_JSON: &str = r#"{"status":-2,"code":"internal","message":"internal: a panic was caught; this is a bug in mcp-select, please report it"}"#;

/// An error object on its way to the caller.
pub(super) struct Handle(Option<Box<mcp_select_error>>);

impl Handle {
    /// The one that always exists.
    pub(super) fn of_a_panic() -> Handle {
        Handle(None)
    }

    pub(super) fn into_raw(self) -> *mut mcp_select_error {
        match self.0 {
            Some(error) => Box::into_raw(error),
            // Nothing writes through it: every accessor takes a const pointer, and `free` leaves it alone.
            None => (&raw const OF_A_PANIC).cast_mut(),
        }
    }
}

impl mcp_select_error {
    pub(super) fn owned(error: Error) -> Handle {
        let (status, offset, json) = (error.status(), error.offset(), error.to_json());
        let message = error.message().to_owned();
        Handle(Some(Box::new(mcp_select_error { status, message, offset, json })))
    }

    fn is_static(&self) -> bool {
        std::ptr::eq(self, &OF_A_PANIC)
    }
}

/// The status that the call returned; MCP_SELECT_ERR_ARGUMENT when `error` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_error_status(error: *const mcp_select_error) -> i32 {
    // SAFETY: `error` is NULL or alive (Ownership).
    guard_or(Status::ErrArgument as i32, || unsafe { error.as_ref() }.map(|error| error.status as i32))
}

/// One line, lower case: the code, the place, what is wrong, and the way out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_error_message(error: *const mcp_select_error, len: *mut usize) -> *const u8 {
    // SAFETY: `error` is NULL or alive, `len` may be written (Ownership, Outputs).
    unsafe {
        lend(len, || {
            error.as_ref().map(|error| if error.is_static() { PANIC_MESSAGE } else { &error.message }.as_bytes())
        })
    }
}

/// The byte in the result or in the policy file, from 0; -1 when there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_error_offset(error: *const mcp_select_error) -> i64 {
    // SAFETY: `error` is NULL or alive (Ownership).
    guard_or(-1, || i64::try_from(unsafe { error.as_ref() }?.offset?).ok())
}

/// The error as a JSON object: status, code, message, offset, member, and for a policy file, line, column, help and all
/// diagnostics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_error_json(error: *const mcp_select_error, len: *mut usize) -> *const u8 {
    // SAFETY: `error` is NULL or alive, `len` may be written (Ownership, Outputs).
    unsafe {
        lend(len, || error.as_ref().map(|error| if error.is_static() { PANIC_JSON.as_bytes() } else { &error.json }))
    }
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_error_free(error: *mut mcp_select_error) {
    if !std::ptr::eq(error, &OF_A_PANIC) {
        // SAFETY: `error` is NULL or came from this library and is given up (Ownership).
        unsafe { take_back(error) }
    }
}
