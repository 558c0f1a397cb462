//! Mistakes in the TOML itself, and spellings that only TOML 1.1 knows.
//!
//! The parser goes on after a mistake, and after an unclosed bracket it takes the rest of the file for its
//! contents; what it says then is noise and is left out here.

use super::super::diagnostic::{Problem, Problems};
use super::node::{Node, entries};
use std::ops::Range;
use toml::de::{DeTable, DeValue, Error};
use toml_parser::Source;
use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind};

/// Of one file's mistakes in TOML, the first ones tell what is wrong.
const MOST_SHOWN: usize = 5;

/// Reports mistakes in the TOML; `true` when the tree says what the file says all the same.
pub(super) fn report(p: &mut Problems, text: &str, root: &DeTable<'_>, errors: Vec<Error>) -> bool {
    let duplicates_only = errors.iter().all(|error| error.message() == "duplicate key");
    let mut mistakes: Vec<(Range<usize>, String)> =
        errors.iter().map(|error| (error.span().unwrap_or(0..0), error.message().to_string())).collect();
    mistakes.sort_by_key(|(span, _)| (span.start, span.end));

    if let Some(bracket) = first_unclosed(root, &mistakes) {
        let (opening, closing) =
            if text.as_bytes().get(bracket.start) == Some(&b'{') { ("{", "}") } else { ("[", "]") };
        let message = format!("this `{opening}` is never closed");
        let help = format!("the list or table needs a `{closing}`");
        p.add(Problem::error("toml", bracket.start..bracket.start + 1, message).help(help));
        mistakes.retain(|(span, _)| span.start < bracket.start);
    }
    one_a_line(&mut mistakes, text);
    for (span, message) in mistakes.into_iter().take(MOST_SHOWN) {
        p.add(Problem::error(if message == "duplicate key" { "duplicate-key" } else { "toml" }, span, plain(&message)));
    }
    duplicates_only
}

/// One mistake a line is enough; the others follow from it. Looks at each byte once.
fn one_a_line(mistakes: &mut Vec<(Range<usize>, String)>, text: &str) {
    let mut kept: Option<usize> = None;
    mistakes.retain(|(span, _)| {
        let between = kept.map(|kept| text.as_bytes().get(kept..span.start).unwrap_or_default());
        let is_new = between.is_none_or(|between| memchr::memchr(b'\n', between).is_some());
        if is_new {
            kept = Some(span.start);
        }
        is_new
    });
}

fn plain(message: &str) -> String {
    match message {
        "string values must be quoted, expected literal string" => "a string must stand in quotes".to_string(),
        message if message.starts_with("cannot recurse further") => "this is nested too deep".to_string(),
        "duplicate key" => "this key or section is already there".to_string(),
        message
            if message.starts_with("invalid") && message.contains("string, expected `\"`")
                || message.contains("string, expected `'`") =>
        {
            "this string is never closed".to_string()
        }
        message => message.to_string(),
    }
}

/// The outermost list or inline table that the parser closed itself at the place of such a mistake.
fn first_unclosed(root: &DeTable<'_>, mistakes: &[(Range<usize>, String)]) -> Option<Range<usize>> {
    // In order, as the mistakes are.
    let ends: Vec<usize> = mistakes
        .iter()
        .filter(|(_, message)| message.starts_with("unclosed array") || message.starts_with("unclosed inline table"))
        .map(|(span, _)| span.start)
        .collect();
    if ends.is_empty() {
        return None;
    }
    let mut first: Option<Range<usize>> = None;
    // The parser allows so little nesting that this list stays short; no recursion all the same.
    let mut open: Vec<&Node<'_>> = entries(root).into_iter().map(|entry| entry.node).collect();
    while let Some(node) = open.pop() {
        let span = node.span();
        match node.get_ref() {
            DeValue::Array(array) => open.extend(array.iter()),
            DeValue::Table(table) => open.extend(table.iter().map(|(_, node)| node)),
            _ => continue,
        }
        if ends.binary_search(&span.end).is_ok() && first.as_ref().is_none_or(|first| span.start < first.start) {
            first = Some(span);
        }
    }
    first
}

/// Reports what TOML 1.0 does not know, in a text that is good TOML 1.1.
pub(super) fn report_newer_spellings(p: &mut Problems, text: &str) {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    // What is open, and whether it was already reported.
    let mut open: Vec<(EventKind, bool)> = Vec::new();
    let mut last = EventKind::Newline;
    let mut comma = 0..0;
    let mut receiver = |event: Event| {
        let span = event.span().start()..event.span().end();
        let kind = event.kind();
        match kind {
            EventKind::InlineTableOpen | EventKind::ArrayOpen => open.push((kind, false)),
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                if let Some((EventKind::InlineTableOpen, false)) = open.pop()
                    && last == EventKind::ValueSep
                {
                    p.add(newer(comma.clone(), "a comma before the `}` of an inline table", "leave it out"));
                }
            }
            EventKind::Newline | EventKind::Comment => {
                if let Some((EventKind::InlineTableOpen, reported @ false)) = open.last_mut() {
                    *reported = true;
                    let help = "write it on one line or as a [table]";
                    p.add(newer(span.clone(), "a line break or comment in an inline table", help));
                }
            }
            EventKind::ValueSep => comma = span.clone(),
            EventKind::Scalar | EventKind::SimpleKey
                if matches!(event.encoding(), Some(Encoding::BasicString | Encoding::MlBasicString)) =>
            {
                if let Some(at) = text.get(span.clone()).and_then(newer_escape) {
                    let at = span.start + at;
                    p.add(newer(at..at + 2, "an escape `\\e` or `\\x`", "write `\\u001B` or `\\u00…`"));
                }
            }
            _ => {}
        }
        if !matches!(kind, EventKind::Whitespace | EventKind::Newline | EventKind::Comment) {
            last = kind;
        }
    };
    toml_parser::parser::parse_document(&tokens, &mut receiver, &mut ());
}

fn newer(span: Range<usize>, what: &str, help: &str) -> Problem {
    Problem::error("toml-1.1", span, format!("{what} is TOML 1.1, and policies are TOML 1.0")).help(help)
}

/// Where the first `\e` or `\x` stands in a basic string as it is written.
fn newer_escape(raw: &str) -> Option<usize> {
    let bytes = raw.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        at += found;
        if matches!(bytes.get(at + 1), Some(b'e' | b'x')) {
            return Some(at);
        }
        at += 2;
    }
    None
}
