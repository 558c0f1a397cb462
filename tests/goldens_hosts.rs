//! Runs the presets that copy a host's selection on what that host was recorded to show: which lane, and which blocks stand
//! there, in which order, as what. How a host spells them (reprs, indented JSON, joined texts) is counted, and left to it.
//!
//! The recordings stand outside the project, see `recorded`; without them the test says so and passes, but on a continuous
//! integration machine (`CI=true`) it fails. Each line must agree, or differ for a reason that [`Stated`] names.
//! `codex`, `vscode` and `opencode` were read in sources alone: for them there is nothing recorded.

mod recorded;

use mcp_select::{Engine, Fate, Lane, Request, Selection, Status};
use recorded::Recorded;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why what is shown may differ from what the host was recorded to show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stated {
    /// The SDK below the host refuses the result: malformed blocks, a structured value that is no object, no `content`.
    RefusedBySdk,
    /// The host's conversion raises an exception about one block or value, and shows nothing of the rest.
    HostRaises,
    /// A blob without MIME type: decoded as text there, not here.
    BlobWithoutType,
    /// A structured 0, "" or false is nothing to Python's `if`; a scalar is a value here.
    FalsyScalar,
    /// `1` and `1.0` are two values there, one number here.
    NumberSpelling,
}

#[test]
fn openai_agents() {
    use Stated::*;
    check("openai-agents", "openai-agents-0.24.0", &[], 718, &[(RefusedBySdk, 16)], 690);
}

#[test]
fn openai_agents_with_its_flag() {
    use Stated::*;
    let flag = [("use_structured_content", "true")];
    check("openai-agents", "openai-agents-structured-0.24.0", &flag, 714, &[(RefusedBySdk, 16), (FalsyScalar, 4)], 469);
}

#[test]
fn pydantic_ai() {
    use Stated::*;
    check("pydantic-ai", "pydantic-ai-2.68.0", &[], 718, &[(RefusedBySdk, 16)], 643);
}

#[test]
fn langchain() {
    use Stated::*;
    check("langchain", "langchain-mcp-adapters-0.3.2", &[], 704, &[(RefusedBySdk, 25), (HostRaises, 5)], 697);
}

#[test]
fn anthropic_sdk() {
    use Stated::*;
    let stated = [(RefusedBySdk, 16), (HostRaises, 19), (BlobWithoutType, 1)];
    check("anthropic-sdk", "anthropic-sdk-2.14.0", &[], 698, &stated, 688);
}

#[test]
fn fast_agent() {
    use Stated::*;
    check("fast-agent", "fast-agent-0.10.48", &[], 718, &[(RefusedBySdk, 16)], 704);
}

#[test]
fn open_webui() {
    use Stated::*;
    let stated = [(RefusedBySdk, 16), (HostRaises, 5), (NumberSpelling, 1)];
    check("open-webui", "open-webui-0.12.4", &[], 712, &stated, 316);
}

/// What a model is shown, in a form that both sides can be brought to.
#[derive(PartialEq, Eq, Debug)]
struct Shown {
    lane: String,
    /// The index of the server's block (-1: the structured value), and as what it stands there.
    blocks: Vec<(i64, String)>,
}

