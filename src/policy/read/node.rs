//! One value of the TOML tree: what type it must have, and what is said when it has another.

use super::super::diagnostic::{Problem, Problems};
use super::super::suggest;
use super::super::words::{Word, key, quoted};
pub(super) use super::super::words::{shortened, show, show_key};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Node<'i> = Spanned<DeValue<'i>>;

/// A key of a table with its value.
#[derive(Clone)]
pub(super) struct Entry<'t, 'i> {
    pub key: &'t str,
    pub key_span: Range<usize>,
    pub node: &'t Node<'i>,
}

/// The entries in file order (the map sorts by name).
pub(super) fn entries<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<Entry<'t, 'i>> =
        table.iter().map(|(key, node)| Entry { key: key.get_ref(), key_span: key.span(), node }).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

/// What came, in a message about a wrong type.
fn came(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

pub(super) fn wrong_type(what: &str, wanted: &str, node: &Node<'_>) -> Problem {
    let came = came(node.get_ref());
    Problem::error("wrong-type", node.span(), format!("`{what}` must be {wanted}, not {came}"))
}

pub(super) fn unknown_key(p: &mut Problems, entry: &Entry<'_, '_>, path: &str, known: &[&str]) {
    let full = |name: &str| match path {
        "" => show_key(name),
        path => format!("`{path}.{}`", shortened(&key(name))),
    };
    p.add_with(|| {
        Problem::error("unknown-key", entry.key_span.clone(), format!("unknown key {}", full(entry.key)))
            .help(suggest::help(entry.key, known, full))
    });
}

pub(super) fn table<'t, 'i>(p: &mut Problems, what: &str, node: &'t Node<'i>) -> Option<&'t DeTable<'i>> {
    match node.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => {
            p.add(wrong_type(what, "a table", node));
            None
        }
    }
}

pub(super) fn string<'t>(p: &mut Problems, what: &str, node: &'t Node<'_>) -> Option<&'t str> {
    match node.get_ref() {
        DeValue::String(text) => Some(text),
        _ => {
            p.add(wrong_type(what, "a string", node));
            None
        }
    }
}

pub(super) fn boolean(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<bool> {
    match node.get_ref() {
        DeValue::Boolean(flag) => Some(*flag),
        DeValue::String(text) if matches!(&**text, "true" | "false") => {
            p.add(wrong_type(what, "a boolean", node).help(format!("write {text} without quotes")));
            None
        }
        _ => {
            p.add(wrong_type(what, "a boolean", node));
            None
        }
    }
}

/// A whole number from 1 to `most`.
pub(super) fn positive(p: &mut Problems, what: &str, most: u64, node: &Node<'_>) -> Option<u64> {
    let DeValue::Integer(integer) = node.get_ref() else {
        p.add(wrong_type(what, "a whole number", node));
        return None;
    };
    let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok().filter(|n| (1..=most).contains(n));
    if number.is_none() {
        let message = format!("`{what}` must be from 1 to {most}");
        p.add(Problem::error("bad-value", node.span(), message));
    }
    number
}

/// A string that is one of the words of `W`.
pub(super) fn word<W: Word>(p: &mut Problems, what: &str, node: &Node<'_>) -> Option<W> {
    let text = match node.get_ref() {
        DeValue::String(text) => text,
        _ => {
            p.add(wrong_type(what, "a string", node).help(one_of(W::WORDS)));
            return None;
        }
    };
    let found = W::WORDS.iter().find(|(_, word)| *word == &**text).map(|(value, _)| *value);
    if found.is_none() {
        let known: Vec<&str> = W::WORDS.iter().map(|(_, word)| *word).collect();
        unknown_word(p, what, text, &known, node);
    }
    found
}

fn one_of<W>(words: &[(W, &str)]) -> String {
    format!("one of {}", words.iter().map(|(_, word)| quoted(word)).collect::<Vec<_>>().join(", "))
}

pub(super) fn unknown_word(p: &mut Problems, what: &str, text: &str, known: &[&str], node: &Node<'_>) {
    p.add_with(|| {
        Problem::error("bad-value", node.span(), format!("`{what}` cannot be {}", show(text)))
            .help(suggest::help(text, known, quoted))
    });
}

/// The elements of a list.
pub(super) fn list<'t, 'i>(p: &mut Problems, what: &str, wanted: &str, node: &'t Node<'i>) -> Option<&'t [Node<'i>]> {
    match node.get_ref() {
        DeValue::Array(array) => Some(array.get(..).unwrap_or_default()),
        DeValue::String(text) => {
            p.add(wrong_type(what, wanted, node).help(format!("write [{}]", show(text))));
            None
        }
        _ => {
            p.add(wrong_type(what, wanted, node));
            None
        }
    }
}

/// The elements of a list that is not empty, or one value that stands for such a list.
pub(super) fn one_or_more<'t, 'i>(p: &mut Problems, what: &str, node: &'t Node<'i>) -> Option<&'t [Node<'i>]> {
    match node.get_ref() {
        DeValue::Array(array) if array.is_empty() => {
            p.add(Problem::error("bad-value", node.span(), format!("`{what}` is an empty list, so it can never hold")));
            None
        }
        DeValue::Array(array) => Some(array.get(..).unwrap_or_default()),
        _ => Some(std::slice::from_ref(node)),
    }
}

/// Reads each element; `None` when one of them could not be read, all of them having been looked at.
pub(super) fn each<'t, 'i, T>(
    elements: &'t [Node<'i>],
    mut read: impl FnMut(&'t Node<'i>) -> Option<T>,
) -> Option<Box<[T]>> {
    let mut values = Vec::with_capacity(elements.len());
    let mut complete = true;
    for element in elements {
        match read(element) {
            Some(value) => values.push(value),
            None => complete = false,
        }
    }
    complete.then(|| values.into())
}
