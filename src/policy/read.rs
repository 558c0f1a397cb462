//! One policy file: from its text to rules, with every mistake at its place.
//!
//! The TOML tree with spans is decoded by hand, because a mistake in a policy must say what is wrong, where, and what
//! to write instead. What takes more than one file (`extends`, replaced rules, complete chains) is left to `load`.

mod conditions;
mod node;
mod range;
mod settings;
mod syntax;
mod template;

pub(super) use conditions::CONDITIONS;
pub use template::template_size;

use super::diagnostic::{Problem, Problems};
use super::pattern::Pattern;
use super::rule::*;
use super::source::Lines;
use super::suggest;
use super::words::{key, quoted};
use super::{Expect, InputLimits, MAX_AUDIENCES, MAX_SERVERS, PolicyTest, resolve_alias};
use crate::result::json;
use node::*;
use settings::Set;
use std::collections::HashMap;
use std::ops::Range as Bytes;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

// ---- what a build may lack --------------------------------------------------------------------------------

/// A setting that this build cannot do.
fn refuse_missing_setting(p: &mut Problems, value: &Value, span: Bytes<usize>) {
    if matches!(value, Value::Schema(schema) if *schema != Schema::Off) {
        refuse_without_schema(p, span, format!("`schema = {value}`"));
    }
}

/// A condition that this build cannot do.
fn refuse_missing_condition(p: &mut Problems, condition: &Condition, span: Bytes<usize>) {
    if matches!(condition, Condition::SchemaValid(_)) {
        refuse_without_schema(p, span, format!("the condition `{}`", condition.name()));
    }
}

/// What needs the cargo feature `schema`, in a build without it.
fn refuse_without_schema(p: &mut Problems, span: Bytes<usize>, what: String) {
    if !cfg!(feature = "schema") {
        p.add(
            Problem::error("feature", span, format!("{what} needs the feature `schema`, which this build has not"))
                .help("build with the feature `schema` (`cargo build --features schema`), or leave it out"),
        );
    }
}

// ---- one file ---------------------------------------------------------------------------------------------

/// What one file says.
#[derive(Default)]
pub(super) struct FileContent {
    /// `None`: it does not say, and extends the default.
    pub extends: Option<Vec<Reference>>,
    /// With the offset of each, in that order. `Place::file` is not known yet.
    pub rules: Vec<Rule>,
    /// Rules with `enabled = false`: names and where they stand.
    pub disabled: Vec<(Box<str>, Bytes<usize>)>,
    pub audiences: Vec<AudienceSection>,
    /// Every audience that a rule or a test speaks of, with the first place.
    pub spoken_of: Vec<(Box<str>, Bytes<usize>)>,
    pub max_bytes: Option<u32>,
    pub max_depth: Option<u32>,
    pub tests: Vec<PolicyTest>,
    pub servers: usize,
    pub problems: Problems,
    /// Nothing but comments and white space.
    pub is_empty: bool,
    /// The TOML could be read, so that what is missing is really missing.
    pub is_whole: bool,
}

/// An entry of `extends`.
pub(super) struct Reference {
    pub name: Box<str>,
    pub span: Bytes<usize>,
}

/// `[audience.NAME]`
pub(super) struct AudienceSection {
    pub name: Box<str>,
    pub span: Bytes<usize>,
    pub like: Option<Like>,
}

/// What an audience falls back on.
pub(super) struct Like {
    pub name: Box<str>,
    pub span: Bytes<usize>,
}

/// Reads one file.
pub(super) fn read(text: &str, lines: &Lines) -> FileContent {
    let mut reader = Reader {
        text,
        lines,
        content: FileContent::default(),
        rules: Vec::new(),
        names: HashMap::new(),
        spoken_of: HashMap::new(),
        recent: Recent::default(),
    };
    let without_mark = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if without_mark.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        reader.content.is_empty = true;
        return reader.content;
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        syntax::report_newer_spellings(&mut reader.content.problems, text);
    } else if !syntax::report(&mut reader.content.problems, text, root.get_ref(), errors) {
        return reader.content;
    }
    reader.content.is_whole = true;
    reader.file(root.get_ref());
    reader.finish()
}

