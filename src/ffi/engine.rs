//! Engine
//!
//! A policy in force, swapped atomically. Make one, share it between all threads.

#![allow(non_camel_case_types)]

use super::error::mcp_select_error;
use super::request::mcp_select_request;
use super::text::mcp_select_text;
use super::{bytes, give, guard, guard_or, object, out, take_back, utf8};
use crate::{Engine, Status};

/// A policy in force, swapped atomically.
pub struct mcp_select_engine(pub(super) Engine);

/// Makes an engine with the policy in these bytes (TOML). `extends` may name built-in policies only.
///
/// Returns 0, or MCP_SELECT_ERR_POLICY with all that is wrong in the error's JSON, or MCP_SELECT_ERR_POLICY_EMPTY: no bytes
/// is an error, not a default. Free `*out` with mcp_select_engine_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_new(
    policy: *const u8,
    policy_len: usize,
    out: *mut *mut mcp_select_engine,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `policy` may be read, `out` and `err` may be written (Inputs, Outputs).
    unsafe {
        guard(err, || {
            let place = self::out(out, "out")?;
            give(place, mcp_select_engine(Engine::from_toml(bytes(policy, policy_len, "policy")?)?))
        })
    }
}

/// Makes an engine with a built-in policy, such as "sep-2200".
///
/// Returns 0 or MCP_SELECT_ERR_NO_BUILTIN. Free `*out` with mcp_select_engine_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_builtin(
    name: *const u8,
    name_len: usize,
    out: *mut *mut mcp_select_engine,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `name` may be read, `out` and `err` may be written (Inputs, Outputs).
    unsafe {
        guard(err, || {
            let place = self::out(out, "out")?;
            give(place, mcp_select_engine(Engine::builtin(utf8(name, name_len, "name")?)?))
        })
    }
}

/// Makes an engine with the policy of a file and of the files that it extends. `path` is UTF-8 on every platform.
///
/// The files are looked at again, at most once a second, while results are selected; see mcp_select_engine_auto_reload.
/// Returns 0, MCP_SELECT_ERR_POLICY_FILE when a file cannot be read, or as mcp_select_engine_new. Free `*out` with
/// mcp_select_engine_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_open(
    path: *const u8,
    path_len: usize,
    out: *mut *mut mcp_select_engine,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `path` may be read, `out` and `err` may be written (Inputs, Outputs).
    unsafe {
        guard(err, || {
            let place = self::out(out, "out")?;
            give(place, mcp_select_engine(Engine::open(utf8(path, path_len, "path")?)?))
        })
    }
}

/// Reads the files now, on this thread, and swaps in what they say.
///
/// Returns MCP_SELECT_CHANGED when a new policy is in force, MCP_SELECT_UNCHANGED when the files say the same, or an error, and
/// then the last good policy stays: as mcp_select_engine_open; MCP_SELECT_ERR_POLICY also when an audience of the policy in
/// force would vanish; MCP_SELECT_ERR_NO_FILE when the engine was not opened from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_reload(
    engine: *const mcp_select_engine,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `engine` is NULL or alive, `err` may be written (Ownership, Outputs).
    unsafe { guard(err, || object(engine, "engine")?.0.reload()) }
}

/// Swaps in the policy in these bytes. The files are forgotten: auto reload stops until an engine is opened anew.
///
/// Returns 0, or as mcp_select_engine_new, and then the last good policy stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_replace(
    engine: *const mcp_select_engine,
    policy: *const u8,
    policy_len: usize,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `engine` is NULL or alive, `policy` may be read, `err` may be written (Ownership, Inputs, Outputs).
    unsafe {
        guard(err, || {
            object(engine, "engine")?.0.replace(bytes(policy, policy_len, "policy")?)?;
            Ok(Status::Unchanged)
        })
    }
}

/// Sets how often a selection may look at the files, in milliseconds; 0: never.
///
/// With an event loop, set 0 and call mcp_select_engine_reload from a worker. Returns 0, or MCP_SELECT_ERR_ARGUMENT when
/// `engine` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_auto_reload(engine: *const mcp_select_engine, interval_ms: u32) -> i32 {
    // SAFETY: `engine` is NULL or alive (Ownership); there is no `err` to write.
    unsafe {
        guard(std::ptr::null_mut(), || {
            object(engine, "engine")?.0.set_auto_reload(interval_ms);
            Ok(Status::Unchanged)
        })
    }
}

/// 1 for the first policy, one more with each swap; 0 when `engine` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_generation(engine: *const mcp_select_engine) -> u64 {
    // SAFETY: `engine` is NULL or alive (Ownership).
    guard_or(0, || unsafe { engine.as_ref() }.map(|engine| engine.0.generation()))
}

/// Tells of the policy in force, as JSON: its name, hash, generation, files and warnings, how old it is, and the error of
/// the last reload, if there was one.
///
/// Returns 0. Free `*out` with mcp_select_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_diagnostics(
    engine: *const mcp_select_engine,
    out: *mut *mut mcp_select_text,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `engine` is NULL or alive, `out` and `err` may be written (Ownership, Outputs).
    unsafe {
        guard(err, || {
            let engine = object(engine, "engine")?;
            give(self::out(out, "out")?, mcp_select_text(engine.0.diagnostics()))
        })
    }
}

/// Tells the decision table of one route, as JSON, for an admin page or a test.
///
/// Returns 0 or MCP_SELECT_ERR_AUDIENCE. Free `*out` with mcp_select_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_table(
    engine: *const mcp_select_engine,
    request: *const mcp_select_request,
    out: *mut *mut mcp_select_text,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `engine` and `request` are NULL or alive, `out` and `err` may be written (Ownership, Outputs).
    unsafe {
        guard(err, || {
            let engine = object(engine, "engine")?;
            let request = object(request, "request")?;
            give(self::out(out, "out")?, mcp_select_text(engine.0.table(&request.0)?))
        })
    }
}

/// Frees an engine. No other thread may be in a call with it. Requests and selections may outlive it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_engine_free(engine: *mut mcp_select_engine) {
    // SAFETY: `engine` is NULL or came from this library and is given up (Ownership).
    unsafe { take_back(engine) }
}
