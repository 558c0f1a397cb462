//! The scanner against serde_json: what is JSON for the one is JSON for the other, and both find the same in it.
//!
//! What is compared stands in `support/scan.rs`, which `fuzz/` uses too. Inputs are mutations of results, made by hand (`support/results.rs`) or recorded. Each input has a seed of its own:
//!
//! * `MCP_SELECT_FUZZ_INPUTS` is their number (20,000 unless said), `MCP_SELECT_SEED` the seed of the first;
//! * a mismatch prints the seed, with which one input repeats it, and the input cut down as far as it still shows it;
//! * `MCP_SELECT_CORPUS` is a folder of recorded results (`*.json`, any depth) to mutate as well.

mod support;

use mcp_select::result::json::MAX_DEPTH;
use std::path::Path;
use support::choices::{Choices, inputs, seed};
use support::results::{self, Wanted};
use support::scan::{disagreement, expected};

// ---- inputs ---------------------------------------------------------------------------------------------------

/// Results of all shapes, some of them wrong, and JSON that is no result.
const SEEDS: &[&str] = &[
    r#"{"content":[]}"#,
    r#"{"content":[{"type":"text","text":"7 °C"}],"structuredContent":{"c":7,"at":"12:00"},"isError":false}"#,
    r#"{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png","annotations":{"audience":["user"],"priority":0.5}}]}"#,
    r#"{"content":[{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"},{"type":"text","text":""}],"isError":true}"#,
    r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a","title":null,"size":12,"icons":[]}]}"#,
    r#"{"content":[{"type":"resource","resource":{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>"}}]}"#,
    r#"{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"AAAA","_meta":{"k":[1]}},"_meta":{"com.example/a":1}}]}"#,
    r#"{"content":[{"type":"video","url":"x"},null,[],7,{"text":"no type"}]}"#,
    r#"{"structuredContent":[1,2.50,-0,1e400,1E-7,123456789012345678901234567890],"_meta":{"a":{"b":{"c":[]}}}}"#,
    r#"{"content":[{"type":"text","text":"\ud83e\udd8a \u00e9 \ud800 \udc00 \"\\\/\b\f\n\r\t"}]}"#,
    r#"{"con\u0074ent":[{"t\u0079pe":"te\u0078t","text":"a"}],"\u005fmeta":{},"isErro\u0072":null}"#,
    r#"{"content":[{"type":"text","text":"a","text":"b"}],"content":[],"isError":true,"isError":false}"#,
    r#"{"content":null,"structuredContent":null,"_meta":null,"isError":null,"resultType":null}"#,
    r#"{"resultType":"input_required","inputRequests":{},"requestState":"opaque"}"#,
    r#"{"resultType":"complete","content":[],"unknown":{"x":[true,false,null]}}"#,
    r#"{"outputs":[],"task":{},"type":"tool_result"}"#,
    "[[[[{\"a\":[{}]}]]],\"x\", 1]",
    "\"just a string\"",
    " \t\r\n{ \"content\" : [ { \"type\" : \"text\" , \"text\" : \"x\" } ] } \n",
];

/// Pieces that mean something to a JSON reader.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    "\\udc00",
    "\\ud83e\\udd8a",
    "\\u00e9",
    "null",
    "true",
    "false",
    "-",
    "0",
    "01",
    "1.",
    ".5",
    "1e",
    "1e+5",
    "-0",
    "NaN",
    "Infinity",
    " ",
    "\t",
    "\n",
    "\r",
    "\u{b}",
    "\u{feff}",
    "\0",
    "\u{1f}",
    "\u{7f}",
    "é",
    "\u{2028}",
    "🦊",
    "\"type\":\"text\",",
    "\"content\":[],",
    "\"isError\":true,",
    "\"_meta\":{},",
    "\"structuredContent\":",
    "\"resultType\":\"complete\",",
    "\"con\\u0074ent\":[],",
    "//",
    "'",
];

/// The results that are mutated, and whether recorded ones are among them.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    for seed in 0..200 {
        let mut choices = Choices::random(seed);
        let wanted = Wanted { without_repeats: seed % 2 == 0, ..Wanted::default() };
        seeds.push(results::result(&mut choices, wanted));
    }
    match std::env::var_os("MCP_SELECT_CORPUS") {
        Some(folder) => {
            let before = seeds.len();
            collect(Path::new(&folder), &mut seeds);
            println!("{} recorded results", seeds.len() - before);
            assert!(seeds.len() > before, "MCP_SELECT_CORPUS holds no results");
        }
        None => println!("no recorded results: MCP_SELECT_CORPUS is not set"),
    }
    seeds
}

/// Longer ones would make the test slow and say nothing new.
const LONGEST_SEED: usize = 16 << 10;

fn collect(folder: &Path, seeds: &mut Vec<Vec<u8>>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, seeds);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            seeds.extend(Some(std::fs::read(&path).unwrap()).filter(|bytes| bytes.len() <= LONGEST_SEED));
        }
    }
}

/// One input: a seed, changed a few times.
fn input(choices: &mut Choices, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[choices.below(seeds.len())].clone();
    match choices.below(8) {
        // Well-formed changes: what is found in it is compared.
        0 | 1 => grow_strings(choices, &mut bytes),
        2 => nest(choices, &mut bytes),
        3 => space_out(choices, &mut bytes),
        _ => {}
    }
    for _ in 0..choices.below(4) {
        mutate(choices, &mut bytes, seeds);
    }
    bytes
}

/// Lengths around the blocks that a scanner may read at once.
const LENGTHS: &[usize] = &[1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200];

