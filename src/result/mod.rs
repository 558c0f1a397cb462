//! A tool result as bytes.
pub mod json;
pub mod meta_key;
pub mod text;
