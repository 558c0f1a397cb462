//! Comparisons as in DMN unary tests: `3`, `"< 0.9"`, `">= 1000"`, `"= 3"`, `"[1..5]"`, `"(1..5]"`, `"]1..5["`.

use super::super::diagnostic::{Problem, Problems};
use super::super::rule::{Date, Range};
use super::node::{Node, each, one_or_more, show, wrong_type};
use toml::de::DeValue;

/// What a number can be at all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Domain {
    /// From 0 to 1.
    Share,
    /// Whole, not negative.
    Count,
    /// Not negative.
    Ratio,
}

impl Domain {
    fn says(self) -> &'static str {
        match self {
            Domain::Share => "is from 0 to 1",
            Domain::Count => "is a whole number, not negative",
            Domain::Ratio => "is not negative",
        }
    }

    /// Whether any possible number is in the range.
    fn meets(self, range: &Range<f64>) -> bool {
        let (low, low_closed) = match range.low {
            Some((low, closed)) if low >= 0.0 => (low, closed),
            _ => (0.0, true),
        };
        let most = if self == Domain::Share { 1.0 } else { f64::INFINITY };
        let (high, high_closed) = match range.high {
            Some((high, closed)) if high <= most => (high, closed),
            _ => (most, true),
        };
        if self == Domain::Count {
            let first = if low_closed { low.ceil() } else { low.floor() + 1.0 };
            let last = if high_closed { high.floor() } else { high.ceil() - 1.0 };
            return first <= last;
        }
        low < high || (low == high && low_closed && high_closed)
    }
}

const HELP: &str = "a comparison is a number or reads \"< 0.9\", \">= 1000\", \"= 3\", \"[1..5]\", \"(1..5]\"";
const DATE_HELP: &str =
    "a comparison with a date reads \"2025-11-25\", \">= 2025-06-18\", \"[2025-03-26..2025-11-25]\"";

pub(super) fn numbers(p: &mut Problems, what: &str, domain: Domain, node: &Node<'_>) -> Option<Box<[Range<f64>]>> {
    each(one_or_more(p, what, node)?, |element| {
        let (range, written) = match element.get_ref() {
            DeValue::Integer(integer) => {
                // The sign is part of the digits.
                let number = i64::from_str_radix(integer.as_str(), integer.radix()).ok().and_then(exactly);
                (number.map(equal).ok_or(None), integer.to_string())
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse::<f64>().ok().filter(|number| number.is_finite());
                (number.map(equal).ok_or(None), float.to_string())
            }
            DeValue::String(text) => (comparison(text, number), show(text)),
            _ => {
                p.add(wrong_type(what, "a comparison", element).help(HELP));
                return None;
            }
        };
        let range = checked(p, what, element, HELP, range, &written)?;
        if !domain.meets(&range) {
            let message = format!("{written} can never hold: `{what}` {}", domain.says());
            p.add(Problem::error("bad-comparison", element.span(), message));
            return None;
        }
        Some(range)
    })
}

pub(super) fn dates(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<[Range<Date>]>> {
    each(one_or_more(p, what, node)?, |element| match element.get_ref() {
        DeValue::Datetime(datetime) if datetime.time.is_none() && datetime.offset.is_none() => {
            let date = datetime.date?;
            Some(equal(u32::from(date.year) * 10_000 + u32::from(date.month) * 100 + u32::from(date.day)))
        }
        DeValue::String(text) => checked(p, what, element, DATE_HELP, comparison(text, date), &show(text)),
        _ => {
            p.add(wrong_type(what, "a comparison with a date", element).help(DATE_HELP));
            None
        }
    })
}

/// Reports what is no comparison, and a range with nothing in it.
fn checked<T: PartialOrd + Copy>(
    p: &mut Problems,
    what: &str,
    node: &Node<'_>,
    help: &str,
    range: Result<Range<T>, Option<&'static str>>,
    written: &str,
) -> Option<Range<T>> {
    let range = match range {
        Ok(range) => range,
        Err(meant) => {
            let message = format!("{written} is no comparison for `{what}`");
            let help = meant.map_or_else(|| help.to_string(), |meant| format!("did you mean {meant}?"));
            p.add(Problem::error("bad-comparison", node.span(), message).help(help));
            return None;
        }
    };
    if let (Some((low, low_closed)), Some((high, high_closed))) = (range.low, range.high) {
        let message = if low > high {
            format!("{written} can never hold: its lower bound is above its upper bound")
        } else if low == high && !(low_closed && high_closed) {
            format!("{written} can never hold: its bounds are equal and do not both belong to it")
        } else {
            return Some(range);
        };
        p.add(Problem::error("bad-comparison", node.span(), message));
        return None;
    }
    Some(range)
}

fn equal<T: Copy>(value: T) -> Range<T> {
    Range { low: Some((value, true)), high: Some((value, true)) }
}

/// Signs that people write for others.
const MEANT: [(&str, &str); 8] = [
    ("==", "\"=\""),
    ("=>", "\">=\""),
    ("=<", "\"<=\""),
    ("≥", "\">=\""),
    ("≤", "\"<=\""),
    ("!=", "two comparisons, [\"< …\", \"> …\"]"),
    ("<>", "two comparisons, [\"< …\", \"> …\"]"),
    ("not(", "two comparisons, [\"< …\", \"> …\"]"),
];

fn comparison<T: Copy>(text: &str, read: fn(&str) -> Option<T>) -> Result<Range<T>, Option<&'static str>> {
    let text = text.trim();
    if let Some((_, meant)) = MEANT.iter().find(|(sign, _)| text.starts_with(sign)) {
        return Err(Some(meant));
    }
    let after = |sign: &str| text.strip_prefix(sign).map(|rest| read(rest.trim_start()).ok_or(None));
    if let Some(bound) = after("<=") {
        return Ok(Range { low: None, high: Some((bound?, true)) });
    }
    if let Some(bound) = after("<") {
        return Ok(Range { low: None, high: Some((bound?, false)) });
    }
    if let Some(bound) = after(">=") {
        return Ok(Range { low: Some((bound?, true)), high: None });
    }
    if let Some(bound) = after(">") {
        return Ok(Range { low: Some((bound?, false)), high: None });
    }
    if let Some(value) = after("=") {
        return Ok(equal(value?));
    }
    if let Some(rest) = text.strip_prefix(['[', '(', ']']) {
        return interval(text, rest, read).ok_or(None);
    }
    read(text).map(equal).ok_or(None)
}

