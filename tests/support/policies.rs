//! Policies over the whole language, as TOML, from choices: a few names, so that rules meet.

use super::choices::Choices;
use mcp_select::policy::{Policy, Resolve, Resolved, Unresolved, load_bytes};
use mcp_select::table::route::{Definition, Route, revision};
use mcp_select::{Input, Request};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What kind of policy is wanted.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Conditions that need a result.
    pub facts: bool,
    /// `order` and `error_order` may name `whole`.
    pub whole: bool,
    /// Settings that matter most, by the start of their name: a rule for everybody sets some of them.
    pub focus: &'static [&'static str],
}

/// The files of a policy; the first is the policy itself.
#[derive(Clone, Debug)]
pub struct Files(pub Vec<(String, String)>);

impl Files {
    pub fn load(&self) -> Policy {
        load_bytes(&self.0[0].0, self.0[0].1.as_bytes(), self).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }
}

impl Resolve for Files {
    fn resolve(&self, _: Option<&Path>, name: &str) -> Result<Resolved, Unresolved> {
        match self.0.iter().find(|(known, _)| known == name) {
            Some((_, text)) => {
                let path = PathBuf::from(name);
                Ok(Resolved { identity: path.clone(), path, bytes: text.clone().into_bytes() })
            }
            None => Err(Unresolved { path: None, reason: "no such file".into() }),
        }
    }
}

impl std::fmt::Display for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|(name, text)| writeln!(f, "# {name}\n{text}"))
    }
}

pub const AUDIENCES: &[&str] = &["model", "code", "user", "app", "reviewer", "auditor"];
const SERVERS: &[&str] = &["a", "ab", "b", "a*", "*b", "?", "a?", "*"];
const TOOLS: &[&str] = &["t", "tu", "t*", "?u", "*"];
pub const BUILTINS: &[&str] =
    &["sep-2200", "lossless", "mcp-apps", "openai-apps", "raw", "sep-3279-preview", "text-only"];

/// A policy in one file that extends a built-in.
pub fn policy(choices: &mut Choices, wanted: Wanted) -> String {
    let builtin = choices.pick(if wanted.facts { BUILTINS } else { &["sep-2200", "mcp-apps", "text-only"] });
    file(choices, wanted, &format!("{builtin:?}"), true)
}

/// A policy in up to three files.
pub fn files(choices: &mut Choices, wanted: Wanted) -> Files {
    let extended =
        ["\"lossless\"", "\"./one.toml\"", "[\"./one.toml\", \"text-only\"]", "[\"./one.toml\", \"./two.toml\"]"];
    let main = extended[choices.below(extended.len())];
    let one = choices.pick(&["\"sep-2200\"", "\"./two.toml\"", "\"raw\""]);
    Files(vec![
        ("main".into(), file(choices, wanted, main, true)),
        ("./one.toml".into(), file(choices, wanted, one, false)),
        ("./two.toml".into(), file(choices, wanted, "\"mcp-apps\"", false)),
    ])
}

/// What is known before a result comes, with names that the policies speak of.
#[derive(Clone, Debug)]
pub struct Known {
    pub server: &'static str,
    pub tool: &'static str,
    pub audience: &'static str,
    pub revision: Option<&'static str>,
    pub definition: Option<&'static str>,
    pub labels: Vec<(&'static str, &'static str)>,
}

pub fn known(choices: &mut Choices) -> Known {
    let definitions = [
        "{}",
        r#"{"outputSchema":{}}"#,
        r#"{"_meta":{"ui":{}}}"#,
        r#"{"_meta":{"ui":{"visibility":["app"]}},"outputSchema":{}}"#,
    ];
    Known {
        audience: choices.pick(AUDIENCES),
        server: choices.pick(&["a", "ab", "b", "c", "aab", ""]),
        tool: choices.pick(&["t", "tu", "u", ""]),
        revision: [None, Some("2025-06-18"), Some("2025-11-25"), Some("2026-07-28")][choices.below(4)],
        definition: if choices.one_in(2) { Some(choices.pick(&definitions)) } else { None },
        labels: (0..choices.below(3)).map(|at| (["ring", "é"][at], choices.pick(&["x", "xy", "z"]))).collect(),
    }
}

