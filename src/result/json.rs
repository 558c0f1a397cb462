//! JSON as bytes: the walker that validates, and readers for bytes that were validated.
//!
//! Everything here is iterative and borrows: nothing recurses, nothing builds a tree. The readers (`Members`,
//! `Elements`, `skip_valid`) may be used on bytes that [`validate_value`] accepted; on other bytes they end
//! early or give nonsense, but never panic.
//!
//! The grammar is RFC 8259. UTF-8 is checked by the caller, over the whole input at once.

use std::cmp::Ordering;

use super::masks::{BLOCK, Level, Marks, Quoted, Quoting, Work, escaped_by, ones};
use super::tokens;

/// A range of bytes in the input. An empty span stands for "not there".
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const ABSENT: Span = Span { start: 0, end: 0 };

    /// A span of two positions; inputs are at most 64 MiB, so both fit.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    pub fn is_absent(self) -> bool {
        self.start == self.end
    }

    #[expect(clippy::len_without_is_empty, reason = "an empty span is an absent one")]
    pub fn len(self) -> usize {
        (self.end.saturating_sub(self.start)) as usize
    }

    /// The bytes it stands for.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// The deepest nesting any policy can allow: one bit of a `u128` for each open container.
pub const MAX_DEPTH: u32 = 128;

/// What the walker saw on its way, as bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Seen(u8);

impl Seen {
    pub const ESCAPE: Seen = Seen(1);
    /// A `\uD800` to `\uDFFF` that is not half of a pair.
    pub const LONE_SURROGATE: Seen = Seen(2);
    /// White space between tokens.
    pub const SPACE: Seen = Seen(4);
    /// An escape that has a shorter spelling: `\\u` or `\\/`.
    pub const LONG_ESCAPE: Seen = Seen(8);
    /// An object may have a member twice. Only [`validate_noting_names`] looks for it, and it may be mistaken.
    pub const REPEATS: Seen = Seen(16);

    pub fn add(&mut self, other: Seen) {
        self.0 |= other.0;
    }

    pub fn has(self, other: Seen) -> bool {
        self.0 & other.0 != 0
    }
}

/// Why bytes are no JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The input ended inside a value.
    End,
    /// A byte that cannot stand here.
    Unexpected,
    /// `NaN`, `Infinity` or `-Infinity`, which JSON has not.
    NotFinite,
    /// A control character inside a string.
    Control,
    /// A backslash followed by something that is no escape.
    Escape,
    /// A number such as `01`, `1.` or `-`.
    Number,
    /// More containers open than allowed.
    Depth,
}

/// A fault and the byte where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed {
    pub at: usize,
    pub fault: Fault,
}

fn malformed<T>(at: usize, fault: Fault) -> Result<T, Malformed> {
    Err(Malformed { at, fault })
}

pub(crate) fn unexpected<T>(bytes: &[u8], at: usize) -> Result<T, Malformed> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.is_empty() {
        return malformed(at, Fault::End);
    }
    let number = rest.strip_prefix(b"-").unwrap_or(rest);
    let not_finite = [&b"NaN"[..], b"nan", b"Infinity", b"inf", b"Inf"].iter().any(|name| number.starts_with(name));
    malformed(at, if not_finite { Fault::NotFinite } else { Fault::Unexpected })
}

/// The first position at or after `at` that is no JSON white space.
#[inline(always)]
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How many of eight bytes come before the first quote, backslash or control character (8: all of them).
///
/// Each of the three tests may mark a byte wrongly only above its own first true mark, so the lowest mark is true.
#[inline(always)]
fn plain_prefix(word: u64) -> usize {
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    let marks = zero_bytes(word ^ (ONES * u64::from(b'"'))) | zero_bytes(word ^ (ONES * u64::from(b'\\'))) | control;
    (marks.trailing_zeros() / 8) as usize
}

/// The position of the first quote, backslash or control character at or after `at`.
#[inline(always)]
pub(crate) fn end_of_plain(bytes: &[u8], mut at: usize) -> usize {
    // Most strings are short: eight words of eight bytes, then the search that is built for long ones.
    for _ in 0..8 {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            while bytes.get(at).is_some_and(|&b| b >= 0x20 && b != b'"' && b != b'\\') {
                at += 1;
            }
            return at;
        };
        let plain = plain_prefix(u64::from_le_bytes(*word));
        at += plain;
        if plain < 8 {
            return at;
        }
    }
    end_of_long_plain(bytes, at)
}

#[inline(never)]
pub(crate) fn end_of_long_plain(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    let plain = rest.get(..length).unwrap_or_default();
    // Vectorised by the compiler: one branch for each 64 bytes.
    let mut done = 0;
    for chunk in plain.chunks(64) {
        if chunk.iter().fold(false, |any, &b| any | (b < 0x20)) {
            return at + done + chunk.iter().position(|&b| b < 0x20).unwrap_or(0);
        }
        done += chunk.len();
    }
    at + length
}

/// Validates a string whose opening quote stands before `at`; returns the position of its closing quote.
#[inline(always)]
pub fn validate_string(bytes: &[u8], at: usize, seen: &mut Seen) -> Result<usize, Malformed> {
    let at = end_of_plain(bytes, at);
    if bytes.get(at) == Some(&b'"') { Ok(at) } else { validate_escapes(bytes, at, seen) }
}

fn validate_escapes(bytes: &[u8], mut at: usize, seen: &mut Seen) -> Result<usize, Malformed> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at),
            Some(b'\\') => at = validate_escape(bytes, at, seen)?,
            Some(_) => return malformed(at, Fault::Control),
            None => return malformed(at, Fault::End),
        }
        // Escapes come in runs (`\"a\":`, `\n`): look at the next byte before starting a search.
        if bytes.get(at) != Some(&b'\\') {
            at = end_of_plain(bytes, at);
        }
    }
}

