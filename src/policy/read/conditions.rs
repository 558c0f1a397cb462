//! `when`: the closed set of conditions.

use super::super::diagnostic::{Problem, Problems};
use super::super::pattern::Pattern;
use super::super::rule::*;
use super::super::suggest;
use super::super::words::{Word, key, quoted};
use super::node::*;
use super::range::{Domain, dates, numbers};
use super::settings;
use crate::result::path::JsonPath;
use toml::de::DeValue;

/// Every condition, in the order of the documentation.
pub(in super::super) const CONDITIONS: &[&str] = &[
    "server",
    "tool",
    "revision",
    "app",
    "output_schema",
    "label",
    "error",
    "content",
    "has",
    "only",
    "structured",
    "blocks",
    "text_bytes",
    "structured_bytes",
    "result_bytes",
    "ratio",
    "meta",
    "meta_path",
    "text_json",
    "mirror",
    "path",
    "schema_valid",
    "coverage",
];

/// The conditions of a `when` in file order.
pub(super) fn conditions(p: &mut Problems, node: &Node<'_>) -> Box<[Condition]> {
    let mut conditions = Vec::new();
    let Some(table) = table(p, "when", node) else { return conditions.into() };
    for entry in entries(table) {
        if entry.key == "label" {
            labels(p, &mut conditions, entry.node);
        } else if let Some(condition) = condition(p, &entry) {
            super::refuse_missing_condition(p, &condition, entry.key_span);
            conditions.push(condition);
        }
    }
    conditions.into()
}

fn condition(p: &mut Problems, entry: &Entry<'_, '_>) -> Option<Condition> {
    let Entry { key, node, .. } = entry;
    Some(match *key {
        "server" => Condition::Server(patterns(p, "server", node)?),
        "tool" => Condition::Tool(patterns(p, "tool", node)?),
        "revision" => Condition::Revision(dates(p, "revision", node)?),
        "app" => Condition::App(app(p, node)?),
        "output_schema" => Condition::OutputSchema(boolean(p, "output_schema", node)?),
        "error" => Condition::Error(boolean(p, "error", node)?),
        "content" => {
            let states = words::<ContentState>(p, "content", node)?;
            Condition::Content(ContentStates(states.iter().fold(0, |bits, state| bits | *state as u8)))
        }
        "has" => Condition::Has(kinds(p, "has", node)?),
        "only" => Condition::Only(kinds(p, "only", node)?),
        "structured" => Condition::Structured(structured(p, node)?),
        "blocks" => Condition::Measure(Measure::Blocks, numbers(p, key, Domain::Count, node)?),
        "text_bytes" => Condition::Measure(Measure::TextBytes, numbers(p, key, Domain::Count, node)?),
        "structured_bytes" => Condition::Measure(Measure::StructuredBytes, numbers(p, key, Domain::Count, node)?),
        "result_bytes" => Condition::Measure(Measure::ResultBytes, numbers(p, key, Domain::Count, node)?),
        "ratio" => Condition::Measure(Measure::Ratio, numbers(p, key, Domain::Ratio, node)?),
        "meta" => Condition::Meta(patterns(p, "meta", node)?),
        "meta_path" => Condition::MetaPath(path(p, "meta_path", node)?),
        "text_json" => Condition::TextJson(boolean(p, "text_json", node)?),
        "mirror" => Condition::Mirror(mirror(p, node)?),
        "path" => Condition::Path(path(p, "path", node)?),
        "schema_valid" => Condition::SchemaValid(boolean(p, "schema_valid", node)?),
        "coverage" => Condition::Coverage(numbers(p, "coverage", Domain::Share, node)?),
        _ => {
            p.add_with(|| unknown_condition(entry));
            return None;
        }
    })
}

fn unknown_condition(entry: &Entry<'_, '_>) -> Problem {
    let problem =
        Problem::error("unknown-key", entry.key_span.clone(), format!("unknown condition {}", show_key(entry.key)));
    if matches!(entry.key, "audience" | "name" | "enabled") || settings::is_setting_or_group(entry.key) {
        return problem.help(format!("{} stands beside `when`, not in it", show_key(entry.key)));
    }
    problem.help(suggest::help(entry.key, CONDITIONS, show_key))
}

fn labels(p: &mut Problems, conditions: &mut Vec<Condition>, node: &Node<'_>) {
    let DeValue::Table(table) = node.get_ref() else {
        p.add(wrong_type("label", "a table", node).help("write `label.NAME = \"pattern\"`"));
        return;
    };
    for entry in entries(table) {
        if let Some(patterns) = any_patterns(p, &format!("label.{}", key(entry.key)), entry.node) {
            conditions.push(Condition::Label(entry.key.into(), patterns));
        }
    }
}

