//! Others who make the same decision, each written as one who knows the tool well would write it. What can be made once,
//! such as a compiled program, is made once; what a call needs is inside the call: JSON becomes the engine's values, the
//! program runs, JSON is written.
//!
//! An engine is handed the whole result. A host that hands over less has decided itself what the policy may look at.

#[cfg(feature = "engines")]
mod cel;
#[cfg(feature = "engines")]
mod jaq;
#[cfg(feature = "engines")]
mod regorus;
mod serde;
#[cfg(feature = "engines")]
mod zen;

use crate::decision::Candidate;

/// All that are built in.
pub fn all() -> Vec<Box<dyn Candidate>> {
    vec![
        Box::new(serde::Raw::default()),
        Box::new(serde::Tree::default()),
        #[cfg(feature = "engines")]
        Box::new(cel::Cel::new()),
        #[cfg(feature = "engines")]
        Box::new(zen::Zen::new()),
        #[cfg(feature = "engines")]
        Box::new(jaq::Jaq::new()),
        #[cfg(feature = "engines")]
        Box::new(regorus::Rego::new()),
    ]
}