#[inline(always)]
pub(crate) fn validate_escape(bytes: &[u8], at: usize, seen: &mut Seen) -> Result<usize, Malformed> {
    seen.add(Seen::ESCAPE);
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'/') => {
            seen.add(Seen::LONG_ESCAPE);
            Ok(at + 2)
        }
        Some(b'u') => {
            seen.add(Seen::LONG_ESCAPE);
            let Some(unit) = hex4(bytes, at + 2) else {
                let end = (at + 2..at + 6).find(|&i| !bytes.get(i).is_some_and(u8::is_ascii_hexdigit)).unwrap_or(at);
                return malformed(end, if end >= bytes.len() { Fault::End } else { Fault::Escape });
            };
            match unit {
                0xD800..=0xDBFF if low_surrogate(bytes, at + 6).is_some() => return Ok(at + 12),
                0xD800..=0xDFFF => seen.add(Seen::LONE_SURROGATE),
                _ => {}
            }
            Ok(at + 6)
        }
        Some(_) => malformed(at + 1, Fault::Escape),
        None => malformed(at + 1, Fault::End),
    }
}

pub(crate) fn low_surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    if bytes.get(at..at + 2)? != b"\\u" {
        return None;
    }
    hex4(bytes, at + 2).filter(|unit| (0xDC00..=0xDFFF).contains(unit))
}

pub(crate) fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits: &[u8; 4] = bytes.get(at..)?.first_chunk()?;
    digits.iter().try_fold(0, |value, &digit| Some(value * 16 + char::from(digit).to_digit(16)?))
}

/// Validates a number that starts at `at`; returns the position after it.
#[inline(always)]
pub(crate) fn validate_number(bytes: &[u8], start: usize) -> Result<usize, Malformed> {
    // Most numbers are a few digits, perhaps with a point: eight bytes at once tell how many.
    let digits = |at: usize| match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => (digits_prefix(u64::from_le_bytes(*word)), word.first() == Some(&b'0')),
        None => (0, false),
    };
    let (whole, zero) = digits(start);
    if whole == 1 || (whole > 1 && whole < 8 && !zero) {
        let end = start + whole;
        match bytes.get(end) {
            Some(b',' | b'}' | b']') => return Ok(end),
            Some(b'.') => {
                let (places, _) = digits(end + 1);
                let end = end + 1 + places;
                if places > 0 && places < 8 && matches!(bytes.get(end), Some(b',' | b'}' | b']')) {
                    return Ok(end);
                }
            }
            _ => {}
        }
    }
    validate_any_number(bytes, start)
}

/// How many of eight bytes come before the first that is no digit (8: all of them).
#[inline(always)]
fn digits_prefix(word: u64) -> usize {
    // Digits become 0 to 9; the lowest byte that is something else keeps its high bit, or gets one by the addition.
    let values = word ^ (ONES * u64::from(b'0'));
    let others = (values.wrapping_add(ONES * 0x76) | values) & HIGHS;
    (others.trailing_zeros() / 8) as usize
}

fn validate_any_number(bytes: &[u8], start: usize) -> Result<usize, Malformed> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let some_digits = |at: usize| match digits(at) {
        end if end > at => Ok(end),
        _ if at >= bytes.len() => malformed(at, Fault::End),
        _ => malformed(at, Fault::Number),
    };
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    at = match bytes.get(at) {
        Some(b'0') if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => return malformed(at + 1, Fault::Number),
        Some(b'0') => at + 1,
        Some(b'1'..=b'9') => digits(at + 1),
        _ => return unexpected(bytes, at),
    };
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = some_digits(at + 1 + sign)?;
    }
    Ok(at)
}

#[inline(always)]
pub(crate) fn validate_literal(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        Some(b"true" | b"null") => Ok(at + 4),
        Some(b"fals") if bytes.get(at + 4) == Some(&b'e') => Ok(at + 5),
        _ => validate_any_literal(bytes, at),
    }
}

fn validate_any_literal(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    for literal in [&b"true"[..], b"false", b"null"] {
        let same = literal.iter().enumerate().take_while(|&(i, b)| bytes.get(at + i) == Some(b)).count();
        if same == literal.len() {
            return Ok(at + same);
        }
        if same > 0 {
            return unexpected(bytes, at + same);
        }
    }
    unexpected(bytes, at)
}

/// Validates a member name that should start at `at` and its colon; returns the span between the quotes and where
/// the value starts.
#[inline(always)]
pub fn validate_name(bytes: &[u8], at: usize, seen: &mut Seen) -> Result<(Span, usize), Malformed> {
    if bytes.get(at) != Some(&b'"') {
        return unexpected(bytes, at);
    }
    let end = validate_string(bytes, at + 1, seen)?;
    let mut next = end + 1;
    if bytes.get(next) != Some(&b':') {
        next = skip_space(bytes, next);
        seen.add(Seen::SPACE);
        if bytes.get(next) != Some(&b':') {
            return unexpected(bytes, next);
        }
    }
    Ok((Span::new(at + 1, end), spaces(bytes, next + 1, seen)))
}

#[inline(always)]
fn spaces(bytes: &[u8], at: usize, seen: &mut Seen) -> usize {
    // One test tells the common cases (a token follows) from white space.
    if bytes.get(at).is_some_and(|&b| b > b' ') {
        return at;
    }
    seen.add(Seen::SPACE);
    skip_space(bytes, at)
}

/// Validates the value that starts at `start` with `open` containers around it; returns the position after it.
///
/// At most `max_depth` (at most [`MAX_DEPTH`]) containers may be open at once.
pub fn validate_value(
    bytes: &[u8],
    start: usize,
    open: u32,
    max_depth: u32,
    seen: &mut Seen,
) -> Result<usize, Malformed> {
    validate_with(bytes, start, open, max_depth, seen, &mut Unnoted)
}

