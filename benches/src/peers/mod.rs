//! Others who make the same decision, each written as one who knows the tool well would write it. What can be made once,
//! such as a compiled program, is made once; what a call needs is inside the call.

mod serde;

use crate::decision::Candidate;

/// All that are built in.
pub fn all() -> Vec<Box<dyn Candidate>> {
    vec![Box::new(serde::Raw::default()), Box::new(serde::Tree::default())]
}