struct Reader<'a> {
    text: &'a str,
    lines: &'a Lines,
    content: FileContent,
    /// With the byte where each starts.
    rules: Vec<(usize, Rule)>,
    /// Of rules, to find a name that is there twice.
    names: HashMap<Box<str>, Bytes<usize>>,
    spoken_of: HashMap<Box<str>, Bytes<usize>>,
    recent: Recent,
}

/// What the last rules said, the latest at the end: the next one often says the same for another server.
#[derive(Default)]
struct Recent(Vec<Arc<Says>>);

impl Recent {
    fn share(&mut self, says: Says) -> Arc<Says> {
        const MOST: usize = 16;
        let known = self.0.iter().rposition(|other| **other == says).map(|known| self.0.remove(known));
        let says = known.unwrap_or_else(|| Arc::new(says));
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Arc::clone(&says));
        says
    }
}

/// Where a rule or section stands.
#[derive(Clone, Copy)]
struct Scope<'p> {
    layer: Layer,
    server: Option<&'p Pattern>,
    tool: Option<&'p Pattern>,
}

const TOP_LEVEL: [&str; 8] = ["version", "extends", "input", "audience", "rules", "servers", "overrides", "tests"];

impl Reader<'_> {
    fn problem(&mut self, problem: Problem) {
        self.content.problems.add(problem);
    }

    fn place(&self, offset: usize) -> Place {
        let position = self.lines.position(self.text, offset);
        Place { file: 0, line: position.line, column: position.column }
    }

    fn finish(mut self) -> FileContent {
        self.rules.sort_by_key(|(offset, _)| *offset);
        self.content.rules = self.rules.into_iter().map(|(_, rule)| rule).collect();
        self.content.spoken_of = self.spoken_of.into_iter().collect();
        self.content.spoken_of.sort_by_key(|(_, span)| span.start);
        self.content
    }

    fn file(&mut self, root: &DeTable<'_>) {
        self.version(root);
        for entry in entries(root) {
            match entry.key {
                "version" => {}
                "extends" => self.extends(entry.node),
                "input" => self.input(entry.node),
                "audience" => self.audience_sections(entry.node),
                "rules" => self.rule_list("rules", entry.node, Scope { layer: Layer::Rule, server: None, tool: None }),
                "servers" => self.servers(entry.node),
                "overrides" => {
                    let scope = Scope { layer: Layer::Override, server: None, tool: None };
                    self.rule_list("overrides", entry.node, scope);
                }
                "tests" => self.tests(entry.node),
                _ => self.unknown_top_level(&entry),
            }
        }
        let sets_something = !self.rules.is_empty()
            || !self.content.disabled.is_empty()
            || !self.content.audiences.is_empty()
            || self.content.max_bytes.is_some()
            || self.content.max_depth.is_some();
        if !sets_something && self.content.extends.is_none() && !self.content.problems.has_errors() {
            self.problem(
                Problem::error("sets-nothing", 0..0, "this policy sets nothing and does not say what it extends")
                    .help(format!("to mean the default, write `extends = {}`", quoted(super::DEFAULT))),
            );
        }
    }

    fn version(&mut self, root: &DeTable<'_>) {
        let Some((_, node)) = root.get_key_value("version") else {
            self.problem(
                Problem::error("bad-version", 0..0, "the policy does not say its version")
                    .help("write `version = 1` as the first line"),
            );
            return;
        };
        match node.get_ref() {
            DeValue::Integer(integer) if integer.as_str() == "1" => {}
            DeValue::Integer(integer) => {
                let message =
                    format!("version {} of the policy language is not known", shortened(&integer.to_string()));
                self.problem(Problem::error("bad-version", node.span(), message).help("write `version = 1`"));
            }
            _ => self.problem(wrong_type("version", "the number 1", node).help("write `version = 1`")),
        }
    }

    fn unknown_top_level(&mut self, entry: &Entry<'_, '_>) {
        if !settings::is_setting_or_group(entry.key) {
            return unknown_key(&mut self.content.problems, entry, "", &TOP_LEVEL);
        }
        let message = format!("{} stands in no section", show_key(entry.key));
        self.problem(
            Problem::error("unknown-key", entry.key_span.clone(), message)
                .help("write `[audience.model]` or another section above it"),
        );
    }

    fn extends(&mut self, node: &Node<'_>) {
        // Whatever is wrong with it, it is not absent.
        self.content.extends = Some(Vec::new());
        let elements = match node.get_ref() {
            DeValue::String(text) if text == "none" => return,
            DeValue::String(_) => std::slice::from_ref(node),
            DeValue::Array(array) => array.get(..).unwrap_or_default(),
            _ => return self.problem(wrong_type("extends", "a name, a path or a list of them", node)),
        };
        if elements.is_empty() {
            return self.problem(
                Problem::error("bad-value", node.span(), "`extends` is an empty list")
                    .help("to extend nothing, write \"none\""),
            );
        }
        const MOST: usize = 32;
        if elements.len() > MOST {
            return self.problem(Problem::error(
                "too-many",
                node.span(),
                format!("`extends` names more than {MOST} files"),
            ));
        }
        let p = &mut self.content.problems;
        let references = each(elements, |element| {
            let name = string(p, "extends", element)?;
            if name == "none" || name.is_empty() || name.contains('\0') {
                p.add(
                    Problem::error(
                        "bad-value",
                        element.span(),
                        format!("`extends` cannot name {} in a list", show(name)),
                    )
                    .help("a built-in name, or a path that ends in .toml or contains a /"),
                );
                return None;
            }
            Some(Reference { name: name.into(), span: element.span() })
        });
        self.content.extends = Some(references.map(Vec::from).unwrap_or_default());
    }

    fn input(&mut self, node: &Node<'_>) {
        let p = &mut self.content.problems;
        let Some(table) = table(p, "input", node) else { return };
        let most = InputLimits::ENGINE;
        for entry in entries(table) {
            let read = |p: &mut Problems, what, most: u32| {
                positive(p, what, u64::from(most), entry.node).and_then(|number| u32::try_from(number).ok())
            };
            match entry.key {
                "max_bytes" => self.content.max_bytes = read(p, "input.max_bytes", most.max_bytes),
                "max_depth" => self.content.max_depth = read(p, "input.max_depth", most.max_depth),
                _ => unknown_key(p, &entry, "input", &["max_bytes", "max_depth"]),
            }
        }
    }

    // ---- audiences ----------------------------------------------------------------------------------------

    fn audience_sections(&mut self, node: &Node<'_>) {
        let Some(table) = table(&mut self.content.problems, "audience", node) else { return };
        for entry in entries(table) {
            self.audience_section(&entry);
        }
    }

    fn audience_section(&mut self, section: &Entry<'_, '_>) {
        let path = format!("audience.{}", key(section.key));
        if section.key.is_empty() || section.key.contains(['*', '?']) {
            return self.problem(
                Problem::error(
                    "bad-value",
                    section.key_span.clone(),
                    format!("an audience cannot be called {}", show(section.key)),
                )
                .help("a section speaks of one audience, by its name"),
            );
        }
        let DeValue::Table(table) = section.node.get_ref() else {
            return self.problem(
                wrong_type(&path, "a table", section.node).help("settings stand in a section: `[audience.model]`"),
            );
        };
        let name: Box<str> = resolve_alias(section.key).into();
        if let Some(first) = self.content.audiences.iter().find(|other| other.name == name) {
            let message = format!("the audience {} has two sections, under two names", quoted(&name));
            let first = first.span.clone();
            return self.problem(
                Problem::error("duplicate-audience", section.key_span.clone(), message)
                    .also(first, "the first one stands at")
                    .help(format!("`{}` means `{}`", alias_of(&name), &name)),
            );
        }
        if self.content.audiences.len() >= MAX_AUDIENCES {
            let message = format!("more than {MAX_AUDIENCES} audiences have a section");
            return self.problem(Problem::error("too-many", section.key_span.clone(), message));
        }
        let mut sets = Vec::new();
        let mut like = None;
        let p = &mut self.content.problems;
        for entry in entries(table) {
            match entry.key {
                "like" => {
                    like = string(p, "like", entry.node)
                        .map(|name| Like { name: resolve_alias(name).into(), span: entry.node.span() });
                }
                "when" => p.add(
                    Problem::error("unknown-key", entry.key_span, "an audience's section has no `when`")
                        .help(format!("write a rule: `[[rules]]` with `audience = {}`", quoted(&name))),
                ),
                _ if settings::read(p, &entry, &mut sets) => {}
                _ => p.add_with(|| settings::unknown(&entry, &["like"])),
            }
        }
        self.content.audiences.push(AudienceSection { name: name.clone(), span: section.key_span.clone(), like });
        let scope = Scope { layer: Layer::Audience, server: None, tool: None };
        self.add(section_start(section), scope, None, Audiences::Named(Box::new([name])), Box::new([]), sets);
    }

    /// `audience` of a rule, a section or a test.
    fn audiences(&mut self, node: &Node<'_>) -> Option<Audiences> {
        let p = &mut self.content.problems;
        let elements = match node.get_ref() {
            DeValue::Array(array) if array.is_empty() => {
                p.add(
                    Problem::error("bad-value", node.span(), "`audience` names nobody")
                        .help("write \"*\" for every audience"),
                );
                return None;
            }
            DeValue::Array(array) => array.get(..).unwrap_or_default(),
            DeValue::String(_) => std::slice::from_ref(node),
            _ => {
                p.add(wrong_type("audience", "a name or a list of names", node));
                return None;
            }
        };
        let mut names: Vec<Box<str>> = Vec::new();
        let mut all = false;
        for element in elements {
            let name = string(p, "audience", element)?;
            all |= name == "*";
            if name != "*" {
                let name = resolve_alias(name);
                if !names.iter().any(|other| &**other == name) {
                    names.push(name.into());
                }
                if !self.spoken_of.contains_key(name) {
                    self.spoken_of.insert(name.into(), element.span());
                }
            }
            const MOST: usize = 256;
            if names.len() > MOST {
                p.add(Problem::error("too-many", node.span(), format!("`audience` names more than {MOST} audiences")));
                return None;
            }
        }
        Some(if all { Audiences::All } else { Audiences::Named(names.into()) })
    }

    // ---- rules and sections -------------------------------------------------------------------------------

    fn servers(&mut self, node: &Node<'_>) {
        let Some(table) = table(&mut self.content.problems, "servers", node) else { return };
        self.content.servers = table.len();
        if table.len() > MAX_SERVERS {
            let message = format!("{} servers have a section; at most {MAX_SERVERS} can", table.len());
            return self.problem(Problem::error("too-many", node.span(), message));
        }
        for entry in entries(table) {
            let Some(server) = self.section_name("server", &entry) else { continue };
            let scope = Scope { layer: Layer::ServerSection, server: Some(&server), tool: None };
            self.section(&entry, scope);
        }
    }

    fn tools(&mut self, node: &Node<'_>, server: &Pattern) {
        let Some(table) = table(&mut self.content.problems, "tools", node) else { return };
        for entry in entries(table) {
            let Some(tool) = self.section_name("tool", &entry) else { continue };
            self.section(&entry, Scope { layer: Layer::ToolSection, server: Some(server), tool: Some(&tool) });
        }
    }

    fn section_name(&mut self, what: &str, entry: &Entry<'_, '_>) -> Option<Pattern> {
        if entry.key.is_empty() {
            self.problem(Problem::error(
                "bad-pattern",
                entry.key_span.clone(),
                format!("a {what}'s name cannot be empty"),
            ));
            return None;
        }
        if !matches!(entry.node.get_ref(), DeValue::Table(_)) {
            let problem = wrong_type(&format!("{what}s.{}", key(entry.key)), "a table", entry.node);
            let help = if settings::is_setting_or_group(entry.key) {
                format!("the settings of one {what} stand in its own section, those of every {what} in `{what}s.\"*\"`")
            } else {
                format!("the settings of a {what} stand in its section")
            };
            self.problem(problem.help(help));
            return None;
        }
        Some(Pattern::new(entry.key))
    }

    /// `[servers.NAME]` and `[servers.NAME.tools.NAME]`, with all that is under it.
    fn section(&mut self, section: &Entry<'_, '_>, scope: Scope<'_>) {
        let DeValue::Table(table) = section.node.get_ref() else { return };
        let of_tool = scope.layer == Layer::ToolSection;
        let mut sets = Vec::new();
        let mut audiences = Some(default_audience());
        for entry in entries(table) {
            match entry.key {
                "audience" => audiences = self.audiences(entry.node),
                "rules" => {
                    let layer = if of_tool { Layer::ToolRule } else { Layer::ServerRule };
                    self.rule_list("rules", entry.node, Scope { layer, ..scope });
                }
                "tools" if !of_tool => {
                    if let Some(server) = scope.server {
                        self.tools(entry.node, server);
                    }
                }
                "when" | "name" | "enabled" => {
                    let message = format!("a section has no `{}`", entry.key);
                    let path = match (scope.server, scope.tool) {
                        (Some(server), Some(tool)) => {
                            format!("{}.tools.{}", key(server.as_str()), key(tool.as_str()))
                        }
                        (server, _) => key(server.map_or("", Pattern::as_str)),
                    };
                    let help = format!("write a rule: `[[servers.{}.rules]]`", shortened(&path));
                    self.problem(Problem::error("unknown-key", entry.key_span, message).help(help));
                }
                _ if settings::read(&mut self.content.problems, &entry, &mut sets) => {}
                _ => {
                    let others: &[&'static str] =
                        if of_tool { &["audience", "rules"] } else { &["audience", "rules", "tools"] };
                    self.content.problems.add_with(|| settings::unknown(&entry, others));
                }
            }
        }
        if let (false, Some(audiences)) = (sets.is_empty(), audiences) {
            self.add(section_start(section), scope, None, audiences, Box::new([]), sets);
        }
    }

    fn rule_list(&mut self, what: &str, node: &Node<'_>, scope: Scope<'_>) {
        let DeValue::Array(array) = node.get_ref() else {
            let mut problem = wrong_type(what, "a list of rules", node);
            if matches!(node.get_ref(), DeValue::Table(_)) {
                problem = problem.help(format!("write `{}` with two brackets", header(scope, what)));
            }
            return self.problem(problem);
        };
        for element in array.iter() {
            match element.get_ref() {
                DeValue::Table(table) => self.rule(table, element.span(), scope),
                _ => self.problem(wrong_type(what, "a list of rules", element)),
            }
        }
    }

    fn rule(&mut self, table: &DeTable<'_>, span: Bytes<usize>, scope: Scope<'_>) {
        let errors_before = self.content.problems.error_count();
        let mut sets = Vec::new();
        let mut name: Option<Box<str>> = None;
        let mut enabled = true;
        let mut when: Box<[Condition]> = Box::new([]);
        let mut audiences = Some(if scope.layer == Layer::Override { Audiences::All } else { default_audience() });
        for entry in entries(table) {
            match entry.key {
                "name" => name = self.rule_name(entry.node),
                "enabled" => enabled = boolean(&mut self.content.problems, "enabled", entry.node).unwrap_or(true),
                "audience" => audiences = self.audiences(entry.node),
                "when" => when = conditions::conditions(&mut self.content.problems, entry.node),
                _ if settings::read(&mut self.content.problems, &entry, &mut sets) => {}
                _ => {
                    let others = &["name", "when", "audience", "enabled"];
                    self.content.problems.add_with(|| settings::unknown(&entry, others));
                }
            }
        }
        self.check_together(&when, &sets);
        match (enabled, name) {
            (false, Some(name)) => self.content.disabled.push((name, span)),
            // Switched off, and stands for no other.
            (false, None) => {}
            (true, name) => {
                let Some(audiences) = audiences else { return };
                if sets.is_empty() && self.content.problems.error_count() == errors_before {
                    self.problem(
                        Problem::warning("sets-nothing", span.clone(), "this rule sets nothing")
                            .help("to take away an extended rule, write `enabled = false`"),
                    );
                }
                self.add(span.start, scope, name, audiences, when, sets);
            }
        }
    }

    /// A name is there once in a file.
    fn rule_name(&mut self, node: &Node<'_>) -> Option<Box<str>> {
        let name = string(&mut self.content.problems, "name", node)?;
        if name.trim().is_empty() {
            self.problem(Problem::error("bad-value", node.span(), "a rule's name cannot be blank"));
            return None;
        }
        if let Some(first) = self.names.get(name).cloned() {
            let message = format!("two rules of this file are called {}", show(name));
            self.problem(Problem::error("duplicate-rule", node.span(), message).also(first, "the first one stands at"));
            return None;
        }
        self.names.insert(name.into(), node.span());
        Some(name.into())
    }

    /// Conditions and settings that cannot go together.
    fn check_together(&mut self, when: &[Condition], sets: &[Set]) {
        let error = when.iter().find_map(|condition| match condition {
            Condition::Error(error) => Some(*error),
            _ => None,
        });
        let on_result = when.iter().find(|condition| !condition.is_route_condition());
        for Set { setting, key_span, .. } in sets {
            let useless = match (error, setting) {
                (Some(true), Setting::Order) => Some("`order` has no effect under `error = true`: write `error_order`"),
                (Some(false), Setting::ErrorOrder) => {
                    Some("`error_order` has no effect under `error = false`: write `order`")
                }
                _ => None,
            };
            if let Some(useless) = useless {
                let (message, help) = useless.split_once(": ").unwrap_or((useless, ""));
                self.problem(Problem::error("useless-order", key_span.clone(), message).help(help));
            }
            if let (true, Some(condition)) = (setting.is_route_setting(), on_result) {
                let message = format!(
                    "`{}` is set before a result comes, so it cannot depend on `{}`",
                    setting.name(),
                    condition.name()
                );
                self.problem(Problem::error("route-setting", key_span.clone(), message).help(
                    "use the conditions `server`, `tool`, `revision`, `app`, `output_schema` and `label` with it",
                ));
            }
        }
    }

    fn add(
        &mut self,
        start: usize,
        scope: Scope<'_>,
        name: Option<Box<str>>,
        audiences: Audiences,
        when: Box<[Condition]>,
        mut sets: Vec<Set>,
    ) {
        sets.sort_by_key(|set| set.setting);
        let settings = sets.into_iter().map(|set| (set.setting, set.value)).collect();
        let rule = Rule {
            layer: scope.layer,
            place: self.place(start),
            name,
            server: scope.server.cloned(),
            tool: scope.tool.cloned(),
            says: self.recent.share(Says { audiences, when, settings }),
        };
        self.rules.push((start, rule));
    }

    // ---- tests --------------------------------------------------------------------------------------------

    fn tests(&mut self, node: &Node<'_>) {
        let DeValue::Array(array) = node.get_ref() else {
            return self
                .problem(wrong_type("tests", "a list of tests", node).help("write `[[tests]]` with two brackets"));
        };
        for element in array.iter() {
            match element.get_ref() {
                DeValue::Table(table) => {
                    if let Some(test) = self.test(table, element.span()) {
                        self.content.tests.push(test);
                    }
                }
                _ => self.problem(wrong_type("tests", "a list of tests", element)),
            }
        }
    }

    fn test(&mut self, table: &DeTable<'_>, span: Bytes<usize>) -> Option<PolicyTest> {
        const KEYS: [&str; 7] = ["name", "server", "tool", "audience", "revision", "result", "expect"];
        let place = self.place(span.start);
        let mut test = PolicyTest {
            name: Box::default(),
            server: Box::default(),
            tool: Box::default(),
            audience: "model".into(),
            revision: None,
            result: Box::default(),
            expect: Expect::default(),
            place,
        };
        let errors_before = self.content.problems.error_count();
        for entry in entries(table) {
            let node = entry.node;
            let p = &mut self.content.problems;
            match entry.key {
                "name" => test.name = string(p, "name", node).unwrap_or_default().into(),
                "server" => test.server = string(p, "server", node).unwrap_or_default().into(),
                "tool" => test.tool = string(p, "tool", node).unwrap_or_default().into(),
                "audience" => {
                    if let Some(name) = string(p, "audience", node) {
                        test.audience = resolve_alias(name).into();
                        self.spoken_of.entry(test.audience.clone()).or_insert(node.span());
                    }
                }
                "revision" => test.revision = revision(p, node),
                "result" => test.result = json_text(p, "result", node).unwrap_or_default(),
                "expect" => test.expect = expect(p, node),
                _ => unknown_key(p, &entry, "", &KEYS),
            }
        }
        for needed in ["name", "result", "expect"] {
            if !table.contains_key(needed) {
                let message = format!("this test has no `{needed}`");
                self.problem(Problem::error("missing-key", span.clone(), message));
            }
        }
        (self.content.problems.error_count() == errors_before).then_some(test)
    }
}