/// The same, and [`Seen::REPEATS`] when an object may have a member twice. `names` is a buffer to hand in again and again.
pub fn validate_noting_names(
    bytes: &[u8],
    start: usize,
    open: u32,
    max_depth: u32,
    seen: &mut Seen,
    names: &mut Vec<NameSet>,
) -> Result<usize, Malformed> {
    names.clear();
    validate_with(bytes, start, open, max_depth, seen, &mut Noted::new(names))
}

/// Watches the names of objects while a value is validated.
pub(crate) trait Names {
    fn open(&mut self);
    fn close(&mut self);
    /// `before`: what was seen up to the end of the name, at least.
    fn name(&mut self, bytes: &[u8], name: Span, before: Seen, seen: &mut Seen);
}

pub(crate) struct Unnoted;

impl Names for Unnoted {
    #[inline(always)]
    fn open(&mut self) {}
    #[inline(always)]
    fn close(&mut self) {}
    #[inline(always)]
    fn name(&mut self, _: &[u8], _: Span, _: Seen, _: &mut Seen) {}
}

/// Which names an object may have had: two bits of one of four words for each.
#[derive(Clone, Copy, Default, Debug)]
pub struct NameSet([u64; 4]);

impl NameSet {
    /// Adds the name of a member, the span between its quotes; whether it may have been there before.
    #[inline(always)]
    pub fn add(&mut self, bytes: &[u8], name: Span) -> bool {
        let (length, from) = (name.len(), name.start as usize);
        // Both ends and the length tell most names apart.
        let head = match bytes.get(from..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(word) if length < 8 => u64::from_le_bytes(*word) & !(u64::MAX << (8 * length)),
            Some(word) => u64::from_le_bytes(*word),
            None => name.of(bytes).iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        let tail =
            if length > 8 { name.of(bytes).last_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word)) } else { 0 };
        let hash = (head ^ tail.rotate_left(29) ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bits = 1 << (hash >> 58) | 1 << ((hash >> 52) & 63);
        let Some(word) = self.0.get_mut(((hash >> 50) & 3) as usize) else { return true };
        let known = *word & bits == bits;
        *word |= bits;
        known
    }
}

/// The names of the innermost object, and of those around it. The buffer is the caller's.
pub(crate) struct Noted<'b> {
    innermost: NameSet,
    around: &'b mut Vec<NameSet>,
}

impl Noted<'_> {
    pub fn new(around: &mut Vec<NameSet>) -> Noted<'_> {
        Noted { innermost: NameSet::default(), around }
    }
}

impl Names for Noted<'_> {
    #[inline(always)]
    fn open(&mut self) {
        self.around.push(std::mem::take(&mut self.innermost));
    }

    #[inline(always)]
    fn close(&mut self) {
        self.innermost = self.around.pop().unwrap_or_default();
    }

    #[inline(always)]
    fn name(&mut self, bytes: &[u8], name: Span, before: Seen, seen: &mut Seen) {
        // A name with an escape may be any other name.
        if self.innermost.add(bytes, name) || before.has(Seen::ESCAPE) && has_escape(name.of(bytes)) {
            seen.add(Seen::REPEATS);
        }
    }
}

#[inline(always)]
fn validate_with(
    bytes: &[u8],
    start: usize,
    open: u32,
    max_depth: u32,
    seen: &mut Seen,
    names: &mut impl Names,
) -> Result<usize, Malformed> {
    let allowed = max_depth.min(MAX_DEPTH);
    let mut at = start;
    let mut depth = open;
    // One bit for each container opened here, the innermost lowest: 1 = object.
    let mut objects: u128 = 0;
    'value: loop {
        match bytes.get(at) {
            Some(b'"') => at = validate_string(bytes, at + 1, seen)? + 1,
            Some(b'{') => {
                if depth >= allowed {
                    return malformed(at, Fault::Depth);
                }
                at = spaces(bytes, at + 1, seen);
                if bytes.get(at) == Some(&b'}') {
                    at += 1;
                } else {
                    depth += 1;
                    objects = objects << 1 | 1;
                    let (name, value) = validate_name(bytes, at, seen)?;
                    names.open();
                    names.name(bytes, name, *seen, seen);
                    at = value;
                    continue 'value;
                }
            }
            Some(b'[') => {
                if depth >= allowed {
                    return malformed(at, Fault::Depth);
                }
                at = spaces(bytes, at + 1, seen);
                if bytes.get(at) == Some(&b']') {
                    at += 1;
                } else {
                    depth += 1;
                    objects <<= 1;
                    continue 'value;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = validate_number(bytes, at)?,
            _ => at = validate_literal(bytes, at)?,
        }
        // A value has ended: close what ends with it, or go on to the next one.
        loop {
            if depth == open {
                return Ok(at);
            }
            at = spaces(bytes, at, seen);
            let in_object = objects & 1 == 1;
            match bytes.get(at) {
                Some(b',') => {
                    at = spaces(bytes, at + 1, seen);
                    if in_object {
                        let (name, value) = validate_name(bytes, at, seen)?;
                        names.name(bytes, name, *seen, seen);
                        at = value;
                    }
                    continue 'value;
                }
                Some(b'}') if in_object => {}
                Some(b']') if !in_object => {}
                _ => return unexpected(bytes, at),
            }
            at += 1;
            depth -= 1;
            objects >>= 1;
            if in_object {
                names.close();
            }
        }
    }
}

/// Validates a whole text: one value with white space around it.
pub fn validate_text(bytes: &[u8], max_depth: u32) -> Result<Span, Malformed> {
    if let Some(span) = tokens::validate(bytes, max_depth) {
        return Ok(span);
    }
    let start = skip_space(bytes, 0);
    let end = validate_value(bytes, start, 0, max_depth, &mut Seen::default())?;
    let rest = skip_space(bytes, end);
    if rest < bytes.len() { unexpected(bytes, rest) } else { Ok(Span::new(start, end)) }
}

/// The position of the closing quote of a valid string whose opening quote stands before `at`.
#[inline]
pub fn end_of_valid_string(bytes: &[u8], at: usize) -> usize {
    let at = end_of_plain(bytes, at);
    if bytes.get(at) == Some(&b'"') { at } else { Level::to_look().run(EndOfString { bytes, at }) }
}

/// Looks for the quote that ends a string, from a place where no escape begins before.
struct EndOfString<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Work for EndOfString<'_> {
    type Output = usize;
    #[inline(always)]
    fn run(self, marks: impl Marks) -> usize {
        let (mut at, mut quoting) = (self.at, Quoting::default());
        while let Some(block) = block_at(self.bytes, at, &mut [0; BLOCK]) {
            let quotes = quoting.next(marks.strings(block), marks).quotes;
            if quotes != 0 {
                return at + quotes.trailing_zeros() as usize;
            }
            at += BLOCK;
        }
        self.bytes.len()
    }
}

