//! The setting `sanitize` on any text: nothing of a chosen set survives, nothing comes to light, what stays was there.
//!
//! The first byte chooses the sets, the others are the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_select::policy::rule::Sanitize;
use mcp_select::result::json::{escape_into, validate_text};
use mcp_select::select::sanitize::{sanitize, sanitize_json};
use regex::Regex;
use std::sync::LazyLock;

static INVISIBLE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\A\p{Default_Ignorable_Code_Point}\z").unwrap());
static BIDI: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\A\p{Bidi_Control}\z").unwrap());

fuzz_target!(|input: &[u8]| {
    let Some((&sets, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let has = |bit: u8| sets >> bit & 1 == 1;
    let what = Sanitize { ansi: has(0), bidi: has(1), invisible: has(2), tags: has(3), control: has(4) };
    let clean = match sanitize(text, what) {
        Some((clean, counts)) => {
            assert!(counts.total() > 0 && clean.len() < text.len(), "{counts:?} {text:?}");
            clean
        }
        None => text.to_owned(),
    };
    assert_eq!(sanitize(&clean, what), None, "{text:?} gives {clean:?}");
    is_rest_of(&clean, text);
    nothing_survives(&clean, what);
    if !text.chars().any(|c| is_of_a_set(c, what)) {
        assert_eq!(clean, text);
    }
    in_json(text, &clean, what);
    each_character(input, what);
});

/// One character between two letters, another for each input: in the end all of them.
fn each_character(input: &[u8], what: Sanitize) {
    let hash = input.iter().fold(0x811C_9DC5u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let Some(c) = char::from_u32(hash % 0x11_0000) else { return };
    for c in [Some(c), char::from_u32(u32::from(c) % 0x3000)].into_iter().flatten() {
        let clean = sanitize(&format!("a{c}b"), what).map_or("acb".len(), |(clean, _)| clean.len());
        // ESC and the introducers of one character take what is behind them along.
        let expected = if is_of_a_set(c, what) { 1..3 } else { 3..4 };
        assert!(expected.contains(&clean), "U+{:04X} by {what:?}", u32::from(c));
    }
}

/// What remains is a subsequence.
fn is_rest_of(clean: &str, text: &str) {
    let mut rest = text.chars();
    assert!(clean.chars().all(|c| rest.any(|other| other == c)), "{clean:?} is not what is left of {text:?}");
}

fn is_of_a_set(c: char, what: Sanitize) -> bool {
    let one = c.to_string();
    let tag = ('\u{E0000}'..='\u{E007F}').contains(&c);
    what.bidi && BIDI.is_match(&one)
        || what.tags && tag
        || what.control && is_control(c)
        || what.ansi && begins_a_sequence(c)
        || what.invisible && INVISIBLE.is_match(&one) && !BIDI.is_match(&one) && !tag
}

fn is_control(c: char) -> bool {
    c.is_control() && !"\t\n\r".contains(c)
}

/// ESC, or a C1 control that stands for ESC and a letter, or ends a string.
fn begins_a_sequence(c: char) -> bool {
    matches!(c, '\u{1B}' | '\u{90}' | '\u{98}' | '\u{9B}'..='\u{9F}')
}

fn nothing_survives(clean: &str, what: Sanitize) {
    let mut before = None;
    for c in clean.chars() {
        if is_of_a_set(c, what) {
            // Only these stay, one behind a visible character that is written with it.
            let joins = what.invisible && matches!(c, '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}');
            let visible = before.is_some_and(|before: char| {
                !before.is_ascii() && (!is_of_a_set(before, what) || before == '\u{FE0F}' && c == '\u{200D}')
            });
            assert!(joins && visible, "U+{:04X} is still in {clean:?} by {what:?}", u32::from(c));
        }
        before = Some(c);
    }
}

/// The same in a JSON string, however it is escaped.
fn in_json(text: &str, clean: &str, what: Sanitize) {
    let mut shortest = b"[\"".to_vec();
    escape_into(text.as_bytes(), &mut shortest);
    shortest.extend(b"\", 1.0]");
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let mut expected = b"[\"".to_vec();
    escape_into(clean.as_bytes(), &mut expected);
    expected.extend(b"\", 1.0]");
    for value in [shortest, format!("[\"{units}\", 1.0]").into_bytes()] {
        let mut out = Vec::new();
        match sanitize_json(&value, what, &mut out) {
            Some(_) => assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected), "{text:?}"),
            None => assert_eq!(clean, text),
        }
        assert!(out.is_empty() || validate_text(&out, 2).is_ok(), "{text:?}");
    }
}
