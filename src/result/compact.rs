//! A JSON value written again: without white space between tokens, and on request in one normal spelling of strings,
//! with every member once.
//!
//! Everything here takes valid JSON ([`json::validate_text`] has accepted it). Other renderings stand elsewhere.

use super::equality::compare_strings;
use super::json::{self, Span};

/// Buffers that are used again from call to call.
#[derive(Default, Debug)]
pub struct CompactScratch {
    /// Members of the objects that are open, the innermost last.
    members: Vec<Member>,
    open: Vec<Open>,
    /// Members of one object by name.
    sorted: Vec<Member>,
    /// Parts of the output that hold members which come again later.
    dropped: Vec<Span>,
}

/// A member of an object that is still open.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// Its name in the input, between the quotes.
    name: Span,
    /// Where it starts in the output.
    start: u32,
}

/// A container that is still open.
#[derive(Clone, Copy, Debug)]
struct Open {
    is_object: bool,
    /// Where its members start in [`CompactScratch::members`].
    first: usize,
    /// Which names it may have had, by a few bits of each.
    seen: u64,
    has_repeats: bool,
}

/// Up to so many members a name is looked for among the ones before it; in bigger objects by sorting them.
const FEW: usize = 32;

/// Appends `value` without white space between tokens, its strings with the shortest escapes in UTF-8 (a lone surrogate
/// as U+FFFD), numbers as they are spelled. Of members with the same name only the last stays, at its place.
pub fn compact_into(value: &[u8], out: &mut Vec<u8>, scratch: &mut CompactScratch) {
    let base = out.len();
    let mut copy = Copy { input: value, out, base, from: 0 };
    walk(value, scratch, &mut copy);
    copy.up_to(value.len());
    if !scratch.dropped.is_empty() {
        drop_parts(&mut scratch.dropped, out, base);
    }
}

/// Whether any object in `value` has two members of the same name.
pub fn has_repeats(value: &[u8], scratch: &mut CompactScratch) -> bool {
    walk(value, scratch, &mut LookOnly);
    !scratch.dropped.is_empty()
}

/// What is done with the tokens that [`walk`] comes by.
trait Visit {
    /// White space from `start` to `end`.
    fn space(&mut self, start: usize, end: usize);
    /// The inside of a string from `start` to `end` that has escapes.
    fn escaped(&mut self, start: usize, end: usize);
    /// Where the byte at `at` comes to stand in the output.
    fn place(&self, at: usize) -> usize;
    /// Whether one repeated member is all there is to know.
    const STOPS_AT_REPEAT: bool;
}

/// Copies the input in runs as long as it is already written as it should be.
struct Copy<'a> {
    input: &'a [u8],
    out: &'a mut Vec<u8>,
    /// Where the output of this value starts.
    base: usize,
    /// Where the run that is not copied yet starts.
    from: usize,
}

impl Copy<'_> {
    fn up_to(&mut self, end: usize) {
        self.out.extend_from_slice(self.input.get(self.from..end).unwrap_or_default());
        self.from = end;
    }
}

impl Visit for Copy<'_> {
    const STOPS_AT_REPEAT: bool = false;

    fn space(&mut self, start: usize, end: usize) {
        self.up_to(start);
        self.from = end;
    }

    fn escaped(&mut self, start: usize, end: usize) {
        self.up_to(start);
        json::shortest_into(self.input.get(start..end).unwrap_or_default(), self.out);
        self.from = end;
    }

    fn place(&self, at: usize) -> usize {
        self.out.len() - self.base + (at - self.from)
    }
}

struct LookOnly;

impl Visit for LookOnly {
    const STOPS_AT_REPEAT: bool = true;

    fn space(&mut self, _: usize, _: usize) {}

    fn escaped(&mut self, _: usize, _: usize) {}

    fn place(&self, at: usize) -> usize {
        at
    }
}