/// The block that starts at `at`; the last one is filled up in `padded`.
#[inline(always)]
fn block_at<'x>(bytes: &'x [u8], at: usize, padded: &'x mut [u8; BLOCK]) -> Option<&'x [u8; BLOCK]> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    Some(rest.first_chunk::<BLOCK>().unwrap_or_else(|| {
        padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        padded
    }))
}

/// The position after the valid value that starts at `at`, or behind white space, a comma or a colon there.
#[inline]
pub fn skip_valid(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':') = bytes.get(at) {
        at += 1;
    }
    let is_scalar =
        |byte: &u8| !matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' | b':' | b'"' | b'{' | b'[');
    let end = match bytes.get(at) {
        Some(b'"') => end_of_valid_string(bytes, at + 1) + 1,
        Some(b'{' | b'[') => Level::to_look().run(EndOfContainer { bytes, at }),
        Some(b'}' | b']') => at + 1,
        _ => at + bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_scalar(byte)).count(),
    };
    end.min(bytes.len())
}

/// Looks for the bracket that closes the container which opens at a place.
struct EndOfContainer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Work for EndOfContainer<'_> {
    type Output = usize;
    #[inline(always)]
    fn run(self, marks: impl Marks) -> usize {
        let (mut at, mut quoting, mut open) = (self.at, Quoting::default(), 0u32);
        while let Some(block) = block_at(self.bytes, at, &mut [0; BLOCK]) {
            let inside = quoting.next(marks.strings(block), marks).inside;
            let brackets = marks.brackets(block);
            let (opening, closing) = (brackets.open & !inside, brackets.close & !inside);
            // With fewer that close than are open, it cannot be in this block.
            let mut candidates = if closing.count_ones() < open { 0 } else { closing };
            while candidates != 0 {
                let place = candidates.trailing_zeros();
                let up_to_here = u64::MAX >> (63 - place);
                if open + (opening & up_to_here).count_ones() == (closing & up_to_here).count_ones() {
                    return at + place as usize + 1;
                }
                candidates &= candidates - 1;
            }
            open = open + opening.count_ones() - closing.count_ones();
            at += BLOCK;
        }
        self.bytes.len()
    }
}

/// The members of a valid object, in order, repeated ones too: (name between its quotes, value).
///
/// `object` starts at the opening brace; spans count from the start of `bytes`.
pub fn members(bytes: &[u8], object: Span) -> Members<'_> {
    Members { bytes, at: object.start as usize + 1, end: object.end as usize }
}

#[derive(Clone)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for Members<'_> {
    type Item = (Span, Span);

    fn next(&mut self) -> Option<(Span, Span)> {
        let mut at = skip_space(self.bytes, self.at);
        if self.bytes.get(at) == Some(&b',') {
            at = skip_space(self.bytes, at + 1);
        }
        if at >= self.end || self.bytes.get(at) != Some(&b'"') {
            return None;
        }
        let name_end = end_of_valid_string(self.bytes, at + 1);
        let name = Span::new(at + 1, name_end);
        let colon = skip_space(self.bytes, name_end + 1);
        let start = skip_space(self.bytes, colon + 1);
        self.at = skip_valid(self.bytes, start);
        Some((name, Span::new(start, self.at)))
    }
}

/// The elements of a valid array, in order. `array` starts at the opening bracket.
pub fn elements(bytes: &[u8], array: Span) -> Elements<'_> {
    Elements { bytes, at: array.start as usize + 1, end: array.end as usize }
}

#[derive(Clone)]
pub struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for Elements<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let mut at = skip_space(self.bytes, self.at);
        if self.bytes.get(at) == Some(&b',') {
            at = skip_space(self.bytes, at + 1);
        }
        if at >= self.end || matches!(self.bytes.get(at), Some(b']') | None) {
            return None;
        }
        self.at = skip_valid(self.bytes, at);
        Some(Span::new(at, self.at))
    }
}

/// The last value of the member `name` of a valid object.
pub fn member(bytes: &[u8], object: Span, name: &str) -> Option<Span> {
    members(bytes, object).filter(|(key, _)| name_is(key.of(bytes), name)).last().map(|(_, value)| value)
}

