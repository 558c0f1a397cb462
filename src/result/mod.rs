//! A tool result as bytes.
pub mod compact;
pub mod equality;
pub mod json;
pub mod meta_key;
pub mod mirror;
pub mod text;
