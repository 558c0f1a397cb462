//! Loading whole policies: layers, `extends`, replaced rules, built-ins, large files.

use mcp_select::policy::rule::*;
use mcp_select::policy::*;
use std::path::{Path, PathBuf};

fn load(text: &str) -> Policy {
    load_bytes("policy", text.as_bytes(), &BuiltinsOnly).unwrap_or_else(|error| panic!("{error}"))
}

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder = std::env::temp_dir().join(format!("mcp-select-{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn names(&self, policy: &Policy) -> Vec<String> {
        let prefix = format!("{}/", self.0.display());
        policy.files.iter().map(|file| file.name.replace(&prefix, "")).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_built_in_loads_and_is_complete() {
    assert!(BUILTINS.len() >= 7);
    for (name, text) in BUILTINS {
        let policy = load_builtin(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&*policy.name, &*policy.files[0].text, policy.files[0].path.is_none()), (*name, *text, true));
        assert!(policy.warnings.is_empty(), "{:?}", policy.warnings);
        for audience in ["model", "code", "app", "user"] {
            assert!(policy.audience(audience).is_some(), "{name} {audience}");
        }
        // Nothing in a built-in's rules has to be refused in a policy from bytes.
        load(&format!("version = 1\nextends = \"{name}\""));
    }
    assert!(BUILTINS.iter().any(|(name, _)| *name == DEFAULT));
}

#[test]
fn the_default_says_what_the_documentation_says() {
    let policy = load_builtin(DEFAULT).unwrap();
    let section = |name: &str| {
        let of = Audiences::Named(Box::new([name.into()]));
        policy.rules.iter().find(|rule| rule.layer == Layer::Audience && rule.audiences == of).unwrap()
    };
    let text = |name: &str| -> Vec<String> {
        section(name).settings.iter().map(|(setting, value)| format!("{} = {value}", setting.name())).collect()
    };
    assert_eq!(section("model").settings.len(), Setting::COUNT);
    assert_eq!(
        text("code"),
        [r#"order = ["structured", "content"]"#, r#"annotations = "ignore""#, r#"structured.as = "field""#]
    );
    assert_eq!(text("app"), [r#"order = ["whole"]"#, r#"error_order = ["whole"]"#]);
    assert_eq!(
        text("user"),
        [r#"role = "user""#, r#"placeholder_hidden = "(the output was meant for the assistant)""#]
    );
    let chain = |name: &str| policy.audience(name).unwrap().chain.join(" ");
    assert_eq!(
        ["assistant", "programmatic", "app", "user"].map(chain),
        ["model", "code model", "app code model", "user model"]
    );
    assert_eq!(policy.input, InputLimits { max_bytes: 67_108_864, max_depth: 128 });
}

#[test]
fn layers_servers_and_audiences_are_told_apart() {
    let policy = load(
        r#"version = 1
extends = "sep-2200"
[audience.reviewer]
like = "model"
order = ["both"]
[[rules]]
name = "everywhere"
audience = ["assistant", "model", "programmatic"]
when = { error = true }
error_order = ["content"]
[servers.github]
audience = "*"
order = ["structured"]
tools."list_*".hide = true
[[servers.github.rules]]
when = { blocks = [0, "> 5"] }
order = ["content"]
[[servers.github.tools."list_*".rules]]
hide = false
[servers."git*".tools.x]
audience = "reviewer"
hide = true
[[overrides]]
when = { server = ["a", "b*"] }
hide = true
"#,
    );
    let own: Vec<String> = policy
        .rules
        .iter()
        .filter(|rule| rule.place.file == 0)
        .map(|rule| {
            let audiences = match &rule.audiences {
                Audiences::All => "*".to_string(),
                Audiences::Named(names) => names.join("+"),
            };
            let pattern = |pattern: &Option<pattern::Pattern>| pattern.as_ref().map_or("", |p| p.as_str()).to_string();
            let when: Vec<String> = rule.when.iter().map(Condition::to_string).collect();
            let sets: Vec<String> = rule.settings.iter().map(|(s, v)| format!("{}={v}", s.name())).collect();
            format!(
                "{}:{} {} {audiences} {}/{} {} -> {}",
                rule.place.line,
                rule.place.column,
                rule.layer.name(),
                pattern(&rule.server),
                pattern(&rule.tool),
                when.join(" & "),
                sets.join(" ")
            )
        })
        .collect();
    assert_eq!(
        own,
        [
            r#"3:1 [audience.*] reviewer /  -> order=["both"]"#,
            r#"6:1 [[rules]] model+code / error = true -> error_order=["content"]"#,
            r#"11:1 [servers.*] * github/  -> order=["structured"]"#,
            r#"14:7 [servers.*.tools.*] model github/list_*  -> hide=true"#,
            r#"15:1 [[servers.*.rules]] model github/ blocks = ["= 0", "> 5"] -> order=["content"]"#,
            r#"18:1 [[servers.*.tools.*.rules]] model github/list_*  -> hide=false"#,
            r#"20:1 [servers.*.tools.*] reviewer git*/x  -> hide=true"#,
            r#"23:1 [[overrides]] * / server = ["a", "b*"] -> hide=true"#,
        ]
    );
    assert_eq!(
        policy.audiences.iter().map(|a| &*a.name).collect::<Vec<_>>(),
        ["model", "code", "app", "user", "reviewer"]
    );
}

#[test]
fn dotted_and_nested_spellings_are_the_same() {
    let spellings = [
        "[audience.model]\nstructured.as = \"field\"\nstructured.at = \"last\"",
        "[audience.model]\nstructured = { at = \"last\", as = \"field\" }",
        "[audience.model.structured]\nas = \"field\"\nat = \"last\"",
        "audience.model.structured.at = \"last\"\naudience.model.structured.as = \"field\"",
        "[audience]\nmodel = { structured = { as = \"field\", at = \"last\" } }",
        "[audience.assistant]\nstructured.\"as\" = 'field'\nstructured.at = \"\"\"last\"\"\"",
    ];
    for spelling in spellings {
        let policy = load(&format!("version = 1\n{spelling}\n"));
        assert_eq!(
            *policy.rules[0].settings,
            [(Setting::StructuredAs, Value::As(As::Field)), (Setting::StructuredAt, Value::At(At::Last))],
            "{spelling}"
        );
        assert_eq!(policy.rules[0].audiences, Audiences::Named(Box::new(["model".into()])));
    }
}

#[test]
fn mime_patterns_stand_better_first() {
    let policy = load(
        "version = 1\n[audience.model]\nblocks.image = { \"*\" = \"note\", \"image/*\" = \"keep\", \"Image/PNG\" = \"drop\" }",
    );
    assert_eq!(
        policy.rules[0].settings[0].1.to_string(),
        r#"{ "image/png" = "drop", "image/*" = "keep", "*" = "note" }"#
    );
}

const BASE: &str = "version = 1\nextends = \"none\"\n[input]\nmax_depth = 50\nmax_bytes = 7000\n";

#[test]
fn files_that_come_twice_count_where_they_come_last() {
    let rule = |name: &str| format!("[[rules]]\nname = \"{name}\"\nplaceholder = \"x\"\n");
    let a = format!("version = 1\nextends = \"base.toml\"\n{}", rule("a"));
    let b = format!("version = 1\nextends = [\"../base.toml\", \"../a.toml\"]\n{}", rule("b"));
    let own = format!(
        "version = 1\nextends = [\"a.toml\", \"deep/b.toml\", \"sep-2200\"]\n[input]\nmax_depth = 9\n{}",
        rule("own")
    );
    let folder = Folder::new(
        "diamond",
        &[("own.toml", &own), ("a.toml", &a), ("deep/b.toml", &b), ("base.toml", &format!("{BASE}{}", rule("base")))],
    );
    let policy = load_file(&folder.path("own.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(folder.names(&policy), ["own.toml", "sep-2200", "deep/b.toml", "a.toml", "base.toml"]);
    let rules: Vec<(u16, &str)> =
        policy.rules.iter().filter_map(|rule| Some((rule.place.file, rule.name.as_deref()?))).collect();
    assert_eq!(rules, [(0, "own"), (2, "b"), (3, "a"), (4, "base")]);
    assert_eq!(policy.input, InputLimits { max_bytes: 7000, max_depth: 9 });
    assert_eq!(policy.files[0].path.as_deref(), Some(&*folder.path("own.toml")));
}

#[test]
fn ladders_of_files_are_walked_once() {
    let mut files = vec![("f30.toml".to_string(), "version = 1\nextends = \"sep-2200\"\n".to_string())];
    for i in 0..30 {
        let text = format!("version = 1\nextends = [\"f{next}.toml\", \"g{next}.toml\"]\n", next = i + 1);
        files.push((format!("f{i}.toml"), text.clone()));
        files.push((format!("g{i}.toml"), text));
    }
    files.push(("g30.toml".to_string(), "version = 1\nextends = \"sep-2200\"\n".to_string()));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = Folder::new("ladder", &files);
    let policy = load_file(&folder.path("f0.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(policy.files.len(), 62);
    assert_eq!(folder.names(&policy)[..4], ["f0.toml", "g1.toml", "f1.toml", "g2.toml"]);
}

#[test]
fn circles_are_named_with_the_whole_chain() {
    let extends = |name: &str| format!("version = 1\nextends = \"{name}\"\n");
    let folder = Folder::new(
        "circle",
        &[("a.toml", &extends("b.toml")), ("b.toml", &extends("./c.toml")), ("c.toml", &extends("b.toml"))],
    );
    let error = load_file(&folder.path("a.toml")).unwrap_err();
    let folder_name = folder.0.display().to_string();
    assert_eq!(error.kind, PolicyErrorKind::File);
    assert_eq!(
        error.to_string().replace(&folder_name, ""),
        "error[extends-cycle]: `extends` goes round in a circle: /b.toml -> /./c.toml -> /b.toml
 --> /./c.toml:2:11
  |
2 | extends = \"b.toml\"
  |           ^^^^^^^^
  = help: take one of these `extends` out"
    );
    assert_eq!(error.files.len(), 3);
}

#[test]
fn missing_files_are_named_and_their_paths_recorded() {
    let folder = Folder::new("missing", &[("a.toml", "version = 1\nextends = [\"base.toml\", \"raw\"]\n")]);
    let error = load_file(&folder.path("a.toml")).unwrap_err();
    assert_eq!(error.kind, PolicyErrorKind::File);
    let [diagnostic] = error.diagnostics.as_slice() else { panic!("{error}") };
    let shown = folder.path("base.toml").display().to_string();
    assert!(diagnostic.message.starts_with("cannot extend ") && diagnostic.message.ends_with("there is no such file"));
    assert_eq!((diagnostic.line, diagnostic.column), (2, 12));
    assert_eq!(error.paths, [folder.path("a.toml"), PathBuf::from(shown)]);

    let error = load_file(Path::new("no/such.toml")).unwrap_err();
    assert_eq!((error.kind, error.paths.len()), (PolicyErrorKind::File, 1));
    assert_eq!(
        error.to_string(),
        "error[unreadable]: cannot read the policy: there is no such file\n --> no/such.toml"
    );
    assert_eq!(load_file(&folder.0).unwrap_err().kind, PolicyErrorKind::File);
}

#[test]
fn rules_are_replaced_and_taken_away_by_name() {
    let base = "version = 1
[[rules]]
name = \"one\"
placeholder = \"base\"
[[servers.x.rules]]
name = \"two\"
placeholder = \"base\"
[[overrides]]
name = \"three\"
placeholder = \"base\"
[[rules]]
placeholder = \"nameless\"
";
    let middle = "version = 1\nextends = \"base.toml\"\n[[rules]]\nname = \"three\"\nenabled = false\n";
    let own = "version = 1
extends = \"middle.toml\"
[[overrides]]
name = \"one\"
enabled = true
placeholder = \"own\"
[[rules]]
name = \"two\"
enabled = false
hide = true
[[rules]]
enabled = false
hide = true
";
    let folder = Folder::new("replace", &[("own.toml", own), ("middle.toml", middle), ("base.toml", base)]);
    let policy = load_file(&folder.path("own.toml")).unwrap_or_else(|error| panic!("{error}"));
    let rules: Vec<(u16, Layer, Option<&str>)> = policy
        .rules
        .iter()
        .filter(|rule| rule.layer != Layer::Audience)
        .map(|rule| (rule.place.file, rule.layer, rule.name.as_deref()))
        .collect();
    assert_eq!(rules, [(0, Layer::Override, Some("one")), (2, Layer::Rule, None)]);
    assert!(policy.warnings.is_empty(), "{:?}", policy.warnings);
}

#[test]
fn comparisons_and_lists_become_conditions() {
    let policy = load(
        r#"version = 1
[[rules]]
when = { server = "git?*", revision = [">= 2025-06-18", 2025-03-26], app = "only", output_schema = true, error = false, content = ["blank", "missing"], has = "image", only = ["text", "ui_resource"], structured = ["present", "null"], blocks = "]1..5[", text_bytes = ">= 1_000", structured_bytes = 0, result_bytes = "= 7", ratio = "[0.5..2)", meta = "trace*", text_json = true, mirror = ["block", "canonical"], coverage = "< 0.9", label.model = "gpt-*", label."my ring" = ["a", ""] }
hide = true
[[rules]]
when.structured = "present"
when.mirror = true
when.label = { tenant = "x" }
hide = true
[[rules]]
when = { mirror = false, coverage = 1 }
hide = true
"#,
    );
    let text: Vec<String> = policy.rules.iter().flat_map(|rule| rule.when.iter()).map(Condition::to_string).collect();
    assert_eq!(
        text,
        [
            r#"server = "git?*""#,
            r#"revision = [">= 2025-06-18", "= 2025-03-26"]"#,
            r#"app = "only""#,
            "output_schema = true",
            "error = false",
            r#"content = ["missing", "blank"]"#,
            r#"has = "image""#,
            r#"only = ["text", "ui_resource"]"#,
            r#"structured = ["null", "object", "array", "empty", "scalar"]"#,
            "blocks in (1..5)",
            "text_bytes >= 1000",
            "structured_bytes = 0",
            "result_bytes = 7",
            "ratio in [0.5..2)",
            r#"meta = "trace*""#,
            "text_json = true",
            r#"mirror = ["block", "canonical"]"#,
            "coverage < 0.9",
            r#"label.model = "gpt-*""#,
            r#"label."my ring" = ["a", ""]"#,
            r#"structured = "present""#,
            "mirror = true",
            r#"label.tenant = "x""#,
            "mirror = false",
            "coverage = 1",
        ]
    );
}

#[test]
fn tests_are_those_of_the_file_itself() {
    let base = "version = 1\nextends = \"raw\"\n[[tests]]\nname = \"base\"\nresult = \"{}\"\nexpect.is_error = false\n";
    let own = r#"version = 1
extends = "base.toml"
[[tests]]
name = "keeps titles"
server = "github"
tool = "list_issues"
audience = "programmatic"
revision = "2025-11-25"
result = '''{"content":[]}'''
expect = { lane = "structured-only", contains = ["Fix"], lacks = ["long"], result = "{ }", is_error = true, rule = "r" }
"#;
    let folder = Folder::new("tests", &[("own.toml", own), ("base.toml", base)]);
    let policy = load_file(&folder.path("own.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        policy.tests,
        [PolicyTest {
            name: "keeps titles".into(),
            server: "github".into(),
            tool: "list_issues".into(),
            audience: "code".into(),
            revision: Some("2025-11-25".into()),
            result: "{\"content\":[]}".into(),
            expect: Expect {
                lane: Some(Lane::StructuredOnly),
                contains: Box::new(["Fix".into()]),
                lacks: Box::new(["long".into()]),
                result: Some("{ }".into()),
                is_error: Some(true),
                rule: Some("r".into()),
            },
            place: Place { file: 0, line: 3, column: 1 },
        }]
    );
}

#[test]
fn the_hash_is_that_of_the_texts() {
    let hash = |name: &str, text: &str| load_bytes(name, text.as_bytes(), &BuiltinsOnly).unwrap().hash;
    let alone = format!("{}\n", builtin(DEFAULT).unwrap());
    assert_eq!(hash("a", &alone), hash("b", &alone));
    assert_ne!(hash("a", &alone), hash("a", &format!("{alone} ")));
    let extended = "version = 1\nextends = \"sep-2200\"\n";
    assert_ne!(hash("a", extended), hash("a", &format!("{extended}#\n")));
    // FNV-1a of the length and the text, computed apart from this code.
    assert_eq!(fnv_of(&alone), hash("a", &alone));
}

fn fnv_of(text: &str) -> u64 {
    let mut hash: u128 = 14_695_981_039_346_656_037;
    for byte in (text.len() as u64).to_le_bytes().iter().chain(text.as_bytes()) {
        hash = ((hash ^ u128::from(*byte)) * 1_099_511_628_211) % (1 << 64);
    }
    u64::try_from(hash).unwrap()
}

#[test]
fn many_servers_are_no_burden_and_too_many_are_refused() {
    let policy = |count: usize| {
        let sections = (0..count).map(|i| format!("[servers.s{i}]\norder = [\"content\"]\n")).collect::<String>();
        load_bytes("p", format!("version = 1\n{sections}").as_bytes(), &BuiltinsOnly)
    };
    let start = std::time::Instant::now();
    let loaded = policy(100_000).unwrap();
    assert_eq!(loaded.rules.iter().filter(|rule| rule.layer == Layer::ServerSection).count(), 100_000);
    assert_eq!(loaded.rules[99_999].place, Place { file: 0, line: 200_000, column: 1 });
    println!("100,000 servers: {:?}", start.elapsed());
    let error = policy(100_001).unwrap_err();
    assert_eq!(error.diagnostics[0].message, "100001 servers have a section; at most 100000 can");
}

#[test]
fn too_many_conditional_rules_are_refused() {
    let policy = |count: usize| {
        let rules = (0..count).map(|i| format!("[[rules]]\nwhen = {{ blocks = {i} }}\nhide = true\n"));
        load_bytes("p", format!("version = 1\n{}", rules.collect::<String>()).as_bytes(), &BuiltinsOnly)
    };
    assert!(policy(4096).is_ok());
    let error = policy(4097).unwrap_err();
    assert_eq!(error.diagnostics[0].message, "4097 rules have conditions; at most 4096 can");
}

#[test]
fn a_policy_on_one_line_has_the_right_columns() {
    let servers: Vec<String> =
        (0..20_000).map(|i| format!("s{i} = {{ order = [\"content\"], placeholder = \"é\" }}")).collect();
    let text = format!("version = 1\nservers = {{ {} }}\n", servers.join(", "));
    let policy = load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap();
    let last = &policy.rules[19_999];
    let line = text.lines().nth(1).unwrap();
    let column = line.chars().take(last.place.column as usize - 1).collect::<String>();
    assert!(line[column.len()..].starts_with("s19999 ="), "{:?}", last.place);
}