/// Whether a short string, as it stands between its quotes, has an escape.
#[inline]
pub fn has_escape(raw: &[u8]) -> bool {
    let (words, rest) = raw.as_chunks::<8>();
    let in_word = |word: &[u8; 8]| zero_bytes(u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\\'))) != 0;
    words.iter().any(in_word) || rest.contains(&b'\\')
}

/// Whether a string as it stands between its quotes spells `name`, escapes undone.
pub fn name_is(raw: &[u8], name: &str) -> bool {
    // An escaped spelling is longer than a plain one.
    match raw.len().cmp(&name.len()) {
        Ordering::Less => false,
        Ordering::Equal => raw == name.as_bytes() && !has_escape(raw),
        Ordering::Greater => has_escape(raw) && decoded(raw).eq(name.chars()),
    }
}

/// The inside of the quotes of a string value; `None` for other values.
pub fn string_inside(bytes: &[u8], value: Span) -> Option<Span> {
    let raw = value.of(bytes);
    (raw.len() >= 2 && raw.first() == Some(&b'"')).then(|| Span { start: value.start + 1, end: value.end - 1 })
}

/// The characters of a string as it stands between its quotes. A lone surrogate is U+FFFD.
pub fn decoded(raw: &[u8]) -> Decoded<'_> {
    Decoded { raw, at: 0 }
}

#[derive(Clone)]
pub struct Decoded<'a> {
    raw: &'a [u8],
    at: usize,
}

impl Iterator for Decoded<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = *self.raw.get(self.at)?;
        if first == b'\\' {
            let (c, length) = decode_escape(self.raw, self.at);
            self.at += length;
            return Some(c);
        }
        let (c, length) = decode_utf8(self.raw, self.at);
        self.at += length;
        Some(c)
    }
}

/// The character that starts at `at` in valid UTF-8, and its length in bytes.
fn decode_utf8(raw: &[u8], at: usize) -> (char, usize) {
    let byte = |i: usize| u32::from(raw.get(at + i).copied().unwrap_or_default());
    let (code, length) = match byte(0) {
        b if b < 0x80 => (b, 1),
        b if b < 0xE0 => ((b & 0x1F) << 6 | byte(1) & 0x3F, 2),
        b if b < 0xF0 => ((b & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | byte(2) & 0x3F, 3),
        b => ((b & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | byte(3) & 0x3F, 4),
    };
    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), length)
}

/// The character of the valid escape at `at`, and the escape's length in bytes.
pub fn decode_escape(raw: &[u8], at: usize) -> (char, usize) {
    let simple = match raw.get(at + 1) {
        Some(b'u') => {
            let unit = hex4(raw, at + 2).unwrap_or(0xFFFD);
            if (0xD800..0xDC00).contains(&unit)
                && let Some(low) = low_surrogate(raw, at + 6)
            {
                let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
            }
            return (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6);
        }
        Some(&letter) => char::from(short_escape(letter).unwrap_or(letter)),
        None => char::REPLACEMENT_CHARACTER,
    };
    (simple, 2)
}

/// What a letter behind a backslash means, but for `u`.
#[inline(always)]
fn short_escape(letter: u8) -> Option<u8> {
    Some(match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x08,
        b'f' => 0x0C,
        b'"' | b'\\' | b'/' => letter,
        _ => return None,
    })
}

/// Appends the decoded bytes (UTF-8) of a string as it stands between its quotes.
pub fn decode_into(raw: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    // Decoding makes nothing longer; whole words are copied, of which the last may reach over the end.
    out.resize(start + raw.len() + WORD, 0);
    let target = out.get_mut(start..).unwrap_or_default();
    let length = Level::of_this_machine().run(Decode { raw, target });
    out.truncate(start + length);
}

const WORD: usize = 8;

/// Decodes a string into a target that is a word longer; how many bytes that makes.
struct Decode<'a> {
    raw: &'a [u8],
    target: &'a mut [u8],
}

impl Work for Decode<'_> {
    type Output = usize;
    #[inline(always)]
    fn run(self, marks: impl Marks) -> usize {
        let Decode { raw, target } = self;
        let (mut at, mut to) = (0, 0);
        while let Some(block) = raw.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            let strings = marks.strings(block);
            let mut open = 0;
            let escaped = escaped_by(strings.backslash, &mut open);
            let mut undone = *block;
            // Escapes of one character, none of them cut in two: the backslashes before them are left out.
            if open == 0 && undo_short_escapes(&mut undone, escaped & !strings.quote & !strings.backslash) {
                let left_out = strings.backslash & !escaped;
                let Some(place) = target.get_mut(to..).and_then(|rest| rest.first_chunk_mut()) else { break };
                marks.without(&undone, left_out, place);
                to += BLOCK - left_out.count_ones() as usize;
                at += BLOCK;
            } else {
                (at, to) = decode_words(raw, at, at + BLOCK, target, to);
            }
        }
        decode_words(raw, at, raw.len(), target, to).1
    }
}

/// Appends valid JSON without the white space outside its strings.
pub fn without_space_into(json: &[u8], out: &mut Vec<u8>) {
    write_without_space::<false>(json, out);
}

/// Appends a text that may be JSON without the white space outside its strings; whether it is JSON if what was appended is.
/// White space that JSON does not know it must not have, and none that parts a token: `1 2` becomes `12`.
pub fn is_json_without_space_into(text: &[u8], out: &mut Vec<u8>) -> bool {
    write_without_space::<true>(text, out)
}

#[inline(always)]
fn write_without_space<const CHECKED: bool>(json: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.resize(start + json.len() + BLOCK, 0);
    let target = out.get_mut(start..).unwrap_or_default();
    let (length, is_json) = Level::of_this_machine().run(WithoutSpace::<CHECKED> { json, target });
    out.truncate(start + length);
    is_json
}

struct WithoutSpace<'a, const CHECKED: bool> {
    json: &'a [u8],
    target: &'a mut [u8],
}

