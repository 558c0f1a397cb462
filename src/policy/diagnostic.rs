//! What is wrong with a policy: a code, a message, a place and a way out.
//!
//! [`Problem`] is what the reader notes down, with spans alone; [`Diagnostic`] is what people see, with lines.

use super::rule::Place;
use super::source::{Lines, Position, SourceFile, line_around};
use std::fmt;
use std::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    Error,
    Warning,
    /// Worth knowing; nothing need be done.
    Note,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A finding with its place. [`Display`](fmt::Display) prints it with the line it speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// A short word that stays the same from release to release.
    pub code: &'static str,
    pub level: Level,
    /// One line, lower case.
    pub message: String,
    /// The name of the file.
    pub file: Box<str>,
    /// Bytes in that file.
    pub span: Range<usize>,
    /// From 1; 0 when the whole file is meant.
    pub line: u32,
    /// In characters, from 1; 0 when the whole file is meant.
    pub column: u32,
    /// The way out.
    pub help: Option<String>,
    /// Another place that has to do with it.
    pub also: Option<Also>,
    /// More that is known, one line each.
    pub notes: Vec<String>,
    /// How to mend the file, where that is safe.
    pub fix: Option<Fix>,
    /// The line it speaks of, made safe for a terminal, and where in it the carets start and how many there are.
    excerpt: Option<(Box<str>, usize, usize)>,
}

/// Another place in the same file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Also {
    pub span: Range<usize>,
    pub line: u32,
    pub column: u32,
    /// What stands there.
    pub label: String,
}

/// A change of the text that mends it and alters nothing else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The bytes that go.
    pub span: Range<usize>,
    /// What stands there instead.
    pub text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.level.name(), self.code, self.message)?;
        let line = self.line.to_string();
        let gutter = " ".repeat(line.len());
        if self.line == 0 {
            write!(f, "\n --> {}", self.file)?;
        } else {
            write!(f, "\n{gutter}--> {}:{}:{}", self.file, self.line, self.column)?;
        }
        if let Some((text, start, length)) = &self.excerpt {
            write!(f, "\n{gutter} |\n{line} | {text}\n{gutter} | {}{}", " ".repeat(*start), "^".repeat(*length))?;
        }
        if let Some(also) = &self.also {
            write!(f, "\n{gutter} = note: {} {}:{}:{}", also.label, self.file, also.line, also.column)?;
        }
        for note in &self.notes {
            write!(f, "\n{gutter} = note: {note}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n{gutter} = help: {help}")?;
        }
        Ok(())
    }
}

impl Diagnostic {
    /// About a rule or section, for what is found after the policy was read: the rest of the line is marked.
    pub fn at(code: &'static str, level: Level, message: String, source: &SourceFile, place: Place) -> Diagnostic {
        let text = &*source.text;
        let line = usize::try_from(place.line).unwrap_or(usize::MAX).saturating_sub(1);
        let start = match line {
            // A byte order mark is no column.
            0 => text.len() - text.trim_start_matches('\u{FEFF}').len(),
            line => memchr::memchr_iter(b'\n', text.as_bytes()).nth(line - 1).map_or(text.len(), |at| at + 1),
        };
        let end = line_around(text, start).end;
        let line = text.get(start..end).unwrap_or_default().trim_end();
        let column = usize::try_from(place.column).unwrap_or(usize::MAX).saturating_sub(1);
        let inside = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        let span = start + inside..start + line.len();
        Diagnostic {
            code,
            level,
            message,
            file: source.name.clone(),
            line: place.line,
            column: place.column,
            help: None,
            also: None,
            notes: Vec::new(),
            fix: None,
            excerpt: Some(excerpt(text, &span)),
            span,
        }
    }

    /// About these bytes of a file, for what is found after the policy was read.
    pub(crate) fn of_span(
        code: &'static str,
        level: Level,
        message: String,
        source: &SourceFile,
        span: Range<usize>,
    ) -> Diagnostic {
        let Position { line, column } = Lines::new(&source.text).position(&source.text, span.start);
        Diagnostic {
            code,
            level,
            message,
            file: source.name.clone(),
            line,
            column,
            help: None,
            also: None,
            notes: Vec::new(),
            fix: None,
            excerpt: Some(excerpt(&source.text, &span)),
            span,
        }
    }

    /// About a file as a whole, or about none that could be read.
    pub(super) fn of_file(code: &'static str, file: &str, message: String, help: Option<String>) -> Diagnostic {
        Diagnostic {
            code,
            level: Level::Error,
            message,
            file: file.into(),
            span: 0..0,
            line: 0,
            column: 0,
            help,
            also: None,
            notes: Vec::new(),
            fix: None,
            excerpt: None,
        }
    }
}

/// What the reader noted down.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub code: &'static str,
    pub level: Level,
    pub message: String,
    pub span: Range<usize>,
    pub help: Option<String>,
    pub also: Option<(Range<usize>, String)>,
}

