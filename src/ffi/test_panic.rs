//! Panics on purpose, for the tests of the C ABI. Only with the feature `test-panic`, never in the header.

use super::error::mcp_select_error;
use super::selection::mcp_select_selection;
use super::{guard, object_mut};
use std::any::Any;
use std::panic::panic_any;

/// A payload whose `drop` panics too.
struct Again;

impl Drop for Again {
    fn drop(&mut self) {
        panic_any(0_u8);
    }
}

/// A payload of which no error object can be made.
struct Unspeakable;

/// Panics while the error object of a panic is made.
pub(super) fn refuse(payload: &(dyn Any + Send)) {
    if payload.is::<Unspeakable>() {
        panic!("on purpose, while an error is made");
    }
}

/// Goes the way of `mcp_select_result` and panics in the middle: `kind` 0 with a text, 1 with a formatted text, 2 with a value
/// whose `drop` panics too, 3 after the selection was written, else so that even the error object cannot be made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_test_panic(
    kind: i32,
    selection: *mut mcp_select_selection,
    err: *mut *mut mcp_select_error,
) -> i32 {
    // SAFETY: `selection` is NULL or alive and used by nobody else, `err` may be written.
    unsafe {
        guard(err, || {
            object_mut(selection, "selection")?.select(0, |inner| match kind {
                0 => panic!("on purpose"),
                1 => panic!("on purpose,\nkind {kind}"),
                2 => panic_any(Again),
                3 => {
                    let engine = crate::Engine::builtin("sep-2200")?;
                    let request = crate::Request::new("server", "tool", "model");
                    engine.select(&request, br#"{"content":[],"structuredContent":{}}"#, inner)?;
                    panic!("on purpose, after writing")
                }
                _ => panic_any(Unspeakable),
            })
        })
    }
}