impl<const CHECKED: bool> Work for WithoutSpace<'_, CHECKED> {
    type Output = (usize, bool);
    #[inline(always)]
    fn run(self, marks: impl Marks) -> (usize, bool) {
        let WithoutSpace { json, target } = self;
        let (mut at, mut to, mut is_json) = (0, 0, true);
        let (mut quoting, mut gaps) = (Quoting::default(), Gaps::default());
        while let Some(block) = block_at(json, at, &mut [0; BLOCK]) {
            let strings = marks.strings(block);
            let Quoted { quotes, inside, .. } = quoting.next(strings, marks);
            // What fills up the last block goes too.
            let filling = u64::MAX.checked_shl(u32::try_from(json.len() - at).unwrap_or(u32::MAX)).unwrap_or(0);
            let outside = marks.outside(block);
            let white = outside.white & !inside;
            let space = white | filling;
            if CHECKED {
                is_json &= !gaps.part_a_token(!(outside.operator | outside.white | quotes | inside), space)
                    && ones(strings.control & white & !filling)
                        .all(|place| matches!(block.get(place as usize), Some(b'\t' | b'\n' | b'\r')));
            }
            let Some(place) = target.get_mut(to..).and_then(|rest| rest.first_chunk_mut::<BLOCK>()) else { break };
            marks.without(block, space, place);
            to += BLOCK - space.count_ones() as usize;
            at += BLOCK;
        }
        (to, is_json)
    }
}

/// What must be known of the blocks before to find white space between two parts of a number or literal.
#[derive(Default)]
struct Gaps {
    /// 1: the byte before belongs to a number or literal.
    in_scalar: u64,
    /// 1: such a byte and white space stand before.
    behind_scalar: u64,
}

impl Gaps {
    /// `scalars`: the bytes that belong to numbers and literals; `space`: white space between tokens.
    #[inline(always)]
    fn part_a_token(&mut self, scalars: u64, space: u64) -> bool {
        let starts = ((scalars << 1 | self.in_scalar) & space) | (self.behind_scalar & space);
        // The addition carries from where white space starts to the place behind it.
        let (carried, overflow) = starts.overflowing_add(space);
        let ends = (carried | self.behind_scalar) & !space;
        self.in_scalar = scalars >> 63;
        self.behind_scalar = overflow.into();
        ends & scalars != 0
    }
}

/// Puts the characters that are meant in the place of letters that are escaped; whether all of them are such.
#[inline(always)]
fn undo_short_escapes(block: &mut [u8; BLOCK], escaped: u64) -> bool {
    ones(escaped).all(|place| {
        let Some(byte) = block.get_mut(place as usize) else { return false };
        let Some(meant) = short_escape(*byte) else { return false };
        *byte = meant;
        true
    })
}

/// Decodes from `at` to `stop`, or a little further; both positions then.
fn decode_words(raw: &[u8], mut at: usize, stop: usize, target: &mut [u8], mut to: usize) -> (usize, usize) {
    while at < stop {
        let Some(&byte) = raw.get(at) else { break };
        let word = raw.get(at..).and_then(|rest| rest.first_chunk::<WORD>());
        if let (Some(word), Some(place)) = (word, target.get_mut(to..to + WORD)) {
            place.copy_from_slice(word);
            let marks = zero_bytes(u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\\')));
            let plain = (marks.trailing_zeros() / 8) as usize;
            at += plain;
            to += plain;
            if plain == WORD {
                continue;
            }
        } else if byte != b'\\' {
            write_byte(target, to, byte);
            at += 1;
            to += 1;
            continue;
        }
        let Some(simple) = raw.get(at + 1).and_then(|letter| short_escape(*letter)) else {
            let (c, length) = decode_escape(raw, at);
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                write_byte(target, to, byte);
                to += 1;
            }
            at += length;
            continue;
        };
        write_byte(target, to, simple);
        at += 2;
        to += 1;
    }
    (at, to)
}

#[inline(always)]
fn write_byte(target: &mut [u8], at: usize, byte: u8) {
    if let Some(place) = target.get_mut(at) {
        *place = byte;
    }
}

/// A mark in the highest bit of each byte that is zero; above the lowest mark some may be wrong.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// How many bytes [`decode_into`] would append.
pub fn decoded_len(raw: &[u8]) -> usize {
    let mut rest = raw;
    let mut length = 0;
    while let Some(plain) = memchr::memchr(b'\\', rest) {
        let escape = rest.get(plain..).unwrap_or_default();
        let (c, taken) = decode_escape(escape, 0);
        length += plain + c.len_utf8();
        rest = escape.get(taken..).unwrap_or_default();
    }
    length + rest.len()
}

/// A JSON string as text, borrowed where it has no escapes.
pub fn text_of(raw: &[u8]) -> std::borrow::Cow<'_, str> {
    if memchr::memchr(b'\\', raw).is_none() {
        return String::from_utf8_lossy(raw);
    }
    let mut decoded = Vec::with_capacity(raw.len());
    decode_into(raw, &mut decoded);
    match String::from_utf8(decoded) {
        Ok(text) => text.into(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
    }
}

/// Appends `text` (UTF-8) with the shortest escapes JSON has for it, without quotes.
pub fn escape_into(text: &[u8], out: &mut Vec<u8>) {
    struct Escape<'x>(&'x [u8], &'x mut Vec<u8>);
    impl Work for Escape<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self, marks: impl Marks) {
            escape_with(marks, self.0, self.1);
        }
    }
    Level::of_this_machine().run(Escape(text, out));
}

