//! A tool result as bytes.
pub mod json;
pub mod refusal;
pub mod scan;