/// Runs a preset on every recorded line: as many must agree as said, as many differ for each reason, and as many of those that
/// agree have the very same texts.
fn check(
    preset: &str,
    file: &str,
    labels: &[(&str, &str)],
    agree: usize,
    differing: &[(Stated, usize)],
    spelled: usize,
) {
    let Some(recorded) = find() else { return };
    let engine = Engine::builtin(preset).unwrap();
    let mut request = Request::new("server", "tool", "model");
    for (name, value) in labels {
        request.set_label(name, value);
    }
    let mut selection = Selection::new();
    let (mut agreed, mut same_texts) = (0, 0);
    let mut stated: BTreeMap<Stated, Vec<String>> = BTreeMap::new();
    let mut unstated = String::new();
    for line in recorded.goldens(&format!("hosts/{file}.jsonl")) {
        let case = line["case"].as_str().unwrap();
        let result = match line.get("result") {
            Some(Value::String(text)) => text.as_bytes().to_vec(),
            Some(result) => result.to_string().into_bytes(),
            None => recorded.result(case),
        };
        let wanted = host_shows(&line, preset);
        let found = match engine.select(&request, &result, &mut selection) {
            Ok(status) => {
                let output =
                    if status == Status::Changed { selection.json().unwrap().to_vec() } else { result.clone() };
                Some((preset_shows(&selection, &result, &output, preset), texts(&output)))
            }
            Err(_) => None,
        };
        if let Some((shown, texts)) = &found
            && *shown == wanted
        {
            agreed += 1;
            same_texts += usize::from(*texts == recorded_texts(&line));
        } else if let Some(reason) = reason(&line, &result, &wanted, found.as_ref().map(|(shown, _)| shown)) {
            stated.entry(reason).or_default().push(case.into());
        } else {
            unstated.push_str(&format!("{case}\n  host   {wanted:?}\n  preset {found:?}\n"));
        }
    }
    let count: Vec<(Stated, usize)> = stated.iter().map(|(reason, cases)| (*reason, cases.len())).collect();
    eprintln!("{preset} ({file}): {agreed} agree, {same_texts} of them word for word, differ as stated: {count:?}");
    for (reason, cases) in &stated {
        eprintln!("  {reason:?}: {}", cases.join(" "));
    }
    assert!(unstated.is_empty(), "\n{unstated}");
    assert_eq!((agreed, &count[..], same_texts), (agree, differing, spelled), "{preset}");
    let row = format!("| `{preset}`");
    let figures = format!("| {agreed} | {same_texts} | ");
    let page = include_str!("../docs/presets.md");
    assert!(page.split('\n').any(|line| line.starts_with(&row) && line.contains(&figures)), "{figures}");
}

/// The recordings; those of hosts may be missing where recorded results are there.
fn find() -> Option<Recorded> {
    let recorded = Recorded::find()?;
    let corpus = std::env::var_os("MCP_SELECT_CORPUS").map_or("../shared/corpus".into(), PathBuf::from);
    let goldens = corpus.parent()?.join("goldens/hosts");
    if goldens.is_dir() {
        return Some(recorded);
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "no recorded outputs in {}", goldens.display());
    eprintln!("skipped: no recorded outputs in {}", goldens.display());
    None
}

// ---- what the host was recorded to show --------------------------------------------------------------------------

fn host_shows(line: &Value, preset: &str) -> Shown {
    let block = |block: &Value| {
        let kind = block["kind"].as_str().unwrap();
        let usual = match kind {
            "text" | "resource_text" => "text",
            "image" | "audio" | "resource_blob" => "media",
            "resource_link" => "link",
            "unknown" => "json",
            kind => kind,
        };
        (block["source"].as_i64().unwrap(), block["as"].as_str().unwrap_or(usual).to_owned())
    };
    let mut blocks: Vec<(i64, String)> = line["blocks"].as_array().unwrap().iter().map(block).collect();
    blocks.retain(|(_, form)| form != "placeholder");
    files_apart(preset, &mut blocks);
    Shown { lane: line["lane"].as_str().unwrap().into(), blocks }
}

/// Open WebUI hands media over as files beside the text: which stood in front of which is not recorded.
fn files_apart(preset: &str, blocks: &mut [(i64, String)]) {
    if preset == "open-webui" {
        blocks.sort_by_key(|(_, form)| form == "media");
    }
}

fn recorded_texts(line: &Value) -> Vec<String> {
    let text = |text: &Value| match text {
        Value::String(text) => sha256(text),
        text => text["sha256"].as_str().unwrap().to_owned(),
    };
    line["texts"].as_array().unwrap().iter().map(text).collect()
}

// ---- what the preset shows ---------------------------------------------------------------------------------------