fn default_audience() -> Audiences {
    Audiences::Named(Box::new(["model".into()]))
}

fn alias_of(audience: &str) -> &str {
    if audience == "code" { "programmatic" } else { "assistant" }
}

/// The header of a list of rules.
fn header(scope: Scope<'_>, what: &str) -> String {
    let name =
        |pattern: Option<&Pattern>| pattern.map_or_else(String::new, |pattern| shortened(&key(pattern.as_str())));
    match scope.layer {
        Layer::ToolRule => format!("[[servers.{}.tools.{}.rules]]", name(scope.server), name(scope.tool)),
        Layer::ServerRule => format!("[[servers.{}.rules]]", name(scope.server)),
        _ => format!("[[{what}]]"),
    }
}

/// A section starts at its header; one that is made of dotted keys or stands in an inline table at its name.
fn section_start(section: &Entry<'_, '_>) -> usize {
    let span = section.node.span();
    if span.start < section.key_span.start && section.key_span.end <= span.end {
        span.start
    } else {
        section.key_span.start
    }
}

fn revision(p: &mut Problems, node: &Node<'_>) -> Option<Box<str>> {
    let text = string(p, "revision", node)?;
    if range::date(text).is_none() {
        p.add(
            Problem::error("bad-value", node.span(), format!("`revision` cannot be {}", show(text)))
                .help("a protocol revision is a date such as \"2025-11-25\""),
        );
        return None;
    }
    Some(text.into())
}

