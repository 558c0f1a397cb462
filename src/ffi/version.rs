//! Version
//!
//! A binding that was built on this header refuses a library whose range [min_compatible, version] does not hold
//! MCP_SELECT_ABI_VERSION.

use super::lend;

/// Raised by one when a caller of the older header could notice.
pub const MCP_SELECT_ABI_VERSION: u32 = 1;

/// The oldest header that this library still serves.
pub const MCP_SELECT_ABI_MIN_COMPATIBLE: u32 = 1;

/// MCP_SELECT_ABI_VERSION of the library that is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_select_abi_version() -> u32 {
    MCP_SELECT_ABI_VERSION
}

/// MCP_SELECT_ABI_MIN_COMPATIBLE of the library that is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_select_abi_min_compatible() -> u32 {
    MCP_SELECT_ABI_MIN_COMPATIBLE
}

/// The version of the library that is loaded, such as "1.2.3". Never freed. NULL when `len` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_version(len: *mut usize) -> *const u8 {
    // SAFETY: `len` is NULL or may be written (Outputs).
    unsafe { lend(len, || Some(env!("CARGO_PKG_VERSION").as_bytes())) }
}