/// Shows every token to `visit`, and fills `scratch.dropped` with the places of members that come again later.
fn walk<V: Visit>(value: &[u8], scratch: &mut CompactScratch, visit: &mut V) {
    scratch.members.clear();
    scratch.open.clear();
    scratch.dropped.clear();
    let mut at = 0;
    let mut name_comes = false;
    while let Some(&byte) = value.get(at) {
        match byte {
            b'"' => {
                let plain_end = json::end_of_plain(value, at + 1);
                let has_escapes = value.get(plain_end) != Some(&b'"');
                let end = if has_escapes { json::end_of_valid_string(value, plain_end) } else { plain_end };
                if name_comes {
                    scratch.add_member(value, Span::new(at + 1, end), has_escapes, visit.place(at));
                    name_comes = false;
                }
                if has_escapes {
                    visit.escaped(at + 1, end);
                }
                at = end + 1;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                let end = json::skip_space(value, at);
                visit.space(at, end);
                at = end;
            }
            b'{' | b'[' => {
                name_comes = byte == b'{';
                let first = scratch.members.len();
                scratch.open.push(Open { is_object: name_comes, first, seen: 0, has_repeats: false });
                at += 1;
            }
            b'}' | b']' => {
                scratch.close(value);
                if V::STOPS_AT_REPEAT && !scratch.dropped.is_empty() {
                    return;
                }
                name_comes = false;
                at += 1;
            }
            b',' => {
                name_comes = scratch.open.last().is_some_and(|open| open.is_object);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

impl CompactScratch {
    fn add_member(&mut self, value: &[u8], name: Span, has_escapes: bool, place: usize) {
        let Some(open) = self.open.last_mut() else { return };
        let before = self.members.get(open.first..).unwrap_or_default();
        let raw = name.of(value);
        let bits = if has_escapes { u64::MAX } else { name_bit(raw) };
        if before.len() < FEW && open.seen & bits != 0 {
            open.has_repeats |= before.iter().any(|member| compare_strings(member.name.of(value), raw).is_eq());
        }
        open.seen |= bits;
        self.members.push(Member { name, start: Span::new(0, place).end });
    }

    fn close(&mut self, value: &[u8]) {
        let Some(open) = self.open.pop() else { return };
        let members = self.members.get(open.first..).unwrap_or_default();
        if open.has_repeats || members.len() > FEW {
            self.sorted.clear();
            self.sorted.extend_from_slice(members);
            let by_name = |a: &Member, b: &Member| compare_strings(a.name.of(value), b.name.of(value));
            self.sorted.sort_unstable_by(|a, b| by_name(a, b).then(a.start.cmp(&b.start)));
            for pair in self.sorted.windows(2) {
                let [earlier, later] = pair else { continue };
                if by_name(earlier, later).is_eq() {
                    // It ends where the next member starts: there is one.
                    let next = members.partition_point(|member| member.start <= earlier.start);
                    let end = members.get(next).map_or(earlier.start, |member| member.start);
                    self.dropped.push(Span { start: earlier.start, end });
                }
            }
        }
        self.members.truncate(open.first);
    }
}

/// One bit of 64 for a name without escapes. One with escapes has them all, for what it spells is not seen at once.
fn name_bit(raw: &[u8]) -> u64 {
    let byte = |b: Option<&u8>| usize::from(b.copied().unwrap_or_default());
    let place = raw.len().wrapping_mul(11) + byte(raw.first()) * 5 + byte(raw.last());
    1 << (place % 64)
}

/// Takes parts out of what stands in `out` from `base` on. Parts may lie inside one another.
fn drop_parts(parts: &mut [Span], out: &mut Vec<u8>, base: usize) {
    parts.sort_unstable_by_key(|part| (part.start, std::cmp::Reverse(part.end)));
    let (mut to, mut from) = (base, base);
    for part in parts {
        let (start, end) = (base + part.start as usize, base + part.end as usize);
        if start >= from {
            out.copy_within(from..start, to);
            to += start - from;
        }
        from = from.max(end);
    }
    let rest = out.len().saturating_sub(from);
    out.copy_within(from.., to);
    out.truncate(to + rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compact(value: &str) -> String {
        let mut out = b"before".to_vec();
        compact_into(value.as_bytes(), &mut out, &mut CompactScratch::default());
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    fn repeats(value: &str) -> bool {
        has_repeats(value.as_bytes(), &mut CompactScratch::default())
    }

    #[test]
    fn writes_the_shortest_form() {
        for (value, expected) in [
            (" 1.50e+2 ", "1.50e+2"),
            ("-0.0", "-0.0"),
            (r#" { "a" : [ 1 , true , null ] , "b" : { } } "#, r#"{"a":[1,true,null],"b":{}}"#),
            (r#""\u00e9\/\u0022\u000a\u001f\ud83e\udd8a \ud800""#, "\"é/\\\"\\n\\u001f🦊 \u{fffd}\""),
            (r#"{"\u0061" : " , \" : { "}"#, r#"{"a":" , \" : { "}"#),
            ("[\n]", "[]"),
        ] {
            assert_eq!(compact(value), expected);
        }
    }

    #[test]
    fn keeps_the_last_of_repeated_members_at_its_place() {
        for (value, expected) in [
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
            (r#"{"a":1, "\u0061" :2 , "a":3 }"#, r#"{"a":3}"#),
            (r#"[{"x":{"a":1,"a":2},"y":[],"x":{"b":1,"b":2}},{"a":1}]"#, r#"[{"y":[],"x":{"b":2}},{"a":1}]"#),
            (r#"{"x":{"x":1,"x":{"x":1,"x":2}},"z":0}"#, r#"{"x":{"x":{"x":2}},"z":0}"#),
            (r#"{"\ud800":1,"\udfff":2}"#, "{\"\u{fffd}\":2}"),
            (r#"{"":1,"":2}"#, r#"{"":2}"#),
        ] {
            assert_eq!(compact(value), expected);
            assert!(repeats(value), "{value}");
            assert!(!repeats(expected), "{expected}");
        }
    }

    #[test]
    fn finds_repeats_in_objects_of_every_size() {
        for size in [2, 31, 32, 33, 34, 1000] {
            let members: Vec<_> = (0..size).map(|i| format!("\"k{i}\":{i}")).collect();
            let plain = format!("{{{}}}", members.join(","));
            assert!(!repeats(&plain));
            assert_eq!(compact(&plain), plain);
            for name in [0, size / 2, size - 1] {
                let repeated = format!("{{{},\"k{name}\":true}}", members.join(","));
                let value: serde_json::Value = serde_json::from_str(&repeated).unwrap();
                assert!(repeats(&repeated));
                let written = compact(&repeated);
                assert!(!repeats(&written));
                assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
            }
        }
    }

    #[test]
    fn minifies_nothing_but_white_space() {
        let mut out = Vec::new();
        json::without_space_into(b" { \"a b\" : [ 1.0 , \"\\u00e9 \\\" \" ] ,\r\n\t\"a b\":2 } ", &mut out);
        assert_eq!(out, br#"{"a b":[1.0,"\u00e9 \" "],"a b":2}"#);
    }

    /// JSON texts with white space, escapes and repeated members.
    fn json_text() -> impl Strategy<Value = String> {
        let space = || "[ \\n\\t]{0,2}";
        let string = || {
            prop_oneof![
                "[ab\"\\\\é🦊\\n]{0,3}".prop_map(|text| serde_json::to_string(&text).unwrap()),
                Just(r#""\u0061""#.to_owned()),
                Just(r#""\ud83e\udd8a\/""#.to_owned()),
            ]
        };
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            (-9i64..9).prop_map(|n| n.to_string()),
            Just("1.50".to_owned()),
            string(),
        ];
        leaf.prop_recursive(4, 40, 6, move |inner| {
            let item = (space(), inner, space()).prop_map(|(a, value, b)| a + &value + &b);
            let member = (space(), string(), space(), item.clone())
                .prop_map(|(a, name, b, value)| a + &name + &b + ":" + &value);
            prop_oneof![
                proptest::collection::vec(item, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                proptest::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
            ]
        })
    }

    proptest! {
        #[test]
        fn writes_the_same_value(text in json_text()) {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let written = compact(&text);
            prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&written).unwrap(), &value);
            prop_assert!(!repeats(&written));
            prop_assert_eq!(&compact(&written), &written);
            // serde_json writes members in another order, but as short; only `1.50` it writes as 1.5.
            prop_assert_eq!(written.len() - written.matches("1.50").count(), value.to_string().len());
            let mut minified = Vec::new();
            json::without_space_into(text.as_bytes(), &mut minified);
            let minified = String::from_utf8(minified).unwrap();
            prop_assert_eq!(compact(&minified), written);
            prop_assert_eq!(repeats(&text), repeats(&minified));
        }
    }
}