fn json_text(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<str>> {
    let text = string(p, what, node)?;
    if let Err(malformed) = json::validate_text(text.as_bytes(), json::MAX_DEPTH) {
        let message = format!("`{what}` is no JSON: {} at its byte {}", fault(malformed.fault), malformed.at);
        p.add(Problem::error("bad-value", node.span(), message));
        return None;
    }
    Some(text.into())
}

fn fault(fault: json::Fault) -> &'static str {
    match fault {
        json::Fault::End => "it ends too early",
        json::Fault::Unexpected => "something unexpected",
        json::Fault::NotFinite => "a number that JSON does not have",
        json::Fault::Control => "a control character in a string",
        json::Fault::Escape => "a bad escape",
        json::Fault::Number => "a bad number",
        json::Fault::Depth => "too deep nesting",
    }
}

fn expect(p: &mut Problems, node: &Node<'_>) -> Expect {
    const KEYS: [&str; 6] = ["lane", "contains", "lacks", "result", "is_error", "rule"];
    let mut expect = Expect::default();
    let Some(table) = table(p, "expect", node) else { return expect };
    if table.is_empty() {
        p.add(
            Problem::error("bad-value", node.span(), "`expect` expects nothing")
                .help(suggest::help("", &KEYS, show_key)),
        );
    }
    for entry in entries(table) {
        let node = entry.node;
        match entry.key {
            "lane" => expect.lane = word(p, "expect.lane", node),
            "contains" => expect.contains = texts(p, "expect.contains", node),
            "lacks" => expect.lacks = texts(p, "expect.lacks", node),
            "result" => expect.result = json_text(p, "expect.result", node),
            "is_error" => expect.is_error = boolean(p, "expect.is_error", node),
            "rule" => expect.rule = string(p, "expect.rule", node).map(Box::from),
            _ => unknown_key(p, &entry, "expect", &KEYS),
        }
    }
    expect
}