#[inline(always)]
fn escape_with(marks: impl Marks, text: &[u8], out: &mut Vec<u8>) {
    /// Room for several blocks, each of them twice as long at most.
    const ROOM: usize = 32 * BLOCK;
    let mut to = out.len();
    // What stands before `copied` has been written.
    let mut copied = 0;
    let mut start = 0;
    while let Some(block) = block_at(text, start, &mut [0; BLOCK]) {
        let length = BLOCK.min(text.len() - start);
        let own = u64::MAX >> (BLOCK - length);
        let strings = marks.strings(block);
        if strings.special() & own != 0 {
            if copied < start {
                out.truncate(to);
                out.extend_from_slice(text.get(copied..start).unwrap_or_default());
                to = out.len();
            }
            copied = start + length;
            if strings.control & own == 0 {
                if out.len() < to + ESCAPED {
                    out.resize(to + ROOM.min(2 * (text.len() - start)).max(ESCAPED), 0);
                }
                let place = out.get_mut(to..).and_then(|rest| rest.first_chunk_mut());
                let Some(place) = place else { break };
                marks.with_backslashes(block, strings.special() & own, place);
                to += length + (strings.special() & own).count_ones() as usize;
            } else {
                out.truncate(to);
                escape_slowly(block.get(..length).unwrap_or_default(), out);
                to = out.len();
            }
        }
        start += BLOCK;
    }
    out.truncate(to);
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
}

/// The room that an escaped block needs.
const ESCAPED: usize = 2 * BLOCK;

fn escape_slowly(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        if byte < 0x20 || matches!(byte, b'"' | b'\\') {
            let (escape, length) = escape_of(byte);
            out.extend_from_slice(escape.get(..length).unwrap_or_default());
        } else {
            out.push(byte);
        }
    }
}

/// The longest escape.
const ESCAPE: usize = 6;

/// The escape of a byte that needs one, and its length.
fn escape_of(byte: u8) -> ([u8; ESCAPE], usize) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            let digit = |value: u8| b"0123456789abcdef".get(usize::from(value & 15)).copied().unwrap_or(b'0');
            return ([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)], ESCAPE);
        }
    };
    ([b'\\', short, 0, 0, 0, 0], 2)
}

