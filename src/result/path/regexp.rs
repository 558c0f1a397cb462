//! I-Regexp (RFC 9485), the regular expressions of `match` and `search`: checked, and translated for the `regex` crate.
//!
//! I-Regexp has neither anchors nor lazy quantifiers nor back references: `^` and `$` stand for themselves, and `.`
//! is any character but the line ends `\n` and `\r`. Searching is linear in the text.

use std::iter::Peekable;
use std::str::Chars;

/// How deep groups may nest.
const MAX_GROUPS: usize = 64;
/// How large a compiled expression may get, in bytes.
const MAX_SIZE: usize = 1 << 20;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub(super) struct Regexp {
    source: Box<str>,
    whole: bool,
    compiled: regex::bytes::Regex,
}

impl PartialEq for Regexp {
    fn eq(&self, other: &Regexp) -> bool {
        self.source == other.source && self.whole == other.whole
    }
}

impl Regexp {
    /// `whole`: the expression must match the whole text (`match`), not a part of it (`search`).
    pub fn new(source: &str, whole: bool) -> Result<Regexp, String> {
        let translated = translate(source).map_err(|why| format!("`{source}` is no regular expression: {why}"))?;
        let anchored = if whole { format!(r"\A(?:{translated})\z") } else { translated };
        let compiled = regex::bytes::RegexBuilder::new(&anchored).size_limit(MAX_SIZE).dfa_size_limit(MAX_SIZE).build();
        match compiled {
            Ok(compiled) => Ok(Regexp { source: source.into(), whole, compiled }),
            Err(regex::Error::CompiledTooBig(_)) => Err(format!("the regular expression `{source}` is too large")),
            Err(_) => Err(format!("`{source}` is no regular expression: a range or a repetition is out of order")),
        }
    }

    /// Whether it is found in `text`, which is UTF-8.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.compiled.is_match(text)
    }
}

fn translate(source: &str) -> Result<String, String> {
    let mut out = String::with_capacity(source.len() + 16);
    let mut rest = source.chars().peekable();
    let mut groups = 0;
    // Whether a quantifier may come next.
    let mut atom = false;
    while let Some(c) = rest.next() {
        match c {
            '*' | '+' | '?' | '{' => {
                if !atom {
                    return Err(format!("nothing that `{c}` could repeat"));
                }
                out.push(c);
                if c == '{' {
                    repetition(&mut rest, &mut out)?;
                }
                atom = false;
                continue;
            }
            '|' => {
                out.push('|');
                atom = false;
                continue;
            }
            '(' => {
                groups += 1;
                if groups > MAX_GROUPS {
                    return Err(format!("more than {MAX_GROUPS} groups are open"));
                }
                out.push_str("(?:");
                atom = false;
                continue;
            }
            ')' if groups == 0 => return Err("`)` closes nothing".to_owned()),
            ')' => {
                groups -= 1;
                out.push(')');
            }
            '.' => out.push_str(r"[^\n\r]"),
            '[' => class(&mut rest, &mut out)?,
            '\\' => match rest.peek() {
                Some('p' | 'P') => category(&mut rest, &mut out)?,
                _ => literal(escaped(&mut rest)?, &mut out),
            },
            ']' | '}' => return Err(format!(r"`{c}` is written `\{c}`")),
            other => literal(other, &mut out),
        }
        atom = true;
    }
    if groups > 0 { Err("a group is not closed".to_owned()) } else { Ok(out) }
}

/// The inside of `{2}`, `{2,}` or `{2,3}` and its end.
fn repetition(rest: &mut Peekable<Chars>, out: &mut String) -> Result<(), String> {
    let mut digits = 0;
    let mut comma = false;
    for c in rest.by_ref() {
        out.push(c);
        match c {
            '0'..='9' => digits += 1,
            ',' if digits > 0 && !comma => comma = true,
            '}' if digits > 0 => return Ok(()),
            _ => break,
        }
    }
    Err("a repetition is written `{2}`, `{2,}` or `{2,3}`".to_owned())
}

/// A class after its opening bracket.
fn class(rest: &mut Peekable<Chars>, out: &mut String) -> Result<(), String> {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    loop {
        let c = rest.next().ok_or("a class is not closed")?;
        match c {
            ']' if first => return Err("a class is empty".to_owned()),
            ']' => break,
            // A hyphen stands for itself at either end only.
            '-' if first || rest.peek() == Some(&']') => literal('-', out),
            '\\' if matches!(rest.peek(), Some('p' | 'P')) => category(rest, out)?,
            _ => {
                literal(class_character(c, rest)?, out);
                let mut ahead = rest.clone();
                if ahead.next() == Some('-') && ahead.peek().is_some_and(|&after| after != ']') {
                    let end = ahead.next().ok_or("a class is not closed")?;
                    let end = class_character(end, &mut ahead)?;
                    out.push('-');
                    literal(end, out);
                    *rest = ahead;
                }
            }
        }
        first = false;
    }
    out.push(']');
    Ok(())
}

