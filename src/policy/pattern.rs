//! Patterns over names: `*` stands for any run of characters, `?` for one, everything else for itself.

use std::cmp::Ordering;

/// A pattern over a server's, a tool's or a label's text. Compared byte by byte, `?` takes one character.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pattern(Box<str>);

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        Pattern(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is a plain name.
    pub fn is_exact(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Linear in the name for a pattern with one star; at most pattern times name for hostile ones.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Where the last star stood, and how far the name was when it had taken what it now takes.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    star = Some((p, n));
                    p += 1;
                }
                Some(b'?') => {
                    p += 1;
                    n = next_character(name, n);
                }
                Some(c) if name.get(n) == Some(c) => {
                    p += 1;
                    n += 1;
                }
                _ => match star {
                    Some((at, taken)) => {
                        star = Some((at, taken + 1));
                        p = at + 1;
                        n = taken + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern.get(p..).unwrap_or_default().iter().all(|&c| c == b'*')
    }

    /// `Less` when `self` is the better one: exact before pattern, then more literal characters.
    pub fn compare(&self, other: &Pattern) -> Ordering {
        let rank = |pattern: &Pattern| {
            let literal = pattern.0.chars().filter(|c| !matches!(c, '*' | '?')).count();
            (pattern.is_exact(), literal)
        };
        rank(other).cmp(&rank(self))
    }
}

fn next_character(text: &[u8], at: usize) -> usize {
    let mut next = at + 1;
    while text.get(next).is_some_and(|&b| b & 0xC0 == 0x80) {
        next += 1;
    }
    next
}

/// A pattern over the keys of `_meta`: a key, `prefix/*` or `*`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MetaPattern {
    /// `"inherit"` in `meta.allow`: what the next matching rule says.
    Inherit,
    /// `*`: every key that is neither reserved nor malformed.
    Any,
    /// `com.example/*`, kept without the star: every such key that is neither reserved nor malformed.
    Prefix(Box<str>),
    /// This key, also when it is reserved or malformed.
    Key(Box<str>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
            ("?", "é", true),
            ("a*", "a", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("*a*a*a*b", "aaaaaaaaaaaaaaaa", false),
            ("list_*", "list_issues", true),
            ("list_*", "get_list_", false),
            ("[a]", "a", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn puts_the_better_pattern_first() {
        let mut patterns = ["*", "git*", "github", "git?ub", "g*b"].map(Pattern::new);
        patterns.sort_by(Pattern::compare);
        assert_eq!(patterns.each_ref().map(Pattern::as_str), ["github", "git?ub", "git*", "g*b", "*"]);
    }
}