/// Appends a string between its quotes anew: escapes undone where JSON does not need them, lone surrogates replaced.
pub fn shortest_into(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(plain) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        let (c, length) = decode_escape(escape, 0);
        escape_into(c.encode_utf8(&mut [0; 4]).as_bytes(), out);
        rest = escape.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::super::masks::tests::at_every_level;
    use super::*;

    fn accepts(text: &str) -> bool {
        validate_text(text.as_bytes(), MAX_DEPTH).is_ok()
    }

    fn fault(text: &str) -> (usize, Fault) {
        let Err(error) = validate_text(text.as_bytes(), MAX_DEPTH) else { panic!("{text} was accepted") };
        (error.at, error.fault)
    }

    #[test]
    fn accepts_the_grammar_and_nothing_else() {
        for good in ["0", "-0", "1.5e+9", "\"\"", "\"\\u00e9\\n\"", "[]", "{}", " [1 , {\"a\" : null}] ", "\"\\ud800\""]
        {
            assert!(accepts(good), "{good}");
        }
        assert_eq!(fault("NaN"), (0, Fault::NotFinite));
        assert_eq!(fault("[-Infinity]"), (2, Fault::NotFinite));
        assert_eq!(fault("[1,]"), (3, Fault::Unexpected));
        assert_eq!(fault("{\"a\":1"), (6, Fault::End));
        assert_eq!(fault("01"), (1, Fault::Number));
        assert_eq!(fault("1."), (2, Fault::End));
        assert_eq!(fault("\"a\u{1}\""), (2, Fault::Control));
        assert_eq!(fault("\"\\x\""), (2, Fault::Escape));
        assert_eq!(fault("\"\\u00g0\""), (5, Fault::Escape));
        assert_eq!(fault("tru"), (3, Fault::End));
        assert_eq!(fault("[] x"), (3, Fault::Unexpected));
    }

    #[test]
    fn allows_the_depth_it_is_told() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(accepts(&nested(128)));
        assert_eq!(fault(&nested(129)), (128, Fault::Depth));
        assert!(validate_text(nested(3).as_bytes(), 2).is_err());
    }

    #[test]
    fn finds_the_end_of_strings_of_every_length() {
        for length in 0..200 {
            for stop in ['"', '\\', '\u{1f}'] {
                let text = "é".repeat(length / 2) + &"x".repeat(length % 2) + &stop.to_string() + "tail tail tail";
                assert_eq!(end_of_plain(text.as_bytes(), 0), length / 2 * 2 + length % 2, "{text}");
            }
        }
    }

    #[test]
    fn decodes_and_encodes() {
        let raw = br#"a\u00e9\ud83e\udd8a\ud800x\/\"\\\n\u0001"#;
        let mut text = Vec::new();
        decode_into(raw, &mut text);
        assert_eq!(text, "aé🦊\u{fffd}x/\"\\\n\u{1}".as_bytes());
        assert_eq!(decoded_len(raw), text.len());
        assert_eq!(decoded(raw).collect::<String>().as_bytes(), text);
        let mut again = Vec::new();
        escape_into(&text, &mut again);
        assert_eq!(String::from_utf8(again.clone()).unwrap(), "aé🦊\u{fffd}x/\\\"\\\\\\n\\u0001");
        let mut shortest = Vec::new();
        shortest_into(raw, &mut shortest);
        assert_eq!(shortest, again);
        assert!(name_is(br"con\u0074ent", "content"));
        assert!(!name_is(br"con\u0074en", "content"));
    }

    #[test]
    fn decodes_escapes_at_every_place() {
        at_every_level(|| {
            for escape in [r"\n", r"\\", r#"\""#, r"\b", r"\u00e9", r"\ud83e\udd8a", r"\ud800", r"\ud800\n", r"\n\t\/"]
            {
                for before in (0..20).chain(55..70).chain(120..135) {
                    for after in [0, 1, 7, 8, 20, 70, 130] {
                        let raw = r#"\"a\\"#.repeat(before / 30)
                            + &"é".repeat(before / 2)
                            + &"x".repeat(before % 2)
                            + escape
                            + &"y".repeat(after);
                        let mut text = b"kept".to_vec();
                        decode_into(raw.as_bytes(), &mut text);
                        let expected = "kept".to_owned() + &decoded(raw.as_bytes()).collect::<String>();
                        assert_eq!(String::from_utf8(text).unwrap(), expected, "{raw}");
                    }
                }
            }
        });
    }

    #[test]
    fn takes_out_white_space_at_every_place() {
        at_every_level(|| {
            for before in 0..140 {
                let text = format!(
                    "{}[1, \"a \\\" {}\"\t:\r\n{{ }} ]{}",
                    " ".repeat(before),
                    "x ".repeat(before / 2),
                    "\n".repeat(before / 3)
                );
                let mut out = b"kept".to_vec();
                without_space_into(text.as_bytes(), &mut out);
                let expected = format!("kept[1,\"a \\\" {}\":{{}}]", "x ".repeat(before / 2));
                assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        });
    }

    #[test]
    fn tells_white_space_that_json_does_not_allow() {
        at_every_level(|| {
            let json = r#"{"a \" b":[-1.5e+10,12,true],"c":{"d":null,"e\\":""},"ü":[[],{}],"f":"g, h: i"}"#;
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            for before in [0, 1, 30, 62, 63, 64, 65, 120, 128, 200] {
                for space in [" ", "\n", "\r\n\t", "\u{1}", "\u{b}", "\0", &" ".repeat(64), &"\n".repeat(130)] {
                    for place in (0..=json.len()).filter(|place| json.is_char_boundary(*place)) {
                        let (head, tail) = json.split_at(place);
                        let text = [&" ".repeat(before), head, space, tail].concat();
                        let is_same =
                            serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|other| other == value);
                        let mut out = Vec::new();
                        let is_json = is_json_without_space_into(text.as_bytes(), &mut out);
                        assert_eq!(is_json && out == json.as_bytes(), is_same, "{text:?}");
                    }
                }
            }
        });
    }

    #[test]
    fn escapes_at_every_place() {
        at_every_level(|| {
            let plainly = |text: &[u8]| {
                let mut out = Vec::new();
                for &byte in text {
                    match byte {
                        b'"' => out.extend_from_slice(b"\\\""),
                        b'\\' => out.extend_from_slice(b"\\\\"),
                        b'\n' => out.extend_from_slice(b"\\n"),
                        0x1F => out.extend_from_slice(b"\\u001f"),
                        _ => out.push(byte),
                    }
                }
                out
            };
            for length in 0..150 {
                for special in [b'"', b'\\', b'\n', 0x1f] {
                    let mut text = vec![b'x'; length];
                    for place in [0, length / 3, length.saturating_sub(1)] {
                        if let Some(byte) = text.get_mut(place) {
                            *byte = special;
                        }
                    }
                    text.extend_from_slice("é🦊".as_bytes());
                    let mut out = Vec::new();
                    escape_into(&text, &mut out);
                    assert_eq!(out, plainly(&text), "{length} {special}");
                }
            }
        });
    }

    /// The end of a value, byte by byte.
    fn end_of_value(bytes: &[u8], at: usize) -> usize {
        validate_value(bytes, at, 0, MAX_DEPTH, &mut Seen::default()).unwrap()
    }

    #[test]
    fn skips_values_at_every_place() {
        at_every_level(|| {
            let inner = r#"{"a\\\"{":["}]",{"b":[[],{}]},"\\",12.5e3,true],"":{}}"#;
            for before in 0..130 {
                for middle in 0..70 {
                    let text = format!(
                        r#"{}[{inner},"{}\"]",{inner}] , {{"next":"\\\\{}"}}]]"#,
                        " ".repeat(before),
                        "x".repeat(middle),
                        "y".repeat(before)
                    );
                    let bytes = text.as_bytes();
                    let end = skip_valid(bytes, before);
                    assert_eq!(end, end_of_value(bytes, before), "{text}");
                    let next = skip_space(bytes, end) + 1;
                    assert_eq!(skip_valid(bytes, next), end_of_value(bytes, skip_space(bytes, next)), "{text}");
                    let string = before + 2 + inner.len();
                    assert_eq!(end_of_valid_string(bytes, string + 1) + 1, end_of_value(bytes, string), "{text}");
                }
            }
            for nonsense in ["", "}", "]", ",", ":", " ", "\"", "\"\\", "{", "[\"]", "{{}", "x"] {
                let end = skip_valid(nonsense.as_bytes(), 0);
                assert!(end <= nonsense.len() && (end > 0 || nonsense.is_empty()), "{nonsense}: {end}");
            }
        });
    }

    #[test]
    fn reads_members_and_elements() {
        let text = br#" { "a" : [1 , "x]"] , "b":{"c":null} , "a":2 } "#;
        let whole = validate_text(text, 8).unwrap();
        let found: Vec<_> = members(text, whole).map(|(n, v)| (n.of(text), v.of(text))).collect();
        assert_eq!(found, [(&b"a"[..], &b"[1 , \"x]\"]"[..]), (b"b", b"{\"c\":null}"), (b"a", b"2")]);
        let array = members(text, whole).next().unwrap().1;
        assert_eq!(elements(text, array).map(|e| e.of(text)).collect::<Vec<_>>(), [&b"1"[..], b"\"x]\""]);
        assert_eq!(member(text, whole, "a").unwrap().of(text), b"2");
    }
}