fn texts(p: &mut Problems, what: &str, node: &Node<'_>) -> Box<[Box<str>]> {
    let Some(elements) = list(p, what, "a list of strings", node) else { return Box::default() };
    each(elements, |element| string(p, what, element).map(Box::from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first rule of a policy, with what this version refuses.
    fn first_rule(policy: &str) -> (Rule, Vec<String>) {
        let content = read(policy, &Lines::new(policy));
        let source = super::super::SourceFile { name: "p".into(), path: None, text: policy.into() };
        let problems = content.problems.into_diagnostics(&source, &Lines::new(policy));
        let codes = problems.iter().filter(|p| p.code != "not-in-this-version").map(ToString::to_string).collect();
        (content.rules.into_iter().next().unwrap(), codes)
    }

    #[test]
    fn values_are_printed_as_policies_write_them() {
        let settings = [
            "hide = true",
            r#"order = ["structured-only", "nothing", "raw", "whole", "both", "content", "structured"]"#,
            r#"error_order = ["content"]"#,
            r#"usable = "noted""#,
            r#"role = "user""#,
            r#"annotations = "narrow-strict""#,
            r#"blocks.text = "json""#,
            r#"blocks.resource_blob = { "text/plain" = "text", "text/*" = "json", "*" = "drop" }"#,
            r#"blocks.blank = "keep""#,
            r#"notes.unknown = "{{{type}}} \"\\\n\u0001\u202E {mime|a b}""#,
            r#"meta.allow = ["inherit", "*", "a.b/*", "?", ""]"#,
            r#"meta.deny = []"#,
            r#"meta.reserved = "2025-06-18""#,
            r#"meta.blocks = "allow""#,
            r#"meta.as = "extras""#,
            r#"structured.null = "value""#,
            r#"structured.as = "extras""#,
            r#"structured.at = "last""#,
            r#"structured.render = "sorted""#,
            r#"structured.media = "keep""#,
            r#"structured.pick = ["$.items[*]['number','title']"]"#,
            r#"structured.omit = []"#,
            r#"structured.unwrap = "result""#,
            r#"text.if_json = "rewrite""#,
            r#"extras = { before = "<x>", after = "</x>\n", escape = "remove" }"#,
            r#"media_only = { before = "<r name=\"{tool}\">", after = "" }"#,
            r#"limit = "none""#,
            r#"limit = { utf16 = 4000, cut = "middle", head = 0.25, marker = "{omitted|x}{unit}" }"#,
            r##"limit = { chars = 20, cut = "elements", marker = "#" }"##,
            r#"sanitize = ["ansi", "bidi", "invisible", "tags", "control"]"#,
            if cfg!(feature = "schema") { r#"schema = "reject""# } else { r#"schema = "off""# },
            r#"placeholder = "é	""#,
            r#"placeholder_hidden = """#,
        ];
        let mut seen = std::collections::HashSet::new();
        for setting in settings {
            let (rule, problems) = first_rule(&format!("version = 1\n[audience.model]\n{setting}\n"));
            assert!(problems.is_empty(), "{problems:?}");
            let [(column, value)] = &*rule.settings else { panic!("{setting}") };
            let printed = format!("{} = {value}", column.name());
            assert_eq!(printed.replace("\\t", "\t"), setting);
            seen.insert(column.index());
        }
        let left: Vec<&str> = Setting::ALL.iter().filter(|(s, _)| !seen.contains(&s.index())).map(|s| s.1).collect();
        // Of each kind of column that is left there is another one above.
        assert!(left.iter().all(|name| name.starts_with("blocks.") || name.starts_with("notes.")), "{left:?}");
    }

    #[test]
    fn what_needs_the_feature_schema_is_refused_without_it() {
        for text in ["when = { schema_valid = true }\nhide = true", "schema = \"note\""] {
            let policy = format!("version = 1\n[[rules]]\n{text}\n");
            let content = read(&policy, &Lines::new(&policy));
            let errors = usize::from(!cfg!(feature = "schema"));
            assert_eq!((content.problems.error_count(), content.rules.len()), (errors, 1), "{policy}");
        }
    }
}