/// `(` and `]` open an interval without its bound, `)` and `[` close one so.
fn interval<T>(text: &str, rest: &str, read: fn(&str) -> Option<T>) -> Option<Range<T>> {
    let low_closed = text.starts_with('[');
    let inside = rest.strip_suffix([']', ')', '['])?;
    let high_closed = rest.ends_with(']');
    let (low, high) = inside.split_once("..")?;
    Some(Range { low: Some((read(low.trim())?, low_closed)), high: Some((read(high.trim())?, high_closed)) })
}

/// A decimal number with an exponent or not; `_` may stand between digits as in TOML.
fn number(text: &str) -> Option<f64> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E' | b'_'));
    let digit_around = |at: usize| {
        let is_digit = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
        is_digit(at.checked_sub(1)) && is_digit(Some(at + 1))
    };
    if !is_number || text.len() > 64 || !text.match_indices('_').all(|(at, _)| digit_around(at)) {
        return None;
    }
    text.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite())
}

/// An integer that a double holds exactly.
fn exactly(number: i64) -> Option<f64> {
    const LARGEST: i64 = 1 << 53;
    if !(-LARGEST..=LARGEST).contains(&number) {
        return None;
    }
    number.to_string().parse().ok()
}

/// `yyyy-mm-dd`, a day that there is, as `yyyymmdd`.
pub(super) fn date(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let mut part = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
        if is_number { part.parse::<u32>().ok() } else { None }
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (parts.next().is_none() && (1..=days).contains(&day)).then_some(year * 10_000 + month * 100 + day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: Option<(f64, bool)>, high: Option<(f64, bool)>) -> Option<Range<f64>> {
        Some(Range { low, high })
    }

    #[test]
    fn reads_unary_tests() {
        for (text, expected) in [
            ("< 0.9", range(None, Some((0.9, false)))),
            ("<0.9", range(None, Some((0.9, false)))),
            (" <= 1e3 ", range(None, Some((1000.0, true)))),
            (">= 200_000", range(Some((200_000.0, true)), None)),
            ("> -1", range(Some((-1.0, false)), None)),
            ("= 3", range(Some((3.0, true)), Some((3.0, true)))),
            ("3", range(Some((3.0, true)), Some((3.0, true)))),
            ("[1..5]", range(Some((1.0, true)), Some((5.0, true)))),
            ("(1..5)", range(Some((1.0, false)), Some((5.0, false)))),
            ("]1..5[", range(Some((1.0, false)), Some((5.0, false)))),
            ("(1.5 .. 2.5]", range(Some((1.5, false)), Some((2.5, true)))),
            ("", None),
            ("<", None),
            ("< x", None),
            ("< 1 5", None),
            ("[1,5]", None),
            ("[1..5", None),
            ("1..5", None),
            ("[..5]", None),
            ("< inf", None),
            ("< nan", None),
            ("1e999", None),
            ("1__0", None),
            ("_1", None),
            ("90%", None),
        ] {
            assert_eq!(comparison(text, number).ok(), expected, "{text}");
        }
    }

    #[test]
    fn reads_days_that_there_are() {
        for (text, expected) in [
            ("2025-11-25", Some(20_251_125)),
            ("2024-02-29", Some(20_240_229)),
            ("2025-02-29", None),
            ("2025-13-01", None),
            ("2025-00-01", None),
            ("2025-1-01", None),
            ("2025-06-18-1", None),
            ("+025-06-18", None),
            ("DRAFT-2026", None),
        ] {
            assert_eq!(date(text), expected, "{text}");
        }
    }

    #[test]
    fn knows_what_can_never_hold() {
        for (domain, text, expected) in [
            (Domain::Share, "> 1", false),
            (Domain::Share, ">= 1", true),
            (Domain::Share, "< 0", false),
            (Domain::Share, "<= 0", true),
            (Domain::Share, "[1.1..2]", false),
            (Domain::Count, "= 1.5", false),
            (Domain::Count, "(1..2)", false),
            (Domain::Count, "(1..2]", true),
            (Domain::Count, "< 0.5", true),
            (Domain::Count, "< 0", false),
            (Domain::Ratio, "> 100", true),
            (Domain::Ratio, "(1..2)", true),
            (Domain::Ratio, "= -1", false),
        ] {
            assert_eq!(domain.meets(&comparison(text, number).unwrap()), expected, "{text}");
        }
    }
}
