//! What each audience sees of an MCP tool result, decided by a policy file.
//!
//! A [`CallToolResult`](https://modelcontextprotocol.io) says things up to three times: in `content` (blocks), in
//! `structuredContent` (JSON) and in `_meta`. The specification does not say which of them a model gets. This library makes
//! the answer policy, in a TOML file:
//!
//! ```
//! use mcp_select::{Engine, Request, Selection, Status};
//!
//! let engine = Engine::from_toml(br#"
//!     version = 1
//!     extends = "sep-2200"
//!
//!     [[rules]]
//!     name  = "summaries that lost the data"
//!     when  = { structured = "present", coverage = "< 0.9" }
//!     order = ["both"]
//! "#)?;
//! let request = Request::new("weather", "forecast", "model");
//! let result = br#"{"content":[{"type":"text","text":"2 days found."}],"structuredContent":{"days":["rain","sun"]}}"#;
//!
//! let mut selection = Selection::new();
//! assert_eq!(engine.select(&request, result, &mut selection)?, Status::Changed);
//! assert_eq!(selection.text(result, "\n"), "2 days found.\n{\"days\":[\"rain\",\"sun\"]}");
//! # Ok::<(), mcp_select::Error>(())
//! ```
//!
//! # Three steps
//!
//! ```text
//! bytes ──scan──▶ facts + spans ──decide──▶ decision ──emit──▶ bytes
//!                    ▲                         ▲
//!               src/result/               src/table/  ◀──compile── src/policy/ ◀── rules/*.toml
//! ```
//!
//! 1. **scan** ([`result`]): one pass over the bytes validates them and finds the members; nothing is copied.
//! 2. **decide** ([`table`]): a short list of rows, specialised once for each route; a fact that costs something is
//!    looked at only when a row that is still alive asks for it.
//! 3. **emit** ([`select`]): copies spans of the input. When nothing changes, nothing is copied.
//!
//! [`policy`] reads the file, [`engine`] holds the policy in force and reloads it, [`Request`] is what the host knows before
//! a result comes, [`Selection`] the buffer that a call writes into. The C ABI stands in `ffi`.
//!
//! # What always holds
//!
//! Numbers keep their spelling and members their order. Malformed input is refused with a code, a byte and a member, never
//! shown in part. The same input gives the same bytes and the same decision record, on every run and in every language.
//! Audience is routing, not confidentiality: the engine is no security boundary (C-45).

#![deny(unsafe_code)]

pub mod engine;
pub mod error;
pub mod ffi;
pub mod policy;
mod report;
pub mod request;
pub mod result;
pub mod select;
pub mod table;

pub use engine::Engine;
pub use error::{Error, Status};
pub use policy::rule::Lane;
pub use request::Request;
pub use result::scan::{Input, Outcome};
pub use select::{Explanation, Fate, OutputBlock, Selection};
