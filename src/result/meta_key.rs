//! Keys of `_meta`: their grammar, which of them the protocol keeps for itself, and which a policy's pattern names.
//!
//! The grammar and the rule of prefixes are those of the section "`_meta`" of the specification's base protocol
//! (C-70, C-72). What becomes of a key that matches is said elsewhere (`meta.allow`, `meta.deny`).

use crate::policy::pattern::MetaPattern;
use crate::policy::rule::Reserved;

/// Labels that make a prefix the protocol's own.
const KEYWORDS: [&str; 2] = ["mcp", "modelcontextprotocol"];

/// Of requests (C-77); in a result it has no meaning and stays reserved.
const PROGRESS_TOKEN: &str = "progressToken";

/// Trace context: reserved without a prefix since 2026-07-28 (C-76).
const TRACE_CONTEXT: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// Whether a pattern of `meta.allow` or `meta.deny` names this key.
///
/// A key that is reserved or malformed is matched only by its exact name. [`MetaPattern::Inherit`] names nothing by
/// itself.
pub fn matches(pattern: &MetaPattern, key: &str, rules: Reserved) -> bool {
    let is_open = || is_well_formed(key) && !is_reserved(key, rules);
    match pattern {
        MetaPattern::Inherit => false,
        MetaPattern::Key(name) => **name == *key,
        MetaPattern::Any => is_open(),
        MetaPattern::Prefix(prefix) => key.starts_with(&**prefix) && is_open(),
    }
}

/// The grammar: an optional prefix of labels with dots between them and a slash after, then a name, which may be empty.
pub fn is_well_formed(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) && is_name(name)
}

