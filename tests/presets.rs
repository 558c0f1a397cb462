//! The built-in policies and the examples as a person meets them: their first lines, their page `docs/presets.md`, what
//! programs and people get under a host's preset, and the `[[tests]]` of `rules/examples`.

use mcp_select::policy::{BUILTINS, PolicyTest, load_file};
use mcp_select::result::equality::json_equal;
use mcp_select::{Engine, Lane, Request, Selection};
use serde_json::Value;
use std::path::{Path, PathBuf};

const HOSTS: [&str; 9] = [
    "codex",
    "vscode",
    "opencode",
    "openai-agents",
    "pydantic-ai",
    "langchain",
    "anthropic-sdk",
    "fast-agent",
    "open-webui",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/presets.md")).unwrap()
}

/// What goes out.
fn select(engine: &Engine, request: &Request, result: &str, selection: &mut Selection) -> String {
    engine.select(request, result.as_bytes(), selection).unwrap_or_else(|error| panic!("{error}: {result}"));
    selection.json().map_or(result.into(), |json| String::from_utf8(json.to_vec()).unwrap())
}

// ---- the files and their page ------------------------------------------------------------------------------------

#[test]
fn the_first_line_says_what_a_built_in_is() {
    for (name, text) in BUILTINS {
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("# ") && (30..=126).contains(&first.len()), "{name}: {first}");
    }
    for name in HOSTS {
        let (_, text) = BUILTINS.iter().find(|(known, _)| *known == name).unwrap();
        assert!(text.lines().next().unwrap().ends_with('.'), "{name}: the first line is no whole sentence");
        let head = text.split("\nversion").next().unwrap();
        for needed in ["Taken from ", "election", "Left to the host: "] {
            assert!(head.contains(needed), "the head of {name} lacks {needed:?}");
        }
    }
}

#[test]
fn every_built_in_has_its_section_and_its_row() {
    let page = page();
    for (name, _) in BUILTINS {
        assert_eq!(page.matches(&format!("\n### {name}\n")).count(), 1, "section of {name}");
        assert_eq!(page.matches(&format!("\n| [`{name}`](#{name}) | ")).count(), 1, "row of {name}");
    }
    assert_eq!(page.matches("\n### ").count(), BUILTINS.len(), "a section of no built-in");
}

#[test]
fn every_policy_on_the_page_loads() {
    let page = page();
    let snippets: Vec<&str> = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(snippets.len() >= 5);
    for snippet in snippets {
        Engine::from_toml(snippet.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{snippet}"));
    }
}

#[test]
fn every_link_of_the_page_leads_somewhere() {
    for target in page().split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        match target.strip_prefix('#') {
            Some(anchor) => assert!(page().contains(&format!("\n### {anchor}\n")), "{target}"),
            None => assert!(root().join("docs").join(target).exists(), "{target}"),
        }
    }
}

// ---- the presets of hosts ----------------------------------------------------------------------------------------