fn preset_shows(selection: &Selection, result: &[u8], output: &[u8], preset: &str) -> Shown {
    let result: Value = serde_json::from_slice(result).unwrap();
    let output: Value = serde_json::from_slice(output).unwrap();
    let output = output["content"].as_array().unwrap();
    assert_eq!(output.len(), selection.blocks().len());
    let mut blocks = Vec::new();
    for (block, shown) in selection.blocks().zip(output) {
        let source = block.source.map(|index| &result["content"][index]);
        let form = match (block.fate, source) {
            (Fate::Added, _) => "structured",
            (Fate::Note, _) => "note",
            (_, Some(source)) => form(source, shown),
            (_, None) => "?",
        };
        blocks.push((block.source.map_or(-1, |index| index as i64), form.to_owned()));
    }
    let has_text = blocks.iter().any(|(index, _)| *index >= 0 && result["content"][*index as usize]["type"] == "text");
    let has_value = blocks.iter().any(|(_, form)| form == "structured");
    let lane = match selection.lane() {
        // The one block that was added is the placeholder; notes are something of `content`.
        Lane::Nothing => {
            blocks.retain(|(index, _)| *index >= 0);
            if blocks.is_empty() { "nothing" } else { "content" }
        }
        Lane::Content => "content",
        Lane::Structured | Lane::StructuredOnly => "structured",
        // As the recordings say it: `structured` is the value without a text block.
        Lane::Both if has_value && has_text => "both",
        Lane::Both if has_value => "structured",
        Lane::Both => "content",
        Lane::Raw | Lane::Whole => "raw",
    };
    files_apart(preset, &mut blocks);
    Shown { lane: lane.into(), blocks }
}

/// As what a block of the server stands in the output.
fn form(source: &Value, shown: &Value) -> &'static str {
    match shown["type"].as_str().unwrap() {
        "text" if source["type"] == "text" => "text",
        "text" => match serde_json::from_str::<Value>(shown["text"].as_str().unwrap()) {
            Ok(json) if json["type"] == source["type"] => "json",
            _ => "text",
        },
        "image" | "audio" => "media",
        "resource_link" => "link",
        "resource" if shown["resource"].get("text").is_some() => "text",
        "resource" => "media",
        _ => "json",
    }
}

fn texts(output: &[u8]) -> Vec<String> {
    let output: Value = serde_json::from_slice(output).unwrap();
    let text = |block: &Value| {
        let holder = if block["type"] == "resource" { &block["resource"] } else { block };
        holder["text"].as_str().map(sha256)
    };
    output["content"].as_array().unwrap().iter().filter_map(text).collect()
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

// ---- why they differ ---------------------------------------------------------------------------------------------

fn reason(line: &Value, result: &[u8], wanted: &Shown, found: Option<&Shown>) -> Option<Stated> {
    match line["stage"].as_str() {
        Some("parse") => return Some(Stated::RefusedBySdk),
        Some(_) => return Some(Stated::HostRaises),
        None => {}
    }
    let found = found?;
    let result: Value = serde_json::from_slice(result).unwrap();
    let structured = &result["structuredContent"];
    let source = |index: i64| &result["content"][index as usize];
    let is_untyped = |index: i64| {
        index >= 0
            && source(index)["resource"].get("blob").is_some()
            && source(index)["resource"].get("mimeType").is_none()
    };
    if wanted.blocks.len() == found.blocks.len()
        && wanted.blocks.iter().zip(&found.blocks).all(|(w, f)| w == f || w.0 == f.0 && is_untyped(w.0))
    {
        return Some(Stated::BlobWithoutType);
    }
    if [Value::from(0), Value::from(""), Value::from(false)].contains(structured) && found.lane == "structured" {
        return Some(Stated::FalsyScalar);
    }
    let copy = || {
        let texts = result["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str());
        texts
            .filter_map(|text| serde_json::from_str::<Value>(text).ok())
            .any(|text| same_but_for_spelling(&text, structured))
    };
    if (wanted.lane.as_str(), found.lane.as_str()) == ("both", "content") && copy() {
        return Some(Stated::NumberSpelling);
    }
    None
}

/// Whether two values are the same JSON value when numbers are compared as numbers, and are not when they are compared as
/// they are spelled.
fn same_but_for_spelling(one: &Value, other: &Value) -> bool {
    fn as_numbers(value: &Value) -> Value {
        match value {
            Value::Number(number) => Value::from(number.as_f64().unwrap()),
            Value::Array(values) => values.iter().map(as_numbers).collect(),
            Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), as_numbers(value))).collect(),
            value => value.clone(),
        }
    }
    one != other && as_numbers(one) == as_numbers(other)
}
