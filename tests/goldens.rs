//! Runs the presets that copy a real program on what that program was recorded to do, byte for byte.
//!
//! The recordings stand outside the project: the folder `goldens` beside the one that `MCP_SELECT_CORPUS` names, or
//! `../shared/goldens`. Without them the test says so and passes, but on a continuous integration machine (`CI=true`) it fails.
//!
//! A line that a preset does not promise to copy (its flags say so) is left out. Of the others each must be equal, or differ
//! for a reason that [`Stated`] names.

mod recorded;

use mcp_select::{Engine, Request, Selection, Status};
use recorded::Recorded;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Why an output may differ from what kimi-code does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stated {
    /// The shipped program refuses the result before its selection; what the function would make of it, a model never sees.
    RefusedByClient,
    /// `_meta` keys that the specification's grammar does not allow go to nobody here (spec: `_meta`).
    MalformedMetaKey,
    /// A result with neither `content` nor `structuredContent` is refused here; kimi-code takes it for an empty one.
    NoContent,
    /// Nothing is left: the preset says in words what kimi-code says a step later.
    Placeholder,
    /// A text of characters that no font shows: blank here, not for JavaScript's `trim`.
    InvisibleText,
    /// A note's values stand on one line, are shortened at 200 characters, and an empty MIME type reads as none.
    NoteValue,
    /// A link to an image that no provider takes: kimi-code has a note of its own for it, a policy one note for all links.
    ImageLinkNote,
}

/// Flags of lines that no preset promises to copy.
const NOT_PROMISED: [&str; 4] = ["noncanonical", "lone-surrogate", "proto-member", "legacy-tool-result"];

#[test]
fn kimi_code_2026_08_04() {
    use Stated::*;
    let stated = [(RefusedByClient, 12), (MalformedMetaKey, 5), (NoContent, 1), (Placeholder, 35)];
    check("kimi-code-2026-08-04", 798, &stated);
}

#[test]
fn kimi_code_2026_08_25() {
    use Stated::*;
    let stated = [
        (RefusedByClient, 20),
        (MalformedMetaKey, 5),
        (NoContent, 1),
        (Placeholder, 1),
        (InvisibleText, 3),
        (NoteValue, 4),
        (ImageLinkNote, 2),
    ];
    check("kimi-code-2026-08-25", 815, &stated);
}

#[test]
fn kimi_code_2026_09_08() {
    use Stated::*;
    let stated = [
        (RefusedByClient, 21),
        (MalformedMetaKey, 5),
        (NoContent, 1),
        (Placeholder, 1),
        (NoteValue, 4),
        (ImageLinkNote, 2),
    ];
    check("kimi-code-2026-09-08", 817, &stated);
}

/// Runs a preset; as many lines as said must be equal, and as many differ for each reason.
fn check(preset: &str, expected: usize, differing: &[(Stated, usize)]) {
    let Some(recorded) = Recorded::find() else { return };
    let engine = Engine::builtin(preset).unwrap();
    let mut selection = Selection::new();
    let mut equal = 0;
    let mut stated: BTreeMap<Stated, Vec<String>> = BTreeMap::new();
    let mut unstated = String::new();
    for line in recorded.goldens(&format!("kimi-code/{preset}.jsonl")) {
        let has_flag = |flag: &str| line["flags"].as_array().is_some_and(|flags| flags.iter().any(|f| f == flag));
        if line.get("throws").is_some() || NOT_PROMISED.iter().any(|flag| has_flag(flag)) {
            continue;
        }
        let case = line["case"].as_str().unwrap();
        let result = match line.get("result") {
            Some(text) => text.as_str().unwrap().as_bytes().to_vec(),
            None => recorded.result(case),
        };
        let tool = line["tool"].as_str().unwrap();
        let request = Request::new(line["server"].as_str().unwrap(), tool, "model");
        let found = match engine.select(&request, &result, &mut selection) {
            Ok(Status::Unchanged) => parts(&result),
            Ok(_) => parts(selection.json().unwrap()),
            Err(error) => vec![error.to_string()],
        };
        let wanted: Vec<String> = line["parts"].as_array().unwrap().iter().map(golden_part).collect();
        if found == wanted {
            equal += 1;
        } else if let Some(reason) = reason(&line, &result, &wanted, &found) {
            stated.entry(reason).or_default().push(case.into());
        } else {
            unstated.push_str(&format!("{case}\n  kimi-code {wanted:?}\n  preset    {found:?}\n"));
        }
    }
    eprintln!("{preset}: {equal} equal, stated differences: {stated:#?}");
    assert!(unstated.is_empty(), "\n{unstated}");
    let stated: Vec<(Stated, usize)> = stated.into_iter().map(|(reason, cases)| (reason, cases.len())).collect();
    assert_eq!((equal, &stated[..]), (expected, differing), "{preset}");
}

