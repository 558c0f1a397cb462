//! Walking through JSON from token to token, which is how `scan` reads a result.
//!
//! [`Bytewise`] looks at one byte after the other and says of a fault what it is and where it stands. `tokens` finds the
//! tokens of many bytes at once, where the processor can, and only says that there is a fault. Both validate everything.

use super::json::{
    Fault, Malformed, NameSet, Seen, Span, skip_space, unexpected, validate_name, validate_noting_names, validate_value,
};

/// Where a reader stands, and how it goes on. It stands on the first byte of a token, or behind the last one.
///
/// An error ends the walk: where it stands afterwards means nothing.
pub trait Walk {
    /// The position of the token.
    fn at(&self) -> usize;

    /// The first byte of the token; 0 behind the last one.
    fn byte(&self) -> u8;

    /// Goes on from a token of one byte (a brace, a bracket, a comma).
    fn step(&mut self);

    /// Goes on to the last byte of `beginning` when the input goes on so from here, which has `tokens` tokens, the last of them
    /// that byte. Whether it did.
    fn skip(&mut self, beginning: &[u8], tokens: usize) -> bool;

    /// Reads a name and its colon; what stands between its quotes.
    fn name(&mut self) -> Result<Span, Malformed>;

    /// Reads a value with `open` containers around it; the position after it.
    fn value(&mut self, open: u32) -> Result<usize, Malformed>;

    /// The same, and what was seen inside it, [`Seen::REPEATS`] too. `names` is a buffer to hand in again and again.
    fn value_noting_names(&mut self, open: u32, names: &mut Vec<NameSet>) -> Result<(usize, Seen), Malformed>;

    /// What was seen so far, at least.
    fn seen(&self) -> Seen;

    /// What the whole input had, or its fault, once the walk stands behind the last token.
    fn finish(&self) -> Result<Seen, Malformed>;

    /// The fault that a token is not the one that must stand here.
    fn unexpected<T>(&self) -> Result<T, Malformed>;

    fn too_deep<T>(&self) -> Result<T, Malformed> {
        Err(Malformed { at: self.at(), fault: Fault::Depth })
    }
}

/// One byte after the other.
pub struct Bytewise<'a> {
    bytes: &'a [u8],
    at: usize,
    max_depth: u32,
    seen: Seen,
}

impl<'a> Bytewise<'a> {
    pub fn new(bytes: &'a [u8], max_depth: u32) -> Bytewise<'a> {
        Bytewise { bytes, at: skip_space(bytes, 0), max_depth, seen: Seen::default() }
    }
}

impl Walk for Bytewise<'_> {
    fn at(&self) -> usize {
        self.at
    }

    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    fn step(&mut self) {
        self.at = skip_space(self.bytes, self.at + 1);
    }

    fn skip(&mut self, beginning: &[u8], _: usize) -> bool {
        let here = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(beginning));
        self.at += if here { beginning.len() - 1 } else { 0 };
        here
    }

    fn name(&mut self) -> Result<Span, Malformed> {
        let (name, value) = validate_name(self.bytes, self.at, &mut self.seen)?;
        self.at = value;
        Ok(name)
    }

    fn value(&mut self, open: u32) -> Result<usize, Malformed> {
        let end = validate_value(self.bytes, self.at, open, self.max_depth, &mut self.seen)?;
        self.at = skip_space(self.bytes, end);
        Ok(end)
    }

    fn value_noting_names(&mut self, open: u32, names: &mut Vec<NameSet>) -> Result<(usize, Seen), Malformed> {
        let mut seen = Seen::default();
        let end = validate_noting_names(self.bytes, self.at, open, self.max_depth, &mut seen, names)?;
        self.at = skip_space(self.bytes, end);
        self.seen.add(seen);
        Ok((end, seen))
    }

    fn seen(&self) -> Seen {
        self.seen
    }

    fn finish(&self) -> Result<Seen, Malformed> {
        if self.at < self.bytes.len() {
            return Err(Malformed { at: self.at, fault: Fault::Unexpected });
        }
        Ok(self.seen)
    }

    fn unexpected<T>(&self) -> Result<T, Malformed> {
        unexpected(self.bytes, self.at)
    }
}
