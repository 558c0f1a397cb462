//! The settings of a rule or section: from keys, dotted or nested, to columns and their values.

use super::super::diagnostic::{Problem, Problems};
use super::super::pattern::{MetaPattern, Pattern};
use super::super::rule::*;
use super::super::suggest;
use super::super::words::{Word, quoted};
use super::node::*;
use super::template::{default_marker, room_for_marker, template};
use super::{conditions, refuse_missing_setting};
use crate::result::path::JsonPath;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A setting as it was read, with the place of its key.
pub(super) struct Set {
    pub setting: Setting,
    pub value: Value,
    pub key_span: Range<usize>,
}

/// Keys that hold several settings.
const GROUPS: [&str; 5] = ["blocks", "notes", "meta", "structured", "text"];

/// What can stand in a rule or section as a setting.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    Setting::ALL.iter().map(|(_, name)| *name).filter(|name| !name.contains('.')).chain(GROUPS)
}

pub(super) fn is_setting_or_group(key: &str) -> bool {
    GROUPS.contains(&key) || find(key).is_some()
}

fn find(name: &str) -> Option<Setting> {
    Setting::ALL.iter().find(|(_, known)| *known == name).map(|(setting, _)| *setting)
}

/// Reads an entry if it is a setting or a group of settings; `false` if it is neither.
pub(super) fn read(p: &mut Problems, entry: &Entry<'_, '_>, sets: &mut Vec<Set>) -> bool {
    if GROUPS.contains(&entry.key) {
        group(p, entry, sets);
        return true;
    }
    let Some(setting) = find(entry.key).filter(|_| !entry.key.contains('.')) else { return false };
    one(p, setting, entry, sets);
    true
}

fn group(p: &mut Problems, entry: &Entry<'_, '_>, sets: &mut Vec<Set>) {
    let group = entry.key;
    let members = || {
        let names = Setting::ALL.iter().map(|(_, name)| *name);
        names.filter_map(|name| name.strip_prefix(group)?.strip_prefix('.'))
    };
    let DeValue::Table(table) = entry.node.get_ref() else {
        let first = members().next().unwrap_or_default();
        p.add(wrong_type(group, "a table", entry.node).help(format!("write `{group}.{first} = …`")));
        return;
    };
    for entry in entries(table) {
        let known = members().find(|member| *member == entry.key);
        match known.and_then(|member| find(&format!("{group}.{member}"))) {
            Some(setting) => one(p, setting, &entry, sets),
            None => {
                let known: Vec<&str> = members().collect();
                unknown_key(p, &entry, group, &known);
            }
        }
    }
}

fn one(p: &mut Problems, setting: Setting, entry: &Entry<'_, '_>, sets: &mut Vec<Set>) {
    if let Some(value) = value(p, setting, entry.node) {
        refuse_missing_setting(p, &value, entry.key_span.clone());
        sets.push(Set { setting, value, key_span: entry.key_span.clone() });
    }
}

