//! What of a `_meta` goes out: `meta.allow`, `meta.deny` and the reserved keys.

use crate::policy::pattern::MetaPattern;
use crate::policy::rule::Reserved;
use crate::result::json::{Members, Span, decoded, has_escape, members, text_of};
use crate::result::meta_key::matches;
use std::collections::HashSet;

/// Patterns of one row, or of several that speak together.
#[derive(Clone, Debug)]
pub enum Patterns<'p> {
    One(&'p [MetaPattern]),
    Many(Vec<&'p MetaPattern>),
}

impl Patterns<'_> {
    pub fn is_empty(&self) -> bool {
        match self {
            Patterns::One(patterns) => patterns.is_empty(),
            Patterns::Many(patterns) => patterns.is_empty(),
        }
    }

    fn any(&self, mut test: impl FnMut(&MetaPattern) -> bool) -> bool {
        match self {
            Patterns::One(patterns) => patterns.iter().any(test),
            Patterns::Many(patterns) => patterns.iter().any(|pattern| test(pattern)),
        }
    }
}

/// Which keys are allowed.
#[derive(Clone, Debug)]
pub struct Keys<'p> {
    pub allow: Patterns<'p>,
    pub deny: Patterns<'p>,
    pub reserved: Reserved,
}

impl Keys<'_> {
    /// Every key that is neither reserved nor malformed.
    pub const UNRESERVED: Keys<'static> =
        Keys { allow: Patterns::One(&[MetaPattern::Any]), deny: Patterns::One(&[]), reserved: Reserved::Union };

    /// Of a key as it stands between its quotes.
    fn lets_through(&self, raw: &[u8]) -> bool {
        let may_match = |pattern: &MetaPattern| match pattern {
            MetaPattern::Any => true,
            MetaPattern::Prefix(prefix) => raw.starts_with(prefix.as_bytes()),
            MetaPattern::Key(name) => raw == name.as_bytes(),
            MetaPattern::Inherit => false,
        };
        // Most keys are not allowed, and have no escapes.
        (self.allow.any(may_match) || has_escape(raw)) && self.lets_key_through(&text_of(raw))
    }

    fn lets_key_through(&self, key: &str) -> bool {
        // Fail closed: `*` in `meta.deny` denies reserved and malformed keys as well.
        let denies = |pattern: &MetaPattern| match pattern {
            MetaPattern::Any => true,
            MetaPattern::Prefix(prefix) => key.starts_with(&**prefix),
            MetaPattern::Key(name) => key == &**name,
            MetaPattern::Inherit => false,
        };
        self.allow.any(|pattern| matches(pattern, key, self.reserved)) && !self.deny.any(denies)
    }
}

/// What came of an object of `_meta`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filtered {
    /// No member is let through; nothing was written.
    Nothing,
    Some,
    /// Every member is let through.
    All,
}

/// Appends an object with those `members` of a `_meta` that are let through, repeated ones too.
pub fn filter(
    bytes: &[u8],
    members: impl Iterator<Item = (Span, Span)>,
    keys: &Keys<'_>,
    out: &mut Vec<u8>,
) -> Filtered {
    let start = out.len();
    let mut all = true;
    for (name, value) in members {
        if !keys.lets_through(name.of(bytes)) {
            all = false;
            continue;
        }
        out.extend_from_slice(if out.len() == start { b"{\"" } else { b",\"" });
        out.extend_from_slice(name.of(bytes));
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value.of(bytes));
    }
    if out.len() == start {
        return Filtered::Nothing;
    }
    out.push(b'}');
    if all { Filtered::All } else { Filtered::Some }
}

/// Whether every key of a `_meta` is let through, and it has at least one.
pub fn keeps_all(bytes: &[u8], meta: Span, keys: &Keys<'_>) -> bool {
    let mut all = members(bytes, meta).peekable();
    all.peek().is_some() && all.all(|(name, _)| keys.lets_through(name.of(bytes)))
}

/// Which members of an object come again later, asked for one after the other.
#[derive(Debug)]
pub enum Repeats {
    /// None, or none that are left.
    None,
    /// Of the next 64 members, one bit each.
    Few(u64),
    Many(std::vec::IntoIter<bool>),
}

impl Repeats {
    pub fn of(bytes: &[u8], object: Span) -> Repeats {
        // Few names are compared with each other, so that an ordinary object needs no memory.
        const FEW: usize = 16;
        let mut all = members(bytes, object);
        if all.clone().nth(FEW).is_some() {
            return Repeats::many(bytes, all);
        }
        let (mut bits, mut bit) = (0, 1);
        while let Some((name, _)) = all.next() {
            let mut same = all.clone().filter(|(other, _)| decoded(other.of(bytes)).eq(decoded(name.of(bytes))));
            bits |= if same.next().is_some() { bit } else { 0 };
            bit <<= 1;
        }
        if bits == 0 { Repeats::None } else { Repeats::Few(bits) }
    }

    fn many(bytes: &[u8], members: Members<'_>) -> Repeats {
        let members: Vec<(Span, Span)> = members.collect();
        let mut later: HashSet<String> = HashSet::with_capacity(members.len());
        let again = members.iter().rev().map(|(name, _)| !later.insert(decoded(name.of(bytes)).collect()));
        let mut again: Vec<bool> = again.collect();
        again.reverse();
        Repeats::Many(again.into_iter())
    }

    /// Whether the next member comes again.
    pub fn next(&mut self) -> bool {
        match self {
            Repeats::None => false,
            Repeats::Few(bits) => {
                let again = *bits & 1 == 1;
                *bits >>= 1;
                again
            }
            Repeats::Many(again) => again.next().unwrap_or_default(),
        }
    }
}