fn class_character(c: char, rest: &mut Peekable<Chars>) -> Result<char, String> {
    match c {
        '\\' => escaped(rest),
        '-' | '[' | ']' => Err(format!(r"`{c}` inside a class is written `\{c}`")),
        other => Ok(other),
    }
}

/// The character that stands after a backslash.
fn escaped(rest: &mut Peekable<Chars>) -> Result<char, String> {
    match rest.next() {
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some('t') => Ok('\t'),
        Some(c @ ('(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^' | '{' | '|' | '}')) => Ok(c),
        Some(c) => Err(format!(r"RFC 9485 has no escape `\{c}`")),
        None => Err("a backslash stands at the end".to_owned()),
    }
}

/// `\p{Lu}` or `\P{Lu}` after the backslash.
fn category(rest: &mut Peekable<Chars>, out: &mut String) -> Result<(), String> {
    let kind = rest.next().unwrap_or('p');
    let wrong = || format!(r"a category is written `\{kind}{{L}}` or `\{kind}{{Lu}}`");
    rest.next_if_eq(&'{').ok_or_else(wrong)?;
    let mut name = String::new();
    loop {
        match rest.next() {
            Some('}') => break,
            Some(c) if name.len() < 2 => name.push(c),
            _ => return Err(wrong()),
        }
    }
    let sub = match name.get(..1) {
        Some("L") => "lmotu",
        Some("M") => "cen",
        Some("N") => "dlo",
        Some("P") => "cdefios",
        Some("Z") => "lps",
        Some("S") => "ckmo",
        Some("C") => "cfno",
        _ => return Err(wrong()),
    };
    let known = name.get(1..).is_some_and(|letter| letter.len() <= 1 && sub.contains(letter));
    if !known {
        return Err(wrong());
    }
    out.extend(['\\', kind, '{']);
    out.push_str(&name);
    out.push('}');
    Ok(())
}

/// A character that stands for itself, spelled so that the `regex` crate never takes it for more.
fn literal(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() {
        out.push(c);
    } else {
        out.push_str(&format!(r"\x{{{:X}}}", u32::from(c)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_as_rfc_9485_says() {
        let cases = [
            ("a.c", "abc", true),
            ("a.c", "a\nc", false),
            ("a.c", "a\rc", false),
            ("a.c", "a\u{2028}c", true),
            ("a.c", "xabc", false),
            ("a|b", "b", true),
            ("a|b", "ab", false),
            ("(ab)*", "abab", true),
            ("", "", true),
            ("a{2}", "aa", true),
            ("a{2,}", "aaaa", true),
            ("a{2,3}", "aaaa", false),
            ("^a$", "a", false),
            ("^a$", "^a$", true),
            (r"\^\.\-", "^.-", true),
            ("[^a-c]", "d", true),
            ("[-a]", "-", true),
            ("[a-]", "-", true),
            ("[a&&b]", "&", true),
            ("[a&&b]", "a", true),
            (r"[\]\[]+", "[]", true),
            (r"\p{Lu}\P{L}", "É1", true),
            (r"[\p{Nd}x]+", "٣x", true),
            (r"\n\t", "\n\t", true),
            ("é", "é", true),
            ("/~ #", "/~ #", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Regexp::new(pattern, true).unwrap().is_match(text.as_bytes()), expected, "{pattern} {text}");
        }
        assert!(Regexp::new("b.", false).unwrap().is_match(b"abcd"));
        assert!(!Regexp::new("b.", true).unwrap().is_match(b"abcd"));
    }

    #[test]
    fn refuses_what_rfc_9485_has_not() {
        for pattern in [
            "*",
            "a**",
            "a*?",
            "(a",
            "a)",
            "[]",
            "[a",
            "]",
            "}",
            "{2}",
            "a{,2}",
            "a{2",
            r"\d",
            r"\w",
            r"\1",
            r"\",
            "[a-b-c]",
            "[[a]]",
            r"\p{Greek}",
            r"\p{Xx}",
            r"\pL",
            r"\p{L",
            "[z-a]",
            "a{3,2}",
            "(?i)a",
            r"\$",
            "a|*",
        ] {
            assert!(Regexp::new(pattern, true).is_err(), "{pattern}");
        }
        assert!(Regexp::new(&"(".repeat(65), true).is_err());
        assert!(Regexp::new("(.{1000}){1000}", true).unwrap_err().contains("too large"));
    }
}
