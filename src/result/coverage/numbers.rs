//! Numbers: their exact value, and the numbers that stand in a text.
//!
//! A *run* is as many digits as stand together, with `.`, `,`, `_` or `'` between two of them. It is read as
//! * its parts between `,`, `_` and `'`: `[1,2.5]` is 1 and 2.5; a part with two points or more is no number, but
//!   each of its groups is (`10.0.0.1`, `03.11.2024`);
//! * one number, when its parts are thousands: `1,234,567.89`, `1_000`, `1'234`;
//! * with an exponent when one follows and no letter or digit after that: `1e3` is 1000 and not 1;
//! * with a fraction alone when a point stands before it, and no letter, digit or point before that: `.5`;
//! * negative when `-` or U+2212 stands before it; after a letter or digit that may be a hyphen, then it is read both
//!   ways (`2024-11` has 11 and -11).
//!
//! Any of these readings covers a leaf of that value. Digits are whole runs, so 3 is not in 13; letters may stand on
//! both sides (`5px`, `v3`, `800x600`). A comma is never a decimal sign. Digits are ASCII.

use memchr::memmem;

use super::fold;
use super::leaves::Leaves;

/// The exact value of a number: `mantissa` and the digits after it times ten to the power of `exponent`.
///
/// The mantissa has the first [`DIGITS`] significant digits, the others stand in [`Decimal::more`]; the last digit of
/// all is not 0. Zero is all zeros and not negative.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Value {
    pub mantissa: u64,
    pub exponent: i64,
    pub negative: bool,
}

/// As many digits always fit a `u64`.
const DIGITS: u32 = 19;
/// Exponents beyond are all alike.
const MAX_EXPONENT: i64 = 1_000_000_000_000_000;

/// Reads digits into a value.
#[derive(Default)]
pub struct Decimal {
    mantissa: u64,
    taken: u32,
    /// Zeros that count only when another digit follows.
    zeros: i64,
    fraction: i64,
    more: Vec<u8>,
}

impl Decimal {
    /// The value of a JSON number.
    pub fn read(&mut self, number: &[u8]) -> Value {
        let (negative, number) = match number.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, number),
        };
        let end = number.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(number.len());
        let (digits, exponent) = number.split_at_checked(end).unwrap_or((number, &[]));
        self.digits(digits, false);
        self.value(negative, exponent.get(1..).map_or(0, exponent_of))
    }

    /// Digits of [`Value`] after those in the mantissa, of the value read last.
    pub fn more(&self) -> &[u8] {
        &self.more
    }

    /// Starts anew with these digits; a point starts the fraction unless it has begun, separators are passed over.
    #[inline]
    fn digits(&mut self, digits: &[u8], mut in_fraction: bool) {
        self.more.clear();
        (self.mantissa, self.taken, self.zeros, self.fraction) = (0, 0, 0, 0);
        // Most numbers have no more digits than the mantissa: their last zeros are taken off at the end.
        let is_short = digits.len() <= DIGITS as usize;
        for &byte in digits {
            match byte {
                b'0'..=b'9' => {
                    self.fraction += i64::from(in_fraction);
                    if is_short {
                        self.mantissa = self.mantissa * 10 + u64::from(byte - b'0');
                    } else {
                        self.digit(byte - b'0');
                    }
                }
                b'.' => in_fraction = true,
                _ => {}
            }
        }
        while is_short && self.mantissa != 0 && self.mantissa.is_multiple_of(10) {
            self.mantissa /= 10;
            self.zeros += 1;
        }
    }

    #[inline]
    fn digit(&mut self, digit: u8) {
        if digit == 0 {
            self.zeros += i64::from(self.taken > 0);
            return;
        }
        while self.zeros > 0 {
            self.zeros -= 1;
            self.push(0);
        }
        self.push(digit);
    }

    #[inline]
    fn push(&mut self, digit: u8) {
        if self.taken < DIGITS {
            self.mantissa = self.mantissa * 10 + u64::from(digit);
            self.taken += 1;
        } else {
            self.more.push(digit);
        }
    }

    #[inline]
    fn value(&self, negative: bool, exponent: i64) -> Value {
        if self.mantissa == 0 {
            return Value::default();
        }
        Value { mantissa: self.mantissa, exponent: exponent - self.fraction + self.zeros, negative }
    }
}

/// The value of `+12`, `-3` or `4`.
fn exponent_of(text: &[u8]) -> i64 {
    let digits = text.iter().filter(|b| b.is_ascii_digit());
    let size = digits.fold(0, |size: i64, &b| (size * 10 + i64::from(b - b'0')).min(MAX_EXPONENT));
    if text.first() == Some(&b'-') { -size } else { size }
}

