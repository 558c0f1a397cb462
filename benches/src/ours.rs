//! mcp-select: the decision as a policy, asked through Rust and, as a C program would, through the C ABI.

use crate::decision::Candidate;
use mcp_select::{Engine, Request, Selection, Status};
use std::hint::black_box;
use std::sync::Arc;

/// The decision.
pub const POLICY: &str = "version = 1\nextends = \"sep-2200\"\n[audience.model]\nmeta.allow = [\"durationMs\"]\n";

/// Through Rust.
pub struct Rust {
    engine: Arc<Engine>,
    request: Arc<Request>,
    selection: Selection,
}

impl Rust {
    pub fn new() -> Rust {
        Rust {
            engine: Arc::new(Engine::from_toml(POLICY.as_bytes()).unwrap()),
            request: Arc::new(Request::new("server", "tool", "model")),
            selection: Selection::new(),
        }
    }

    /// The same engine and request, with a selection of its own.
    pub fn on_a_thread(&self) -> Rust {
        Rust { engine: Arc::clone(&self.engine), request: Arc::clone(&self.request), selection: Selection::new() }
    }
}

impl Candidate for Rust {
    fn name(&self) -> &str {
        crate::OURS
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        match self.engine.select(&self.request, result, &mut self.selection).unwrap() {
            Status::Changed => self.selection.json().unwrap(),
            _ => result,
        }
    }
}

/// Of `include/mcp_select.h`, what is called here.
mod header {
    macro_rules! opaque {
        ($($name:ident)*) => { $(
            #[repr(C)]
            pub struct $name {
                _private: [u8; 0],
            }
        )* };
    }
    opaque! { Engine Request Selection Error }

    unsafe extern "C" {
        pub fn mcp_select_engine_new(
            policy: *const u8,
            policy_len: usize,
            out: *mut *mut Engine,
            err: *mut *mut Error,
        ) -> i32;
        pub fn mcp_select_engine_free(engine: *mut Engine);
        pub fn mcp_select_request_new(
            server: *const u8,
            server_len: usize,
            tool: *const u8,
            tool_len: usize,
            audience: *const u8,
            audience_len: usize,
            out: *mut *mut Request,
            err: *mut *mut Error,
        ) -> i32;
        pub fn mcp_select_request_free(request: *mut Request);
        pub fn mcp_select_selection_new(out: *mut *mut Selection) -> i32;
        pub fn mcp_select_selection_free(selection: *mut Selection);
        pub fn mcp_select_result(
            engine: *const Engine,
            request: *const Request,
            result: *const u8,
            result_len: usize,
            selection: *mut Selection,
            err: *mut *mut Error,
        ) -> i32;
        pub fn mcp_select_selection_json(selection: *const Selection, len: *mut usize) -> *const u8;
    }

    pub const UNCHANGED: i32 = 0;
    pub const CHANGED: i32 = 1;

    /// The two functions of a call, as addresses that the optimiser does not know: a C program cannot inline them either.
    pub type Result =
        unsafe extern "C" fn(*const Engine, *const Request, *const u8, usize, *mut Selection, *mut *mut Error) -> i32;
    pub type Json = unsafe extern "C" fn(*const Selection, *mut usize) -> *const u8;
}

/// Through the C ABI.
pub struct C {
    result: header::Result,
    json: header::Json,
    engine: *mut header::Engine,
    request: *mut header::Request,
    selection: *mut header::Selection,
}

impl C {
    pub fn new() -> C {
        use std::ptr::null_mut;
        let mut c = C {
            result: black_box(header::mcp_select_result as header::Result),
            json: black_box(header::mcp_select_selection_json as header::Json),
            engine: null_mut(),
            request: null_mut(),
            selection: null_mut(),
        };
        let (server, tool, audience) = ("server", "tool", "model");
        // SAFETY: every pointer comes with the length of the text that it points into, the out-parameters are alive, and
        // `err` may be NULL (Inputs, Outputs).
        let statuses = unsafe {
            [
                header::mcp_select_engine_new(POLICY.as_ptr(), POLICY.len(), &mut c.engine, null_mut()),
                header::mcp_select_request_new(
                    server.as_ptr(),
                    server.len(),
                    tool.as_ptr(),
                    tool.len(),
                    audience.as_ptr(),
                    audience.len(),
                    &mut c.request,
                    null_mut(),
                ),
                header::mcp_select_selection_new(&mut c.selection),
            ]
        };
        assert_eq!(statuses, [0; 3]);
        c
    }
}

impl Candidate for C {
    fn name(&self) -> &str {
        "mcp-select, C ABI"
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        let mut error = std::ptr::null_mut();
        // SAFETY: the objects are alive and, by `&mut self`, used by nobody else; `result` is read during the call only.
        let status = unsafe {
            (self.result)(self.engine, self.request, result.as_ptr(), result.len(), self.selection, &mut error)
        };
        match status {
            header::UNCHANGED => result,
            header::CHANGED => {
                let mut len = 0;
                // SAFETY: the selection is alive, and its bytes are valid until the next call that changes it, which
                // needs `&mut self` and so comes after `'a`.
                unsafe { std::slice::from_raw_parts((self.json)(self.selection, &mut len), len) }
            }
            other => panic!("status {other}"),
        }
    }
}

impl Drop for C {
    fn drop(&mut self) {
        // SAFETY: each was made by the library and is freed once (Ownership).
        unsafe {
            header::mcp_select_selection_free(self.selection);
            header::mcp_select_request_free(self.request);
            header::mcp_select_engine_free(self.engine);
        }
    }
}