impl Known {
    pub fn route(&self) -> Route {
        Route {
            server: self.server.into(),
            tool: self.tool.into(),
            audience: self.audience.into(),
            revision: self.revision.and_then(revision),
            definition: self.definition.and_then(|tool| Definition::read(tool.as_bytes())),
            labels: self.labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            ..Route::default()
        }
    }

    pub fn request(&self, input: Input) -> Request {
        let mut request = Request::new(self.server, self.tool, self.audience);
        self.revision.into_iter().for_each(|date| request.set_revision(date).unwrap());
        request.set_tool_definition(self.definition.map(str::as_bytes)).unwrap();
        self.labels.iter().for_each(|(name, value)| request.set_label(name, value));
        request.set_input(input);
        request
    }
}

// ---- one file -------------------------------------------------------------------------------------------------

fn file(choices: &mut Choices, wanted: Wanted, extends: &str, defines: bool) -> String {
    let mut writer = Writer { choices, wanted, names: HashMap::new() };
    let mut text = format!("version = 1\nextends = {extends}\n");
    for audience in ["model", "code", "user", "app", "reviewer", "auditor"] {
        let own = !matches!(audience, "reviewer" | "auditor");
        if own && !writer.choices.one_in(3) || !own && !defines {
            continue;
        }
        text.push_str(&format!("\n[audience.{audience}]\n"));
        match audience {
            "reviewer" => text.push_str(&format!("like = \"{}\"\n", writer.choices.pick(&["model", "user", "code"]))),
            "auditor" => text.push_str("like = \"reviewer\"\n"),
            _ => {}
        }
        text.push_str(&writer.settings(8, &[]));
    }
    text.push_str(&writer.rules("rules", 4));
    if !wanted.focus.is_empty() {
        text.push_str(&format!("\n[[rules]]\naudience = \"*\"\n{}", writer.focus()));
    }
    text.push_str(&writer.rules("overrides", 2));
    let mut servers = SERVERS.to_vec();
    writer.choices.shuffle(&mut servers);
    servers.truncate(writer.choices.below(4));
    for server in servers {
        let section = format!("servers.{server:?}");
        text.push_str(&writer.section(&section));
        text.push_str(&writer.rules(&format!("{section}.rules"), 2));
        let mut tools = TOOLS.to_vec();
        writer.choices.shuffle(&mut tools);
        tools.truncate(writer.choices.below(3));
        for tool in tools {
            let section = format!("{section}.tools.{tool:?}");
            text.push_str(&writer.section(&section));
            text.push_str(&writer.rules(&format!("{section}.rules"), 2));
        }
    }
    text
}

struct Writer<'c> {
    choices: &'c mut Choices,
    wanted: Wanted,
    /// Names of rules; each is there once.
    names: HashMap<String, ()>,
}