/// Covers the number leaves that stand in `text`, which is folded.
pub fn find(text: &[u8], json: &[u8], leaves: &mut Leaves, decimal: &mut Decimal) {
    if leaves.numbers_left == 0 {
        return;
    }
    if leaves.numbers_left <= 8 {
        find_as_spelled(text, json, leaves);
    }
    if leaves.numbers_left == 0 {
        return;
    }
    let beginnings = Beginnings::of(leaves);
    let mut at = 0;
    while leaves.numbers_left > 0
        && let Some(start) = next_digit(text, at)
    {
        at = read_run(text, start, |digits, in_fraction, sign, exponent| {
            if !beginnings.has(digits) {
                return;
            }
            decimal.digits(digits, in_fraction);
            let value = decimal.value(false, exponent);
            if sign != Sign::Minus {
                leaves.cover_value(value, decimal.more());
            }
            if sign != Sign::None {
                leaves.cover_value(Value { negative: value.mantissa != 0, ..value }, decimal.more());
            }
        });
    }
}

/// The first three significant digits of the numbers that are missing: most numbers of a text differ there.
struct Beginnings([u64; 16]);

impl Beginnings {
    fn of(leaves: &Leaves) -> Beginnings {
        let mut bits = [0; 16];
        for leaf in leaves.numbers.iter().filter(|leaf| !leaf.covered) {
            let mut beginning = leaf.value.mantissa;
            while beginning >= 1000 {
                beginning /= 10;
            }
            while beginning > 0 && beginning < 100 {
                beginning *= 10;
            }
            if let Some(word) = bits.get_mut((beginning / 64) as usize) {
                *word |= 1 << (beginning % 64);
            }
        }
        Beginnings(bits)
    }

    #[inline]
    fn has(&self, digits: &[u8]) -> bool {
        let (mut beginning, mut taken) = (0, 0);
        for &byte in digits {
            if byte.is_ascii_digit() && (byte != b'0' || taken > 0) {
                beginning = beginning * 10 + u64::from(byte - b'0');
                taken += 1;
                if taken == 3 {
                    break;
                }
            }
        }
        while beginning > 0 && taken < 3 {
            beginning *= 10;
            taken += 1;
        }
        self.0.get((beginning / 64) as usize).is_some_and(|word| word >> (beginning % 64) & 1 != 0)
    }
}

/// Covers leaves whose own spelling stands in the text in a way that leaves no doubt, looking at a few places only.
fn find_as_spelled(text: &[u8], json: &[u8], leaves: &mut Leaves) {
    for index in 0..leaves.numbers.len() {
        let Some(leaf) = leaves.numbers.get(index).filter(|leaf| !leaf.covered) else { continue };
        let spelled = leaf.source.of(json);
        if spelled.iter().any(|b| matches!(b, b'e' | b'E')) {
            continue;
        }
        if memmem::find_iter(text, spelled).take(4).any(|at| stands_alone(text, at, at + spelled.len())) {
            leaves.cover_number(index);
        }
    }
}

/// Whether what stands before and after can change no reading of the number between.
pub fn stands_alone(text: &[u8], start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let goes_on = match after {
        [b'0'..=b'9' | b'e', ..] => true,
        [b'.', next, ..] => next.is_ascii_digit(),
        _ => false,
    };
    let has_more_before = matches!(before.last(), Some(b'0'..=b'9' | b'.' | b'-' | b'+' | b'e'));
    !goes_on && !has_more_before && !before.ends_with(MINUS)
}

const MINUS: &[u8] = "\u{2212}".as_bytes();

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    None,
    Minus,
    /// A minus or a hyphen.
    Either,
}

/// The position of the first digit at or after `at`.
#[inline]
fn next_digit(text: &[u8], mut at: usize) -> Option<usize> {
    while let Some(word) = text.get(at..)?.first_chunk::<8>() {
        // Digits are 0 to 9 after this, and only they stay under 0x80 when 0x76 is added.
        let word = u64::from_le_bytes(*word) ^ 0x3030_3030_3030_3030;
        let others = (word & 0x7F7F_7F7F_7F7F_7F7F).wrapping_add(0x7676_7676_7676_7676) | word;
        let before = (!others & 0x8080_8080_8080_8080).trailing_zeros() / 8;
        at += before as usize;
        if before < 8 {
            return Some(at);
        }
    }
    let rest = text.get(at..)?;
    rest.iter().position(u8::is_ascii_digit).map(|before| at + before)
}

