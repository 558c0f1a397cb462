//! Writing the output: spans of the input and texts of the arena, as one JSON object.

use super::meta::{Filtered, Keys, Repeats, filter};
use super::plan::{Fate, FieldValue, Form, Item, Plan};
use crate::policy::rule::Kind;
use crate::result::json::{Seen, Span, end_of_valid_string, escape_into, member, members, name_is, shortest_into};
use crate::result::scan::{Block, Scan, Traits};

/// Whether the reader sees the input exactly as it is.
pub fn is_unchanged(scan: &Scan, plan: &Plan) -> bool {
    let as_input = |span: Span, field: &FieldValue| match field {
        FieldValue::Input => true,
        FieldValue::Absent => span.is_absent(),
        FieldValue::Arena(_) => false,
    };
    scan.remarks.unknown == 0
        && scan.remarks.repeated == 0
        && scan.nulls == 0
        && !scan.content.is_absent()
        && !scan.seen.has(Seen::LONE_SURROGATE)
        && as_input(scan.structured, &plan.structured)
        && as_input(scan.meta, &plan.meta)
        && plan.items.len() == scan.blocks.len()
        && plan.items.iter().all(|item| item.fate == Fate::Kept)
}

/// Writes the output. Members stand in the order of the input. `block_keys`: what of the `_meta` of blocks goes out.
pub fn emit(bytes: &[u8], scan: &Scan, plan: &Plan, block_keys: Option<&Keys<'_>>, out: &mut Vec<u8>) {
    #[derive(Clone, Copy)]
    enum Member {
        Content,
        Structured,
        Meta,
        Copied(&'static str, Span),
    }
    let mut parts: [(u32, Member); 7] = [
        (scan.content.start, Member::Content),
        (scan.structured.start, Member::Structured),
        (scan.meta.start, Member::Meta),
        (scan.is_error.start, Member::Copied("isError", scan.is_error)),
        (scan.result_type.start, Member::Copied("resultType", scan.result_type)),
        (scan.sampling[0].start, Member::Copied("type", scan.sampling[0])),
        (scan.sampling[1].start, Member::Copied("toolUseId", scan.sampling[1])),
    ];
    parts.sort_by_key(|(start, _)| *start);
    let writer = Writer { bytes, block_keys, lone_surrogates: scan.seen.has(Seen::LONE_SURROGATE) };
    out.reserve(bytes.len().min(plan.arena.len() + bytes.len()));
    out.push(b'{');
    let mut name = |out: &mut Vec<u8>, name: &str| {
        if out.last() != Some(&b'{') || out.len() > 1 {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
    };
    for (_, part) in parts {
        match part {
            Member::Content => {
                name(out, "content");
                writer.content(scan, plan, out);
            }
            Member::Structured => {
                writer.field("structuredContent", scan.structured, &plan.structured, plan, &mut name, out)
            }
            Member::Meta => writer.field("_meta", scan.meta, &plan.meta, plan, &mut name, out),
            Member::Copied(member, span) => {
                if !span.is_absent() {
                    name(out, member);
                    writer.copy(span, out);
                }
            }
        }
    }
    out.push(b'}');
}

struct Writer<'a> {
    bytes: &'a [u8],
    block_keys: Option<&'a Keys<'a>>,
    lone_surrogates: bool,
}

impl Writer<'_> {
    /// Copies a value as it stands, but for lone surrogates.
    fn copy(&self, span: Span, out: &mut Vec<u8>) {
        copy_value(span.of(self.bytes), self.lone_surrogates, out);
    }

    fn field(
        &self,
        member: &str,
        span: Span,
        value: &FieldValue,
        plan: &Plan,
        name: &mut impl FnMut(&mut Vec<u8>, &str),
        out: &mut Vec<u8>,
    ) {
        match value {
            FieldValue::Absent => {}
            FieldValue::Input => {
                name(out, member);
                self.copy(span, out);
            }
            FieldValue::Arena(range) => {
                name(out, member);
                copy_value(plan.arena.get(range.clone()).unwrap_or_default(), self.lone_surrogates, out);
            }
        }
    }

    fn content(&self, scan: &Scan, plan: &Plan, out: &mut Vec<u8>) {
        out.push(b'[');
        for (index, item) in plan.items.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.item(scan, plan, item, out);
        }
        out.push(b']');
    }

    fn item(&self, scan: &Scan, plan: &Plan, item: &Item, out: &mut Vec<u8>) {
        let block = item.source.and_then(|index| scan.blocks.get(index as usize));
        match (&item.form, block) {
            (Form::Text(range), _) => {
                out.extend_from_slice(b"{\"type\":\"text\",\"text\":\"");
                escape_into(plan.arena.get(range.clone()).unwrap_or_default(), out);
                out.extend_from_slice(b"\"}");
            }
            // Already written shortest, every member once: nothing but the escapes of a string is added.
            (Form::Structured, _) => {
                out.extend_from_slice(b"{\"type\":\"text\",\"text\":\"");
                escape_into(scan.structured.of(self.bytes), out);
                out.extend_from_slice(b"\"}");
            }
            (Form::Json(range), _) => {
                copy_value(plan.arena.get(range.clone()).unwrap_or_default(), self.lone_surrogates, out);
            }
            (Form::Block, Some(block)) if item.fate == Fate::Kept => self.copy(block.span, out),
            (Form::Block, Some(block)) => {
                let start = out.len();
                rewrite_block(self.bytes, block, self.block_keys, None, out);
                if self.lone_surrogates {
                    let written = out.split_off(start);
                    copy_value(&written, true, out);
                }
            }
            (Form::Block, None) => {}
        }
    }
}

