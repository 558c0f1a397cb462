//! A policy's files as text, and from a byte in them to a line and a column.

use std::path::PathBuf;

/// A file of a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// What messages call it: a path, a built-in name, or what the caller calls the bytes.
    pub name: Box<str>,
    /// Of files alone.
    pub path: Option<PathBuf>,
    pub text: Box<str>,
}

/// Where the lines of a text start, with further marks inside long lines, so that a look-up never walks far.
pub(super) struct Lines(Vec<Mark>);

#[derive(Clone, Copy)]
struct Mark {
    offset: usize,
    line: u32,
    column: u32,
}

/// A line and a column, from 1, the column in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub line: u32,
    pub column: u32,
}

/// A policy may stand on one line of many megabytes.
const MARK_EVERY: usize = 4096;

impl Lines {
    pub fn new(text: &str) -> Lines {
        // A byte order mark is no column.
        let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        let mut last = Mark { offset: start, line: 1, column: 1 };
        let mut marks = vec![last];
        for newline in memchr::memchr_iter(b'\n', text.as_bytes()) {
            mark_long_line(text, &mut marks, last, newline);
            last = Mark { offset: newline + 1, line: last.line.saturating_add(1), column: 1 };
            marks.push(last);
        }
        mark_long_line(text, &mut marks, last, text.len());
        Lines(marks)
    }

    pub fn position(&self, text: &str, offset: usize) -> Position {
        let after = self.0.partition_point(|mark| mark.offset <= offset);
        let Some(mark) = after.checked_sub(1).and_then(|index| self.0.get(index)) else {
            return Position { line: 1, column: 1 };
        };
        let between = text.as_bytes().get(mark.offset..offset.min(text.len())).unwrap_or_default();
        Position { line: mark.line, column: mark.column.saturating_add(characters(between)) }
    }
}

fn mark_long_line(text: &str, marks: &mut Vec<Mark>, start: Mark, end: usize) {
    let mut mark = start;
    while end.saturating_sub(mark.offset) > MARK_EVERY {
        let next = mark.offset + MARK_EVERY;
        let between = text.as_bytes().get(mark.offset..next).unwrap_or_default();
        mark = Mark { offset: next, line: mark.line, column: mark.column.saturating_add(characters(between)) };
        marks.push(mark);
    }
}

/// Characters that start in these bytes.
fn characters(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count()).unwrap_or(u32::MAX)
}

/// The line that holds `offset`, without its end.
pub(super) fn line_around(text: &str, offset: usize) -> std::ops::Range<usize> {
    let offset = offset.min(text.len());
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', bytes.get(..offset).unwrap_or_default()).map_or(0, |at| at + 1);
    let rest = bytes.get(offset..).unwrap_or_default();
    let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |at| offset + at);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lines_and_columns() {
        let text = "a = 1\né = 2\r\n\nlast";
        let lines = Lines::new(text);
        let at = |offset| {
            let Position { line, column } = lines.position(text, offset);
            (line, column)
        };
        assert_eq!(
            [0, 5, 6, 8, 9, 14, 15, 19, 99].map(at),
            [(1, 1), (1, 6), (2, 1), (2, 2), (2, 3), (3, 1), (4, 1), (4, 5), (4, 5)]
        );
        assert_eq!(Lines::new("").position("", 0), Position { line: 1, column: 1 });
        assert_eq!(Lines::new("\u{FEFF}ab").position("\u{FEFF}ab", 4), Position { line: 1, column: 2 });
    }

    #[test]
    fn counts_the_same_in_long_lines() {
        let text = format!("x\n{}\n{}z", "é".repeat(10_000), "y".repeat(9000));
        let lines = Lines::new(&text);
        for offset in [2usize, 4099, 12_002, 20_002, 20_003, text.len() - 1] {
            let start = line_around(&text, offset).start;
            let column = text.as_bytes()[start..offset].iter().filter(|&&b| b & 0xC0 != 0x80).count() + 1;
            assert_eq!(lines.position(&text, offset).column as usize, column, "{offset}");
        }
    }
}
