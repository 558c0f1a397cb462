//! What an audience sees of an MCP tool result, decided by a policy file.
//!
//! A program makes an engine once (the policy), a request for each server, tool and audience (who asks),
//! and a selection for each thread (the buffer), and then calls mcp_select_result for every result:
//!
//! ```c
//! mcp_select_engine *engine = NULL;
//! mcp_select_request *request = NULL;
//! mcp_select_selection *selection = NULL;
//! mcp_select_error *error = NULL;
//!
//! mcp_select_engine_open((const uint8_t *)"policy.toml", 11, &engine, &error);
//! mcp_select_request_new((const uint8_t *)"github", 6, (const uint8_t *)"list_issues", 11,
//!                        (const uint8_t *)"model", 5, &request, &error);
//! mcp_select_selection_new(&selection);
//! ...
//! switch (mcp_select_result(engine, request, bytes, length, selection, &error)) {
//! case MCP_SELECT_UNCHANGED:       use(bytes, length); break;
//! case MCP_SELECT_CHANGED:         json = mcp_select_selection_json(selection, &size); use(json, size); break;
//! case MCP_SELECT_NOT_FOR_READERS: to_the_protocol_driver(bytes, length); break;
//! default:                         report(error); mcp_select_error_free(error);
//! }
//! ```
//!
//! Conventions (hold for every function below)
//!
//! ```text
//!   Names      One prefix; the type is the first part of a function's name, its object the first argument.
//!   Inputs     Pointer and length, never NUL-terminated. NULL is allowed only with length 0. Read during the
//!              call only: the library keeps no pointer to the caller's memory after a call returns, calls
//!              nothing back, and starts no thread.
//!   Outputs    An out-parameter is written only on success, `err` (which may be NULL) only on failure.
//!   Arguments  A NULL where an object is needed, a length over PTRDIFF_MAX, a name that is no UTF-8 or a number
//!              that is no enumerator gives MCP_SELECT_ERR_ARGUMENT, never a crash. Accessors say what they give.
//!   Ownership  What an out-parameter gave is freed once with the *_free of its type; *_free(NULL) does nothing.
//!              Bytes from an accessor belong to the object: they are valid until it is freed, or until the next
//!              call that takes it as a non-const pointer. Objects do not depend on each other: they may be
//!              freed in any order.
//!   Threads    An object given as `const T *` may be in use by many threads at once, one given as `T *` by one.
//!              Objects may move between threads; no result depends on the thread that asks.
//!   fork       Every object stays usable in the child; no lock is held across a call.
//!   Failure    A status < 0 is always an error and >= 0 never is. Panics are caught (MCP_SELECT_ERR_INTERNAL).
//!              The panic hook, the environment, signals and the allocator of the process are not touched.
//!   Text       UTF-8. Server, tool and audience names are compared byte by byte.
//! ```
//!
//! # For those who change it
//!
//! The text above and the documentation of every item in this folder are the text of `include/mcp_select.h`, which
//! `make header` writes and `tests/header.rs` checks: a section of the header is a file here, introduced by its first
//! lines. This is the only folder with `unsafe` in it. A function here does nothing but check its arguments, call the
//! Rust API inside `guard` and hand out what came of it. What makes it sound is that callers keep the conventions
//! above; each `unsafe` block says which of them it leans on.

#![allow(unsafe_code)]
// The conventions are the safety section of every function.
#![allow(clippy::missing_safety_doc)]

pub mod constants;
pub mod engine;
pub mod error;
pub mod request;
pub mod selection;
#[cfg(feature = "test-panic")]
pub mod test_panic;
pub mod text;
pub mod version;

use crate::error::{Error, Status};
use error::mcp_select_error;
use std::any::Any;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function that returns a status, and turns an error or a panic into a status and an error object.
///
/// # Safety
/// `err` is NULL or may be written.
unsafe fn guard(err: *mut *mut mcp_select_error, body: impl FnOnce() -> Result<Status, Error>) -> i32 {
    // The objects a body borrows stay whole: an engine swaps at once, a request's parts are replaced one by one, and a
    // selection marks itself (`selection.rs`).
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        body().map_err(|error| {
            let status = error.status();
            (status, (!err.is_null()).then(|| mcp_select_error::owned(error)))
        })
    }));
    let (status, object) = match outcome {
        Ok(Ok(status)) => return status as i32,
        Ok(Err((status, object))) => (status, object),
        Err(payload) => (Status::ErrInternal, Some(after_panic(payload))),
    };
    if let (Some(object), false) = (object, err.is_null()) {
        // SAFETY: not NULL, and the caller lets us write there.
        unsafe { err.write(object.into_raw()) };
    }
    status as i32
}

/// Runs the body of an accessor; `other` when it has nothing to give or panicked.
fn guard_or<T>(other: T, body: impl FnOnce() -> Option<T>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value.unwrap_or(other),
        Err(payload) => {
            forget(payload);
            other
        }
    }
}

