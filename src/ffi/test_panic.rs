//! Panics on purpose, for the tests of the C ABI. Only with the feature `test-panic`, never in the header.

use super::error::mcp_select_error;
use super::selection::mcp_select_selection;
use super::{guard, object_mut};

/// Goes the way of `mcp_select_result` and panics in the middle: `kind` 0 with a text, 1 with a formatted text, 2 with a value
/// whose `drop` panics too, 3 while the selection is written after it had been filled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_select_test_panic(
    kind: i32,
    selection: *mut mcp_select_selection,
    err: *mut *mut mcp_select_error,
) -> i32 {
    struct Again;
    impl Drop for Again {
        fn drop(&mut self) {
            std::panic::panic_any(0_u8);
        }
    }
    // SAFETY: `selection` is NULL or alive and used by nobody else, `err` may be written.
    unsafe {
        guard(err, || {
            object_mut(selection, "selection")?.select(0, |inner| match kind {
                0 => panic!("on purpose"),
                1 => panic!("on purpose,\nkind {kind}"),
                2 => std::panic::panic_any(Again),
                _ => {
                    let engine = crate::Engine::builtin("sep-2200")?;
                    let request = crate::Request::new("server", "tool", "model");
                    engine.select(&request, br#"{"content":[],"structuredContent":{}}"#, inner)?;
                    panic!("on purpose, after writing")
                }
            })
        })
    }
}
