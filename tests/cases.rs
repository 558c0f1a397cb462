//! Runs `tests/cases/*.toml`: what each audience gets of a result under a policy, as data that every language can run.
//!
//! What a case may say stands in [`Case`] and [`Expect`]. Besides that, each case must give a decision record that is
//! JSON, the same bytes when its output goes through again, and nothing at all on an error.
//!
//! `MCP_SELECT_EXPORT_CASES=FILE` writes all cases, with what came of them, in a form that C reads without a parser.

use mcp_select::{Engine, Error, Fate, Input, Request, Selection, Status};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The behaviour that the file shows, in a line.
    about: String,
    /// A cargo feature; without it the file is left out.
    needs: Option<String>,
    /// A built-in policy, or the text of one: for the cases that name none.
    policy: Option<String>,
    policy_toml: Option<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    policy: Option<String>,
    policy_toml: Option<String>,
    #[serde(default = "demo")]
    server: String,
    #[serde(default = "tool")]
    tool: String,
    #[serde(default = "model")]
    audience: String,
    revision: Option<String>,
    /// JSON text.
    tool_definition: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    extensions: Vec<String>,
    #[serde(default = "result")]
    input: String,
    /// The exact bytes, or their hexadecimal digits where they are no UTF-8.
    result: Option<String>,
    result_hex: Option<String>,
    expect: Expect,
    /// `false`: a second pass may give other bytes. The case says why in a comment.
    #[serde(default = "yes")]
    stable: bool,
    /// Why the case fails today; it is then printed, and must not pass by accident.
    known_fault: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// The word of a [`Status`].
    status: String,
    /// The exact bytes of the output; with `changed`, and only then.
    json: Option<String>,
    /// All texts that the reader sees, joined with `\n`.
    text: Option<String>,
    lane: Option<String>,
    outcome: Option<String>,
    is_error: Option<bool>,
    /// The exact message of an error.
    message: Option<String>,
    /// `kept 0`, `rewritten 1`, `note 2` (with the index of the source block), `added`.
    blocks: Option<Vec<String>>,
    /// `WHAT WHY` of everything dropped, in order.
    dropped: Option<Vec<String>>,
    /// `CODE COUNT` of every note of the record, in order.
    notes: Option<Vec<String>>,
    deviates: Option<Vec<String>>,
    /// The title of a rule that set something.
    rule: Option<String>,
    /// Text that stands in the facts of the record.
    fact: Option<String>,
}

fn demo() -> String {
    "demo".into()
}
fn tool() -> String {
    "tool".into()
}
fn model() -> String {
    "model".into()
}
fn result() -> String {
    "result".into()
}
fn yes() -> bool {
    true
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        match (&self.result, &self.result_hex) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(hex)) => {
                (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
            }
            _ => panic!("{}: either `result` or `result_hex`", self.name),
        }
    }

    fn policy<'c>(&'c self, file: &'c File) -> (&'static str, &'c str) {
        let own = (&self.policy, &self.policy_toml);
        let either = if own == (&None, &None) { (&file.policy, &file.policy_toml) } else { own };
        match either {
            (Some(name), None) => ("builtin", name),
            (None, Some(text)) => ("toml", text),
            _ => panic!("{}: either `policy` or `policy_toml`", self.name),
        }
    }

    fn engine(&self, file: &File) -> Engine {
        let engine = match self.policy(file) {
            ("builtin", name) => Engine::builtin(name),
            (_, text) => Engine::from_toml(text.as_bytes()),
        };
        engine.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn request(&self) -> Result<Request, Error> {
        let mut request = Request::new(&self.server, &self.tool, &self.audience);
        if let Some(date) = &self.revision {
            request.set_revision(date)?;
        }
        if let Some(definition) = &self.tool_definition {
            request.set_tool_definition(Some(definition.as_bytes()))?;
        }
        for (name, value) in &self.labels {
            request.set_label(name, value);
        }
        for extension in &self.extensions {
            request.add_extension(extension);
        }
        request.set_input(match &*self.input {
            "result" => Input::Result,
            "sampling" => Input::Sampling,
            other => panic!("{}: no input {other:?}", self.name),
        });
        Ok(request)
    }
}