/// A letter, then letters, digits and hyphens, the last of them no hyphen.
fn is_label(label: &str) -> bool {
    let label = label.as_bytes();
    label.first().is_some_and(u8::is_ascii_alphabetic)
        && label.last().is_some_and(u8::is_ascii_alphanumeric)
        && label.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Nothing, or letters, digits, `-`, `_` and `.` between two letters or digits.
fn is_name(name: &str) -> bool {
    let name = name.as_bytes();
    name.is_empty()
        || name.first().is_some_and(u8::is_ascii_alphanumeric)
            && name.last().is_some_and(u8::is_ascii_alphanumeric)
            && name.iter().all(|&b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Whether the protocol keeps this key for itself, by the rule of one revision or by any of them.
///
/// Told from what stands before the first slash, malformed or not. The dated rules compare letters as they are; the
/// union takes prefixes in any letter case, since the specification does not say which it means.
pub fn is_reserved(key: &str, rules: Reserved) -> bool {
    if key == PROGRESS_TOKEN {
        return true;
    }
    let Some((prefix, _)) = key.split_once('/') else {
        return rules == Reserved::Union && TRACE_CONTEXT.contains(&key);
    };
    let as_written = |label: &str| KEYWORDS.contains(&label);
    let in_any_case = |label: &str| KEYWORDS.iter().any(|keyword| label.eq_ignore_ascii_case(keyword));
    match rules {
        Reserved::Revision20250618 => keyword_before_last(prefix, as_written),
        Reserved::Revision20251125 => keyword_is_second(prefix, as_written),
        Reserved::Union => keyword_before_last(prefix, in_any_case) || keyword_is_second(prefix, in_any_case),
    }
}

/// 2025-06-18: zero or more labels, the keyword, one or more labels.
fn keyword_before_last(prefix: &str, is_keyword: impl Fn(&str) -> bool) -> bool {
    prefix.rsplit('.').skip(1).any(is_keyword)
}

/// 2025-11-25 and later: the second label is the keyword.
fn keyword_is_second(prefix: &str, is_keyword: impl Fn(&str) -> bool) -> bool {
    prefix.split('.').nth(1).is_some_and(is_keyword)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: [Reserved; 3] = [Reserved::Revision20250618, Reserved::Revision20251125, Reserved::Union];

    /// Well-formed keys, and whether 2025-06-18, 2025-11-25 and the union reserve them.
    const KEYS: &[(&str, [bool; 3])] = &[
        ("progressToken", [true, true, true]),
        ("traceparent", [false, false, true]),
        ("tracestate", [false, false, true]),
        ("baggage", [false, false, true]),
        ("io.modelcontextprotocol/serverInfo", [false, true, true]),
        ("io.modelcontextprotocol/related-task", [false, true, true]),
        ("io.modelcontextprotocol/ui", [false, true, true]),
        ("dev.mcp/x", [false, true, true]),
        ("modelcontextprotocol.io/x", [true, false, true]),
        ("mcp.dev/x", [true, false, true]),
        ("mcp.dev/", [true, false, true]),
        ("mcp.mcp/x", [true, true, true]),
        ("api.modelcontextprotocol.org/x", [true, true, true]),
        ("tools.mcp.com/x", [true, true, true]),
        ("com.mcp.tools/x", [true, true, true]),
        ("io.modelcontextprotocol.foo/x", [true, true, true]),
        ("com.example.mcp/x", [false, false, false]),
        ("com.example.mcp.tools/x", [true, false, true]),
        ("mcp/x", [false, false, false]),
        ("modelcontextprotocol/x", [false, false, false]),
        ("com.mcpx.tools/x", [false, false, false]),
        ("IO.ModelContextProtocol/x", [false, false, true]),
        ("MCP.dev/x", [false, false, true]),
        ("mcp.dev", [false, false, false]),
        ("ProgressToken", [false, false, false]),
        ("ui", [false, false, false]),
        ("timestamp", [false, false, false]),
        ("source", [false, false, false]),
        ("cache_hint", [false, false, false]),
        ("ui/resourceUri", [false, false, false]),
        ("openai/outputTemplate", [false, false, false]),
        ("com.example/", [false, false, false]),
        ("", [false, false, false]),
    ];

    const MALFORMED: &[&str] = &[
        "openai/toolInvocation/invoking",
        "/x",
        "/",
        "a/b/c",
        "com..example/x",
        "1com.example/x",
        "com.example-/x",
        "com.exa_mple/x",
        "com.example/_x",
        "com.example/x_",
        "com.example./x",
        "x y",
        "é",
        "a\n",
        "x.",
        "-",
    ];

    #[test]
    fn knows_the_grammar() {
        for (key, _) in KEYS {
            assert!(is_well_formed(key), "{key}");
        }
        for key in MALFORMED {
            assert!(!is_well_formed(key), "{key}");
        }
    }

    #[test]
    fn knows_what_each_rule_reserves() {
        for (key, expected) in KEYS {
            assert_eq!(RULES.map(|rules| is_reserved(key, rules)), *expected, "{key}");
        }
    }

    #[test]
    fn tells_a_malformed_key_by_what_stands_before_its_first_slash() {
        let rule = Reserved::Revision20250618;
        for key in ["mcp./x", ".mcp.a/x", "mcp.dev/a/b"] {
            assert!(is_reserved(key, rule), "{key}");
        }
        for key in ["a/mcp.dev/x", "/mcp.dev/x"] {
            assert!(!is_reserved(key, rule), "{key}");
        }
    }

    #[test]
    fn wildcards_leave_out_what_is_reserved_or_malformed() {
        let prefix = |text: &str| MetaPattern::Prefix(text.into());
        for (key, reserved) in KEYS {
            for (rules, reserved) in RULES.into_iter().zip(reserved) {
                assert_eq!(matches(&MetaPattern::Any, key, rules), !reserved, "{key}");
            }
        }
        for key in MALFORMED {
            assert!(!matches(&MetaPattern::Any, key, Reserved::Union), "{key}");
        }
        assert!(matches(&prefix("com.example/"), "com.example/x", Reserved::Union));
        assert!(matches(&prefix("com.example/"), "com.example/", Reserved::Union));
        assert!(!matches(&prefix("com.example/"), "com.example.mcp/x", Reserved::Union));
        assert!(!matches(&prefix("com.example/"), "com.example/a/b", Reserved::Union));
        assert!(!matches(&prefix("mcp.dev/"), "mcp.dev/x", Reserved::Union));
        assert!(matches(&prefix("mcp.dev/"), "mcp.dev/x", Reserved::Revision20251125));
        assert!(!matches(&MetaPattern::Inherit, "inherit", Reserved::Union));
    }

    #[test]
    fn an_exact_name_matches_any_key_and_no_other() {
        for key in KEYS.iter().map(|(key, _)| *key).chain(MALFORMED.iter().copied()) {
            let pattern = MetaPattern::Key(key.into());
            for rules in RULES {
                assert!(matches(&pattern, key, rules), "{key}");
                assert!(!matches(&pattern, &format!("{key}x"), rules), "{key}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_grammar_is_the_one_of_the_specification(
            labels in proptest::collection::vec("[A-Za-z]([A-Za-z0-9-]{0,3}[A-Za-z0-9])?", 0..4),
            name in "([A-Za-z0-9]([A-Za-z0-9._-]{0,4}[A-Za-z0-9])?)?",
            bad in "[ /_@é]",
        ) {
            let prefix = if labels.is_empty() { String::new() } else { labels.join(".") + "/" };
            let key = format!("{prefix}{name}");
            prop_assert!(is_well_formed(&key));
            let malformed = key + &bad;
            // A slash after a lone label makes it a prefix.
            let turned_prefix = bad == "/" && labels.is_empty() && name.split('.').all(is_label);
            prop_assert_eq!(is_well_formed(&malformed), turned_prefix);
        }

        #[test]
        fn the_union_reserves_what_any_rule_reserves(key in "(mcp|com|a)?(\\.(mcp|MCP|modelcontextprotocol|b)){0,3}/?x?") {
            let one = RULES.iter().take(2).any(|&rules| is_reserved(&key, rules));
            prop_assert!(!one || is_reserved(&key, Reserved::Union));
        }
    }
}