/// Why a key is none of those known here, with the way out.
pub(super) fn unknown(entry: &Entry<'_, '_>, others: &[&'static str]) -> Problem {
    let problem = Problem::error("unknown-key", entry.key_span.clone(), format!("unknown key {}", show_key(entry.key)));
    let known: Vec<&str> = others.iter().copied().chain(keys()).collect();
    // `if_json` alone means `text.if_json`; some stand in two groups.
    let inside: Vec<String> = Setting::ALL
        .iter()
        .filter(|(_, name)| name.rsplit_once('.').is_some_and(|(_, member)| member == entry.key))
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    if !inside.is_empty() {
        return problem.help(format!("did you mean {}?", inside.join(" or ")));
    }
    if conditions::CONDITIONS.contains(&entry.key) && others.contains(&"when") {
        return problem.help(format!("{} is a condition: write `when = {{ {} = … }}`", show_key(entry.key), entry.key));
    }
    problem.help(suggest::help(entry.key, &known, show_key))
}

/// The value of one column.
fn value(p: &mut Problems, setting: Setting, node: &Node<'_>) -> Option<Value> {
    let what = setting.name();
    Some(match setting {
        Setting::Hide => Value::Flag(boolean(p, what, node)?),
        Setting::Order | Setting::ErrorOrder => Value::Order(order(p, what, node)?),
        Setting::Usable => Value::Usable(word(p, what, node)?),
        Setting::Role => Value::Role(word(p, what, node)?),
        Setting::Annotations => Value::Annotations(word(p, what, node)?),
        Setting::BlocksText
        | Setting::BlocksImage
        | Setting::BlocksAudio
        | Setting::BlocksResourceLink
        | Setting::BlocksResourceText
        | Setting::BlocksResourceBlob
        | Setting::BlocksUiResource
        | Setting::BlocksUnknown => Value::Block(block_rule(p, what, node)?),
        Setting::BlocksBlank => Value::Blank(word(p, what, node)?),
        Setting::NotesText
        | Setting::NotesImage
        | Setting::NotesAudio
        | Setting::NotesResourceLink
        | Setting::NotesResourceText
        | Setting::NotesResourceBlob
        | Setting::NotesUiResource
        | Setting::NotesUnknown => Value::Note(template(p, what, Field::OF_NOTES, node)?),
        Setting::MetaAllow | Setting::MetaDeny => Value::Meta(meta_patterns(p, setting, node)?),
        Setting::MetaReserved => Value::Reserved(word(p, what, node)?),
        Setting::MetaBlocks => Value::MetaBlocks(word(p, what, node)?),
        Setting::MetaAs | Setting::StructuredAs => Value::As(word(p, what, node)?),
        Setting::StructuredNull => Value::Null(word(p, what, node)?),
        Setting::StructuredAt => Value::At(word(p, what, node)?),
        Setting::StructuredRender => Value::Render(word(p, what, node)?),
        Setting::StructuredMedia => Value::Media(word(p, what, node)?),
        Setting::StructuredPick | Setting::StructuredOmit => Value::Paths(paths(p, what, node)?),
        Setting::StructuredUnwrap | Setting::Placeholder | Setting::PlaceholderHidden => {
            Value::Text(string(p, what, node)?.into())
        }
        Setting::TextIfJson => Value::IfJson(word(p, what, node)?),
        Setting::Extras => Value::Extras(extras(p, node)?),
        Setting::MediaOnly => media_only(p, node)?,
        Setting::Limit => Value::Limit(limit(p, node)?),
        Setting::Sanitize => Value::Sanitize(sanitize(p, node)?),
        Setting::Schema => Value::Schema(word(p, what, node)?),
    })
}

fn order(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<[Lane]>> {
    let elements = list(p, what, "a list of lanes", node)?;
    if elements.is_empty() {
        p.add(
            Problem::error("bad-value", node.span(), format!("`{what}` names no lane"))
                .help("write [\"nothing\"] if nothing is to be seen"),
        );
        return None;
    }
    let mut seen: Vec<(Lane, Range<usize>)> = Vec::new();
    each(elements, |element| {
        let lane: Lane = word(p, what, element)?;
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == lane) {
            let message = format!("`{what}` names {} twice", quoted(lane.name()));
            p.add(Problem::error("bad-value", element.span(), message).also(first.clone(), "the first one stands at"));
            return None;
        }
        seen.push((lane, element.span()));
        Some(lane)
    })
}

fn block_rule(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<BlockRule> {
    let table = match node.get_ref() {
        DeValue::Table(table) => table,
        DeValue::String(_) => return word(p, what, node).map(BlockRule::All),
        _ => {
            p.add(wrong_type(what, "a string or a table by MIME type", node));
            return None;
        }
    };
    let mut answers = Vec::new();
    let mut complete = true;
    for entry in entries(table) {
        if entry.key != "*" && !entry.key.contains(['/', '*']) {
            let message = format!("{} is no pattern of a MIME type", show(entry.key));
            let help = format!("a MIME type has a slash: {}", quoted(&format!("*/{}", entry.key)));
            p.add(Problem::error("bad-pattern", entry.key_span, message).help(help));
            complete = false;
            continue;
        }
        match word::<Disposition>(p, &format!("{what}.{}", quoted(entry.key)), entry.node) {
            // MIME types are compared without letter case (RFC 2045, section 5.1).
            Some(disposition) => answers.push((Pattern::new(&entry.key.to_lowercase()), disposition)),
            None => complete = false,
        }
    }
    if !table.iter().any(|(key, _)| key.get_ref() == "*") {
        p.add(
            Problem::error("bad-value", node.span(), format!("`{what}` does not say what becomes of other MIME types"))
                .help("add \"*\" = \"keep\" or another answer"),
        );
        return None;
    }
    answers.sort_by(|(one, _), (other, _)| one.compare(other));
    complete.then(|| BlockRule::ByMime(answers.into()))
}

fn meta_patterns(p: &mut Problems, setting: Setting, node: &Node<'_>) -> Option<Box<[MetaPattern]>> {
    let what = setting.name();
    each(list(p, what, "a list of key patterns", node)?, |element| {
        let text = string(p, what, element)?;
        let prefix = text.strip_suffix('*').filter(|prefix| prefix.len() > 1 && prefix.ends_with('/'));
        match (text, prefix) {
            ("inherit", _) if setting == Setting::MetaAllow => Some(MetaPattern::Inherit),
            ("inherit", _) => {
                p.add(
                    Problem::error("bad-pattern", element.span(), "\"inherit\" stands in `meta.allow` only")
                        .help("`meta.deny` collects from every matching rule by itself"),
                );
                None
            }
            ("*", _) => Some(MetaPattern::Any),
            (_, Some(prefix)) if !prefix.contains('*') => Some(MetaPattern::Prefix(prefix.into())),
            _ if text.contains('*') => {
                let message = format!("{} is no pattern of a `_meta` key", show(text));
                p.add(
                    Problem::error("bad-pattern", element.span(), message)
                        .help("write a whole key, \"prefix/*\" or \"*\""),
                );
                None
            }
            _ => Some(MetaPattern::Key(text.into())),
        }
    })
}

fn paths(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<Box<[JsonPath]>> {
    each(list(p, what, "a list of JSONPaths", node)?, |element| conditions::json_path(p, what, element))
}

/// The entries of a table that knows these keys only.
fn known_entries<'t, 'i>(p: &mut Problems, what: &str, known: &[&str], table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let (entries, unknown): (Vec<_>, Vec<_>) = entries(table).into_iter().partition(|entry| known.contains(&entry.key));
    for entry in unknown {
        unknown_key(p, &entry, what, known);
    }
    entries
}

fn extras(p: &mut Problems, node: &Node<'_>) -> Option<Extras> {
    let table = table(p, "extras", node)?;
    let mut extras = Extras::default();
    let mut complete = true;
    for Entry { key, node, .. } in known_entries(p, "extras", &["before", "after", "escape"], table) {
        let read = match key {
            "before" => string(p, "extras.before", node).map(|text| extras.before = text.into()),
            "after" => string(p, "extras.after", node).map(|text| extras.after = text.into()),
            _ => word(p, "extras.escape", node).map(|escape| extras.escape = escape),
        };
        complete &= read.is_some();
    }
    if complete && extras.escape == Escape::Remove && extras.after.trim().is_empty() {
        p.add(
            Problem::error("bad-value", node.span(), "`extras.escape = \"remove\"` needs a closing tag to remove")
                .help("set `extras.after`"),
        );
        return None;
    }
    complete.then_some(extras)
}

fn media_only(p: &mut Problems, node: &Node<'_>) -> Option<Value> {
    let table = table(p, "media_only", node)?;
    let (mut before, mut after) = (Template::default(), Template::default());
    let mut complete = true;
    for Entry { key, node, .. } in known_entries(p, "media_only", &["before", "after"], table) {
        let read = match key {
            "before" => template(p, "media_only.before", Field::OF_MEDIA_ONLY, node).map(|text| before = text),
            _ => template(p, "media_only.after", Field::OF_MEDIA_ONLY, node).map(|text| after = text),
        };
        complete &= read.is_some();
    }
    complete.then_some(Value::Around { before, after })
}

fn limit(p: &mut Problems, node: &Node<'_>) -> Option<Option<Limit>> {
    const HELP: &str = "write { chars = 20000 }, { bytes = … }, { utf16 = … } or \"none\"";
    let table = match node.get_ref() {
        DeValue::String(text) if text == "none" => return Some(None),
        DeValue::Table(table) => table,
        _ => {
            p.add(wrong_type("limit", "\"none\" or a table", node).help(HELP));
            return None;
        }
    };
    let mut units: Vec<(Unit, u64, Range<usize>)> = Vec::new();
    let (mut cut, mut head, mut marker) = (Cut::Head, 0.75, default_marker());
    let mut complete = true;
    for Entry { key, key_span, node } in
        known_entries(p, "limit", &["bytes", "chars", "utf16", "cut", "head", "marker"], table)
    {
        let unit = Unit::WORDS.iter().find(|(_, word)| *word == key).map(|(unit, _)| *unit);
        let read = match (unit, key) {
            (Some(unit), _) => positive(p, &format!("limit.{key}"), u64::from(u32::MAX), node)
                .map(|most| units.push((unit, most, key_span))),
            (None, "cut") => word(p, "limit.cut", node).map(|read| cut = read),
            (None, "head") => share(p, "limit.head", node).map(|read| head = read),
            (None, _) => template(p, "limit.marker", Field::OF_MARKERS, node).map(|read| marker = read),
        };
        complete &= read.is_some();
    }
    if !complete {
        return None;
    }
    let (unit, most) = match units.as_slice() {
        [(unit, most, _)] => (*unit, *most),
        [] => {
            p.add(Problem::error("bad-value", node.span(), "`limit` does not say how much").help(HELP));
            return None;
        }
        [(first, _, place), (second, _, span), ..] => {
            let message = format!("`limit` has both `{}` and `{}`", first.name(), second.name());
            p.add(Problem::error("bad-value", span.clone(), message).also(place.clone(), "the first one stands at"));
            return None;
        }
    };
    let limit = Limit { unit, most, cut, head, marker };
    if let Err(needed) = room_for_marker(&limit) {
        let unit = unit.name();
        p.add(
            Problem::error(
                "bad-value",
                node.span(),
                format!("a limit of {most} {unit} has no room for its marker, which takes up to {needed}"),
            )
            .help(format!("raise it to {needed} or set a shorter `marker`")),
        );
        return None;
    }
    Some(Some(limit))
}

/// A number above 0 and below 1.
fn share(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<f64> {
    let number = match node.get_ref() {
        DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
        DeValue::Integer(_) => None,
        _ => {
            p.add(wrong_type(what, "a number", node));
            return None;
        }
    };
    let number = number.filter(|number| *number > 0.0 && *number < 1.0);
    if number.is_none() {
        p.add(Problem::error("bad-value", node.span(), format!("`{what}` must be above 0 and below 1")));
    }
    number
}

fn sanitize(p: &mut Problems, node: &Node<'_>) -> Option<Sanitize> {
    let mut sanitize = Sanitize::default();
    each(list(p, "sanitize", "a list", node)?, |element| {
        let text = string(p, "sanitize", element)?;
        match text {
            "ansi" => sanitize.ansi = true,
            "bidi" => sanitize.bidi = true,
            "invisible" => sanitize.invisible = true,
            "tags" => sanitize.tags = true,
            "control" => sanitize.control = true,
            _ => {
                unknown_word(p, "sanitize", text, &Sanitize::WORDS, element);
                return None;
            }
        }
        Some(())
    })?;
    Some(sanitize)
}