/// What came of a case.
struct Got {
    status: Status,
    message: String,
    json: Option<Vec<u8>>,
    text: String,
    record: Vec<u8>,
    selection: Selection,
}

fn run(case: &Case, engine: &Engine, result: &[u8]) -> Got {
    let mut selection = Selection::new();
    let outcome = case.request().and_then(|request| engine.select(&request, result, &mut selection));
    let (status, message) = match outcome {
        Ok(status) => (status, String::new()),
        Err(error) => (error.status(), error.message().to_owned()),
    };
    Got {
        status,
        message,
        json: selection.json().map(<[u8]>::to_vec),
        text: selection.text(result, "\n").to_owned(),
        record: selection.decision().to_vec(),
        selection,
    }
}

/// What is wrong, one difference a line; empty when all is well.
fn differences(case: &Case, engine: &Engine, got: &Got) -> String {
    let mut wrong = String::new();
    let mut compare = |what: &str, expected: &str, found: &str| {
        if expected != found {
            writeln!(
                wrong,
                "  {what}\n    expected {}\n    got      {}",
                expected.escape_debug(),
                found.escape_debug()
            )
            .unwrap();
        }
    };
    let expect = &case.expect;
    compare("status", &expect.status, got.status.code());
    let lossy =
        |bytes: &Option<Vec<u8>>| bytes.as_deref().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
    compare("json", expect.json.as_deref().unwrap_or_default(), &lossy(&got.json));
    if let Some(text) = &expect.text {
        compare("text", text, &got.text);
    }
    if let Some(message) = &expect.message {
        compare("message", message, &got.message);
    }
    if got.status as i32 >= 0 && !got.message.is_empty() || (got.status as i32) < 0 && got.message.is_empty() {
        compare("message of", got.status.code(), &got.message);
    }
    if (got.status as i32) < 0 {
        compare("text after an error", "", &got.text);
        compare("decision after an error", "", &String::from_utf8_lossy(&got.record));
        compare("blocks after an error", "0", &got.selection.blocks().len().to_string());
        return wrong;
    }

    let selection = &got.selection;
    if let Some(lane) = &expect.lane {
        compare("lane", lane, selection.lane().name());
    }
    if let Some(outcome) = &expect.outcome {
        compare("outcome", outcome, selection.outcome().name());
    }
    if let Some(is_error) = expect.is_error {
        compare("is_error", &is_error.to_string(), &selection.is_error().to_string());
    }
    if let Some(blocks) = &expect.blocks {
        let found = selection.blocks().map(|block| {
            let fate = match block.fate {
                Fate::Kept => "kept",
                Fate::Rewritten => "rewritten",
                Fate::Note => "note",
                Fate::Added => "added",
            };
            block.source.map_or(fate.into(), |source| format!("{fate} {source}"))
        });
        compare("blocks", &blocks.join(", "), &found.collect::<Vec<String>>().join(", "));
    }

    let record: Value = match serde_json::from_slice(&got.record) {
        Ok(record) => record,
        Err(error) => {
            compare("decision record", "JSON", &format!("{error}: {}", String::from_utf8_lossy(&got.record)));
            return wrong;
        }
    };
    let list = |name: &str, one: &dyn Fn(&Value) -> String| {
        record[name].as_array().unwrap().iter().map(one).collect::<Vec<String>>().join(", ")
    };
    let word = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    if let Some(dropped) = &expect.dropped {
        let found = list("dropped", &|d| format!("{} {}", word(&d["what"]), word(&d["why"])));
        compare("dropped", &dropped.join(", "), &found);
    }
    if let Some(notes) = &expect.notes {
        compare("notes", &notes.join(", "), &list("notes", &|n| format!("{} {}", word(&n["code"]), n["count"])));
    }
    if let Some(deviates) = &expect.deviates {
        compare("deviates", &deviates.join(", "), &list("deviates", &word));
    }
    if let Some(rule) = &expect.rule {
        let rules: Vec<String> = record["settings"].as_object().unwrap().values().map(|s| word(&s["rule"])).collect();
        if !rules.contains(rule) {
            compare("rule", rule, &rules.join(", "));
        }
    }
    if let Some(fact) = &expect.fact {
        let record = String::from_utf8_lossy(&got.record);
        let facts = &record[record.find("\"facts\":").unwrap()..record.find(",\"settings\":").unwrap()];
        if !facts.contains(fact.as_str()) {
            compare("fact", fact, facts);
        }
    }
    if let (true, Some(json)) = (case.stable, &got.json) {
        let again = run(case, engine, json);
        let twice = again.json.as_deref().unwrap_or(json);
        compare("second pass", &String::from_utf8_lossy(json), &String::from_utf8_lossy(twice));
        compare("message of the second pass", "", &again.message);
    }
    wrong
}

