//! Names: of rules, audiences, extended policies, servers with dots, rules in tests (MS011, 012, 013, 014, 020).

use super::outline::table_of;
use super::{DOTTED_NAME, EXTENDS_NOTHING, Found, Lints, NAMELESS, TEST_OF_NO_RULE, UNUSED_AUDIENCE};
use crate::policy::rule::{Audiences, Layer, Setting};
use crate::policy::source::SourceFile;
use crate::policy::words::quoted;
use crate::policy::{Policy, suggest};
use std::collections::HashSet;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) fn look(lints: &mut Lints<'_, '_>) {
    extends(lints);
    nameless(lints);
    audiences(lints);
    tests(lints);
}

// ---- extends --------------------------------------------------------------------------------------------------

fn extends(lints: &mut Lints<'_, '_>) {
    let Some(node) = lints.outline.root.get("extends") else { return };
    let DeValue::Array(list) = node.get_ref() else { return };
    let entries: Vec<(Range<usize>, usize)> = list
        .iter()
        .filter_map(|entry| match entry.get_ref() {
            DeValue::String(name) => Some((entry.span(), file_called(lints.policy, 0, name)?)),
            _ => None,
        })
        .collect();
    for (index, (span, file)) in entries.iter().enumerate() {
        let other = entries.iter().enumerate().find(|(other, (_, extending))| {
            *other != index && (reaches(lints.policy, *extending, *file) || *extending == *file && *other < index)
        });
        let Some((other, (_, extending))) = other else { continue };
        let name = |file: usize| lints.policy.files.get(file).map_or("", |file| &*file.name).to_owned();
        let message = match extending == file {
            true => format!("{:?} is there twice", name(*file)),
            false => format!("{:?} adds nothing: {:?} extends it already", name(*file), name(*extending)),
        };
        let _ = other;
        // With the comma behind it, or before it when it is the last.
        let next = entries.get(index + 1).map(|(next, _)| span.start..next.start);
        let before =
            index.checked_sub(1).and_then(|before| entries.get(before)).map(|(before, _)| before.end..span.end);
        let mut found = Found::new(EXTENDS_NOTHING, span.clone(), message).help("take it out");
        if let Some(edit) = next.or(before).filter(|_| entries.len() == list.len()) {
            found = found.fix(edit, "");
        }
        lints.add(found);
        // One at a time: mending one may mend the other.
        return;
    }
}

/// The file that another one calls by this name.
fn file_called(policy: &Policy, from: usize, name: &str) -> Option<usize> {
    let is_path = name.ends_with(".toml") || name.contains('/');
    let path = is_path.then(|| {
        let folder = policy.files.get(from)?.path.as_ref()?.parent()?.to_owned();
        Some(folder.join(name))
    });
    let is_it = |file: &SourceFile| match &path {
        None => file.path.is_none() && *file.name == *name,
        Some(path) => path.is_some() && file.path == *path,
    };
    policy.files.iter().position(is_it)
}

