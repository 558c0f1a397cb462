//! Policies that were mutated: whatever the bytes, an answer and no panic, and one that can be printed.

use mcp_select::policy::{BUILTINS, BuiltinsOnly, load_bytes};
use proptest::prelude::*;

const RICH: &str = r#"version = 1
extends = ["lossless", "text-only"]
[input]
max_depth = 12
[audience.reviewer]
like = "assistant"
blocks.image = { "image/*" = "keep", "*" = "note" }
notes.image = "[{type}: {mime|?}]"
meta = { allow = ["inherit", "a/*"], deny = ["*"] }
extras = { before = "<x>", after = "</x>", escape = "remove" }
[[rules]]
name = "one"
audience = ["model", "*"]
when = { coverage = "[0.1..0.9)", blocks = [1, "> 3"], revision = ">= 2025-06-18", label.a = "b*", has = ["text"] }
order = ["both", "content"]
[servers."git*"]
hide = false
tools.x.limit = { chars = 200, cut = "middle", head = 0.5, marker = "{omitted}" }
[[servers."git*".rules]]
when.mirror = ["block", "canonical"]
error_order = ["raw"]
[[overrides]]
when = { server = "billing" }
hide = true
[[tests]]
name = "t"
result = '''{"content":[]}'''
expect = { lane = "both", contains = ["a"] }
"#;

/// What a mutation puts in: bits of policies, brackets, bytes that are no text.
const PIECES: &[&[u8]] = &[
    b"",
    b"[",
    b"]",
    b"[[",
    b"]]",
    b"{",
    b"}",
    b"\"",
    b"'",
    b"'''",
    b"\"\"\"",
    b"=",
    b",",
    b".",
    b"#",
    b"\n",
    b"\r",
    b"\0",
    b"\xFF",
    b"\xC3",
    "é\u{202E}".as_bytes(),
    b"\\e",
    b"\\x41",
    b"\\",
    b"1e999",
    b"-1",
    b"99999999999999999999",
    b"0x_1",
    b"nan",
    b"2025-13-01",
    b"2025-06-18",
    b"true",
    b"[rules]",
    b"[[rules]]",
    b"[audience.model]",
    b"when = {",
    b"like = \"reviewer\"",
    b"extends = \"none\"",
    b"name = \"one\"",
    b"{{",
    b"{mime",
    b"\"*\" = ",
    b"servers.a.b.c = 1",
    b"..",
    b"> 1",
];

fn answer(bytes: &[u8]) {
    match load_bytes("policy.toml", bytes, &BuiltinsOnly) {
        Ok(policy) => {
            for rule in &policy.rules {
                rule.when.iter().for_each(|condition| drop(condition.to_string()));
                rule.settings.iter().for_each(|(_, value)| drop(value.to_string()));
            }
            policy.warnings.iter().for_each(|warning| drop(warning.to_string()));
        }
        Err(error) => {
            assert!(!error.diagnostics.is_empty());
            for diagnostic in &error.diagnostics {
                let text = diagnostic.to_string();
                assert!(!text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202E}'), "{text:?}");
                assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.start <= bytes.len().max(5000));
            }
        }
    }
}

#[test]
fn the_rich_policy_says_what_is_not_in_this_version_at_most() {
    if let Err(error) = load_bytes("policy.toml", RICH.as_bytes(), &BuiltinsOnly) {
        assert!(error.diagnostics.iter().all(|diagnostic| diagnostic.code == "not-in-this-version"), "{error}");
    }
}

#[test]
fn every_prefix_has_an_answer() {
    (0..=RICH.len()).for_each(|end| answer(&RICH.as_bytes()[..end]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn mutated_policies_have_an_answer(
        source in 0..=BUILTINS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..30usize, 0..PIECES.len()), 1..5),
    ) {
        let mut bytes = BUILTINS.get(source).map_or(RICH, |(_, text)| text).as_bytes().to_vec();
        for (at, length, piece) in edits {
            let start = at.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, PIECES[piece].iter().copied());
        }
        answer(&bytes);
    }

    #[test]
    fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        answer(&bytes);
    }

    #[test]
    fn any_pieces_have_an_answer(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let mut bytes = b"version = 1\n".to_vec();
        pieces.iter().for_each(|piece| bytes.extend(PIECES[*piece]));
        answer(&bytes);
    }
}
