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

    /// Whether every name that `other` matches is matched by this pattern too. `true` is shown; `false` may mean that it
    /// was not.
    pub fn includes(&self, other: &Pattern) -> bool {
        if other.is_exact() {
            return self.matches(&other.0);
        }
        let (whole, part) = (tokens(&self.0), tokens(&other.0));
        compare_tokens(&whole, &part, false, |whole, part| match (whole, part) {
            (Token::Many, _) => Advance::EitherOfPart,
            (_, Token::Many) => Advance::Not,
            (Token::One, _) => Advance::Both,
            (whole, part) if whole == part => Advance::Both,
            _ => Advance::Not,
        })
    }

    /// Whether some name is matched by both. `false` is shown; `true` may mean that it was not.
    pub fn meets(&self, other: &Pattern) -> bool {
        match (self.is_exact(), other.is_exact()) {
            (true, _) => return other.matches(&self.0),
            (_, true) => return self.matches(&other.0),
            _ => {}
        }
        let (one, another) = (tokens(&self.0), tokens(&other.0));
        compare_tokens(&one, &another, true, |one, another| match (one, another) {
            (Token::Many, _) | (_, Token::Many) => Advance::Either,
            (Token::One, _) | (_, Token::One) => Advance::Both,
            (one, another) if one == another => Advance::Both,
            _ => Advance::Not,
        })
    }

    /// A name that it matches.
    pub fn example(&self) -> String {
        self.0.replace(['*', '?'], "x")
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Char(char),
    One,
    Many,
}

/// Of a run of wildcards the `?` first and one `*` last: the same names, one spelling.
fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut many = false;
    for c in pattern.chars() {
        match c {
            '*' => many = true,
            '?' => tokens.push(Token::One),
            c => {
                if std::mem::take(&mut many) {
                    tokens.push(Token::Many);
                }
                tokens.push(Token::Char(c));
            }
        }
    }
    if many {
        tokens.push(Token::Many);
    }
    tokens
}

/// Which of two token lists goes on.
enum Advance {
    Not,
    Both,
    /// The first one past its star, or the second past what the star takes.
    EitherOfPart,
    Either,
}

/// Longer patterns are not compared.
const MOST_PAIRS: usize = 1 << 20;

/// Whether two token lists can be walked to their ends together; `unknown` when they are too long.
fn compare_tokens(one: &[Token], other: &[Token], unknown: bool, step: impl Fn(Token, Token) -> Advance) -> bool {
    if one.len().saturating_mul(other.len()) > MOST_PAIRS {
        return unknown;
    }
    let both_ways = matches!(step(Token::One, Token::Many), Advance::Either);
    let rest_is_stars = |tokens: &[Token]| tokens.iter().all(|token| *token == Token::Many);
    // From the ends: row `i` says for each `j` whether `one[i..]` and `other[j..]` go together.
    let width = other.len() + 1;
    let mut below: Vec<bool> = (0..width)
        .map(|j| j == other.len() || both_ways && rest_is_stars(other.get(j..).unwrap_or_default()))
        .collect();
    for i in (0..one.len()).rev() {
        let mut row = vec![false; width];
        for j in (0..width).rev() {
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or_default();
            let holds = match (one.get(i), other.get(j)) {
                (Some(_), None) => rest_is_stars(one.get(i..).unwrap_or_default()),
                (Some(a), Some(b)) => match step(*a, *b) {
                    Advance::Not => false,
                    Advance::Both => at(&below, j + 1),
                    Advance::EitherOfPart | Advance::Either => at(&below, j) || at(&row, j + 1),
                },
                (None, _) => false,
            };
            if let Some(place) = row.get_mut(j) {
                *place = holds;
            }
        }
        below = row;
    }
    below.first().copied().unwrap_or_default()
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
    fn compares_what_patterns_match() {
        for (whole, part, included, met) in [
            ("*", "a*", true, true),
            ("a*", "*", false, true),
            ("a*", "ab*c", true, true),
            ("a*", "b*", false, false),
            ("*a", "b*", false, true),
            ("?*", "*?", true, true),
            ("??", "?", false, false),
            ("*?*", "a", true, true),
            ("a?c", "abc", true, true),
            ("a*c", "a*b*c", true, true),
            ("a*b*c", "a*c", false, true),
            ("list_*", "get_*", false, false),
            ("*", "*", true, true),
            ("x", "x", true, true),
            ("x", "y", false, false),
        ] {
            let (whole, part) = (Pattern::new(whole), Pattern::new(part));
            assert_eq!(whole.includes(&part), included, "{whole:?} {part:?}");
            assert_eq!((whole.meets(&part), part.meets(&whole)), (met, met), "{whole:?} {part:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn inclusion_and_meeting_agree_with_matching(
            whole in "[ab*?]{0,5}", part in "[ab*?]{0,5}", names in proptest::collection::vec("[abc]{0,5}", 60)
        ) {
            let (whole, part) = (Pattern::new(&whole), Pattern::new(&part));
            let (included, met) = (whole.includes(&part), whole.meets(&part));
            for name in &names {
                proptest::prop_assert!(!included || !part.matches(name) || whole.matches(name), "{}", name);
                proptest::prop_assert!(met || !(part.matches(name) && whole.matches(name)), "{}", name);
            }
            proptest::prop_assert!(part.matches(&part.example()));
        }
    }

    #[test]
    fn puts_the_better_pattern_first() {
        let mut patterns = ["*", "git*", "github", "git?ub", "g*b"].map(Pattern::new);
        patterns.sort_by(Pattern::compare);
        assert_eq!(patterns.each_ref().map(Pattern::as_str), ["github", "git?ub", "git*", "g*b", "*"]);
    }
}