/// Whether a file extends another one, directly or not.
fn reaches(policy: &Policy, from: usize, to: usize) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in extended_by(policy, file) {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

fn extended_by(policy: &Policy, file: usize) -> Vec<usize> {
    let Some(source) = policy.files.get(file) else { return Vec::new() };
    let root = DeTable::parse_recoverable(&source.text).0;
    let names: Vec<String> = match root.get_ref().get("extends").map(Spanned::get_ref) {
        None => vec![crate::policy::DEFAULT.to_owned()],
        Some(DeValue::String(name)) => vec![name.to_string()],
        Some(DeValue::Array(list)) => list
            .iter()
            .filter_map(|entry| if let DeValue::String(name) = entry.get_ref() { Some(name.to_string()) } else { None })
            .collect(),
        Some(_) => Vec::new(),
    };
    names.iter().filter_map(|name| file_called(policy, file, name)).collect()
}

// ---- rules and audiences --------------------------------------------------------------------------------------

fn nameless(lints: &mut Lints<'_, '_>) {
    for (_, rule) in lints.own() {
        let is_rule = matches!(rule.layer, Layer::Override | Layer::ToolRule | Layer::ServerRule | Layer::Rule);
        if is_rule && rule.name.is_none() && !lints.is_full(NAMELESS) {
            let found = lints.at_rule(NAMELESS, rule, "this rule has no name");
            lints.add(found.help(
                "give it one: records and `explain` call it by its name, and a policy that extends this one can replace it",
            ));
        }
    }
}

fn audiences(lints: &mut Lints<'_, '_>) {
    const KNOWN: [&str; 4] = ["model", "code", "app", "user"];
    let sections: Vec<_> = lints.own().filter(|(_, rule)| rule.layer == Layer::Audience).collect();
    for (_, section) in sections {
        let Audiences::Named(names) = &section.audiences else { continue };
        let Some(name) = names.first().filter(|name| !KNOWN.contains(&&***name)) else { continue };
        let speaks = |rule: &crate::policy::rule::Rule| match &rule.audiences {
            Audiences::All => false,
            Audiences::Named(names) => names.contains(name),
        };
        let others = lints.policy.rules.iter().filter(|rule| rule.place != section.place);
        let is_used = !section.settings.is_empty()
            || others.into_iter().any(speaks)
            || lints.policy.audiences.iter().any(|audience| audience.like.as_deref() == Some(name))
            || lints.policy.tests.iter().any(|test| test.audience == *name);
        if !is_used {
            let message = format!("the audience {name:?} is defined, and no setting, rule or test is about it");
            let found = lints.at_rule(UNUSED_AUDIENCE, section, message);
            lints.add(found.help("say what it sees otherwise, or take it out"));
        }
    }
}

fn tests(lints: &mut Lints<'_, '_>) {
    let names: HashSet<&str> = lints.policy.rules.iter().filter_map(|rule| rule.name.as_deref()).collect();
    for test in &lints.policy.tests {
        let Some(rule) = test.expect.rule.as_deref().filter(|rule| !names.contains(rule)) else { continue };
        let span = lints.outline.key(test.place, "expect.rule").unwrap_or_else(|| lints.outline.header(test.place));
        let message = format!("no rule is called {rule:?}, so the test {:?} cannot pass", test.name);
        let mut found = Found { rule: Some(test.place), ..Found::new(TEST_OF_NO_RULE, span, message) };
        if let Some(near) = suggest::nearest(rule, names.iter().copied()) {
            found = found.help(format!("did you mean {}?", quoted(near)));
        }
        lints.add(found);
    }
}

// ---- names with dots ------------------------------------------------------------------------------------------

/// `[servers.github.com]`: TOML reads the server `github` with a key `com`. Found in files that do not load for it.
pub(super) fn dotted(source: &SourceFile, root: &DeTable<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (_, server) in table_of(root, "servers").into_iter().flatten() {
        let DeValue::Table(server) = server.get_ref() else { continue };
        stray(source, server, "servers", "server", &mut found);
        for (_, tool) in table_of(server, "tools").into_iter().flatten() {
            if let DeValue::Table(tool) = tool.get_ref() {
                stray(source, tool, "tools", "tool", &mut found);
            }
        }
    }
    for (_, audience) in table_of(root, "audience").into_iter().flatten() {
        if let DeValue::Table(audience) = audience.get_ref() {
            stray(source, audience, "audience", "audience", &mut found);
        }
    }
    found
}

/// Keys of a section that no section has, with a table as value.
fn stray(source: &SourceFile, section: &DeTable<'_>, parent: &str, what: &str, found: &mut Vec<Found>) {
    for (key, value) in section {
        let is_list_of_tables = matches!(value.get_ref(), DeValue::Array(list) if list.iter().all(|e| matches!(e.get_ref(), DeValue::Table(_))));
        if is_section_key(key.get_ref()) || !(is_list_of_tables || matches!(value.get_ref(), DeValue::Table(_))) {
            continue;
        }
        let Some(span) = dotted_name(&source.text, parent, key.span()) else { continue };
        let name = source.text.get(span.clone()).unwrap_or_default();
        let message = format!("the name of a {what} with dots in it needs quotes: {}", quoted(name));
        found.push(
            Found::new(DOTTED_NAME, span.clone(), message)
                .note("TOML takes each dot of a header for a step into another table")
                .help(format!("write `{parent}.{}`", quoted(name)))
                .fix(span, quoted(name)),
        );
    }
}

fn is_section_key(key: &str) -> bool {
    ["audience", "rules", "tools", "like", "when", "name", "enabled"].contains(&key)
        || Setting::ALL.iter().any(|(_, name)| name.split('.').next() == Some(key))
}

/// The bytes of `github.com` in `[servers.github.com.tools.x]`, told from the place of `com`.
fn dotted_name(text: &str, parent: &str, key: Range<usize>) -> Option<Range<usize>> {
    let line = crate::policy::source::line_around(text, key.start);
    let before = text.get(line.start..key.start)?;
    let start = line.start + before.rfind(&format!("{parent}."))? + parent.len() + 1;
    // On to the last part that is no key of a section.
    let mut end = key.end;
    for part in text.get(key.end..line.end)?.split('.').skip(1) {
        let length = part.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
        let word = part.get(..length)?;
        if word.is_empty() || is_section_key(word) {
            break;
        }
        end += 1 + length;
        if length < part.len() {
            break;
        }
    }
    let name = text.get(start..end)?;
    let is_bare = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    (is_bare && name.contains('.')).then_some(start..end)
}