impl Writer<'_> {
    fn section(&mut self, header: &str) -> String {
        format!("\n[{header}]\n{}{}", self.audience(), self.settings(8, &[]))
    }

    fn rules(&mut self, header: &str, most: usize) -> String {
        (0..self.choices.below(most + 1)).map(|_| self.rule(header)).collect()
    }

    fn rule(&mut self, header: &str) -> String {
        let mut text = format!("\n[[{header}]]\n");
        let name = format!("rule {}", self.choices.below(12));
        if self.choices.one_in(3) && self.names.insert(name.clone(), ()).is_none() {
            text.push_str(&format!("name = {name:?}\n"));
            if self.choices.one_in(4) {
                text.push_str("enabled = false\n");
            }
        }
        text.push_str(&self.audience());
        let when = self.conditions();
        text.push_str(&format!("when = {{ {} }}\n", when.join(", ")));
        let names: Vec<&str> = when.iter().filter_map(|condition| condition.split(" = ").next()).collect();
        let on_result = names.iter().any(|name| !ROUTE.contains(name) && !name.starts_with("label"));
        let error = when.iter().find_map(|condition| condition.strip_prefix("error = "));
        let mut not: Vec<&str> = if on_result { vec!["role", "annotations"] } else { Vec::new() };
        not.extend(error.map(|error| if error == "true" { "order" } else { "error_order" }));
        text + &self.settings(5, &not)
    }

    fn audience(&mut self) -> String {
        let audience =
            ["", "", "audience = \"code\"\n", "audience = \"*\"\n", "audience = [\"user\", \"assistant\"]\n"];
        audience[self.choices.below(audience.len())].to_owned()
    }

    /// Up to three conditions, each with another name.
    fn conditions(&mut self) -> Vec<String> {
        let mut when: Vec<String> = Vec::new();
        for _ in 0..self.choices.below(4) {
            let list: &[Column] =
                if self.wanted.facts && !self.choices.one_in(3) { CONDITIONS } else { ROUTE_CONDITIONS };
            let (name, values) = list[self.choices.below(list.len())];
            let condition = format!("{name} = {}", self.choices.pick(values));
            if !when.iter().any(|other| other.starts_with(&format!("{name} ="))) {
                when.push(condition);
            }
        }
        when
    }

    /// Settings as lines, each at most once, but for those in `not`.
    fn settings(&mut self, most: usize, not: &[&str]) -> String {
        let count = self.choices.below(most);
        self.some_of(SETTINGS, count, not)
    }

    /// Up to five of the settings that matter most.
    fn focus(&mut self) -> String {
        let matters = |(key, _): &&Column| self.wanted.focus.iter().any(|start| key.starts_with(start));
        let columns: Vec<Column> = SETTINGS.iter().filter(matters).copied().collect();
        self.some_of(&columns, 5, &[])
    }

    fn some_of(&mut self, columns: &[Column], count: usize, not: &[&str]) -> String {
        let mut keys: Vec<&str> = Vec::new();
        let mut text = String::new();
        for _ in 0..count {
            let (key, values) = columns[self.choices.below(columns.len())];
            let value = self.choices.pick(values);
            if !keys.contains(&key) && !not.contains(&key) && (self.wanted.whole || !value.contains("whole")) {
                keys.push(key);
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
        text
    }
}

/// A setting and some of its values, as policies write them.
type Column = (&'static str, &'static [&'static str]);

const ROUTE: &[&str] = &["server", "tool", "revision", "app", "output_schema"];

const ROUTE_CONDITIONS: &[Column] = &[
    ("server", &["\"a\"", "\"a*\"", "[\"b\", \"?b\"]"]),
    ("tool", &["\"t\"", "\"*u\"", "[\"t\", \"tu\"]"]),
    ("revision", &["\">= 2025-11-25\"", "\"2025-06-18\"", "\"[2025-06-18..2025-11-25]\""]),
    ("app", &["true", "false", "\"only\""]),
    ("output_schema", &["true", "false"]),
    ("label.ring", &["\"x\"", "\"x*\"", "[\"y\", \"z\"]"]),
    ("label.\"é\"", &["\"x\"", "\"?y\""]),
];

const CONDITIONS: &[Column] = &[
    ("error", &["true", "false"]),
    ("content", &["\"missing\"", "\"blank\"", "[\"empty\", \"blank\"]", "\"visible\""]),
    ("has", &["\"text\"", "[\"image\", \"audio\"]", "\"unknown\"", "\"ui_resource\""]),
    ("only", &["\"text\"", "[\"text\", \"image\"]"]),
    ("structured", &["\"present\"", "\"absent\"", "[\"null\", \"empty\"]", "\"object\"", "[\"array\", \"scalar\"]"]),
    ("blocks", &["0", "\"> 1\"", "[1, \"[3..5]\"]"]),
    ("text_bytes", &["\"> 10\"", "\"< 20\""]),
    ("structured_bytes", &["\"> 20\"", "\"<= 10\""]),
    ("result_bytes", &["\"> 200\""]),
    ("ratio", &["\"> 1.5\"", "\"< 0.5\""]),
    ("meta", &["\"com.example/*\"", "[\"ui\", \"plain\"]"]),
    ("text_json", &["true", "false"]),
    ("mirror", &["true", "false", "[\"block\", \"canonical\"]", "[\"wrapped\"]", "[\"joined\", \"block\"]"]),
    ("coverage", &["\"< 0.9\"", "1", "\"(0.2..0.5)\""]),
    ("path", &["\"$.items[*]\"", "\"$..a\""]),
    ("meta_path", &["\"$.plain\""]),
];

const BLOCK: &[&str] = &["\"keep\"", "\"drop\"", "\"note\"", "\"json\"", "\"text\""];
const BLOCK_BY_MIME: &[&str] = &[
    "\"keep\"",
    "\"drop\"",
    "\"note\"",
    "\"json\"",
    "\"text\"",
    "{ \"image/*\" = \"keep\", \"*\" = \"note\" }",
    "{ \"text/*\" = \"text\", \"*\" = \"drop\" }",
];
const NOTE: &[&str] = &["\"[{type} {mime|?} {bytes} {uri}]\"", "\"({name|x}, {title}, {size})\"", "\"\"", "\"gone\""];
const ORDER: &[&str] = &[
    "[\"content\", \"structured\"]",
    "[\"structured\", \"content\"]",
    "[\"both\"]",
    "[\"structured-only\", \"content\"]",
    "[\"raw\"]",
    "[\"nothing\"]",
    "[\"structured-only\"]",
    "[\"content\"]",
    "[\"whole\"]",
    "[\"structured\", \"raw\"]",
];
const AS: &[&str] = &["\"field\"", "\"text\"", "\"extras\""];

const SETTINGS: &[Column] = &[
    ("order", ORDER),
    ("error_order", ORDER),
    ("hide", &["true", "false", "false", "false"]),
    ("usable", &["\"visible\"", "\"noted\"", "\"text\"", "\"any\""]),
    ("role", &["\"assistant\"", "\"user\""]),
    ("annotations", &["\"narrow\"", "\"narrow-strict\"", "\"ignore\""]),
    ("blocks.text", &["\"keep\"", "\"drop\"", "\"note\"", "\"json\"", "\"keep\""]),
    ("blocks.image", BLOCK_BY_MIME),
    ("blocks.audio", BLOCK),
    ("blocks.resource_link", BLOCK),
    ("blocks.resource_text", BLOCK_BY_MIME),
    ("blocks.resource_blob", BLOCK_BY_MIME),
    ("blocks.ui_resource", BLOCK),
    ("blocks.unknown", BLOCK),
    ("blocks.blank", &["\"keep\"", "\"drop\""]),
    ("notes.text", NOTE),
    ("notes.image", NOTE),
    ("notes.resource_link", NOTE),
    ("notes.resource_blob", NOTE),
    ("notes.unknown", NOTE),
    (
        "meta.allow",
        &[
            "[]",
            "[\"*\"]",
            "[\"com.example/*\"]",
            "[\"inherit\", \"plain\"]",
            "[\"progressToken\", \"inherit\"]",
            "[\"com..bad/x\"]",
        ],
    ),
    ("meta.deny", &["[]", "[\"com.example/b\"]", "[\"com.example/*\"]", "[\"*\"]"]),
    ("meta.reserved", &["\"union\"", "\"2025-06-18\"", "\"2025-11-25\""]),
    ("meta.blocks", &["\"strip\"", "\"allow\""]),
    ("meta.as", AS),
    ("structured.null", &["\"absent\"", "\"value\""]),
    ("structured.as", AS),
    ("structured.at", &["\"first\"", "\"last\""]),
    ("structured.render", &["\"compact\"", "\"verbatim\"", "\"pretty\"", "\"sorted\""]),
    ("structured.pick", &["[]", "[\"$.items\"]", "[\"$.a\", \"$.items[0]\"]"]),
    ("structured.omit", &["[]", "[\"$..b\"]"]),
    ("structured.unwrap", &["\"\"", "\"result\""]),
    ("structured.media", &["\"note\"", "\"keep\""]),
    ("text.if_json", &["\"leave\"", "\"project\"", "\"rewrite\""]),
    (
        "limit",
        &["\"none\"", "{ chars = 100 }", "{ bytes = 90, cut = \"middle\" }", "{ utf16 = 120, cut = \"elements\" }"],
    ),
    ("sanitize", &["[]", "[\"ansi\", \"bidi\", \"invisible\", \"tags\", \"control\"]", "[\"invisible\"]"]),
    ("extras", &["{ before = \"<x>\", after = \"</x>\", escape = \"remove\" }", "{ before = \"\", after = \"\" }"]),
    ("media_only", &["{ before = \"from {tool}:\", after = \"\" }", "{ before = \"\", after = \"done\" }"]),
    ("placeholder", &["\"(nothing)\"", "\"\""]),
    ("placeholder_hidden", &["\"(hidden)\""]),
];