/// Drops what a panic carried. Its `drop` may panic again, and so on; the tenth is left alone, or it might never end.
fn forget(mut payload: Box<dyn Any + Send>) {
    for _ in 0..9 {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(again) => payload = again,
        }
    }
    std::mem::forget(payload);
}

/// The error object of a panic: with its message when that can be had, else one that exists already.
fn after_panic(payload: Box<dyn Any + Send>) -> error::Handle {
    let told = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "test-panic")]
        test_panic::refuse(&*payload);
        let said = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(|s| &**s));
        let said: String = said.unwrap_or("no message").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let message = format!("internal: a panic was caught: {said}; this is a bug in mcp-select, please report it");
        mcp_select_error::owned(Error::new(Status::ErrInternal, message))
    }));
    forget(payload);
    told.unwrap_or_else(|again| {
        forget(again);
        error::Handle::of_a_panic()
    })
}

/// What [`Status::ErrArgument`] says.
fn bad_argument(message: std::fmt::Arguments<'_>) -> Error {
    Error::new(Status::ErrArgument, format!("bad-argument: {message}"))
}

/// The bytes of an input.
///
/// # Safety
/// `pointer` is NULL or `len` bytes may be read from it until the call returns, which `'a` must not outlast.
unsafe fn bytes<'a>(pointer: *const u8, len: usize, name: &str) -> Result<&'a [u8], Error> {
    if isize::try_from(len).is_err() {
        return Err(bad_argument(format_args!("{name} has a length over PTRDIFF_MAX")));
    }
    if len == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(bad_argument(format_args!("{name} is NULL and its length is {len}")));
    }
    // SAFETY: not NULL, no longer than PTRDIFF_MAX, and the caller lets us read it.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// The text of an input.
///
/// # Safety
/// As for [`bytes`].
unsafe fn utf8<'a>(pointer: *const u8, len: usize, name: &str) -> Result<&'a str, Error> {
    // SAFETY: as the caller of this function promises.
    let bytes = unsafe { bytes(pointer, len, name) }?;
    std::str::from_utf8(bytes)
        .map_err(|error| bad_argument(format_args!("{name} is no UTF-8 at byte {}", error.valid_up_to())))
}

/// An object that is read.
///
/// # Safety
/// `pointer` is NULL or came from this library and is not freed before `'a` ends.
unsafe fn object<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Error> {
    // SAFETY: as the caller of this function promises.
    unsafe { pointer.as_ref() }.ok_or_else(|| bad_argument(format_args!("{name} is NULL")))
}

/// An object that is changed.
///
/// # Safety
/// As for [`object`], and nobody else uses it until `'a` ends.
unsafe fn object_mut<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Error> {
    // SAFETY: as the caller of this function promises.
    unsafe { pointer.as_mut() }.ok_or_else(|| bad_argument(format_args!("{name} is NULL")))
}

/// A place for something that is handed out.
///
/// # Safety
/// `pointer` is NULL or may be written until `'a` ends.
unsafe fn out<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut MaybeUninit<T>, Error> {
    // SAFETY: as the caller of this function promises; what stands there may be uninitialised.
    unsafe { pointer.cast::<MaybeUninit<T>>().as_mut() }.ok_or_else(|| bad_argument(format_args!("{name} is NULL")))
}

/// Hands out an object that the caller then owns.
fn give<T>(place: &mut MaybeUninit<*mut T>, value: T) -> Result<Status, Error> {
    place.write(Box::into_raw(Box::new(value)));
    Ok(Status::Unchanged)
}

/// Takes back what [`give`] handed out.
///
/// # Safety
/// `pointer` is NULL or came from [`give`] and was not taken back before.
unsafe fn take_back<T>(pointer: *mut T) {
    if !pointer.is_null() {
        guard_or((), || {
            // SAFETY: not NULL, made by `Box::into_raw`, and the caller gives it up.
            drop(unsafe { Box::from_raw(pointer) });
            Some(())
        });
    }
}

/// Lends bytes of an object: the address, and the length in `len`; NULL and 0 when there are none.
///
/// # Safety
/// `len` is NULL or may be written.
unsafe fn lend<'a>(len: *mut usize, body: impl FnOnce() -> Option<&'a [u8]>) -> *const u8 {
    if len.is_null() {
        return std::ptr::null();
    }
    let lent = guard_or(None, || Some(body()));
    // SAFETY: not NULL, and the caller lets us write there.
    unsafe { len.write(lent.map_or(0, <[u8]>::len)) };
    lent.map_or(std::ptr::null(), address)
}

/// The address of bytes. No bytes have one too: the made-up address of an empty slice upsets runtimes that look at
/// pointers (Go's stack scan).
fn address(bytes: &[u8]) -> *const u8 {
    static NO_BYTES: [u8; 1] = [0];
    if bytes.is_empty() { NO_BYTES.as_ptr() } else { bytes.as_ptr() }
}

/// What is shared between threads by the conventions must be shareable by Rust's rules too.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<engine::mcp_select_engine>();
    shared::<request::mcp_select_request>();
    shared::<selection::mcp_select_selection>();
    shared::<mcp_select_error>();
    shared::<text::mcp_select_text>();
};
