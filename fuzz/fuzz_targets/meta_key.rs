//! Keys of `_meta` against the specification's rules, written as regular expressions.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_select::policy::pattern::MetaPattern;
use mcp_select::policy::rule::Reserved;
use mcp_select::result::meta_key::{is_reserved, is_well_formed, matches};
use regex::Regex;
use std::sync::LazyLock;

const LABEL: &str = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";

/// C-70: "Prefix: if specified, MUST be a series of labels separated by dots, followed by a slash. Labels MUST start with a
/// letter and end with a letter or digit; interior characters can be letters, digits, or hyphens. Name: unless empty, MUST
/// begin and end with an alphanumeric character; MAY contain hyphens, underscores, dots and alphanumerics in between."
static WELL_FORMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"\A(?:{LABEL}(?:\.{LABEL})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?\z")).unwrap()
});

/// C-72 in the words of 2025-06-18 and 2025-11-25, of any labels, well-formed or not.
const BEFORE_LAST: &str = r"\A(?:[^./]*\.)*(?:mcp|modelcontextprotocol)\.[^/]*/";
const SECOND: &str = r"\A[^./]*\.(?:mcp|modelcontextprotocol)(?:\.[^/]*)?/";

static RESERVED: LazyLock<[(Reserved, Regex); 3]> = LazyLock::new(|| {
    let regex = |text: String| Regex::new(&format!("(?s){text}")).unwrap();
    [
        (Reserved::Revision20250618, regex(format!(r"\AprogressToken\z|{BEFORE_LAST}"))),
        (Reserved::Revision20251125, regex(format!(r"\AprogressToken\z|{SECOND}"))),
        (
            Reserved::Union,
            regex(format!(
                r"\A(?:progressToken|traceparent|tracestate|baggage)\z|{}|{}",
                in_any_case(BEFORE_LAST),
                in_any_case(SECOND)
            )),
        ),
    ]
});

fn in_any_case(regex: &str) -> String {
    let any = |word: &str| word.chars().map(|c| format!("[{c}{}]", c.to_ascii_uppercase())).collect::<String>();
    ["modelcontextprotocol", "mcp"].iter().fold(regex.to_owned(), |regex, word| regex.replace(word, &any(word)))
}

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // A pattern may stand behind the key, on a line of its own.
    let (key, pattern) = text.split_once('\n').unwrap_or((text, ""));
    assert_eq!(is_well_formed(key), WELL_FORMED.is_match(key), "{key:?}");
    for (rules, regex) in RESERVED.iter() {
        let reserved = regex.is_match(key);
        assert_eq!(is_reserved(key, *rules), reserved, "{key:?} by {rules:?}");
        let open = WELL_FORMED.is_match(key) && !reserved;
        let says = |pattern: MetaPattern| matches(&pattern, key, *rules);
        assert_eq!(says(MetaPattern::Any), open, "{key:?} by {rules:?}");
        assert_eq!(says(MetaPattern::Prefix(pattern.into())), open && key.starts_with(pattern), "{key:?} {pattern:?}");
        assert_eq!(says(MetaPattern::Key(pattern.into())), key == pattern, "{key:?} {pattern:?}");
        assert!(says(MetaPattern::Key(key.into())) && !says(MetaPattern::Inherit), "{key:?}");
    }
});
