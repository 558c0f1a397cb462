//! Holds `rules/policy.schema.json` against the code and against policies: what loads conforms to it, and what has a wrong
//! key or type does not.
//!
//! `MCP_SELECT_WRITE_SCHEMA=1` writes it anew.

use mcp_select::policy::json_schema::policy_schema;
use mcp_select::policy::{BUILTINS, BuiltinsOnly, load_bytes, load_file};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&policy_schema()).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// TOML as an editor hands it to its validator: dates are strings.
fn json(toml: toml::Value) -> Value {
    match toml {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(list) => list.into_iter().map(json).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, json(value))).collect::<Map<_, _>>())
        }
    }
}

/// Why a policy does not conform; `None`: it does.
fn fault(validator: &jsonschema::Validator, policy: &str) -> Option<String> {
    let value = json(toml::Value::Table(toml::from_str(policy).unwrap()));
    let faults: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    (!faults.is_empty()).then(|| faults.join("\n"))
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

#[test]
fn the_file_says_what_the_code_says() {
    let path = root().join("rules/policy.schema.json");
    if std::env::var_os("MCP_SELECT_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, policy_schema()).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == policy_schema(), "rules/policy.schema.json is old: run this test with MCP_SELECT_WRITE_SCHEMA=1");
}

#[test]
fn every_policy_of_the_repository_conforms() {
    let validator = validator();
    let mut wrong = String::new();
    let mut count = 0;
    let mut check = |place: &str, policy: &str| {
        count += 1;
        if let Some(fault) = fault(&validator, policy) {
            wrong += &format!("{place}: {fault}\n{policy}\n");
        }
    };
    for (name, text) in BUILTINS {
        check(name, text);
    }
    let mut policies = Vec::new();
    files(&root().join("rules"), "toml", &mut policies);
    for path in policies {
        load_file(&path).unwrap_or_else(|error| panic!("{error}"));
        check(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
    }
    // Policies inside the cases, where they load.
    let mut cases = Vec::new();
    files(&root().join("tests/cases"), "toml", &mut cases);
    for path in cases {
        let file: toml::Table = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let of = |table: &toml::Table| table.get("policy_toml").and_then(toml::Value::as_str).map(str::to_owned);
        let inside = file["cases"].as_array().unwrap().iter().filter_map(toml::Value::as_table).filter_map(of);
        for policy in inside.chain(of(&file)) {
            if load_bytes("case", policy.as_bytes(), &BuiltinsOnly).is_ok() {
                check(&path.display().to_string(), &policy);
            }
        }
    }
    // Policies of the documentation, where they load (`tests/docs.rs` says which must).
    let mut pages = vec![root().join("README.md")];
    files(&root().join("docs"), "md", &mut pages);
    for path in pages {
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```").next()) {
            let says_version = block.lines().any(|line| line.starts_with("version"));
            let policy = if says_version { block.to_owned() } else { format!("version = 1\n{block}") };
            if load_bytes("page", policy.as_bytes(), &BuiltinsOnly).is_ok() {
                check(&path.display().to_string(), &policy);
            }
        }
    }
    eprintln!("{count} policies");
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn wrong_keys_and_types_do_not_conform() {
    let validator = validator();
    let rule = |inside: &str| format!("version = 1\n[[rules]]\n{inside}\n");
    let model = |inside: &str| format!("version = 1\n[audience.model]\n{inside}\n");
    let mut policies: Vec<String> = [
        "order = [\"contents\"]",
        "order = []",
        "order = [\"content\", \"content\"]",
        "order = \"content\"",
        "hide = \"true\"",
        "usable = \"maybe\"",
        "blocks.image = { \"image/*\" = \"keep\" }",
        "blocks.image = { png = \"keep\", \"*\" = \"note\" }",
        "blocks.picture = \"keep\"",
        "notes.image = 3",
        "meta.allow = \"*\"",
        "meta.allow = [\"a*b\"]",
        "meta.deny = [\"inherit\"]",
        "structured.as = \"json\"",
        "structured.pick = [\"items\"]",
        "structured.depth = 3",
        "if_json = \"leave\"",
        "limit = 1000",
        "limit = { chars = 10, bytes = 10 }",
        "limit = { cut = \"head\" }",
        "limit = { chars = 1000, cut = \"front\" }",
        "limit = { chars = 1000, head = 1.5 }",
        "sanitize = [\"emoji\"]",
        "extras = { before = \"a\", behind = \"b\" }",
        "schema = true",
        "placeholder = [\"x\"]",
        "when = { error = true }",
        "enabled = false",
    ]
    .map(model)
    .into();
    policies.extend(
        [
            "when = { coverage = \"below 0.9\" }\nhide = true",
            "when = { coverage = 2 }\nhide = true",
            "when = { blocks = 1.5 }\nhide = true",
            "when = { blocks = true }\nhide = true",
            "when = { content = \"some\" }\nhide = true",
            "when = { has = [] }\nhide = true",
            "when = { structured = true }\nhide = true",
            "when = { app = \"yes\" }\nhide = true",
            "when = { mirror = \"twice\" }\nhide = true",
            "when = { path = [\"$.a\"] }\nhide = true",
            "when = { revision = \"latest\" }\nhide = true",
            "when = { label = \"canary\" }\nhide = true",
            "when = { sever = \"x\" }\nhide = true",
            "when = { server = \"\" }\nhide = true",
            "when = \"error\"\nhide = true",
            "audience = []\nhide = true",
            "like = \"model\"\nhide = true",
            "enabled = \"no\"\nhide = true",
            "oder = [\"content\"]",
        ]
        .map(rule),
    );
    policies.extend(
        [
            "version = 2\n[audience.model]\nhide = true\n",
            "version = \"1\"\n[audience.model]\nhide = true\n",
            "[audience.model]\nhide = true\n",
            "version = 1\nextends = [\"none\"]\n[audience.model]\nhide = true\n",
            "version = 1\nextends = \"sep-2201\"\n",
            "version = 1\nextends = []\n",
            "version = 1\nhide = true\n",
            "version = 1\n[rules]\nhide = true\n",
            "version = 1\n[server.a]\nhide = true\n",
            "version = 1\n[servers.a]\nlike = \"b\"\nhide = true\n",
            "version = 1\n[servers.a.tools.b.tools.c]\nhide = true\n",
            "version = 1\n[audience.\"*\"]\nhide = true\n",
            "version = 1\n[input]\nmax_bytes = 0\n",
            "version = 1\n[input]\nmax_depth = 129\n",
            "version = 1\n[input]\nmax_nodes = 9\n",
            "version = 1\nextends = \"raw\"\n[[tests]]\nname = \"a\"\nresult = \"{}\"\n",
            "version = 1\nextends = \"raw\"\n[[tests]]\nname = \"a\"\nresult = \"{}\"\nexpect = {}\n",
            "version = 1\nextends = \"raw\"\n[[tests]]\nname = \"a\"\nresult = \"{}\"\nexpect = { lane = \"text\" }\n",
        ]
        .map(str::to_owned),
    );
    for policy in policies {
        assert!(load_bytes("p", policy.as_bytes(), &BuiltinsOnly).is_err(), "loads:\n{policy}");
        assert!(fault(&validator, &policy).is_some(), "conforms:\n{policy}");
    }
}
