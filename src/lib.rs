#![deny(unsafe_code)]
pub mod policy;
pub mod result;
