//! Request
//!
//! What is known before a result comes. Build one for each server, tool and audience when tools/list comes, then share it;
//! it is not edited while it is shared. It remembers its decision table, so that a call with it looks nothing up.

#![allow(non_camel_case_types)]

use super::constants::mcp_select_input;
use super::error::mcp_select_error;
use super::{bad_argument, bytes, give, guard, object, object_mut, out, take_back, utf8};
use crate::{Request, Status};

/// A route: server, tool, audience, and what is known of them.
pub struct mcp_select_request(pub(super) Request);

/// Makes a request. `server` is the host's own connection id, never the name that a server gives itself.
///
/// Whether the audience exists is seen when a policy is applied. Returns 0. Free `*out` with mcp_select_request_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_new(
    server: *const u8,
    server_len: usize,
    tool: *const u8,
    tool_len: usize,
    audience: *const u8,
    audience_len: usize,
    out: *mut *mut mcp_select_request,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: the names may be read, `out` and `err` may be written (Inputs, Outputs).
    unsafe {
        guard(err, || {
            let place = self::out(out, "out")?;
            let server = utf8(server, server_len, "server")?;
            let tool = utf8(tool, tool_len, "tool")?;
            let audience = utf8(audience, audience_len, "audience")?;
            give(place, mcp_select_request(Request::new(server, tool, audience)))
        })
    }
}

/// Says which protocol revision was agreed, as YYYY-MM-DD; a later date than this library knows is accepted.
///
/// Returns 0, or MCP_SELECT_ERR_REVISION, and then nothing is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_set_revision(
    request: *mut mcp_select_request,
    revision: *const u8,
    revision_len: usize,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `request` is NULL or alive and used by nobody else, `revision` may be read, `err` may be written.
    unsafe {
        guard(err, || {
            object_mut(request, "request")?.0.set_revision(utf8(revision, revision_len, "revision")?)?;
            Ok(Status::Unchanged)
        })
    }
}

/// Hands over the tool's object out of tools/list, as JSON: its outputSchema and _meta.ui are read. NULL with length 0
/// takes it away.
///
/// Returns 0, or MCP_SELECT_ERR_TOOL when it is no JSON object, and then nothing is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_set_tool_definition(
    request: *mut mcp_select_request,
    tool: *const u8,
    tool_len: usize,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `request` is NULL or alive and used by nobody else, `tool` may be read, `err` may be written.
    unsafe {
        guard(err, || {
            let request = object_mut(request, "request")?;
            let definition = bytes(tool, tool_len, "tool")?;
            request.0.set_tool_definition((!tool.is_null()).then_some(definition))?;
            Ok(Status::Unchanged)
        })
    }
}

/// Says that an extension was negotiated, such as "io.modelcontextprotocol/tasks". Returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_add_extension(
    request: *mut mcp_select_request,
    extension: *const u8,
    extension_len: usize,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `request` is NULL or alive and used by nobody else, `extension` may be read, `err` may be written.
    unsafe {
        guard(err, || {
            object_mut(request, "request")?.0.add_extension(utf8(extension, extension_len, "extension")?);
            Ok(Status::Unchanged)
        })
    }
}

/// Tells a fact that only the host knows, for `when = { label.NAME = PATTERN }` in a policy: model, ring, tenant, trust ...
/// The last value of a name counts. Returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_set_label(
    request: *mut mcp_select_request,
    name: *const u8,
    name_len: usize,
    value: *const u8,
    value_len: usize,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `request` is NULL or alive and used by nobody else, the texts may be read, `err` may be written.
    unsafe {
        guard(err, || {
            let request = object_mut(request, "request")?;
            let name = utf8(name, name_len, "name")?;
            request.0.set_label(name, utf8(value, value_len, "value")?);
            Ok(Status::Unchanged)
        })
    }
}

/// Says what the bytes will be: one of enum mcp_select_input.
///
/// Returns 0, or MCP_SELECT_ERR_ARGUMENT when `input` is none of them, and then nothing is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_set_input(request: *mut mcp_select_request, input: i32) -> i32 {
    // SAFETY: `request` is NULL or alive and used by nobody else; there is no `err` to write.
    unsafe {
        guard(std::ptr::null_mut(), || {
            let request = object_mut(request, "request")?;
            let input = mcp_select_input::named(input);
            request.0.set_input(input.ok_or_else(|| bad_argument(format_args!("input is no enum mcp_select_input")))?);
            Ok(Status::Unchanged)
        })
    }
}

/// Makes a second request of the same route for another audience, or, with length 0, for the same one. It can be edited
/// while the first stays in use.
///
/// Returns 0. Free `*out` with mcp_select_request_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_clone(
    request: *const mcp_select_request,
    audience: *const u8,
    audience_len: usize,
    out: *mut *mut mcp_select_request,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `request` is NULL or alive, `audience` may be read, `out` and `err` may be written.
    unsafe {
        guard(err, || {
            let request = object(request, "request")?;
            let place = self::out(out, "out")?;
            let second = match utf8(audience, audience_len, "audience")? {
                "" => request.0.clone(),
                audience => request.0.for_audience(audience),
            };
            give(place, mcp_select_request(second))
        })
    }
}

/// Frees a request. No other thread may be in a call with it. Selections may outlive it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_request_free(request: *mut mcp_select_request) {
    // SAFETY: `request` is NULL or came from this library and is given up (Ownership).
    unsafe { take_back(request) }
}
