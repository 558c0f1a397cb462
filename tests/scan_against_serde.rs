//! The scanner against serde_json: what is JSON for the one is JSON for the other, and both find the same in it.
//!
//! Inputs are mutations of results, made by hand (`support/results.rs`) or recorded. Each input has a seed of its own:
//!
//! * `MCP_SELECT_FUZZ_INPUTS` is their number (20,000 unless said), `MCP_SELECT_SEED` the seed of the first;
//! * a mismatch prints the seed, with which one input repeats it, and the input cut down as far as it still shows it;
//! * `MCP_SELECT_CORPUS` is a folder of recorded results (`*.json`, any depth) to mutate as well.

mod support;

use mcp_select::Status;
use mcp_select::result::json::{MAX_DEPTH, Span, validate_text};
use mcp_select::result::scan::{Input, Outcome, Scan, Terms};
use std::path::Path;
use support::choices::{Choices, inputs, seed};
use support::judge;
use support::results::{self, Wanted};
use support::tree::Tree;

// ---- what is expected -----------------------------------------------------------------------------------------

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    NoUtf8,
    NoJson,
    TooDeep,
    Json,
}

fn expected(input: &[u8], max_depth: u32) -> Verdict {
    if std::str::from_utf8(input).is_err() {
        return Verdict::NoUtf8;
    }
    // `IgnoredAny` has no limit of depth, passes over lone surrogates and looks at no number's size.
    if serde_json::from_slice::<serde::de::IgnoredAny>(input).is_err() {
        return Verdict::NoJson;
    }
    if depth(input) > max_depth { Verdict::TooDeep } else { Verdict::Json }
}

/// The most containers that are open at once, of valid JSON.
fn depth(json: &[u8]) -> u32 {
    let (mut open, mut most) = (0, 0);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                while let Some(byte) = bytes.next().filter(|byte| **byte != b'"') {
                    if *byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            b'{' | b'[' => {
                open += 1;
                most = most.max(open);
            }
            b'}' | b']' => open -= 1,
            _ => {}
        }
    }
    most
}

// ---- what is found --------------------------------------------------------------------------------------------

/// Why scanner and serde_json do not agree about this input.
fn disagreement(input: &[u8], max_depth: u32) -> Option<String> {
    let expected = expected(input, max_depth);
    if expected != Verdict::NoUtf8 {
        let accepted = validate_text(input, max_depth);
        if accepted.is_ok() != (expected == Verdict::Json) {
            return Some(format!("{expected:?}, but validate_text says {accepted:?}"));
        }
    }
    let terms = Terms { input: Input::Result, max_bytes: 1 << 26, max_depth, tasks: false, shows_structured: false };
    let mut scan = Scan::default();
    let read = scan.read(input, &terms);
    let status = read.as_ref().map_err(|refusal| refusal.status);
    let agrees = match expected {
        Verdict::NoUtf8 => status == Err(Status::ErrUtf8),
        // What is both no JSON and too deep is the one or the other.
        Verdict::NoJson => matches!(status, Err(Status::ErrJson | Status::ErrDepth)),
        Verdict::TooDeep => status == Err(Status::ErrDepth),
        Verdict::Json => matches!(status, Ok(()) | Err(Status::ErrShape | Status::ErrResultType)),
    };
    if !agrees {
        return Some(format!("{expected:?}, but the scan says {read:?}"));
    }
    if read.as_ref().is_err_and(|refusal| refusal.at > input.len()) {
        return Some(format!("the refusal points behind the input: {read:?}"));
    }
    // serde_json's own limit of depth.
    if expected != Verdict::Json || depth(input) > 120 {
        return None;
    }
    let Some(tree) = Tree::read(input) else { return Some("the judge cannot read it".into()) };
    misread(input, &tree, &scan, status.is_ok())
}

/// What the scan found otherwise than the tree tells. Of repeated members the last counts, for both.
fn misread(input: &[u8], tree: &Tree, scan: &Scan, accepted: bool) -> Option<String> {
    if accepted != is_result(tree) {
        return Some(format!("accepted: {accepted}, but by its shape: {}", is_result(tree)));
    }
    if !accepted {
        return None;
    }
    if scan.outcome != Outcome::Selected {
        let asked = tree.get("resultType").and_then(Tree::text) == Some("input_required");
        return (scan.outcome != Outcome::NeedsInput || !asked).then(|| format!("outcome {:?}", scan.outcome));
    }
    let read = |span: Span| (!span.is_absent()).then(|| Tree::read(span.of(input)).expect("a span is a value"));
    let differs = |what: &str, found: Option<Tree>, expected: Option<&Tree>| {
        (found.as_ref() != expected).then(|| format!("{what}: found {found:?}, expected {expected:?}"))
    };
    let mut faults = vec![
        differs("content", read(scan.content), tree.given("content")),
        differs("structuredContent", read(scan.structured), tree.get("structuredContent")),
        differs("isError", read(scan.is_error), tree.given("isError")),
        differs("_meta", read(scan.meta), tree.given("_meta")),
        differs("resultType", read(scan.result_type), tree.given("resultType")),
        differs("the whole", read(scan.whole), Some(tree)),
        (scan.failed(input) != (tree.get("isError") == Some(&Tree::Bool(true)))).then(|| "failed".into()),
    ];
    let blocks = tree.get("content").map(Tree::elements).unwrap_or_default();
    if blocks.len() != scan.blocks.len() {
        return Some(format!("{} blocks found of {}", scan.blocks.len(), blocks.len()));
    }
    for (expected, found) in blocks.iter().zip(&scan.blocks) {
        faults.push(differs("block", read(found.span), Some(expected)));
        let kind = judge::kind(expected);
        faults.push((kind != found.kind.name()).then(|| format!("{} for {kind}: {expected:?}", found.kind.name())));
        if kind == "unknown" {
            continue;
        }
        let is_resource = expected.get("type").and_then(Tree::text) == Some("resource");
        let holder = expected.get("resource").filter(|_| is_resource).unwrap_or(expected);
        let text = |name: &str| holder.get(name).filter(|value| value.text().is_some());
        faults.push(differs("text", read(found.text), text("text")));
        faults.push(differs("data", read(found.data), text(if is_resource { "blob" } else { "data" })));
        faults.push(differs("mimeType", read(found.mime), text("mimeType")));
        faults.push(differs("uri", read(found.uri), text("uri")));
    }
    faults.into_iter().flatten().next()
}

/// Whether a JSON value is something that a scan without tasks accepts.
fn is_result(tree: &Tree) -> bool {
    if !tree.is_object() {
        return false;
    }
    match tree.given("resultType").map(Tree::text) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => {
            return tree.get("inputRequests").is_some() || tree.get("requestState").is_some();
        }
        Some(_) => return false,
    }
    matches!(tree.given("content"), None | Some(Tree::List(_)))
        && matches!(tree.given("isError"), None | Some(Tree::Bool(_)))
        && matches!(tree.given("_meta"), None | Some(Tree::Object(_)))
        && (tree.given("content").is_some() || tree.get("structuredContent").is_some())
}

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
