//! What of a `_meta` goes out: `meta.allow`, `meta.deny` and the reserved keys.

use crate::policy::pattern::MetaPattern;
use crate::policy::rule::Reserved;
use crate::result::json::{Span, decoded, members, text_of};
use crate::result::meta_key::matches;
use std::collections::HashSet;

/// Which keys are allowed.
#[derive(Clone, Debug)]
pub struct Keys {
    pub allow: Vec<MetaPattern>,
    pub deny: Vec<MetaPattern>,
    pub reserved: Reserved,
}

impl Keys {
    /// Every key, reserved and malformed ones too. Not something a policy can say.
    pub fn all() -> Keys {
        Keys { allow: Vec::new(), deny: vec![MetaPattern::Inherit], reserved: Reserved::Union }
    }

    fn lets_through(&self, key: &str) -> bool {
        if self.deny.first() == Some(&MetaPattern::Inherit) {
            return true;
        }
        // Fail closed: `*` in `meta.deny` denies reserved and malformed keys as well.
        let denies = |pattern: &MetaPattern| match pattern {
            MetaPattern::Any => true,
            MetaPattern::Prefix(prefix) => key.starts_with(&**prefix),
            MetaPattern::Key(name) => key == &**name,
            MetaPattern::Inherit => false,
        };
        self.allow.iter().any(|pattern| matches(pattern, key, self.reserved)) && !self.deny.iter().any(denies)
    }
}

/// Appends the object `meta` with the keys that are let through, each once with its last value; whether any is left.
pub fn filter(bytes: &[u8], meta: Span, keys: &Keys, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.push(b'{');
    let kept: Vec<(Span, Span)> =
        members(bytes, meta).filter(|(name, _)| keys.lets_through(&text_of(name.of(bytes)))).collect();
    for (name, value) in without_repeats(bytes, kept) {
        if out.len() > start + 1 {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(name.of(bytes));
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value.of(bytes));
    }
    if out.len() == start + 1 {
        out.truncate(start);
        return false;
    }
    out.push(b'}');
    true
}

/// Members without those that come again later.
pub fn without_repeats(bytes: &[u8], mut members: Vec<(Span, Span)>) -> Vec<(Span, Span)> {
    let mut later: HashSet<String> = HashSet::with_capacity(members.len());
    let mut keep: Vec<bool> =
        members.iter().rev().map(|(name, _)| later.insert(decoded(name.of(bytes)).collect())).collect();
    keep.reverse();
    let mut keep = keep.into_iter();
    members.retain(|_| keep.next().unwrap_or(true));
    members
}