/// The position after the digits at `at`.
#[inline]
fn end_of_digits(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

#[inline]
fn is_digit(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_digit)
}

/// Calls `reading` with each reading of the run that starts at `start`: digits with a point and separators, whether
/// they are all fraction, the sign, the exponent. Returns the position after the run.
fn read_run(text: &[u8], start: usize, mut reading: impl FnMut(&[u8], bool, Sign, i64)) -> usize {
    let end = end_of_digits(text, start);
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    if !matches!(text.get(end), Some(b'.' | b',' | b'_' | b'\'' | b'e'))
        && !matches!(before, Some(b'.' | b'-' | 0x80..))
    {
        // Nothing but digits: most runs.
        reading(text.get(start..end).unwrap_or_default(), false, Sign::None, 0);
        return end;
    }
    let (point, sign) = before_run(text, start);
    let mut thousands = Thousands::default();
    let mut at = start;
    loop {
        let part = read_part(text, at);
        let first = at == start;
        let points = part.points + usize::from(first && point);
        let separator =
            text.get(part.end).copied().filter(|b| matches!(b, b',' | b'_' | b'\'') && is_digit(text, part.end + 1));
        let (exponent, end) = match separator {
            None if points <= 1 => read_exponent(text, part.end).unwrap_or((0, part.end)),
            _ => (0, part.end),
        };
        let digits = text.get(at..part.end).unwrap_or_default();
        if points <= 1 {
            reading(digits, first && point, if first { sign } else { Sign::None }, exponent);
        } else {
            for group in digits.split(|&b| b == b'.') {
                reading(group, false, Sign::None, 0);
            }
        }
        thousands.add(&part, digits, points, separator);
        let Some(_) = separator else {
            if !first && thousands.so_far {
                reading(text.get(start..part.end).unwrap_or_default(), false, sign, exponent);
            }
            return end;
        };
        at = part.end + 1;
    }
}

/// Digits with points between them.
struct Part {
    end: usize,
    /// How many digits stand before the first point.
    whole: usize,
    points: usize,
}

#[inline]
fn read_part(text: &[u8], start: usize) -> Part {
    let mut end = end_of_digits(text, start);
    let whole = end - start;
    let mut points = 0;
    while text.get(end) == Some(&b'.') && is_digit(text, end + 1) {
        end = end_of_digits(text, end + 1);
        points += 1;
    }
    Part { end, whole, points }
}

/// Whether the parts of a run are the thousands of one number.
#[derive(Default)]
struct Thousands {
    separator: Option<u8>,
    so_far: bool,
}

impl Thousands {
    #[inline]
    fn add(&mut self, part: &Part, digits: &[u8], points: usize, next: Option<u8>) {
        let last = next.is_none();
        match self.separator {
            None => self.so_far = part.whole <= 3 && points == 0 && digits.first() != Some(&b'0'),
            Some(separator) => {
                self.so_far &=
                    part.whole == 3 && points <= usize::from(last) && next.is_none_or(|next| next == separator);
            }
        }
        self.separator = self.separator.or(next);
    }
}

/// What stands before a run: a point that makes it a fraction, a sign.
#[inline]
fn before_run(text: &[u8], start: usize) -> (bool, Sign) {
    let mut before = text.get(..start).unwrap_or_default();
    let mut point = false;
    if let Some(rest) = before.strip_suffix(b".") {
        if fold::char_before(text, rest.len()).is_some_and(|c| c == '.' || c.is_alphanumeric()) {
            return (false, Sign::None);
        }
        (before, point) = (rest, true);
    }
    let Some(rest) = before.strip_suffix(b"-").or_else(|| before.strip_suffix(MINUS)) else {
        return (point, Sign::None);
    };
    let hyphen = fold::char_before(text, rest.len()).is_some_and(char::is_alphanumeric);
    (point, if hyphen { Sign::Either } else { Sign::Minus })
}

/// The exponent that starts at `at`, and the position after it.
#[inline]
fn read_exponent(text: &[u8], at: usize) -> Option<(i64, usize)> {
    text.get(at).filter(|&&b| b == b'e')?;
    let digits = at + 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
    let end = end_of_digits(text, digits);
    let more = fold::char_at(text, end).is_some_and(char::is_alphanumeric);
    let fraction = text.get(end) == Some(&b'.') && is_digit(text, end + 1);
    if end == digits || more || fraction {
        return None;
    }
    Some((exponent_of(text.get(at + 1..end).unwrap_or_default()), end))
}
