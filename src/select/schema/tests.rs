use crate::{Engine, Lane, Request, Selection, Status};

const TOOL: &[u8] = br##"{"name":"t","outputSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"required":["a"]}}"##;
const GOOD: &str = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":[1]}}"#;
const BAD: &str = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":[1, "2"]}}"#;
const ABSENT: &str = r#"{"content":[{"type":"text","text":"x"}]}"#;
const NULL: &str = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":null}"#;
const FAILED: &str = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"code":1},"isError":true}"#;

struct Seen {
    status: Result<Status, String>,
    lane: Lane,
    json: String,
    record: String,
}

fn run_with(policy: &str, tool: Option<&[u8]>, result: &str) -> Seen {
    let engine = Engine::from_toml(format!("version = 1\n{policy}").as_bytes()).unwrap();
    let mut request = Request::new("s", "t", "model");
    request.set_tool_definition(tool).unwrap();
    let mut selection = Selection::new();
    let status = engine.select(&request, result.as_bytes(), &mut selection).map_err(|error| {
        assert_eq!(error.status(), Status::ErrSchema);
        error.message().to_owned()
    });
    let json = String::from_utf8(selection.json().unwrap_or_default().to_vec()).unwrap();
    let record = String::from_utf8(selection.decision().to_vec()).unwrap();
    if status.is_err() {
        assert!(json.is_empty() && record.is_empty() && selection.blocks().len() == 0);
    } else {
        serde_json::from_str::<serde_json::Value>(&record).unwrap();
    }
    Seen { status, lane: selection.lane(), json, record }
}

fn run(schema: &str, result: &str) -> Seen {
    let policy = format!("[audience.model]\norder = [\"structured\", \"content\"]\nschema = \"{schema}\"");
    run_with(&policy, Some(TOOL), result)
}

