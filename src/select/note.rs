//! Notes: what a template says of a block that is not shown itself.

use crate::policy::rule::{Field, Kind, Piece, Template};
use crate::result::json::{Span, string_inside, text_of};
use crate::result::scan::Block;
use crate::result::text::is_blank_char;
use std::io::Write;

/// The most characters of one value in a note.
const LONGEST: usize = 200;

/// Appends a template filled in with what a block says of itself.
pub fn write_note(template: &Template, bytes: &[u8], block: &Block, out: &mut Vec<u8>) {
    for piece in &template.0 {
        match piece {
            Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
            Piece::Field(field, default) => {
                let start = out.len();
                write_field(*field, bytes, block, out);
                if out.len() == start {
                    out.extend_from_slice(default.as_bytes());
                }
            }
        }
    }
}

fn write_field(field: Field, bytes: &[u8], block: &Block, out: &mut Vec<u8>) {
    let string = |span: Span| string_inside(bytes, span).map(|inside| text_of(inside.of(bytes)));
    let text = |span: Span, out: &mut Vec<u8>| {
        if let Some(text) = string(span) {
            write_line(&text, out);
        }
    };
    match field {
        Field::Type if block.kind == Kind::Unknown => text(block.type_, out),
        Field::Type => text(block.type_, out),
        Field::Mime => text(block.mime, out),
        Field::Uri => text(block.uri, out),
        Field::Name => text(block.name, out),
        Field::Title => text(block.title, out),
        Field::Description => text(block.description, out),
        Field::Size => write_line(&String::from_utf8_lossy(block.size.of(bytes)), out),
        Field::Bytes => {
            if let Some(length) = payload(bytes, block) {
                let _ = write!(out, "{length}");
            }
        }
        Field::Mb => {
            if let Some(length) = payload(bytes, block) {
                // A megabyte of 1,048,576 bytes, one decimal, rounded half up.
                let tenths = (length * 10 + 524_288) / 1_048_576;
                let _ = write!(out, "{}.{}", tenths / 10, tenths % 10);
            }
        }
        // Of other templates.
        Field::Tool | Field::Omitted | Field::Total | Field::Unit => {}
    }
}

/// How many bytes a block carries, decoded: of base64, or of text.
fn payload(bytes: &[u8], block: &Block) -> Option<usize> {
    if let Some(data) = string_inside(bytes, block.data) {
        return Some(base64_len(data.of(bytes)));
    }
    string_inside(bytes, block.text).map(|text| crate::result::json::decoded_len(text.of(bytes)))
}

/// The decoded length of base64 as it stands between its quotes (`\/` may stand for `/`).
fn base64_len(raw: &[u8]) -> usize {
    let symbols = raw.iter().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_')).count();
    symbols * 3 / 4
}

/// One line, at most [`LONGEST`] characters, nothing that cannot be seen or that steers a terminal.
fn write_line(text: &str, out: &mut Vec<u8>) {
    let seen = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let seen = seen.filter(|&c| c == ' ' || (!c.is_control() && !is_blank_char(c)));
    for (count, c) in seen.enumerate() {
        if count == LONGEST {
            out.extend_from_slice("…".as_bytes());
            return;
        }
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Appends a template that knows the tool's name.
pub fn write_around(template: &Template, tool: &str, out: &mut Vec<u8>) {
    for piece in &template.0 {
        let text = match piece {
            Piece::Literal(text) => text,
            Piece::Field(Field::Tool, _) if !tool.is_empty() => tool,
            Piece::Field(_, default) => default,
        };
        out.extend_from_slice(text.as_bytes());
    }
}
