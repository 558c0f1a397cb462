//! The setting `limit` on any pieces of text: never more than the limit, the marker in it, characters and escapes whole,
//! JSON still JSON.
//!
//! Six bytes say the limit; the pieces stand behind, 0xFF between two of them. A piece that starts with `F` and is JSON
//! after that is a field.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_select::policy::rule::{Cut, Field, Limit, Piece, Template, Unit};
use mcp_select::result::json::validate_text;
use mcp_select::select::limit::{PieceKind, Shortened, TextPiece, limit};
use serde_json::value::RawValue;

const MARKERS: [&str; 5] = ["", "#", "…", "\"é\n", "<🦊>"];

fuzz_target!(|input: &[u8]| {
    let Some((head, rest)) = input.split_at_checked(6) else { return };
    let mut texts = Vec::new();
    for piece in rest.split(|byte| *byte == 0xFF) {
        let Ok(text) = std::str::from_utf8(piece) else { return };
        texts.push(text);
    }
    let pieces: Vec<TextPiece> = texts
        .iter()
        .map(|text| match text.strip_prefix('F').filter(|json| is_json(json)) {
            Some(text) => TextPiece { kind: PieceKind::Field, text: text.trim_matches([' ', '\n', '\r', '\t']) },
            None => TextPiece { kind: PieceKind::Text, text },
        })
        .collect();
    check(&pieces, &read_limit(head));
});

