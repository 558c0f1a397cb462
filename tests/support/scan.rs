//! The scanner against serde_json: what is JSON for the one is JSON for the other, and both find the same in it.

use super::judge;
use super::tree::Tree;
use mcp_select::Status;
use mcp_select::result::json::{Span, validate_text};
use mcp_select::result::scan::{Input, Outcome, Scan, Terms};

// ---- what is expected -----------------------------------------------------------------------------------------

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    NoUtf8,
    NoJson,
    TooDeep,
    Json,
}

pub fn expected(input: &[u8], max_depth: u32) -> Verdict {
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
pub fn disagreement(input: &[u8], max_depth: u32) -> Option<String> {
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