#[test]
fn cases() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    assert!(!paths.is_empty());

    let mut export = Vec::new();
    let mut failures = String::new();
    let mut count = 0;
    for path in &paths {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{stem}: {error}"));
        // What a library without the feature cannot do is exported to nobody: the bindings are built without it.
        let is_schema = file.needs.as_deref() == Some("schema");
        if is_schema && !cfg!(feature = "schema") {
            eprintln!("{stem}: skipped, it needs the feature `schema`");
            continue;
        }
        for case in &file.cases {
            count += 1;
            let result = case.bytes();
            let engine = case.engine(&file);
            let got = run(case, &engine, &result);
            let wrong = differences(case, &engine, &got);
            match &case.known_fault {
                Some(fault) if wrong.is_empty() => {
                    write!(failures, "{stem}: {}\n  passes, but has `known_fault`: {fault}\n\n", case.name).unwrap();
                }
                Some(fault) => eprintln!("known fault: {stem}: {}: {fault}\n{wrong}", case.name),
                None if wrong.is_empty() => {}
                None => write!(failures, "{stem}: {} ({})\n{wrong}\n", case.name, file.about).unwrap(),
            }
            if !is_schema {
                write_export(stem, case, &file, &result, &got, &mut export);
            }
        }
    }
    if let Some(path) = std::env::var_os("MCP_SELECT_EXPORT_CASES") {
        std::fs::write(path, export).unwrap();
    }
    eprintln!("{count} cases in {} files", paths.len());
    assert!(failures.is_empty(), "\n{failures}");
}

/// One case: a line `case NAME`, then fields, each `NAME LENGTH`, a line feed, that many bytes and a line feed, at last a
/// line `end`. Every field is there, in this order; what a case does not say is empty. `labels` holds a number and is
/// followed by that many `label_name` and `label_value`; `extensions` holds one a line.
fn write_export(stem: &str, case: &Case, file: &File, result: &[u8], got: &Got, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("case {stem}: {}\n", case.name).as_bytes());
    let mut field = |name: &str, value: &[u8]| {
        out.extend_from_slice(format!("{name} {}\n", value.len()).as_bytes());
        out.extend_from_slice(value);
        out.push(b'\n');
    };
    let (kind, policy) = case.policy(file);
    field("policy_kind", kind.as_bytes());
    field("policy", policy.as_bytes());
    field("server", case.server.as_bytes());
    field("tool", case.tool.as_bytes());
    field("audience", case.audience.as_bytes());
    field("revision", case.revision.as_deref().unwrap_or_default().as_bytes());
    field("definition", case.tool_definition.as_deref().unwrap_or_default().as_bytes());
    field("labels", case.labels.len().to_string().as_bytes());
    for (name, value) in &case.labels {
        field("label_name", name.as_bytes());
        field("label_value", value.as_bytes());
    }
    field("extensions", case.extensions.join("\n").as_bytes());
    field("input", case.input.as_bytes());
    field("result", result);
    field("status", (got.status as i32).to_string().as_bytes());
    field("json", got.json.as_deref().unwrap_or_default());
    field("text", got.text.as_bytes());
    field("decision", &got.record);
    field("message", got.message.as_bytes());
    out.extend_from_slice(b"end\n");
}