fn grow_strings(choices: &mut Choices, bytes: &mut Vec<u8>) {
    for _ in 0..1 + choices.below(3) {
        let quotes: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'"').collect();
        let Some(&quote) = quotes.get(choices.below(quotes.len().max(1))) else { return };
        let length = LENGTHS[choices.below(LENGTHS.len())];
        let filler = choices.pick(&["x", "é", "\\n", "\\u00e9", "🦊", "\\ud83e\\udd8a", "\\ud800"]);
        let text = filler.repeat(length.div_ceil(filler.len()));
        bytes.splice(quote + 1..quote + 1, text.bytes());
    }
}

/// A value at an exact depth.
fn nest(choices: &mut Choices, bytes: &mut Vec<u8>) {
    let levels = 120 + choices.below(12);
    let (open, close) = if choices.one_in(2) { ("[", "]") } else { ("{\"a\":", "}") };
    let inner = choices.pick(&["1", "[]", "{}", "\"x\"", "[1]"]);
    let deep = format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
    match choices.below(3) {
        0 => *bytes = deep.into_bytes(),
        1 => *bytes = format!("{{\"content\":[],\"structuredContent\":{deep}}}").into_bytes(),
        _ => {
            *bytes = format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"a\",\"_meta\":{{\"k\":{deep}}}}}]}}")
                .into_bytes()
        }
    }
}

fn space_out(choices: &mut Choices, bytes: &mut Vec<u8>) {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for &byte in bytes.iter() {
        out.push(byte);
        if matches!(byte, b',' | b':' | b'{' | b'[' | b'}' | b']') {
            out.extend_from_slice(choices.pick(&["", " ", "\n\t", "\r "]).as_bytes());
        }
    }
    *bytes = out;
}

fn mutate(choices: &mut Choices, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = choices.below(bytes.len() + 1);
    let end = (at + 1 + choices.below(12)).min(bytes.len());
    match choices.below(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << choices.below(8),
        1 if at < bytes.len() => bytes[at] = choices.next() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at.min(end)..end)),
        4 => {
            let copy = bytes[at.min(end)..end].to_vec();
            bytes.splice(at..at, copy);
        }
        5 => {
            let other = &seeds[choices.below(seeds.len())];
            let from = choices.below(other.len() + 1);
            let to = (from + choices.below(64)).min(other.len());
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        6 => {
            // A digit, a letter of an escape or of a literal gives way to another.
            if let Some(byte) = bytes.get_mut(at).filter(|byte| byte.is_ascii_alphanumeric()) {
                *byte = b"0123456789abcdefuEnrt"[choices.below(21)];
            }
        }
        _ => drop(bytes.splice(at..at, choices.pick(PIECES).bytes())),
    }
}

// ---- the comparison -------------------------------------------------------------------------------------------

/// Cuts an input down as long as it is still judged in two ways.
fn shrink(mut input: Vec<u8>, max_depth: u32) -> Vec<u8> {
    let mut size = input.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < input.len() {
            let mut shorter = input.clone();
            shorter.drain(at..(at + size).min(input.len()));
            if disagreement(&shorter, max_depth).is_some() { input = shorter } else { at += size }
        }
        size /= 2;
    }
    input
}

#[test]
fn scanner_and_serde_json_agree() {
    let (first, count) = (seed(), inputs(20_000));
    println!("seeds {first} to {}", first.wrapping_add(count - 1));
    let seeds = seeds();
    let mut verdicts = [0u64; 4];
    for seed in (0..count).map(|number| first.wrapping_add(number)) {
        let mut choices = Choices::random(seed);
        let input = input(&mut choices, &seeds);
        let max_depth = if choices.one_in(4) { 1 + choices.next() % MAX_DEPTH } else { MAX_DEPTH };
        verdicts[expected(&input, max_depth) as usize] += 1;
        if disagreement(&input, max_depth).is_some() {
            let small = shrink(input, max_depth);
            let why = disagreement(&small, max_depth).unwrap_or_default();
            panic!(
                "{why}\n  input: {:?}\n  repeat: MCP_SELECT_SEED={seed} MCP_SELECT_FUZZ_INPUTS=1 (max_depth {max_depth})",
                String::from_utf8_lossy(&small)
            );
        }
    }
    let [no_utf8, no_json, too_deep, json] = verdicts;
    println!("{json} JSON, {no_json} no JSON, {no_utf8} no UTF-8, {too_deep} too deep");
    // An input of every sort must have been there, or the comparison says little.
    assert!(count < 1000 || verdicts.iter().all(|&verdict| verdict > count / 500), "{verdicts:?}");
    assert!(count < 1000 || json > count / 5, "{verdicts:?}");
}

#[test]
fn agree_at_the_limit_of_depth() {
    for levels in 125..=131 {
        for max_depth in [1, 64, 127, 128] {
            for (open, inner, close) in
                [("[", "", "]"), ("[", "1", "]"), ("{\"a\":", "{}", "}"), ("[{\"a\":", "[]", "}]")]
            {
                let deep = format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
                for text in [deep.clone(), format!("{{\"content\":[],\"structuredContent\":{deep}}}")] {
                    assert_eq!(disagreement(text.as_bytes(), max_depth), None, "{levels} {max_depth} {text}");
                }
            }
        }
    }
}

/// Every string length and every place of the odd byte in it, past all the sizes that are read at once.
#[test]
fn agree_at_every_boundary() {
    for length in 0..140 {
        for odd in ["", "\\", "\\\"", "\\u00e9", "\\ud83e\\udd8a", "\\ud83e", "\u{1f}", "é", "\u{7f}", "\\x"] {
            for before in [0, 1, 7, 8, 9, 15, 16, 63, 64, 65] {
                let text = format!("{{\"content\":[],\"s\":\"{}{odd}{}\"}}", "y".repeat(before), "x".repeat(length));
                assert_eq!(disagreement(text.as_bytes(), MAX_DEPTH), None, "{text}");
            }
        }
    }
}