impl Problem {
    pub fn locate(self, source: &SourceFile, lines: &Lines) -> Diagnostic {
        let position = lines.position(&source.text, self.span.start);
        let also = self.also.map(|(span, label)| {
            let position = lines.position(&source.text, span.start);
            Also { span, line: position.line, column: position.column, label }
        });
        Diagnostic {
            code: self.code,
            level: self.level,
            message: self.message,
            file: source.name.clone(),
            excerpt: Some(excerpt(&source.text, &self.span)),
            span: self.span,
            line: position.line,
            column: position.column,
            help: self.help,
            also,
            notes: Vec::new(),
            fix: None,
        }
    }
}

impl Problem {
    pub fn error(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem { code, level: Level::Error, message: message.into(), span, help: None, also: None }
    }

    pub fn warning(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem { level: Level::Warning, ..Problem::error(code, span, message) }
    }

    pub fn help(self, help: impl Into<String>) -> Problem {
        Problem { help: Some(help.into()), ..self }
    }

    pub fn also(self, span: Range<usize>, label: impl Into<String>) -> Problem {
        Problem { also: Some((span, label.into())), ..self }
    }
}

/// All problems of one file.
#[derive(Default, Debug)]
pub(super) struct Problems {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    left_out: usize,
}

/// More than anybody reads at once.
pub(super) const MOST_SHOWN: usize = 50;

/// Hostile files have millions of mistakes. Tables are read in file order, so that the first ones are kept.
const MOST_KEPT: usize = 200;

impl Problems {
    pub fn add(&mut self, problem: Problem) {
        let list = if problem.level == Level::Error { &mut self.errors } else { &mut self.warnings };
        if list.len() < MOST_KEPT {
            list.push(problem);
        } else if problem.level == Level::Error {
            self.left_out += 1;
        }
    }

    /// For what is costly to say: a hostile file has millions of misspelt keys.
    pub fn add_with(&mut self, problem: impl FnOnce() -> Problem) {
        if self.is_full() {
            self.left_out += 1;
        } else {
            self.add(problem());
        }
    }

    pub fn is_full(&self) -> bool {
        self.errors.len() >= MOST_KEPT
    }

    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    pub fn error_count(&self) -> usize {
        self.errors.len() + self.left_out
    }

    /// In file order.
    pub fn into_diagnostics(mut self, source: &SourceFile, lines: &Lines) -> Vec<Diagnostic> {
        self.errors.sort_by_key(|problem| problem.span.start);
        let left_out = self.left_out + self.errors.len().saturating_sub(MOST_SHOWN);
        self.errors.truncate(MOST_SHOWN);
        self.warnings.truncate(MOST_SHOWN);
        let mut problems = self.errors;
        problems.append(&mut self.warnings);
        problems.sort_by_key(|problem| problem.span.start);
        let mut diagnostics: Vec<Diagnostic> =
            problems.into_iter().map(|problem| problem.locate(source, lines)).collect();
        if left_out > 0 {
            diagnostics.push(Diagnostic::of_file("too-many", &source.name, format!("{left_out} more errors"), None));
        }
        diagnostics
    }
}

/// Characters of a long line that are shown around the place.
const EXCERPT: usize = 120;
const BEFORE: usize = 60;

/// The line around a span as characters that do nothing to a terminal, and the place of the carets in it.
fn excerpt(text: &str, span: &Range<usize>) -> (Box<str>, usize, usize) {
    let line = line_around(text, span.start);
    let before = text.get(line.start..span.start.min(line.end)).unwrap_or_default();
    let marked =
        text.get(span.start.min(line.end)..span.end.clamp(span.start.min(line.end), line.end)).unwrap_or_default();
    let after = text.get(span.end.clamp(span.start.min(line.end), line.end)..line.end).unwrap_or_default();

    let mut shown = String::new();
    let skipped = before.chars().rev().nth(BEFORE).is_some();
    if skipped {
        shown.push('…');
        let tail: Vec<char> = before.chars().rev().take(BEFORE).collect();
        shown.extend(tail.into_iter().rev().map(harmless));
    } else {
        shown.extend(before.chars().map(harmless));
    }
    let start = shown.chars().count();
    let room = EXCERPT.saturating_sub(start);
    shown.extend(marked.chars().chain(after.trim_end().chars()).take(room).map(harmless));
    let length = marked.trim_end().chars().count().clamp(1, room.max(1));
    if marked.chars().chain(after.trim_end().chars()).nth(room).is_some() {
        shown.push('…');
    }
    (shown.trim_end().into(), start, length)
}

/// A tab is as wide as one caret; controls and characters that turn the line round are shown as one sign.
fn harmless(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_gives_the_rest_of_its_line() {
        let source =
            SourceFile { name: "p".into(), path: None, text: "\u{FEFF}version = 1\r\né = 1\n  [[rules]]\r\n".into() };
        let at = |line, column| {
            let place = Place { file: 0, line, column };
            let diagnostic = Diagnostic::at("masked", Level::Warning, "m".into(), &source, place);
            source.text[diagnostic.span].to_string()
        };
        assert_eq!([at(1, 1), at(2, 3), at(3, 3), at(4, 1), at(9, 9)], ["version = 1", "= 1", "[[rules]]", "", ""]);
    }
}
