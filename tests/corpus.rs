//! Runs recorded results of real servers through the policies: what must hold on each of them.
//!
//! The recordings stand outside the project, see `recorded`; without them the test says so and passes.

mod recorded;

use mcp_select::{Engine, Lane, Request, Selection, Status};
use recorded::{Call, Recorded};
use serde_json::Value;

const POLICIES: [&str; 6] = [
    "sep-2200",
    "lossless",
    "kimi-code-2026-08-04",
    "kimi-code-size-ratio",
    "kimi-code-2026-08-25",
    "kimi-code-2026-09-08",
];

/// What a policy makes of a call: the output, and the selection that made it.
fn select(engine: &Engine, audience: &str, call: &Call, bytes: &[u8]) -> (Vec<u8>, Selection) {
    let mut selection = Selection::new();
    let request = Request::new(&call.server, &call.tool, audience);
    let status =
        engine.select(&request, bytes, &mut selection).unwrap_or_else(|error| panic!("{}: {error}", call.case));
    assert_ne!(status, Status::NotForReaders, "{}", call.case);
    (selection.json().unwrap_or(bytes).to_vec(), selection)
}

#[test]
fn every_policy_gives_a_result_and_the_same_one_twice() {
    let Some(recorded) = Recorded::find() else { return };
    let calls = recorded.calls();
    for policy in POLICIES {
        let engine = Engine::builtin(policy).unwrap();
        let (mut read, mut written, mut changed) = (0, 0, 0);
        for call in &calls {
            let (output, selection) = select(&engine, "model", call, &call.bytes);
            let json: Value = serde_json::from_slice(&output).unwrap_or_else(|error| panic!("{}: {error}", call.case));
            assert!(json["content"].is_array(), "{policy}: {}", call.case);
            if policy == "sep-2200" {
                assert!(json.get("structuredContent").is_none() && json.get("_meta").is_none(), "{}", call.case);
            }
            let (twice, _) = select(&engine, "model", call, &output);
            assert!(twice == output, "{policy}: {}: a second pass changes the output", call.case);
            read += call.bytes.len();
            written += output.len();
            changed += usize::from(selection.status() == Some(Status::Changed));
        }
        eprintln!("{policy}: {} results, {changed} changed, {read} bytes in, {written} bytes out", calls.len());
    }
    assert_eq!(calls.len(), 622);
}

#[test]
fn the_view_of_an_app_gets_what_the_server_sent() {
    let Some(recorded) = Recorded::find() else { return };
    let engine = Engine::builtin("mcp-apps").unwrap();
    for call in recorded.calls() {
        let (output, selection) = select(&engine, "app", &call, &call.bytes);
        assert_eq!(selection.status(), Some(Status::Unchanged), "{}", call.case);
        assert!(output == call.bytes, "{}", call.case);
    }
}

#[test]
fn lossless_never_sends_a_copy() {
    let Some(recorded) = Recorded::find() else { return };
    let engine = Engine::builtin("lossless").unwrap();
    let (mut structured, mut both) = (0, 0);
    for call in recorded.calls() {
        let input: Value = serde_json::from_slice(&call.bytes).unwrap();
        let Some(value) = input.get("structuredContent").filter(|value| !value.is_null()) else { continue };
        structured += 1;
        let (_, selection) = select(&engine, "model", &call, &call.bytes);
        if selection.lane() == Lane::Both {
            both += 1;
            let texts = input["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
            let is_copy = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|text| text == *value);
            assert!(!texts.into_iter().any(is_copy), "{}", call.case);
        }
    }
    eprintln!("lossless: of {structured} results with a structured value, {both} give both");
    assert_eq!((structured, both), (195, 16));
}

/// The coverage that lossless measures, out of the decision record.
fn coverage(recorded: &Recorded, case: &str) -> f64 {
    let engine = Engine::builtin("lossless").unwrap();
    let call = recorded.calls().into_iter().find(|call| call.case.starts_with(case)).unwrap();
    let (_, mut selection) = select(&engine, "model", &call, &call.bytes);
    let record: Value = serde_json::from_slice(selection.decision()).unwrap();
    record["facts"]["coverage"]["share"].as_f64().unwrap_or_else(|| panic!("{case}: {record}"))
}

