#![deny(unsafe_code)]
pub mod error;
pub mod policy;
pub mod result;
pub mod table;