/// One of each kind of block, with and without a value, error or not.
fn results() -> Vec<String> {
    let blocks = [
        "",
        r#"{"type":"text","text":"7 C"}"#,
        r#"{"type":"text","text":" "}"#,
        r#"{"type":"text","text":"u","annotations":{"audience":["user"]}},{"type":"text","text":"n","annotations":{"audience":[]}}"#,
        r#"{"type":"text","text":"{\"c\":7}"},{"type":"image","data":"AAAA","mimeType":"image/svg+xml"}"#,
        r#"{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"audio","data":"AAAA","mimeType":"audio/wav"}"#,
        r#"{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"text","text":""}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","text":"b"}}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","blob":"aGVsbG8="}}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","mimeType":"application/gzip","blob":"aGVsbG8="}}"#,
        r#"{"type":"resource","resource":{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>"}}"#,
        r#"{"type":"chart","spec":1}"#,
    ];
    let values =
        ["", r#","structuredContent":{"result":"7 C","b":"AAAA","a":1}"#, r#","structuredContent":{"result":7}"#];
    let values = values.into_iter().chain([r#","structuredContent":null"#, r#","structuredContent":{}"#]);
    let mut results = Vec::new();
    for value in values {
        for error in ["", r#","isError":true"#] {
            for blocks in blocks {
                results.push(format!(r#"{{"content":[{blocks}]{value}{error},"_meta":{{"example.org/k":1}}}}"#));
            }
        }
    }
    results
}

#[test]
fn programs_and_people_get_what_sep_2200_gives_them() {
    let default = Engine::builtin("sep-2200").unwrap();
    let mut selection = Selection::new();
    for host in HOSTS {
        let engine = Engine::builtin(host).unwrap();
        for audience in ["code", "app", "user"] {
            let request = Request::new("server", "tool", audience);
            for result in results() {
                let found = select(&engine, &request, &result, &mut selection);
                let wanted = select(&default, &request, &result, &mut selection);
                assert_eq!(found, wanted, "{host}, {audience}: {result}");
            }
        }
    }
}

#[test]
fn no_host_sees_meta_and_every_pass_is_the_last() {
    let mut selection = Selection::new();
    let request = Request::new("server", "tool", "model");
    for host in HOSTS {
        let engine = Engine::builtin(host).unwrap();
        for result in results() {
            let once = select(&engine, &request, &result, &mut selection);
            assert!(!once.contains("example.org/k"), "{host}: {result}: {once}");
            let twice = select(&engine, &request, &once, &mut selection);
            assert_eq!(once, twice, "{host}: {result}");
        }
    }
}

// ---- the examples ------------------------------------------------------------------------------------------------

fn examples() -> Vec<PathBuf> {
    let folder = root().join("rules/examples").read_dir().unwrap();
    let mut examples: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    examples.sort();
    examples
}

/// What is not as a test expects.
fn failure(test: &PolicyTest, engine: &Engine, selection: &mut Selection) -> Option<String> {
    let mut request = Request::new(&test.server, &test.tool, &test.audience);
    if let Some(revision) = &test.revision {
        request.set_revision(revision).unwrap();
    }
    let output = select(engine, &request, &test.result, selection);
    let text = selection.text(test.result.as_bytes(), "\n").to_owned();
    let stands = |needle: &str| text.contains(needle) || output.contains(needle);
    let record: Value = serde_json::from_slice(selection.decision()).unwrap();
    let rules = || record["settings"].as_object().unwrap().values().map(|setting| &setting["rule"]);
    let expect = &test.expect;
    let holds = expect.lane.is_none_or(|lane| lane == selection.lane())
        && expect.is_error.is_none_or(|error| error == selection.is_error())
        && expect.contains.iter().all(|needle| stands(needle))
        && !expect.lacks.iter().any(|needle| stands(needle))
        && expect.result.as_ref().is_none_or(|wanted| json_equal(wanted.as_bytes(), output.as_bytes()))
        && expect.rule.as_ref().is_none_or(|wanted| rules().any(|rule| *rule == **wanted));
    (!holds).then(|| format!("{}: lane {}, {output}", test.name, selection.lane().name()))
}

#[test]
fn the_tests_of_every_example_hold() {
    assert!(examples().len() >= 4);
    let mut selection = Selection::new();
    for path in examples() {
        let policy = load_file(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(policy.warnings.is_empty(), "{:?}", policy.warnings);
        assert!(policy.tests.len() >= 2, "{} has no tests", path.display());
        let engine = Engine::open(&path).unwrap();
        let failures: Vec<String> =
            policy.tests.iter().filter_map(|test| failure(test, &engine, &mut selection)).collect();
        assert!(failures.is_empty(), "{}: {failures:#?}", path.display());
        let file = path.file_name().unwrap().to_str().unwrap();
        assert!(file == "starter.toml" || page().contains(file), "{file} is not on the page");
    }
}

/// A test in a policy knows no labels: here they are.
#[test]
fn the_rollout_reaches_those_with_the_label_alone() {
    let engine = Engine::open(root().join("rules/examples/rollout-by-label.toml")).unwrap();
    let summary = r#"{"content":[{"type":"text","text":"2 orders"}],"structuredContent":{"orders":["A-17","B-44"]}}"#;
    let image = r#"{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#;
    let hidden = r#"{"content":[{"type":"text","text":"a\u200bb"}]}"#;
    let mut selection = Selection::new();
    let mut with = |name: &str, value: &str, result: &str| {
        let mut request = Request::new("shop", "list", "model");
        request.set_label(name, value);
        select(&engine, &request, result, &mut selection)
    };
    assert!(with("ring", "canary", summary).contains("B-44"));
    assert!(!with("ring", "early", summary).contains("B-44"));
    assert!(!with("model", "large-mini", image).contains("AAAA"));
    assert!(with("model", "large", image).contains("AAAA"));
    assert_eq!(with("trust", "untrusted", hidden), r#"{"content":[{"type":"text","text":"ab"}]}"#);
    assert_eq!(with("trust", "high", hidden), hidden);
}

/// A test in a policy knows no tool definition: here it is.
#[test]
fn a_tool_with_a_view_shows_the_model_its_words() {
    let engine = Engine::open(root().join("rules/examples/mcp-apps-host.toml")).unwrap();
    let summary = r#"{"content":[{"type":"text","text":"2 orders"}],"structuredContent":{"orders":["A-17","B-44"]}}"#;
    let bare = r#"{"content":[],"structuredContent":{"orders":["A-17","B-44"]}}"#;
    let mut selection = Selection::new();
    let mut of = |definition: &str, audience: &str, result: &str| {
        let mut request = Request::new("shop", "list", audience);
        request.set_tool_definition(Some(definition.as_bytes())).unwrap();
        let output = select(&engine, &request, result, &mut selection);
        (selection.lane(), output)
    };
    let view = r#"{"name":"list","_meta":{"ui":{"resourceUri":"ui://shop/list"}}}"#;
    let own = r#"{"name":"list","_meta":{"ui":{"resourceUri":"ui://shop/list","visibility":["app"]}}}"#;
    assert_eq!(
        of(view, "model", summary),
        (Lane::Content, r#"{"content":[{"type":"text","text":"2 orders"}]}"#.into())
    );
    assert!(of(view, "model", bare).1.contains("(shown to the user)"));
    assert!(of(own, "model", summary).1.contains("(for the view alone)"));
    assert_eq!(of(own, "app", summary), (Lane::Whole, summary.into()));
    assert_eq!(of(r#"{"name":"list"}"#, "model", summary).0, Lane::Both);
}