#[test]
fn note_changes_nothing_but_the_record() {
    for result in [GOOD, BAD, ABSENT, NULL, FAILED] {
        assert_eq!(run("note", result).json, run("off", result).json, "{result}");
        assert!(!run("off", result).record.contains("schema_valid"), "{result}");
    }
    let record = run("note", BAD).record;
    assert!(record.contains(r#""schema_valid":false"#), "{record}");
    let note = r#"{"code":"schema-mismatch","count":1,"path":"/a/1","message":"the value is not of type \"integer\""}"#;
    assert!(record.contains(note), "{record}");
    let record = run("note", GOOD).record;
    assert!(record.contains(r#""schema_valid":true"#) && !record.contains("schema-"), "{record}");
    let record = run("note", ABSENT).record;
    assert!(record.contains(r#""schema_valid":null"#) && record.contains("schema-unchecked"), "{record}");
    assert!(run("note", NULL).record.contains("schema-mismatch"));
    assert!(!run("note", FAILED).record.contains("schema-"));
}

#[test]
fn unusable_withholds_the_value() {
    let seen = run("unusable", BAD);
    assert_eq!(seen.lane, Lane::Content);
    assert!(seen.record.contains(r#""what":"structuredContent","bytes":14,"why":"schema""#), "{}", seen.record);
    assert_eq!(run("unusable", GOOD).lane, Lane::Structured);
    assert_eq!(run("unusable", ABSENT).lane, Lane::Content);
    for lane in ["both", "raw", "structured-only"] {
        let policy = format!("[audience.model]\norder = [\"{lane}\"]\nschema = \"unusable\"");
        let seen = run_with(&policy, Some(TOOL), BAD);
        assert!(!seen.json.contains(r#"\"2\""#) && !seen.json.contains("structuredContent"), "{lane}: {}", seen.json);
        assert!(run_with(&policy, Some(TOOL), GOOD).json.contains("[1]"), "{lane}");
    }
    // Nothing else to show: the placeholder, never the value.
    let seen = run("unusable", r#"{"content":[],"structuredContent":{"a":1}}"#);
    assert_eq!(seen.lane, Lane::Nothing);
    assert!(!seen.json.contains("structured"), "{}", seen.json);
}

#[test]
fn reject_refuses_with_the_place() {
    let at = BAD.find(r#""2""#).unwrap();
    assert_eq!(
        run("reject", BAD).status.unwrap_err(),
        format!(
            "schema-mismatch at byte {at} (from 0), in structuredContent.a[1]: the value is not of type \"integer\"; mend the server, or let the policy say `schema = \"unusable\"`"
        )
    );
    let message = run("reject", ABSENT).status.unwrap_err();
    assert!(message.starts_with("schema-mismatch at byte 0 (from 0): the tool declares an outputSchema"), "{message}");
    let message = run("reject", NULL).status.unwrap_err();
    assert!(message.contains("in structuredContent: the value is not of type \"object\""), "{message}");
    assert_eq!(run("reject", GOOD).lane, Lane::Structured);
}

#[test]
fn errors_and_tools_without_a_schema_are_never_judged() {
    for schema in ["note", "unusable", "reject"] {
        let seen = run(schema, FAILED);
        assert!(seen.status.is_ok() && !seen.record.contains("schema_valid"), "{schema}: {}", seen.record);
        let policy = format!("[audience.model]\nschema = \"{schema}\"");
        for tool in [None, Some(&b"{}"[..])] {
            let seen = run_with(&policy, tool, BAD);
            assert!(seen.status.is_ok() && !seen.record.contains("schema_valid"), "{schema}: {}", seen.record);
        }
        // What is hidden is hidden, not refused.
        let hidden = run_with(&format!("[audience.model]\nschema = \"{schema}\"\nhide = true"), Some(TOOL), BAD);
        assert_eq!(hidden.status, Ok(Status::Changed));
    }
}

#[test]
fn a_schema_that_cannot_be_used_lets_nothing_pass() {
    let tool = br##"{"outputSchema":{"$ref":"https://example.com/s.json"}}"##;
    let policy =
        |schema: &str| format!("[audience.model]\norder = [\"structured\", \"content\"]\nschema = \"{schema}\"");
    let seen = run_with(&policy("note"), Some(tool), GOOD);
    assert_eq!(seen.lane, Lane::Structured);
    assert!(seen.record.contains("schema-unchecked") && seen.record.contains("leads out"), "{}", seen.record);
    assert_eq!(run_with(&policy("unusable"), Some(tool), GOOD).lane, Lane::Content);
    let message = run_with(&policy("reject"), Some(tool), GOOD).status.unwrap_err();
    assert!(
        message.contains("in structuredContent: not checked, since the outputSchema cannot be resolved"),
        "{message}"
    );
}

#[test]
fn the_condition_is_neither_when_it_cannot_be_known() {
    let lane = |expected: bool, tool: Option<&[u8]>, result: &str| {
        let policy = format!("[[rules]]\nwhen = {{ schema_valid = {expected} }}\norder = [\"raw\"]");
        run_with(&policy, tool, result).lane == Lane::Raw
    };
    let both = |tool: Option<&[u8]>, result: &str| [lane(true, tool, result), lane(false, tool, result)];
    assert_eq!(both(Some(TOOL), GOOD), [true, false]);
    assert_eq!(both(Some(TOOL), BAD), [false, true]);
    assert_eq!(both(Some(TOOL), NULL), [false, true]);
    let large = format!(r#"{{"content":[],"structuredContent":{{"a":[],"b":"{}"}}}}"#, "x".repeat(1 << 20));
    let faulty: &[u8] = br#"{"outputSchema":{"type":"strnig"}}"#;
    for (tool, result) in [
        (Some(TOOL), ABSENT),
        (Some(TOOL), FAILED),
        (Some(TOOL), &large),
        (Some(faulty), GOOD),
        (Some(&b"{}"[..]), GOOD),
        (None, GOOD),
    ] {
        assert_eq!(both(tool, result), [false, false], "{tool:?}");
    }
}

#[test]
fn a_schema_is_compiled_once_and_shared_by_copies() {
    let mut request = Request::new("s", "t", "model");
    request.set_tool_definition(Some(TOOL)).unwrap();
    let copy = request.for_audience("code");
    let compiled = |request: &Request| {
        std::ptr::from_ref(request.route.definition.as_ref().unwrap().compiled_schema().unwrap().as_ref().unwrap())
    };
    assert_eq!(compiled(&request), compiled(&copy));
    assert_eq!(compiled(&request), compiled(&request.clone()));
    request.set_tool_definition(Some(TOOL)).unwrap();
    assert_ne!(compiled(&request), compiled(&copy));
}