#[test]
fn coverage_tells_summaries_from_copies() {
    let Some(recorded) = Recorded::find() else { return };
    for case in ["app-cohort-heatmap/001", "app-budget-allocator/001", "py-chuk-chart/001"] {
        let share = coverage(&recorded, case);
        assert!(share < 0.5, "{case}: {share}");
    }
    for case in ["filesystem/018", "py-excel-vision/005"] {
        let share = coverage(&recorded, case);
        assert!(share == 1.0, "{case}: {share}");
    }
}

#[test]
fn a_limit_keeps_json_and_the_length() {
    let Some(recorded) = Recorded::find() else { return };
    let policy =
        "version = 1\nextends = \"lossless\"\n[audience.model]\nlimit = { chars = 2000, cut = \"elements\" }\n";
    let engine = Engine::from_toml(policy.as_bytes()).unwrap();
    let is_json =
        |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object() || value.is_array());
    let (mut cut, mut json) = (0, 0);
    for call in recorded.calls() {
        let input: Value = serde_json::from_slice(&call.bytes).unwrap();
        let (output, selection) = select(&engine, "model", &call, &call.bytes);
        let output: Value = serde_json::from_slice(&output).unwrap();
        let texts = || output["content"].as_array().unwrap().iter().map(|block| block["text"].as_str());
        let length: usize = texts().flatten().map(|text| text.chars().count()).sum();
        assert!(length <= 2000, "{}: {length} characters", call.case);
        for (block, text) in selection.blocks().zip(texts()) {
            let Some(text) = text else { continue };
            // The structured value, or the text block that it came from.
            let was_json = match block.source {
                Some(index) => input["content"][index]["text"].as_str().is_some_and(is_json),
                None => input.get("structuredContent").is_some_and(|value| value.is_object() || value.is_array()),
            };
            if was_json && (block.source.is_some() || selection.lane() == Lane::Both) {
                assert!(is_json(text) || text.starts_with('"'), "{}: {text}", call.case);
                json += 1;
            }
            cut += usize::from(block.source.is_some_and(|index| input["content"][index]["text"] != text));
        }
    }
    eprintln!("{cut} texts cut to 2,000 characters in all, {json} texts that were JSON still are");
    assert!(cut > 50 && json > 100, "{cut} {json}");
}

#[test]
fn a_pick_lets_only_that_out() {
    let Some(recorded) = Recorded::find() else { return };
    let calls = recorded.calls();
    let structured = |call: &Call| -> Option<Value> {
        let mut result: Value = serde_json::from_slice(&call.bytes).unwrap();
        Some(result.as_object_mut()?.remove("structuredContent")?)
            .filter(|value| value.is_object() && result["isError"] != true)
    };
    // For each server the first member of the first value it sent.
    let mut picks: Vec<(String, String)> = Vec::new();
    for call in &calls {
        let name = structured(call).and_then(|value| value.as_object()?.keys().next().cloned());
        if let Some(name) = name.filter(|_| !picks.iter().any(|(server, _)| *server == call.server)) {
            picks.push((call.server.clone(), name));
        }
    }
    let mut policy = String::from("version = 1\nextends = \"sep-2200\"\n");
    for (server, name) in &picks {
        policy +=
            &format!("[servers.{server:?}]\norder = [\"structured-only\"]\nstructured.pick = [\"$['{name}']\"]\n");
    }
    let engine = Engine::from_toml(policy.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{policy}"));
    let mut checked = 0;
    for call in &calls {
        let Some(value) = structured(call) else { continue };
        let (_, name) = picks.iter().find(|(server, _)| *server == call.server).unwrap();
        let (output, selection) = select(&engine, "model", call, &call.bytes);
        let output: Value = serde_json::from_slice(&output).unwrap();
        let text = output["content"][0]["text"].as_str().unwrap();
        match value.get(name) {
            Some(picked) => {
                let shown: Value = serde_json::from_str(text).unwrap();
                assert_eq!(shown, serde_json::json!({ name: picked }), "{}", call.case);
                checked += 1;
            }
            None => assert_eq!(selection.lane(), Lane::Nothing, "{}", call.case),
        }
    }
    eprintln!("{checked} values of {} servers: only what was picked came out", picks.len());
    assert!(checked > 150 && picks.len() > 15, "{checked} {}", picks.len());
}