/// Copies a JSON value; lone surrogate escapes become U+FFFD when there may be some.
fn copy_value(value: &[u8], lone_surrogates: bool, out: &mut Vec<u8>) {
    if !lone_surrogates || !value.windows(2).any(|pair| pair == b"\\u") {
        out.extend_from_slice(value);
        return;
    }
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        out.push(byte);
        at += 1;
        if byte == b'"' {
            let end = end_of_valid_string(value, at);
            let raw = value.get(at..end).unwrap_or_default();
            if has_lone_surrogate(raw) {
                shortest_into(raw, out);
            } else {
                out.extend_from_slice(raw);
            }
            out.push(b'"');
            at = end + 1;
        }
    }
}

fn has_lone_surrogate(raw: &[u8]) -> bool {
    let mut at = 0;
    while let Some(escape) = memchr::memchr(b'\\', raw.get(at..).unwrap_or_default()) {
        at += escape;
        let (c, length) = crate::result::json::decode_escape(raw, at);
        let spelled = raw.get(at + 2..at + 6).is_some_and(|hex| hex.eq_ignore_ascii_case(b"fffd"));
        if c == char::REPLACEMENT_CHARACTER && !spelled {
            return true;
        }
        at += length;
    }
    false
}

/// Writes a block member by member: each once, no null where a member is optional, of every `_meta` what `keys` lets
/// through (`None`: nothing), and `text` in the place of its own text.
pub fn rewrite_block(bytes: &[u8], block: &Block, keys: Option<&Keys<'_>>, text: Option<&[u8]>, out: &mut Vec<u8>) {
    if block.span.of(bytes).first() != Some(&b'{') {
        out.extend_from_slice(block.span.of(bytes));
        return;
    }
    let embedded = block.kind == Kind::ResourceText;
    let traits = block.traits;
    let is_object = |value: Span| value.of(bytes).first() == Some(&b'{');
    write_members(bytes, block.span, traits, OPTIONAL, out, |name, value, out| {
        if name_is(name, "_meta") {
            return write_meta(bytes, value, keys, out);
        }
        write_name(name, out);
        if name_is(name, "resource") && is_object(value) {
            write_members(bytes, value, traits, OPTIONAL_INSIDE, out, |name, value, out| {
                if name_is(name, "_meta") {
                    return write_meta(bytes, value, keys, out);
                }
                write_name(name, out);
                if name_is(name, "annotations") && is_object(value) {
                    return write_annotations(bytes, value, out);
                }
                write_value(bytes, name, value, text.filter(|_| embedded), out);
            });
        } else if name_is(name, "annotations") && is_object(value) {
            write_annotations(bytes, value, out);
        } else {
            write_value(bytes, name, value, text.filter(|_| !embedded), out);
        }
    });
}

/// Members of a block that may be absent, so that null means nothing.
const OPTIONAL: &[&str] = &["annotations", "_meta", "mimeType", "title", "description", "size", "icons"];
/// Of the resource inside it: it has `text` or `blob`.
const OPTIONAL_INSIDE: &[&str] = &["annotations", "_meta", "mimeType", "text", "blob"];

fn write_annotations(bytes: &[u8], annotations: Span, out: &mut Vec<u8>) {
    let optional = ["audience", "priority", "lastModified"];
    // A null that comes last counts: what stood before it must not come out.
    write_members(bytes, annotations, Traits::REPEATED, &optional, out, |name, value, out| {
        write_name(name, out);
        out.extend_from_slice(value.of(bytes));
    });
}

