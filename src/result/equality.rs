//! Whether two JSON texts are the same value.
use super::json;
use std::cmp::Ordering;

/// Compares two strings as they stand between their quotes by code point, escapes undone. A lone surrogate is U+FFFD.
pub fn compare_strings(left: &[u8], right: &[u8]) -> Ordering {
    let (mut l, mut r) = (0, 0);
    loop {
        let same = same_plain(left.get(l..).unwrap_or_default(), right.get(r..).unwrap_or_default());
        l += same;
        r += same;
        match (left.get(l), right.get(r)) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            // Bytes of UTF-8 are in the order of code points.
            (Some(&a), Some(&b)) if a != b'\\' && b != b'\\' => return a.cmp(&b),
            (Some(_), Some(_)) => {
                let (a, a_length) = character(left, l);
                let (b, b_length) = character(right, r);
                if a != b {
                    return a.cmp(&b);
                }
                l += a_length;
                r += b_length;
            }
        }
    }
}

/// The character at `at` and how many bytes spell it.
fn character(raw: &[u8], at: usize) -> (char, usize) {
    let rest = raw.get(at..).unwrap_or_default();
    if rest.first() == Some(&b'\\') {
        return json::decode_escape(rest, 0);
    }
    let c = json::decoded(rest).next().unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, c.len_utf8())
}

/// How many bytes both start with that are the same, and no quote or backslash.
#[inline(always)]
fn same_plain(left: &[u8], right: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // The lowest mark is true; higher ones may not be.
    let zero = |v: u64| v.wrapping_sub(ONES) & !v & HIGHS;
    let mut at = 0;
    while let (Some(a), Some(b)) = (
        left.get(at..).and_then(|rest| rest.first_chunk::<8>()),
        right.get(at..).and_then(|rest| rest.first_chunk::<8>()),
    ) {
        let (a, b) = (u64::from_le_bytes(*a), u64::from_le_bytes(*b));
        let stop = a ^ b | zero(a ^ (ONES * u64::from(b'"'))) | zero(a ^ (ONES * u64::from(b'\\')));
        if stop != 0 {
            return at + (stop.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let (Some(a), Some(b)) = (left.get(at), right.get(at)) {
        if a != b || *a == b'"' || *a == b'\\' {
            break;
        }
        at += 1;
    }
    at
}
