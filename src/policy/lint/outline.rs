//! Where the keys of a policy's own file stand: for findings that speak of one key, and for mending it.

use crate::policy::rule::Place;
use crate::policy::source::Lines;
use std::collections::HashMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The tables of a file by the place where the reader says that they start.
pub(super) struct Outline<'t> {
    text: &'t str,
    lines: Lines,
    tables: HashMap<(u32, u32), Range<usize>>,
    /// The table of each of those ranges.
    nodes: HashMap<usize, &'t DeTable<'t>>,
    pub root: &'t DeTable<'t>,
}

impl<'t> Outline<'t> {
    pub fn new(text: &'t str, root: &'t DeTable<'t>) -> Outline<'t> {
        let mut outline =
            Outline { text, lines: Lines::new(text), tables: HashMap::new(), nodes: HashMap::new(), root };
        for list in ["rules", "overrides", "tests"] {
            outline.list(root, list);
        }
        for (name, audience) in table_of(root, "audience").into_iter().flatten() {
            outline.section(name, audience);
        }
        for (name, server) in table_of(root, "servers").into_iter().flatten() {
            outline.section(name, server);
            let DeValue::Table(server) = server.get_ref() else { continue };
            outline.list(server, "rules");
            for (name, tool) in table_of(server, "tools").into_iter().flatten() {
                outline.section(name, tool);
                if let DeValue::Table(tool) = tool.get_ref() {
                    outline.list(tool, "rules");
                }
            }
        }
        outline
    }

    fn list(&mut self, table: &'t DeTable<'t>, name: &str) {
        let Some(DeValue::Array(list)) = table.get(name).map(Spanned::get_ref) else { return };
        for element in list.iter() {
            if let DeValue::Table(rule) = element.get_ref() {
                self.insert(element.span().start, element.span(), rule);
            }
        }
    }

    /// A section starts at its header; one of dotted keys at its name.
    fn section(&mut self, name: &'t Spanned<toml::de::DeString<'t>>, section: &'t Spanned<DeValue<'t>>) {
        let DeValue::Table(table) = section.get_ref() else { return };
        let (span, key) = (section.span(), name.span());
        let start = if span.start < key.start && key.end <= span.end { span.start } else { key.start };
        self.insert(start, start..key.end.max(start + 1), table);
    }

    fn insert(&mut self, start: usize, span: Range<usize>, table: &'t DeTable<'t>) {
        let position = self.lines.position(self.text, start);
        // The header alone, not all that is under it.
        let line = crate::policy::source::line_around(self.text, start);
        let end = span.end.min(line.end).max(start);
        self.tables.insert((position.line, position.column), start..end);
        self.nodes.insert(start, table);
    }

    /// The bytes of a rule's or a section's header.
    pub fn header(&self, place: Place) -> Range<usize> {
        self.tables.get(&(place.line, place.column)).cloned().unwrap_or_default()
    }

    fn node(&self, place: Place) -> Option<&'t DeTable<'t>> {
        self.nodes.get(&self.header(place).start).copied()
    }

    /// The bytes of a key of a rule, by its path: `order`, `blocks.image`, `when.coverage`.
    pub fn key(&self, place: Place, path: &str) -> Option<Range<usize>> {
        let (key, _) = self.find(place, path)?;
        // Of dotted keys, all of it: `meta.allow`.
        let before = self.text.get(..key.start)?;
        let mut dotted = path.get(..path.rfind('.').map_or(0, |dot| dot + 1)).unwrap_or_default();
        while !dotted.is_empty() && !before.ends_with(dotted) {
            dotted = dotted.split_once('.').map_or("", |(_, rest)| rest);
        }
        Some(key.start - dotted.len()..key.end)
    }

    /// The value of a key.
    pub fn value(&self, place: Place, path: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.find(place, path).map(|(_, value)| value)
    }

    fn find(&self, place: Place, path: &str) -> Option<(Range<usize>, &'t Spanned<DeValue<'t>>)> {
        let mut table = self.node(place)?;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            let (key, value) = table.get_key_value(part)?;
            match value.get_ref() {
                DeValue::Table(inner) if parts.peek().is_some() => table = inner,
                _ if parts.peek().is_none() => return Some((key.span(), value)),
                _ => return None,
            }
        }
        None
    }
}

pub(super) fn table_of<'t>(table: &'t DeTable<'t>, name: &str) -> Option<&'t DeTable<'t>> {
    match table.get(name)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}