fn read_limit(head: &[u8]) -> Limit {
    let marker = match MARKERS[usize::from(head[0]) % MARKERS.len()] {
        "" => {
            let field = |field| Piece::Field(field, "".into());
            Template(Box::new([
                Piece::Literal("\n[".into()),
                field(Field::Omitted),
                field(Field::Total),
                field(Field::Unit),
            ]))
        }
        literal => Template(Box::new([Piece::Literal(literal.into())])),
    };
    Limit {
        unit: [Unit::Bytes, Unit::Chars, Unit::Utf16][usize::from(head[1]) % 3],
        cut: [Cut::Head, Cut::Tail, Cut::Middle, Cut::Elements][usize::from(head[2]) % 4],
        head: f64::from(head[3]).mul_add(0.98 / 255.0, 0.01),
        most: u64::from(u16::from_be_bytes([head[4] % 4, head[5]])) + 1,
        marker,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok() && validate_text(text.as_bytes(), 128).is_ok()
}

fn is_container(text: &str) -> bool {
    text.trim_matches([' ', '\n', '\r', '\t']).starts_with(['{', '[']) && is_json(text)
}

fn units(text: &str, unit: Unit) -> u64 {
    match unit {
        Unit::Bytes => text.len() as u64,
        Unit::Chars => text.chars().count() as u64,
        Unit::Utf16 => text.encode_utf16().count() as u64,
    }
}

fn check(pieces: &[TextPiece], by: &Limit) {
    let total: u64 = pieces.iter().map(|piece| units(piece.text, by.unit)).sum();
    let Some(shortened) = limit(pieces, by) else {
        assert!(total <= by.most, "{total} units are left as they are: {by:?}");
        return;
    };
    let shown = || format!("{pieces:?}\n{by:?}\n{shortened:?}");
    assert!(total > by.most, "cut although it was short enough: {}", shown());
    assert_eq!((shortened.total, shortened.pieces.len()), (total, pieces.len()), "{}", shown());
    assert!(shortened.omitted <= total, "{}", shown());
    let now: Vec<TextPiece> = pieces
        .iter()
        .zip(&shortened.pieces)
        .map(|(piece, new)| TextPiece { text: new.as_deref().unwrap_or(piece.text), kind: piece.kind })
        .collect();
    let alone = shortened.marker.as_deref().unwrap_or_default();
    let length: u64 = now.iter().map(|piece| units(piece.text, by.unit)).sum::<u64>() + units(alone, by.unit);
    assert!(length <= by.most, "{length} units: {}", shown());
    assert_eq!(limit(&now, by), None, "cut again: {}", shown());
    assert_eq!(limit(pieces, by).as_ref(), Some(&shortened), "another answer");

    let marker = marker_text(by, &shortened);
    for (piece, new) in pieces.iter().zip(&shortened.pieces) {
        let Some(new) = new.as_deref().filter(|new| !new.is_empty()) else { continue };
        let stays_json = piece.kind == PieceKind::Field || by.cut == Cut::Elements && is_container(piece.text);
        if stays_json {
            // A field is JSON or gone; a text may be the bare marker when not even `null` has room.
            assert!(is_json(new) || piece.kind == PieceKind::Text && new == marker, "{new:?} is no JSON: {}", shown());
            if shortened.only_space {
                assert_eq!(compact(new), compact(piece.text), "{}", shown());
            }
            is_cut_json(piece, new, &marker, &shown);
        } else {
            is_cut_text(piece.text, new, &marker, by.cut, &shown);
        }
    }
}

fn marker_text(by: &Limit, shortened: &Shortened) -> String {
    let unit = [(Unit::Bytes, "bytes"), (Unit::Chars, "chars"), (Unit::Utf16, "utf16")];
    let unit = unit.iter().find(|(unit, _)| *unit == by.unit).unwrap().1;
    let text: String = by
        .marker
        .0
        .iter()
        .map(|piece| match piece {
            Piece::Literal(literal) => literal.to_string(),
            Piece::Field(Field::Omitted, _) => shortened.omitted.to_string(),
            Piece::Field(Field::Total, _) => shortened.total.to_string(),
            Piece::Field(..) => unit.to_owned(),
        })
        .collect();
    // What has no room is left out.
    if units(&text, by.unit) <= by.most { text } else { String::new() }
}

fn compact(json: &str) -> String {
    let mut out = Vec::new();
    mcp_select::result::json::without_space_into(json.as_bytes(), &mut out);
    String::from_utf8(out).unwrap()
}

/// A front, the marker and an end of the text, or an end of it behind a marker that stands elsewhere.
fn is_cut_text(old: &str, new: &str, marker: &str, cut: Cut, shown: &dyn Fn() -> String) {
    let fits = |(at, _): (usize, &str)| {
        let (front, back) = (&new[..at], &new[at + marker.len()..]);
        let sides = match cut {
            Cut::Head | Cut::Elements => back.is_empty(),
            Cut::Tail => front.is_empty(),
            Cut::Middle => true,
        };
        sides && front.len() + back.len() <= old.len() && old.starts_with(front) && old.ends_with(back)
    };
    let marked = new.match_indices(marker).any(fits);
    assert!(marked || cut == Cut::Middle && old.ends_with(new), "{new:?} of {old:?}: {}", shown());
}

/// Every token is one of the old JSON in its order, or the marker, or the front of a string with the marker behind it. What
/// has no room for that is the marker as a string, or `null`.
fn is_cut_json(piece: &TextPiece, new: &str, marker: &str, shown: &dyn Fn() -> String) {
    let quoted = serde_json::to_string(marker).unwrap();
    if piece.kind == PieceKind::Text && (new == quoted || new == "null" || new == marker) {
        return;
    }
    let (old_tokens, new_tokens) = (tokens(piece.text), tokens(new));
    let inside = &quoted[1..];
    let mut old = old_tokens.iter();
    for token in &new_tokens {
        // Commas and brackets can be told by being JSON.
        if matches!(*token, "," | "]" | "}" | ":") || *token == quoted {
            continue;
        }
        let cut = token.strip_suffix(inside).filter(|front| front.starts_with('"'));
        // An escape, or a pair of them, is never cut through.
        let reads = |string: &str| serde_json::from_str::<String>(string).is_ok();
        let is_front = |front: &str, old: &str| old.starts_with(front) && (!reads(old) || reads(&format!("{front}\"")));
        let found = old.any(|old| old == token || cut.is_some_and(|front| is_front(front, old)));
        assert!(found, "{token} is not of the old JSON: {}", shown());
    }
}

fn tokens(json: &str) -> Vec<&str> {
    let bytes = json.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b' ' | b'\n' | b'\r' | b'\t' => {
                at += 1;
                continue;
            }
            b'"' => {
                at += 1;
                while bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => at += 1,
            _ => {
                while at < bytes.len() && !b" \n\r\t{}[],:\"".contains(&bytes[at]) {
                    at += 1;
                }
            }
        }
        found.push(&json[start..at]);
    }
    found
}
