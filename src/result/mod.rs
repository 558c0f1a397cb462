//! A tool result as bytes: the first step, and all that can be found out about a result without a policy.
//!
//! `scan` reads a result in one pass, token by token (`walk`, `tokens`, `json`), and refuses what is none (`refusal`). The facts that cost
//! something stand each in a file of its own: `coverage`, `mirror` on top of `equality`. `meta_key` knows the grammar of
//! `_meta` keys, `text` what is blank, `compact` how a value is written shortest.
pub mod compact;
pub mod coverage;
pub mod equality;
pub mod json;
mod masks;
pub mod meta_key;
pub mod mirror;
pub mod path;
pub mod refusal;
pub mod render;
pub mod scan;
#[cfg(feature = "schema")]
pub mod schema;
pub mod text;
mod tokens;
mod walk;
