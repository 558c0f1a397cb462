//! Coverage against its definition written plainly (`src/result/coverage/naive.rs`).
//!
//! The first byte says what the others are: a result, whose blocks should cover its structured value; or choices of pieces
//! that make trouble.
#![no_main]

// What the included files call `crate::result`.
use mcp_select::result;

#[allow(dead_code, reason = "the definition uses some of it")]
#[path = "../../src/result/coverage/fold.rs"]
mod fold;
#[path = "../../src/result/coverage/naive.rs"]
mod naive;
#[path = "../../src/result/coverage/pieces.rs"]
mod pieces;
#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use pieces::{NUMBERS, PIECES, in_escapes};
use result::coverage::Coverage;
use result::json::{elements, member, validate_text};
use std::cell::RefCell;
use support::choices::Choices;

thread_local! {
    /// Used again from input to input: what it remembers must not show.
    static COVERAGE: RefCell<Coverage> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    if first == b'{' { given(input) } else { made(&mut Choices::bytes(rest)) }
});

fn check(structured: &str, blocks: &[&str]) {
    let expected = naive::measure(structured, blocks);
    let found = COVERAGE.with_borrow_mut(|coverage| {
        let measured = coverage.measure(structured.as_bytes(), blocks.iter().map(|block| block.as_bytes())).unwrap();
        (measured.covered, measured.total, coverage.missing().to_vec())
    });
    assert_eq!(found, expected, "structured: {structured}\nblocks: {blocks:?}");
    let fresh = Coverage::new().measure(structured.as_bytes(), blocks.iter().map(|block| block.as_bytes())).unwrap();
    assert_eq!((fresh.covered, fresh.total), (expected.0, expected.1), "structured: {structured}\nblocks: {blocks:?}");
}

fn given(input: &[u8]) {
    let (Ok(whole), Ok(text)) = (validate_text(input, 100), std::str::from_utf8(input)) else { return };
    let Some(structured) = member(input, whole, "structuredContent") else { return };
    let content = member(input, whole, "content").filter(|content| content.of(input).starts_with(b"["));
    let of = |span: result::json::Span| &text[span.start as usize..span.end as usize];
    let blocks: Vec<&str> = content.into_iter().flat_map(|content| elements(input, content)).map(of).collect();
    check(of(structured), &blocks);
}

fn made(choices: &mut Choices) {
    let strings: Vec<String> = (0..choices.below(24)).map(|_| some_pieces(choices, 7)).collect();
    let numbers: Vec<&str> = (0..choices.below(10)).map(|_| choices.pick(NUMBERS)).collect();
    let leaves: Vec<&str> = strings.iter().map(String::as_str).chain(numbers.iter().copied()).collect();
    let blocks: Vec<String> = (0..choices.below(4)).map(|_| block(choices, &leaves)).collect();
    let mut values: Vec<String> = strings.iter().map(|text| spelled(text, choices.one_in(6))).collect();
    values.extend(numbers.iter().map(|number| (*number).to_owned()));
    let structured = if choices.one_in(3) {
        format!("[{}]", values.join(" , "))
    } else {
        let named: Vec<String> =
            values.iter().zip(0..).map(|(value, i)| format!("\"m{}\":{value}", i * 7 % 31)).collect();
        format!("{{\"all\":[{{{}}}],\"m1\":null}}", named.join(","))
    };
    check(&structured, &blocks.iter().map(String::as_str).collect::<Vec<_>>());
}

fn some_pieces(choices: &mut Choices, most: usize) -> String {
    (0..choices.below(most)).map(|_| choices.pick(PIECES)).collect()
}

/// A JSON string, shortest or all in escapes.
fn spelled(text: &str, escaped: bool) -> String {
    if escaped { in_escapes(text) } else { serde_json::to_string(text).unwrap() }
}

/// A block that says the leaves, changed a little, between other pieces.
fn block(choices: &mut Choices, leaves: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..choices.below(24) {
        let leaf = if leaves.is_empty() { "" } else { leaves[choices.below(leaves.len())] };
        text += &match choices.below(9) {
            0 => leaf.to_owned(),
            1 => leaf.to_lowercase(),
            2 => leaf.replace(char::is_whitespace, " \n"),
            3 => spelled(leaf, false),
            4 => spelled(leaf, true),
            5 => leaf.chars().skip(1).collect(),
            6 => leaf.to_uppercase(),
            _ => some_pieces(choices, 4),
        };
    }
    let text = spelled(&text, choices.one_in(8));
    match choices.below(8) {
        1 => format!("{{\"uri\":{text}}}"),
        2 => format!("{{\"resource\":{{\"text\":{text},\"title\":\"T\"}},\"x\":[{text}]}}"),
        3 => format!("{{\"text\":\"old\",\"name\":{text},\"text\":{text}}}"),
        _ => format!("{{\"type\":\"text\",\"text\":{text}}}"),
    }
}