/// The reason that explains a difference, by what the recording and the result say.
fn reason(line: &Value, result: &[u8], wanted: &[String], found: &[String]) -> Option<Stated> {
    if wanted.is_empty() && found == [text_part("Tool output is empty.")] {
        return Some(Stated::Placeholder);
    }
    if line["client"] == "rejected" {
        return Some(Stated::RefusedByClient);
    }
    let result: Value = serde_json::from_slice(result).unwrap();
    let blocks = result["content"].as_array();
    let any_block = |test: &dyn Fn(&Value) -> bool| blocks.is_some_and(|blocks| blocks.iter().any(test));
    if result.get("content").is_none() && result.get("structuredContent").is_none() {
        return Some(Stated::NoContent);
    }
    if result["_meta"].as_object().is_some_and(|meta| meta.keys().any(|key| !is_well_formed(key))) {
        return Some(Stated::MalformedMetaKey);
    }
    let is_invisible = |text: &str| {
        let invisible = ['\u{85}', '\u{200b}', '\u{2060}', '\u{180e}', '\u{200d}', '\u{3164}', '\u{e0020}'];
        text.chars().all(|c| c.is_whitespace() || invisible.contains(&c))
    };
    if any_block(&|block| block["text"].as_str().is_some_and(is_invisible)) {
        return Some(Stated::InvisibleText);
    }
    if found.len() == wanted.len() {
        let differing = || wanted.iter().zip(found).filter(|(wanted, found)| wanted != found);
        if differing().all(|(wanted, _)| wanted.starts_with("text [Image omitted: ")) {
            return Some(Stated::ImageLinkNote);
        }
        if differing()
            .all(|(wanted, found)| [wanted, found].iter().all(|t| t.starts_with("text [MCP content dropped: ")))
        {
            return Some(Stated::NoteValue);
        }
    }
    None
}

/// Whether a `_meta` key is one by the specification: labels with dots between them and a slash, then a name.
fn is_well_formed(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').unwrap_or(("a", key));
    let between = |text: &str, others: &[u8]| {
        text.bytes().all(|b| b.is_ascii_alphanumeric() || others.contains(&b))
            && text.bytes().last().is_some_and(|b| b.is_ascii_alphanumeric())
    };
    let is_label = |label: &str| between(label, b"-") && label.as_bytes()[0].is_ascii_alphabetic();
    let is_name = |name: &str| between(name, b"-_.") && name.as_bytes()[0].is_ascii_alphanumeric();
    prefix.split('.').all(is_label) && (name.is_empty() || is_name(name))
}

fn text_part(text: &str) -> String {
    if text.len() > 20_480 {
        format!("text {} {}", sha256(text.as_bytes()), text.len())
    } else {
        format!("text {text}")
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A recorded part in a form that can be compared.
fn golden_part(part: &Value) -> String {
    let text = |name: &str| part[name].as_str().unwrap();
    match text("type") {
        "text" if part.get("sha256").is_some() => format!("text {} {}", text("sha256"), part["length"]),
        "text" => text_part(text("text")),
        kind => format!("{kind} {} {} {}", text("url_sha256"), part["mime"], part["bytes"]),
    }
}

/// The blocks of an output in the same form.
fn parts(output: &[u8]) -> Vec<String> {
    let output: Value = serde_json::from_slice(output).unwrap();
    output["content"].as_array().unwrap().iter().map(part).collect()
}

fn part(block: &Value) -> String {
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let media = |mime: String, data: String| {
        let kind = mime.split('/').next().unwrap_or_default().to_ascii_lowercase();
        let url = format!("data:{mime};base64,{data}");
        format!(
            "{kind}_url {} {} {}",
            sha256(url.as_bytes()),
            Value::from(mime),
            data.trim_end_matches('=').len() * 3 / 4
        )
    };
    match block["type"].as_str().unwrap() {
        "text" => text_part(block["text"].as_str().unwrap()),
        // An image is an image whatever its MIME type says.
        kind @ ("image" | "audio") => {
            let url = media(string(&block["mimeType"]), string(&block["data"]));
            format!("{kind}_url {}", url.split_once(' ').unwrap().1)
        }
        "resource" => media(string(&block["resource"]["mimeType"]), string(&block["resource"]["blob"])),
        "resource_link" => {
            let kind = string(&block["mimeType"]).split('/').next().unwrap_or_default().to_ascii_lowercase();
            let uri = string(&block["uri"]);
            // A link may be a `data:` URL itself.
            match uri.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
                Some((mime, data)) => media(mime.into(), data.into()),
                None => format!("{kind}_url {} null null", sha256(uri.as_bytes())),
            }
        }
        other => format!("{other}?"),
    }
}