/// Patterns over names; no name is empty.
fn patterns(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<[Pattern]>> {
    let patterns = any_patterns(p, what, node)?;
    if patterns.iter().any(|pattern| pattern.as_str().is_empty()) {
        p.add(Problem::error(
            "bad-pattern",
            node.span(),
            format!("`{what}` has an empty pattern, which matches nothing"),
        ));
        return None;
    }
    Some(patterns)
}

fn any_patterns(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<[Pattern]>> {
    each(one_or_more(p, what, node)?, |element| match element.get_ref() {
        DeValue::String(text) => Some(Pattern::new(text)),
        _ => {
            p.add(wrong_type(what, "a pattern or a list of patterns", element));
            None
        }
    })
}

fn words<W: Word>(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<[W]>> {
    each(one_or_more(p, what, node)?, |element| word(p, what, element))
}

fn kinds(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Kinds> {
    let kinds = words::<Kind>(p, what, node)?;
    Some(Kinds(kinds.iter().fold(0, |bits, kind| bits | 1 << (*kind as u8))))
}

fn app(p: &mut Problems, node: &Node<'_>) -> Option<App> {
    match node.get_ref() {
        DeValue::Boolean(true) => Some(App::Yes),
        DeValue::Boolean(false) => Some(App::No),
        DeValue::String(text) if text == "only" => Some(App::Only),
        DeValue::String(text) => {
            p.add(
                Problem::error("bad-value", node.span(), format!("`app` cannot be {}", show(text)))
                    .help("`app` is true, false or \"only\""),
            );
            None
        }
        _ => {
            p.add(wrong_type("app", "true, false or \"only\"", node));
            None
        }
    }
}

fn structured(p: &mut Problems, node: &Node<'_>) -> Option<StructuredStates> {
    let states = each(one_or_more(p, "structured", node)?, |element| {
        let text = string(p, "structured", element)?;
        if text == "present" {
            return Some(StructuredStates::PRESENT.0);
        }
        let state = StructuredState::WORDS.iter().find(|(_, word)| *word == text).map(|(state, _)| *state as u8);
        if state.is_none() {
            let known: Vec<&str> =
                std::iter::once("present").chain(StructuredState::WORDS.iter().map(|(_, word)| *word)).collect();
            unknown_word(p, "structured", text, &known, element);
        }
        state
    })?;
    Some(StructuredStates(states.iter().fold(0, |bits, state| bits | state)))
}

fn mirror(p: &mut Problems, node: &Node<'_>) -> Option<Mirror> {
    const EVERY_WAY: Mirror = Mirror { expected: true, block: true, joined: true, wrapped: true, canonical: false };
    match node.get_ref() {
        DeValue::Boolean(expected) => return Some(Mirror { expected: *expected, ..EVERY_WAY }),
        DeValue::String(_) | DeValue::Array(_) => {}
        _ => {
            p.add(wrong_type("mirror", "a boolean or a list of ways", node));
            return None;
        }
    }
    let mut mirror = Mirror { expected: true, block: false, joined: false, wrapped: false, canonical: false };
    each(one_or_more(p, "mirror", node)?, |element| {
        let text = string(p, "mirror", element)?;
        match text {
            "block" => mirror.block = true,
            "joined" => mirror.joined = true,
            "wrapped" => mirror.wrapped = true,
            "canonical" => mirror.canonical = true,
            _ => {
                unknown_word(p, "mirror", text, &Mirror::WORDS, element);
                return None;
            }
        }
        Some(())
    })?;
    if !(mirror.block || mirror.joined || mirror.wrapped) {
        p.add(
            Problem::error("bad-value", node.span(), "`mirror` names no way that counts, so it can never hold")
                .help(format!("add one of {}, {}, {}", quoted("block"), quoted("joined"), quoted("wrapped"))),
        );
        return None;
    }
    Some(mirror)
}

pub(super) fn path(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<JsonPath>> {
    if matches!(node.get_ref(), DeValue::Array(_)) {
        p.add(wrong_type(what, "a JSONPath", node).help("\"or\" is two rules: write one for each path"));
        return None;
    }
    json_path(p, what, node).map(Box::new)
}

/// A JSONPath of RFC 9535, ready to be followed.
pub(super) fn json_path(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<JsonPath> {
    let text = string(p, what, node)?;
    match JsonPath::parse(text) {
        Ok(path) => Some(path),
        Err(error) => {
            let place = error.at.map(|at| format!(" (at byte {at} of the path)")).unwrap_or_default();
            p.add(Problem::error("bad-path", node.span(), format!("`{what}`: {error}{place}")));
            None
        }
    }
}
