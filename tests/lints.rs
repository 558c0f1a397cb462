//! Lints: a folder of policies with planted faults, where each is found and nothing else; the pages of `docs/lints/`; the
//! built-ins, where nothing is found; large policies.

use mcp_select::policy::lint::{LINTS, find, lint, lint_broken};
use mcp_select::policy::{BUILTINS, BuiltinsOnly, Diagnostic, load_builtin, load_bytes, load_file};
use mcp_select::table::diff::differences;
use mcp_select::{Engine, Request, Selection};
use proptest::prelude::*;
use std::path::Path;
use std::time::Instant;

/// All that `check` finds.
fn check(name: &str, text: &str) -> Vec<Diagnostic> {
    match load_bytes(name, text.as_bytes(), &BuiltinsOnly) {
        Ok(policy) => {
            let mut found = policy.warnings.clone();
            found.extend(lint(&policy));
            found
        }
        Err(error) => lint_broken(&error),
    }
}

fn places(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(|found| format!("{} at {}:{}", found.code, found.line, found.column)).collect()
}

#[test]
fn each_planted_fault_is_found_and_nothing_else() {
    let mut files: Vec<_> = std::fs::read_dir("tests/lints").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(files.len() >= 40, "{}", files.len());
    let mut wrong = Vec::new();
    let mut planted = std::collections::BTreeSet::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let expected: Vec<String> =
            text.lines().map_while(|line| line.strip_prefix("# expect: ")).map(str::to_owned).collect();
        assert!(!expected.is_empty(), "{}", file.display());
        let found = check(&file.display().to_string(), &text);
        planted.extend(expected.iter().map(|expected| expected.split(' ').next().unwrap().to_owned()));
        if places(&found) != expected {
            let said: Vec<String> = found.iter().map(ToString::to_string).collect();
            wrong.push(format!(
                "{}\nexpected {expected:?}\nfound {:?}\n{}",
                file.display(),
                places(&found),
                said.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for lint in LINTS {
        assert!(planted.contains(lint.code), "no policy has {}", lint.code);
    }
}

#[test]
fn the_built_ins_are_clean() {
    for (name, _) in BUILTINS {
        let policy = load_builtin(name).unwrap();
        let found = lint(&policy);
        assert!(found.is_empty(), "{name}: {}", found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    for entry in std::fs::read_dir("rules/examples").unwrap() {
        let file = entry.unwrap().path();
        if !file.to_string_lossy().ends_with(".toml") || file.to_string_lossy().ends_with(".test.toml") {
            continue;
        }
        let found = lint(&load_file(&file).unwrap());
        assert!(found.is_empty(), "{}: {:?}", file.display(), places(&found));
    }
}

#[test]
fn every_lint_has_a_page_whose_examples_do_what_it_says() {
    let mut codes = std::collections::HashSet::new();
    for lint in LINTS {
        assert!(codes.insert(lint.code) && find(lint.name).is_some_and(|found| found.code == lint.code));
        assert!(lint.page.starts_with(&format!("# {}: {}\n", lint.code, lint.name)), "{}", lint.code);
        assert!(lint.page.contains(&format!("\nLevel: {}. ", lint.level.name())), "{}", lint.code);
        let examples: Vec<&str> =
            lint.page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
        let [faulty, mended] = examples.as_slice() else { panic!("{} examples in {}", examples.len(), lint.code) };
        let codes: Vec<&str> = check("policy.toml", faulty).iter().map(|found| found.code).collect();
        assert_eq!(codes, [lint.code], "{}", lint.code);
        let left = check("policy.toml", mended);
        assert!(left.is_empty(), "{}: {}", lint.code, left.iter().map(ToString::to_string).collect::<String>());
    }
    let pages = std::fs::read_dir("docs/lints").unwrap().count();
    assert_eq!(pages, LINTS.len() + 1, "a page for each lint, and the list");
    let list = std::fs::read_to_string("docs/lints/README.md").unwrap();
    for lint in LINTS {
        let row = format!("| [{0}]({0}.md) | `{1}` | {2} |", lint.code, lint.name, lint.level.name());
        assert!(list.contains(&row), "{row}");
    }
}

#[test]
fn findings_come_with_their_reasons() {
    let found = check("policy.toml", &std::fs::read_to_string("tests/lints/masked_by_two.toml").unwrap());
    let text = found[0].to_string();
    for part in ["\"few blocks\" (policy.toml:", "\"many blocks\" (policy.toml:", "together these are stronger"] {
        assert!(text.contains(part), "{text}");
    }
    let found = check("policy.toml", &std::fs::read_to_string("tests/lints/overlap_of_rules.toml").unwrap());
    let text = found[0].to_string();
    for part in ["both hold for server \"example\"", "\"isError\":true", "there the first one wins: lane "] {
        assert!(text.contains(part), "{text}");
    }
    let found = check("policy.toml", &std::fs::read_to_string("tests/lints/overlap_possible.toml").unwrap());
    assert!(found[0].message.starts_with("possible: "), "{}", found[0]);
    let found = check("policy.toml", &std::fs::read_to_string("tests/lints/not_stable.toml").unwrap());
    let text = found[0].to_string();
    assert!(text.contains("once: ") && text.contains("twice: "), "{text}");
}

#[test]
fn what_an_extended_policy_does_is_not_this_files_fault() {
    // Of sep-2200: a note of a view stands for `code` the first time alone.
    for policy in [
        "version = 1\n[audience.code]\norder = [\"content\", \"structured\"]\nstructured.at = \"last\"\n",
        "version = 1\n[[servers.x.rules]]\nname = \"r\"\naudience = \"code\"\nwhen = { error = false }\nstructured.render = \"sorted\"\n",
    ] {
        assert_eq!(places(&check("p", policy)), [""; 0], "{policy}");
    }
}

#[test]
fn comments_silence() {
    let policy = |comment: &str, trailing: &str| {
        format!("{comment}version = 1\n\n[servers.metrics]{trailing}\norder = [\"structured\"]\nmeta.allow = [\"*\"]\n")
    };
    let codes = |text: &str| check("p", text).iter().map(|found| found.code).collect::<Vec<_>>();
    assert_eq!(codes(&policy("", "")), ["MS006", "MS009"]);
    assert_eq!(codes(&policy("# mcp-select: allow MS006\n", "")), ["MS009"]);
    assert_eq!(codes(&policy("# mcp-select: allow MS006, meta-allow-all\n", "")), [""; 0]);
    assert_eq!(codes(&policy("", " # mcp-select: allow MS009")), ["MS006"]);
    assert_eq!(codes(&policy("# mcp-select: allow MS009 because it is only a test\n", "")), ["MS006"]);
    assert_eq!(codes(&policy("# mcp-select: allow MS999\n", "")), ["MS022", "MS006", "MS009"]);
    let above = policy("", "").replace("order", "# why: it is meant\n# mcp-select: allow MS006\n# really\norder");
    assert_eq!(codes(&above), ["MS009"]);
    // Of another place.
    let elsewhere = policy("", "").replace("[servers", "# mcp-select: allow MS006\n\n[servers");
    assert_eq!(codes(&elsewhere), ["MS022", "MS006", "MS009"]);
}

#[test]
fn mending_leaves_a_policy_that_loads_and_is_clean() {
    for (name, left) in [
        ("lane_behind_nothing", 0),
        ("lane_behind_both", 0),
        ("extends_twice", 0),
        ("dotted_server", 0),
        ("dotted_tool", 0),
    ] {
        let mut text = std::fs::read_to_string(Path::new("tests/lints").join(name).with_extension("toml")).unwrap();
        for _ in 0..10 {
            let Some(fix) = check("p", &text).into_iter().find_map(|found| found.fix) else { break };
            text.replace_range(fix.span, &fix.text);
        }
        let found = check("p", &text);
        assert_eq!(found.len(), left, "{name}: {text}\n{:?}", places(&found));
        load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap();
    }
}

/// The command line: its exit status and what it prints.
fn run(args: &[&str]) -> (i32, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_mcp-select")).args(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_command_line_says_no_by_its_exit_status() {
    let faulty = |name: &str| format!("tests/lints/{name}.toml");
    assert_eq!(run(&["check", "sep-2200", "lossless", "rules/openai-apps.toml"]).0, 0);
    assert_eq!(run(&["check", &faulty("masked_by_one")]).0, 0);
    assert_eq!(run(&["check", "--deny", "MS001", &faulty("masked_by_one")]).0, 1);
    assert_eq!(run(&["check", "--deny", "warnings", &faulty("masked_by_one")]).0, 1);
    assert_eq!(run(&["check", "--deny", "warnings", "--allow", "masked", &faulty("masked_by_one")]).0, 0);
    assert_eq!(run(&["check", &faulty("never_empty_with_text")]).0, 1);
    assert_eq!(run(&["check", "--deny", "MS999", "sep-2200"]).0, 2);
    assert_eq!(run(&["check", "--explain", "MS001"]).1, find("MS001").unwrap().page);
    let (status, sarif) = run(&["check", "--format", "sarif", "tests/lints"]);
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let run_of_it = &sarif["runs"][0];
    assert_eq!((status, run_of_it["tool"]["driver"]["rules"].as_array().unwrap().len()), (1, LINTS.len()));
    assert!(run_of_it["results"].as_array().unwrap().len() >= 47);

    assert_eq!(run(&["diff", "lossless", "lossless"]).0, 0);
    let (status, text) = run(&["diff", "sep-2200", "lossless"]);
    assert_eq!(status, 1);
    assert!(text.contains("order = [\"content\", \"structured\"] -> [\"both\"]"), "{text}");
    assert_eq!(run(&["diff", "sep-2200", "nowhere"]).0, 2);
    assert_eq!(run(&["diff", "sep-2200", "lossless", "--audience", "nobody"]).0, 2);
    assert_eq!(run(&["diff", "sep-2200", "lossless", "--audience", "code"]).0, 0);
}

#[test]
fn mending_replaces_the_file_and_leaves_what_does_not_parse() {
    let folder = std::env::temp_dir().join(format!("mcp-select-lints-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let dotted = write(
        "dotted.toml",
        "version = 1\n[servers.github.com]\nhide = true\n[servers.github.io.tools.x]\nhide = true\n",
    );
    let broken = write("broken.toml", "version = 1\n[servers.github.com\nhide = true\n");
    let (status, _) = run(&["check", "--fix", folder.to_str().unwrap()]);
    assert_eq!(status, 1);
    let mended = "version = 1\n[servers.\"github.com\"]\nhide = true\n[servers.\"github.io\".tools.x]\nhide = true\n";
    assert_eq!(std::fs::read_to_string(dotted).unwrap(), mended);
    assert_eq!(std::fs::read_to_string(broken).unwrap(), "version = 1\n[servers.github.com\nhide = true\n");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    std::fs::remove_dir_all(folder).unwrap();
}

// ---- diff -------------------------------------------------------------------------------------------------------

fn diff(old: &str, new: &str) -> Vec<String> {
    let load = |name: &str, text: &str| match text.starts_with("version") {
        true => load_bytes(name, text.as_bytes(), &BuiltinsOnly).unwrap(),
        false => load_builtin(text).unwrap(),
    };
    let found = differences(&load("old", old), &load("new", new), None);
    found
        .settings
        .iter()
        .map(|d| {
            let example = match &d.example {
                None => "possible",
                Some(example) if example.old == example.new => "same",
                Some(_) => "differs",
            };
            format!("{} {} {} -> {}: {example}", d.audience, d.setting.name(), d.old.value, d.new.value)
        })
        .chain(found.other.clone())
        .collect()
}

#[test]
fn policies_that_decide_alike_do_not_differ() {
    for (name, _) in BUILTINS {
        assert_eq!(diff(name, name), [""; 0]);
    }
    // Other words for the same.
    let one = "version = 1\n[[rules]]\nname = 'a'\nwhen = { error = true }\nlimit = { chars = 900 }\n";
    let other = "version = 1\n[[rules]]\nname = 'b'\nwhen = { error = false }\nlimit = 'none'\n[audience.model]\nlimit = { chars = 900 }\n";
    let found = diff(one, other);
    // Audiences like `model` see its section, not its rules: they do differ.
    assert!(found.iter().all(|line| !line.starts_with("model ")), "{found:?}");
    assert_eq!(found.len(), 3, "{found:?}");
    let masked = "version = 1\n[[rules]]\nname = 'a'\nwhen = { error = true }\nlimit = { chars = 900 }\n[[rules]]\nname = 'b'\nwhen = { error = true, has = 'text' }\nlimit = 'none'\n";
    assert_eq!(diff(one, masked), [""; 0]);
}

#[test]
fn differences_come_with_results_that_show_them() {
    assert_eq!(diff("sep-2200", "lossless"), [r#"model order ["content", "structured"] -> ["both"]: differs"#]);
    let found = diff("sep-2200", "mcp-apps");
    let of = |audience: &str| format!(r#"{audience} order ["content", "structured"] -> ["content"]: differs"#);
    // A person's section is like the model's.
    assert_eq!(found, [of("model"), of("user")]);
    let found = diff("sep-2200", "text-only");
    assert!(found.iter().all(|line| line.ends_with("differs")), "{found:#?}");
    assert!(found.iter().any(|line| line.starts_with("model blocks.image")), "{found:#?}");
    // One server of many, one tool, a label, a number.
    for (old, new) in [
        (
            "[servers.a]\norder = ['content']\n[servers.b]\norder = ['content']",
            "[servers.a]\norder = ['content']\n[servers.b]\norder = ['structured', 'content']",
        ),
        ("[servers.a.tools.'x_*']\nhide = true", "[servers.a.tools.'x_y*']\nhide = true"),
        (
            "[[rules]]\nname = 'r'\nwhen = { label.ring = 'canary' }\nhide = true",
            "[[rules]]\nname = 'r'\nwhen = { label.ring = 'can*' }\nhide = true",
        ),
        (
            "[[rules]]\nname = 'r'\nwhen = { text_bytes = '> 100' }\nhide = true",
            "[[rules]]\nname = 'r'\nwhen = { text_bytes = '> 101' }\nhide = true",
        ),
        (
            "[[rules]]\nname = 'r'\nwhen = { server = 'x', coverage = '< 0.9' }\norder = ['both']",
            "[[rules]]\nname = 'r'\nwhen = { server = 'x', coverage = '< 0.8' }\norder = ['both']",
        ),
        ("[audience.model]\nmeta.allow = ['a']", "[audience.model]\nmeta.allow = ['durationMs']"),
        ("[audience.model]\nplaceholder = 'nothing'", "[audience.model]\nplaceholder = 'none'"),
        ("[audience.user]\nannotations = 'ignore'", "[audience.user]\nannotations = 'narrow'"),
        ("[audience.model]\nsanitize = ['ansi']", "[audience.model]\nsanitize = []"),
    ] {
        let found = diff(&format!("version = 1\n{old}"), &format!("version = 1\n{new}"));
        assert!(!found.is_empty() && found.iter().any(|line| line.ends_with("differs")), "{old} -> {new}: {found:?}");
    }
    let found = diff("version = 1\n[audience.x]\nlike = 'model'", "version = 1\n[input]\nmax_depth = 9");
    assert_eq!(found, ["the audience \"x\" is no longer defined", "input.max_depth: 128 -> 9"]);
}

/// A policy of up to four rules, sections and overrides out of a small stock.
fn policies() -> impl Strategy<Value = String> {
    const CONDITIONS: [&str; 14] = [
        "error = true",
        "structured = 'present'",
        "structured = ['object', 'null']",
        "coverage = '< 0.9'",
        "mirror = true",
        "text_json = true",
        "content = ['empty', 'missing']",
        "has = 'image'",
        "blocks = '> 1'",
        "text_bytes = '> 5'",
        "server = 'a*'",
        "server = ['a', 'b']",
        "tool = 't'",
        "path = '$.a'",
    ];
    const SETTINGS: [&str; 7] = [
        "order = ['structured', 'content']",
        "order = ['both']",
        "placeholder = 'nothing'",
        "hide = true",
        "hide = false",
        "structured.render = 'sorted'",
        "meta.allow = ['inherit', 'k']",
    ];
    const HEADERS: [&str; 6] = [
        "[[rules]]",
        "[[overrides]]",
        "[[servers.a.rules]]",
        "[[servers.'a*'.rules]]",
        "[servers.b]",
        "[servers.a.tools.t]",
    ];
    let rule = (0..HEADERS.len(), prop::collection::vec(0..CONDITIONS.len(), 0..3), 0..SETTINGS.len());
    prop::collection::vec(rule, 0..5).prop_map(|rules| {
        let mut text = "version = 1\nextends = 'sep-2200'\n".to_owned();
        let mut sections = std::collections::HashSet::new();
        for (number, (header, conditions, setting)) in rules.into_iter().enumerate() {
            let header = HEADERS[header];
            if !header.starts_with("[[") {
                if sections.insert(header) {
                    text.push_str(&format!("{header}\n{}\n", SETTINGS[setting]));
                }
                continue;
            }
            let mut when: Vec<&str> = Vec::new();
            for condition in conditions.into_iter().map(|condition| CONDITIONS[condition]) {
                let name = |text: &str| text.split(' ').next().unwrap().to_owned();
                if !when.iter().any(|other| name(other) == name(condition)) {
                    when.push(condition);
                }
            }
            let setting = SETTINGS[setting];
            // `order` under `error = true` does not load.
            when.retain(|condition| !(setting.starts_with("order") && condition.starts_with("error")));
            text.push_str(&format!("{header}\nname = 'r{number}'\nwhen = {{ {} }}\n{setting}\n", when.join(", ")));
        }
        text
    })
}

const RESULTS: [&str; 12] = [
    r#"{"content":[{"type":"text","text":"amber"}]}"#,
    r#"{"content":[{"type":"text","text":"amber"}],"isError":true,"_meta":{"k":1,"l":2}}"#,
    r#"{"content":[{"type":"text","text":"some more words"}],"structuredContent":{"b":"amber","a":"birch"}}"#,
    r#"{"content":[{"type":"text","text":"{\"b\":1,\"a\":2}"}],"structuredContent":{"b":1,"a":2}}"#,
    r#"{"content":[{"type":"text","text":"{\"b\":1,\"a\":2}"}],"structuredContent":{"b":1,"a":2},"isError":true}"#,
    r#"{"content":[],"structuredContent":{"c":"amber"}}"#,
    r#"{"structuredContent":null}"#,
    r#"{"structuredContent":["amber"]}"#,
    r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"x"}],"structuredContent":[1]}"#,
    r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#,
    r#"{"content":[],"_meta":{"k":1}}"#,
    r#"{"content":[{"type":"text","text":" "}],"structuredContent":{}}"#,
];

fn outputs(policy: &str) -> Vec<String> {
    let engine = Engine::from_toml(policy.as_bytes()).unwrap();
    let mut selection = Selection::new();
    let mut outputs = Vec::new();
    for server in ["a", "b", "ab", "other"] {
        for tool in ["t", "u"] {
            for audience in ["model", "user"] {
                let request = Request::new(server, tool, audience);
                for result in RESULTS {
                    engine.select(&request, result.as_bytes(), &mut selection).unwrap();
                    let json = selection.json().unwrap_or(result.as_bytes());
                    outputs.push(format!(
                        "{server} {tool} {audience} {result} {} {}",
                        selection.lane().name(),
                        String::from_utf8_lossy(json)
                    ));
                }
            }
        }
    }
    outputs
}

/// The rules that decided something in the end, by name.
fn deciding(policy: &str) -> std::collections::HashSet<String> {
    let engine = Engine::from_toml(policy.as_bytes()).unwrap();
    let mut selection = Selection::new();
    let mut names = std::collections::HashSet::new();
    for server in ["a", "b", "ab", "other"] {
        for tool in ["t", "u"] {
            for audience in ["model", "user", "code"] {
                let request = Request::new(server, tool, audience);
                for result in RESULTS {
                    engine.select(&request, result.as_bytes(), &mut selection).unwrap();
                    for rule in selection.deciding_rules() {
                        names.insert(selection.policy().unwrap().rules[rule].title().into_owned());
                    }
                }
            }
        }
    }
    names
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Policies that are said to decide alike do so, and an example that is said to differ does.
    #[test]
    fn diff_misses_nothing_that_results_show(old in policies(), new in policies()) {
        let load = |text: &str| load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap();
        let found = differences(&load(&old), &load(&new), None);
        if found.is_empty() {
            prop_assert!(!found.incomplete);
            prop_assert_eq!(outputs(&old), outputs(&new), "{}\n{}", old, new);
        }
        for difference in found.settings {
            let Some(example) = difference.example.filter(|example| example.old != example.new) else { continue };
            for (policy, expected) in [(&old, &example.old), (&new, &example.new)] {
                let engine = Engine::from_toml(policy.as_bytes()).unwrap();
                let mut selection = Selection::new();
                let result = example.witness.result.as_bytes();
                engine.select(&example.witness.request(), result, &mut selection).unwrap();
                let json = selection.json().unwrap_or(result);
                let output = String::from_utf8_lossy(json).trim().to_owned();
                prop_assert_eq!(&output, &expected.output);
            }
        }
    }

    /// A rule that is said never to decide anything decides nothing of these results; one that is said to change nothing
    /// can be taken out.
    #[test]
    fn masked_rules_decide_nothing(policy in policies()) {
        let found = check("p", &policy);
        let deciding = deciding(&policy);
        for finding in found {
            let rule = finding.message.split('"').nth(1).unwrap_or_default().to_owned();
            match finding.code {
                "MS001" | "MS002" => {
                    let line = policy.lines().position(|line| line == format!("name = '{rule}'"));
                    prop_assert!(line.is_none() || !deciding.contains(&rule), "{} {}", finding, policy);
                }
                "MS018" => {
                    let Some(name) = policy.lines().position(|line| line == format!("name = '{rule}'")) else { continue };
                    let without: Vec<&str> = policy.lines().enumerate().filter(|(line, _)| !(name - 1..name + 3).contains(line)).map(|(_, line)| line).collect();
                    prop_assert_eq!(outputs(&policy), outputs(&without.join("\n")), "{}", policy);
                }
                _ => {}
            }
        }
    }
}

// ---- size -------------------------------------------------------------------------------------------------------

/// A route with 200 rules.
fn many_rules() -> String {
    let mut text = "version = 1\n".to_owned();
    for number in 0..200 {
        let low = number * 10;
        text.push_str(&format!(
            "[[rules]]\nname = \"r{number}\"\nwhen = {{ text_bytes = \"[{low}..{}]\", error = {} }}\nlimit = {{ chars = {} }}\n",
            low + 9,
            number % 2 == 0,
            // Far above: cut texts would be another rule's.
            100_000 + number
        ));
    }
    text
}

#[test]
fn large_policies_are_checked_in_time() {
    let rules = many_rules();
    let mut servers = rules.clone();
    for number in 0..100_000 {
        servers.push_str(&format!("[servers.s{number}]\nplaceholder = \"nothing of {number}\"\n"));
    }
    for (what, text) in [("200 rules", &rules), ("200 rules and 100,000 servers", &servers)] {
        let policy = load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap();
        let start = Instant::now();
        let found = lint(&policy);
        let taken = start.elapsed();
        println!("{what}: {taken:?}");
        assert!(found.is_empty(), "{}: {}", found.len(), found[0]);
        // A build without optimisation on a busy machine takes many times as long.
        assert!(taken.as_secs() < if cfg!(debug_assertions) { 120 } else { 10 }, "{what}: {taken:?}");
    }
}

/// 200 rules of one route that cross each other, the worst case for taking rules away from each other.
fn crossing_rules(change: usize) -> String {
    let mut text = "version = 1\n".to_owned();
    for number in 0..100 {
        let low = if number == change { 5000 } else { number * 10 + 1 };
        text.push_str(&format!(
            "[[rules]]\nname = \"a{number}\"\nwhen = {{ text_bytes = \"> {low}\", structured_bytes = \"> {}\" }}\nplaceholder = \"{number}\"\n",
            (100 - number) * 10
        ));
        text.push_str(&format!(
            "[[rules]]\nname = \"b{number}\"\nwhen = {{ label.l{number} = \"x\", error = {} }}\nlimit = {{ chars = {} }}\n",
            number % 2 == 0,
            100_000 + number
        ));
    }
    text
}

#[test]
fn crossing_rules_are_checked_and_compared_in_time() {
    let load = |text: &str| load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap();
    let (old, new) = (load(&crossing_rules(1000)), load(&crossing_rules(50)));
    let start = Instant::now();
    let found = lint(&old);
    println!("check of 200 crossing rules: {:?}, {} findings", start.elapsed(), found.len());
    assert!(found.iter().all(|found| found.code == "MS004"), "{:?}", places(&found));
    assert!(!found.is_empty() && start.elapsed().as_secs() < if cfg!(debug_assertions) { 120 } else { 10 });
    let start = Instant::now();
    let found = differences(&old, &new, None);
    println!("diff of 200 crossing rules: {:?}, {} differences", start.elapsed(), found.settings.len());
    assert!(found.settings.iter().all(|d| d.setting.name() == "placeholder"));
    assert!(found.settings.iter().any(|d| d.old.rule == "a50" && d.example.is_some()));
}

#[test]
fn of_one_lint_there_are_not_more_findings_than_anybody_reads() {
    let mut text = "version = 1\n".to_owned();
    for number in 0..2000 {
        text.push_str(&format!("[servers.s{number}]\norder = [\"structured\"]\n"));
    }
    let found = check("p", &text);
    assert_eq!(found.len(), 50);
}