fn write_members(
    bytes: &[u8],
    object: Span,
    traits: Traits,
    optional: &[&str],
    out: &mut Vec<u8>,
    mut write: impl FnMut(&[u8], Span, &mut Vec<u8>),
) {
    let optional = |name: &[u8]| optional.iter().any(|n| name_is(name, n));
    let mut comes_again = if traits.has(Traits::REPEATED) { Repeats::of(bytes, object) } else { Repeats::None };
    out.push(b'{');
    let start = out.len();
    for (name, value) in members(bytes, object) {
        if comes_again.next() || value.of(bytes) == b"null" && optional(name.of(bytes)) {
            continue;
        }
        let before = out.len();
        if before > start {
            out.push(b',');
        }
        let after_comma = out.len();
        write(name.of(bytes), value, out);
        if out.len() == after_comma {
            out.truncate(before);
        }
    }
    out.push(b'}');
}

fn write_name(name: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":");
}

fn write_value(bytes: &[u8], name: &[u8], value: Span, text: Option<&[u8]>, out: &mut Vec<u8>) {
    match text {
        Some(text) if name_is(name, "text") => {
            out.push(b'"');
            escape_into(text, out);
            out.push(b'"');
        }
        _ => out.extend_from_slice(value.of(bytes)),
    }
}

fn write_meta(bytes: &[u8], meta: Span, keys: Option<&Keys<'_>>, out: &mut Vec<u8>) {
    let Some(keys) = keys else { return };
    let start = out.len();
    out.extend_from_slice(b"\"_meta\":");
    let mut comes_again = Repeats::of(bytes, meta);
    let kept = members(bytes, meta).filter(|_| !comes_again.next());
    if meta.of(bytes).first() != Some(&b'{') || filter(bytes, kept, keys, out) == Filtered::Nothing {
        out.truncate(start);
    }
}

/// The `_meta` of a block, and of the resource inside it.
pub fn metas_of(bytes: &[u8], block: &Block) -> [Option<Span>; 2] {
    let last = |object: Span, wanted: &str| member(bytes, object, wanted).filter(|value| value.of(bytes) != b"null");
    let is_object = |value: &Span| value.of(bytes).first() == Some(&b'{');
    let inside = last(block.span, "resource").filter(is_object);
    [last(block.span, "_meta"), inside.and_then(|resource| last(resource, "_meta"))]
}

/// Appends a valid JSON value in which some strings (not names) give way to a text; nothing, and `false`, if none does.
pub fn replace_strings(value: &[u8], out: &mut Vec<u8>, mut instead: impl FnMut(&[u8]) -> Option<String>) -> bool {
    let mut copied = 0;
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        at += 1;
        if byte != b'"' {
            continue;
        }
        let end = end_of_valid_string(value, at);
        let raw = value.get(at..end).unwrap_or_default();
        let is_name = value.get(crate::result::json::skip_space(value, end + 1)) == Some(&b':');
        if let Some(text) = (!is_name).then(|| instead(raw)).flatten() {
            out.extend_from_slice(value.get(copied..at).unwrap_or_default());
            escape_into(text.as_bytes(), out);
            copied = end;
        }
        at = end + 1;
    }
    if copied == 0 {
        return false;
    }
    out.extend_from_slice(value.get(copied..).unwrap_or_default());
    true
}

#[cfg(test)]
mod tests {
    use crate::{Engine, Request, Selection, Status};

    #[test]
    fn null_in_an_optional_member_is_not_printed() {
        let engine = Engine::builtin("sep-2200").unwrap();
        for (block, expected) in [
            (
                r#"{"type":"text","text":"a","annotations":{"audience":null,"priority":1,"lastModified":null}}"#,
                r#"{"type":"text","text":"a","annotations":{"priority":1}}"#,
            ),
            (
                r#"{"type":"text","text":"a","annotations":{"audience":["user"],"priority":1,"audience":null,"priority":null}}"#,
                r#"{"type":"text","text":"a","annotations":{}}"#,
            ),
            (
                r#"{"type":"text","text":"a","annotations":{"audience":["user"],"audience":["assistant"]}}"#,
                r#"{"type":"text","text":"a","annotations":{"audience":["assistant"]}}"#,
            ),
            (
                r#"{"type":"resource_link","uri":"a:b","name":"c","icons":null,"size":null,"else":null}"#,
                r#"{"type":"resource_link","uri":"a:b","name":"c","else":null}"#,
            ),
            (
                r#"{"type":"resource","resource":{"uri":"a:b","text":null,"blob":"","annotations":{"audience":null}}}"#,
                r#"{"type":"resource","resource":{"uri":"a:b","blob":"","annotations":{}}}"#,
            ),
        ] {
            let result = |block: &str| format!("{{\"content\":[{block}]}}");
            let mut selection = Selection::new();
            let request = Request::new("s", "t", "model");
            assert_eq!(engine.select(&request, result(block).as_bytes(), &mut selection).unwrap(), Status::Changed);
            assert_eq!(std::str::from_utf8(selection.json().unwrap()).unwrap(), result(expected));
        }
    }
}
