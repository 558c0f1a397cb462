//! Whether the blocks say again what `structuredContent` says: the conditions `mirror` and `text_json`.
//!
//! Which blocks are visible the caller has found out; how two JSON texts are compared stands in `equality`. That the
//! blocks hold the same data in other words is told by coverage, not here.

use super::equality::{EqualityScratch, Rules, compare_strings, numbers_are_canonical};
use super::json::{self, Span};

/// The ways in which blocks can mirror the structured value; what was asked for, or what was found.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ways {
    /// One text is, as JSON, the same value.
    pub block: bool,
    /// All texts, two or more, joined by nothing or by a new line, are.
    pub joined: bool,
    /// The value is an object with one member, and that holds such a text or its JSON, a list of the blocks or a list
    /// of their texts.
    pub wrapped: bool,
}

/// Buffers that are used again from call to call.
#[derive(Default, Debug)]
pub struct MirrorScratch {
    /// A text, decoded; or all of them, joined.
    text: Vec<u8>,
    /// A text without white space.
    compact: Vec<u8>,
    /// The string that the value wraps, decoded.
    inner: Vec<u8>,
    with_structured: EqualityScratch,
    with_inner: EqualityScratch,
    with_element: EqualityScratch,
}

/// What is compared with every text.
struct Question<'a> {
    structured: &'a [u8],
    /// What the only member of the structured value holds.
    inner: Option<&'a [u8]>,
    /// The same between its quotes, if it is a string.
    inner_raw: Option<&'a [u8]>,
    wanted: Ways,
    canonical: bool,
    max_depth: u32,
}

/// How often the input may be read again before nothing more is looked for. Honest results need each text, the value
/// and their indexes about once.
const MOST_WORK: usize = 16;

/// Which of the wanted ways hold.
///
/// `structured` is a valid JSON value with no more than `max_depth` containers open; `texts` are the texts of the visible
/// blocks (embedded ones too), each as it stands between its quotes; `blocks` are all visible blocks as JSON. With
/// `canonical` a text with a number that ECMAScript would spell otherwise mirrors nothing, and numbers are compared as the
/// doubles it reads. A text with more than `max_depth` containers open is no JSON.
pub fn mirror(
    structured: &[u8],
    texts: &[&[u8]],
    blocks: &[&[u8]],
    wanted: Ways,
    canonical: bool,
    max_depth: u32,
    scratch: &mut MirrorScratch,
) -> Ways {
    let inner = if wanted.wrapped { only_member(structured) } else { None };
    let inner_raw = inner.and_then(inside);
    let question = Question { structured, inner, inner_raw, wanted, canonical, max_depth };
    let mut found = Ways {
        wrapped: inner.is_some_and(|list| is_list_of(list, texts, blocks, &question, scratch)),
        ..Ways::default()
    };
    scratch.with_structured.expect_other_right();
    scratch.with_inner.expect_other_right();
    scratch.inner.clear();
    if let Some(raw) = inner_raw.filter(|raw| matches!(first_byte(raw), Some(b'{' | b'['))) {
        json::decode_into(raw, &mut scratch.inner);
    }
    let size = |parts: &[&[u8]]| parts.iter().map(|part| part.len()).sum::<usize>();
    let most_work = (structured.len() + size(texts) + 1024).saturating_mul(MOST_WORK);
    for text in texts {
        let look_for = Ways { joined: false, ..question.missing(found) };
        if (!look_for.block && !look_for.wrapped) || scratch.work() > most_work {
            break;
        }
        let answer = question.ask(look_for, std::slice::from_ref(text), b"", scratch);
        found = Ways { block: found.block || answer.block, wrapped: found.wrapped || answer.wrapped, ..found };
    }
    if texts.len() >= 2 {
        for glue in [&b""[..], b"\n"] {
            let look_for = Ways { block: question.missing(found).joined, ..question.missing(found) };
            if (!look_for.block && !look_for.wrapped) || scratch.work() > most_work {
                break;
            }
            let answer = question.ask(look_for, texts, glue, scratch);
            found = Ways { joined: found.joined || answer.block, wrapped: found.wrapped || answer.wrapped, ..found };
        }
    }
    found
}

/// Whether a text, as it stands between its quotes, is a JSON object or array.
pub fn text_is_json(raw: &[u8], max_depth: u32, scratch: &mut MirrorScratch) -> bool {
    if !matches!(first_byte(raw), Some(b'{' | b'[')) {
        return false;
    }
    scratch.text.clear();
    json::decode_into(raw, &mut scratch.text);
    json::validate_text(&scratch.text, max_depth).is_ok()
}

impl Question<'_> {
    fn missing(&self, found: Ways) -> Ways {
        Ways {
            block: self.wanted.block && !found.block,
            joined: self.wanted.joined && !found.joined,
            wrapped: self.wanted.wrapped && !found.wrapped && self.inner.is_some(),
        }
    }

    /// Whether these texts, joined, are the structured value (`block`) or what it wraps (`wrapped`).
    fn ask(&self, look_for: Ways, texts: &[&[u8]], glue: &[u8], scratch: &mut MirrorScratch) -> Ways {
        let inner_raw = self.inner_raw.filter(|_| look_for.wrapped);
        let is_inner_raw = match (inner_raw, texts) {
            (Some(inner), [only]) => compare_strings(inner, only).is_eq(),
            _ => false,
        };
        let look_in = look_for.wrapped && !is_inner_raw;
        let first = texts.iter().find_map(|raw| first_byte(raw));
        let fits = |value: &[u8]| first.is_some_and(|byte| kind(byte) == value_kind(value));
        let as_block = look_for.block && fits(self.structured);
        let as_inner = self.inner.filter(|inner| look_in && fits(inner));
        let as_inner_json = look_in && fits(&scratch.inner);
        let as_inner_text = inner_raw.filter(|inner| texts.len() > 1 && same_start(inner, texts));
        if !as_block && as_inner.is_none() && !as_inner_json && as_inner_text.is_none() {
            return Ways { wrapped: is_inner_raw, ..Ways::default() };
        }
        scratch.text.clear();
        for (number, text) in texts.iter().enumerate() {
            if number > 0 {
                scratch.text.extend_from_slice(glue);
            }
            json::decode_into(text, &mut scratch.text);
        }
        let MirrorScratch { text, compact, inner: decoded, with_structured, with_inner, .. } = scratch;
        let wrapped = is_inner_raw
            || as_inner_text.is_some_and(|inner| decodes_to(inner, text))
            || as_inner.is_some_and(|inner| self.is_json(text, inner, compact, with_inner))
            || (as_inner_json
                && self.is_json(text, decoded, compact, with_inner)
                && json::validate_text(decoded, self.max_depth).is_ok());
        Ways {
            block: as_block && self.is_json(text, self.structured, compact, with_structured),
            joined: false,
            wrapped,
        }
    }

    /// Whether a text is JSON of this value.
    fn is_json(&self, text: &[u8], value: &[u8], compact: &mut Vec<u8>, scratch: &mut EqualityScratch) -> bool {
        let rules = Rules { doubles: self.canonical, ..Rules::default() };
        // Compared first: that ends early when the answer is no.
        (text == value
            || is_spaced(text, value, compact)
            || (scratch.equal_again(text, value, rules) && json::validate_text(text, self.max_depth).is_ok()))
            && (!self.canonical || numbers_are_canonical(text))
    }
}

/// Whether a text is the value with more white space. No deeper than the value then, it is JSON when the value is.
fn is_spaced(text: &[u8], value: &[u8], compact: &mut Vec<u8>) -> bool {
    if text.len() <= value.len() {
        return false;
    }
    compact.clear();
    json::is_json_without_space_into(text, compact) && compact == value
}

impl MirrorScratch {
    fn work(&self) -> usize {
        self.with_structured.work().saturating_add(self.with_inner.work())
    }
}

/// Whether `list` is an array of the blocks, or of their texts, or of the JSON of their texts, in order.
fn is_list_of(
    list: &[u8],
    texts: &[&[u8]],
    blocks: &[&[u8]],
    question: &Question,
    scratch: &mut MirrorScratch,
) -> bool {
    if list.first() != Some(&b'[') {
        return false;
    }
    let whole = Span::new(0, list.len());
    same_items(list, whole, texts, |element, text| {
        inside(element).is_some_and(|raw| compare_strings(raw, text).is_eq())
            || first_byte(text).is_some_and(|byte| kind(byte) == value_kind(element)) && {
                // The beginning tells most that are not the same.
                scratch.text.clear();
                json::decode_into(text.get(..BEGINNING).unwrap_or(text), &mut scratch.text);
                if !has_first_member(element, &scratch.text) {
                    return false;
                }
                scratch.text.clear();
                json::decode_into(text, &mut scratch.text);
                scratch.with_element.expect_other_right();
                question.is_json(&scratch.text, element, &mut scratch.compact, &mut scratch.with_element)
            }
    }) || same_items(list, whole, blocks, |element, block| {
        if !has_first_member(element, block) {
            return false;
        }
        // Servers that write a list of blocks write the members they have not as null.
        let rules = Rules { null_is_absent: true, ..Rules::default() };
        scratch.with_element.equal(element, block, rules)
    })
}

/// How much of a text is looked at before all of it is, in bytes.
const BEGINNING: usize = 128;

/// Whether a value may be the same as another: when that is an object, it has the first of its members, unless that is null.
/// Spares a look at all the others.
fn has_first_member(value: &[u8], other: &[u8]) -> bool {
    let brace = json::skip_space(other, 0);
    let quote = json::skip_space(other, brace + 1);
    if other.get(brace) != Some(&b'{') || other.get(quote) != Some(&b'"') {
        return true;
    }
    let end = json::end_of_valid_string(other, quote + 1);
    if end == other.len() {
        // Perhaps it is only the beginning of a name.
        return true;
    }
    let name = other.get(quote + 1..end).unwrap_or_default();
    let colon = json::skip_space(other, end + 1);
    let is_null = other.get(json::skip_space(other, colon + 1)) == Some(&b'n');
    let start = json::skip_space(value, 0);
    let whole = Span::new(start, value.len());
    is_null
        || value.get(start) == Some(&b'{')
            && json::members(value, whole).any(|(member, _)| compare_strings(member.of(value), name).is_eq())
}

/// Whether the elements of `list` are the items, one by one. An empty list says nothing that could be said again.
fn same_items(list: &[u8], whole: Span, items: &[&[u8]], mut same: impl FnMut(&[u8], &[u8]) -> bool) -> bool {
    let mut elements = json::elements(list, whole);
    !items.is_empty()
        && items.iter().all(|item| elements.next().is_some_and(|element| same(element.of(list), item)))
        && elements.next().is_none()
}

/// What an object with one member holds.
fn only_member(structured: &[u8]) -> Option<&[u8]> {
    let start = json::skip_space(structured, 0);
    if structured.get(start) != Some(&b'{') {
        return None;
    }
    let mut members = json::members(structured, Span::new(start, structured.len()));
    let (name, mut value) = members.next()?;
    for (other, later) in members {
        if compare_strings(name.of(structured), other.of(structured)).is_ne() {
            return None;
        }
        value = later;
    }
    Some(value.of(structured))
}

/// The inside of the quotes, if the value is a string.
fn inside(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The first byte of a text's JSON: what comes after white space, escapes undone. Other text gives some byte or none.
fn first_byte(raw: &[u8]) -> Option<u8> {
    match raw.first() {
        Some(b' ' | b'\\') => {
            let first = json::decoded(raw).find(|c| !matches!(c, ' ' | '\n' | '\r' | '\t'))?;
            Some(u8::try_from(first).unwrap_or(b'?'))
        }
        first => first.copied(),
    }
}

/// What a value that starts with this byte is: the byte, one for all numbers, or 0 for none.
fn kind(byte: u8) -> u8 {
    match byte {
        b'{' | b'[' | b'"' | b't' | b'f' | b'n' => byte,
        b'-' | b'0'..=b'9' => b'0',
        _ => 0,
    }
}

/// The same of a value; of nothing 1, which no text fits.
fn value_kind(value: &[u8]) -> u8 {
    value.get(json::skip_space(value, 0)).map_or(1, |&byte| kind(byte).max(1))
}

/// Whether a string starts with the character that the joined texts start with.
fn same_start(raw: &[u8], texts: &[&[u8]]) -> bool {
    texts.first().is_some_and(|text| text.is_empty() || json::decoded(text).next() == json::decoded(raw).next())
}

/// Whether a string as it stands between its quotes is this text.
fn decodes_to(raw: &[u8], text: &[u8]) -> bool {
    let mut rest = text;
    json::decoded(raw).all(|c| match rest.strip_prefix(c.encode_utf8(&mut [0; 4]).as_bytes()) {
        Some(after) => {
            rest = after;
            true
        }
        None => false,
    }) && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const ALL: Ways = Ways { block: true, joined: true, wrapped: true };

    fn ask(structured: &str, texts: &[&str], canonical: bool) -> Ways {
        let raws: Vec<String> = texts.iter().map(|text| raw(text)).collect();
        let raws: Vec<&[u8]> = raws.iter().map(|raw| raw.as_bytes()).collect();
        let blocks: Vec<String> = texts.iter().map(|text| json!({"type": "text", "text": text}).to_string()).collect();
        let blocks: Vec<&[u8]> = blocks.iter().map(|block| block.as_bytes()).collect();
        mirror(structured.as_bytes(), &raws, &blocks, ALL, canonical, 128, &mut MirrorScratch::default())
    }

    /// As it stands between its quotes.
    fn raw(text: &str) -> String {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    }

    /// The ways found, as letters.
    fn ways(structured: &str, texts: &[&str]) -> String {
        letters(ask(structured, texts, false))
    }

    fn letters(ways: Ways) -> String {
        [(ways.block, 'b'), (ways.joined, 'j'), (ways.wrapped, 'w')]
            .iter()
            .filter(|way| way.0)
            .map(|way| way.1)
            .collect()
    }

    #[test]
    fn one_block_is_the_same_value() {
        let structured = r#"{"a":[1,"é"],"b":{"c":null}}"#;
        for text in [
            structured,
            " {\"b\": {\"c\": null},\r\n\t\"a\": [1.0, \"\\u00e9\"]} \n",
            r#"{"a":0,"b":{"c":null},"a":[1,"é"]}"#,
        ] {
            assert_eq!(ways(structured, &["Here it is:", text]), "b", "{text}");
        }
        for text in [
            "prose",
            "",
            "{",
            r#"{"a":[1,"é"],"b":{"c":null}}}"#,
            r#"{"a":[1,"é"],"b":{"c":null}"#,
            r#"{"a":[1,"é"],"b":{"c":nulL}}"#,
            r#"{"a":[01,"é"],"b":{"c":null}}"#,
            r#"{"a":[1,"é"],"b":{"c":null},}"#,
            r#"{"a":[1,"é"],"b":{"c":0}}"#,
            "\u{feff}{\"a\":[1,\"é\"],\"b\":{\"c\":null}}",
            "\u{a0}{\"a\":[1,\"é\"],\"b\":{\"c\":null}}",
            "{\"a\":[1,\"é\"],\"b\":{\"c\":null}}\u{a0}",
        ] {
            assert_eq!(ways(structured, &[text]), "", "{text}");
        }
        assert_eq!(ways("5", &["5.0"]), "b");
        assert_eq!(ways("null", &["null"]), "b");
        assert_eq!(ways("[]", &["[ ]"]), "b");
        assert_eq!(ways("\"x\"", &["\"x\""]), "b");
        assert_eq!(ways("\"x\"", &["x"]), "");
    }

    #[test]
    fn texts_are_read_with_their_escapes_undone() {
        let structured = br#"{"a":"\u00e9\n"}"#;
        let mut scratch = MirrorScratch::default();
        for text in
            [r#"{\"a\":\"é\\n\"}"#, r#"\u007b\u0022a":"\u00e9\\u000a"}"#, r#"\n\t {\"a\":\"\\u00e9\\n\"}\u0020"#]
        {
            let found = mirror(structured, &[text.as_bytes()], &[], ALL, false, 128, &mut scratch);
            assert_eq!(letters(found), "b", "{text}");
        }
    }

    #[test]
    fn joined_texts_are_the_same_value() {
        let structured = r#"{"a":[1,2],"b":"x y"}"#;
        assert_eq!(ways(structured, &[r#"{"a":[1,"#, r#"2],"b":"x y"}"#]), "j");
        assert_eq!(ways(structured, &[r#"{"a":[1,2],"b":"x"#, r#" y"}"#]), "j");
        assert_eq!(ways(structured, &[" ", structured, ""]), "bj");
        assert_eq!(ways(structured, &[structured]), "b");
        assert_eq!(ways(structured, &[structured, structured]), "b");
        assert_eq!(ways("[1,2]", &["[1,", "2", "]"]), "j");
        assert_eq!(ways("12", &["1", "2"]), "j");
        assert_eq!(ways("[1,2]", &["[1,", "2"]), "");
    }

    #[test]
    fn the_value_wraps_a_text() {
        for (structured, texts, expected) in [
            (json!({"result": "some \"words\"\n"}), &["some \"words\"\n"][..], "w"),
            (json!({"result": "one"}), &["zero", "one"], "w"),
            (json!({"result": "one\ntwo"}), &["one", "two"], "w"),
            (json!({"result": "onetwo"}), &["one", "two"], "w"),
            (json!({"result": "\ntwo"}), &["", "two"], "w"),
            (json!({"result": "one two"}), &["one", "two"], ""),
            (json!({"result": "words"}), &["other words"], ""),
            (json!({"result": "words", "more": 1}), &["words"], ""),
            (json!({"result": {"a": [1]}}), &["{\"a\": [1.0]}"], "w"),
            (json!({"result": [{"a": 1}, 2]}), &["[{\"a\":1}, 2]"], "w"),
            (json!({"result": [1, 2]}), &["[1,", "2]"], "w"),
            (json!({"result": 5}), &["5"], "w"),
            (json!({"result": true}), &["true"], "w"),
            (json!({"result": 5}), &["6"], ""),
            (json!({"result": "{\"a\":1}"}), &["{\"a\":1}"], "w"),
            (json!({"result": "{\"a\":1}"}), &["{\n  \"a\": 1\n}"], "w"),
            (json!({"result": "{\"a\":1"}), &["{\n  \"a\": 1\n"], ""),
            (json!({"result": "x"}), &["\"x\""], "w"),
            (json!({"result": {}}), &["{}"], "w"),
            (json!({}), &["{}"], "b"),
            (json!({"a": {"a": 1}}), &["{\"a\":{\"a\":1}}", "{\"a\":1}"], "bw"),
        ] {
            assert_eq!(ways(&structured.to_string(), texts), expected, "{structured} {texts:?}");
        }
        assert_eq!(ways(r#"{"r":"old","\u0072":"new"}"#, &["new"]), "w");
        assert_eq!(ways(r#"{"r":"old","\u0072":"new"}"#, &["old"]), "");
        assert_eq!(ways(r#"["words"]"#, &["words"]), "");
    }

    #[test]
    fn the_value_wraps_a_list_of_texts() {
        for (structured, texts, expected) in [
            (json!({"result": ["one", "two"]}), &["one", "two"][..], "w"),
            (json!({"result": ["one"]}), &["one"], "w"),
            (json!({"result": ["two", "one"]}), &["one", "two"], ""),
            (json!({"result": ["one"]}), &["one", "two"], ""),
            (json!({"result": ["one", "two", "three"]}), &["one", "two"], ""),
            (json!({"result": [{"id": 1, "p": 0.5}, {"id": 2}]}), &["{\n \"p\": 0.50, \"id\": 1}", "{\"id\": 2}"], "w"),
            (json!({"result": [{"id": 1}, "word", 3]}), &["{\"id\": 1}", "word", "3"], "w"),
            (json!({"result": [{"id": 1}, {"id": 3}]}), &["{\"id\": 1}", "{\"id\": 2}"], ""),
            (json!({"result": []}), &[], ""),
            (json!({"result": []}), &["[]"], "w"),
        ] {
            assert_eq!(ways(&structured.to_string(), texts), expected, "{structured} {texts:?}");
        }
    }

    #[test]
    fn the_value_wraps_a_list_of_blocks() {
        let text = br#"{"type":"text","text":"a"}"#;
        let image = br#"{"type":"image","data":"AA==","mimeType":"image/png"}"#;
        let find = |structured: &str| {
            mirror(structured.as_bytes(), &[b"a"], &[text, image], ALL, false, 128, &mut MirrorScratch::default())
        };
        let same = r#"{"result":[{"text":"a","type":"text","annotations":null,"_meta":null},
            {"type":"image","data":"AA\u003d=","mimeType":"image/png","annotations":null}]}"#;
        assert_eq!(letters(find(same)), "w");
        assert_eq!(letters(find(&same.replace("image/png", "image/gif"))), "");
        assert_eq!(letters(find(&same.replace("null}]", "0}]"))), "");
        assert_eq!(letters(find(&same.replace("result\":", "result\":0,\"more\":"))), "");
    }

    #[test]
    fn canonical_asks_for_the_spelling_of_ecmascript_in_the_text() {
        let ways = |structured, text| letters(ask(structured, &[text], true));
        assert_eq!(ways("{\"a\":1.0}", "{\"a\":1}"), "b");
        assert_eq!(ways("{\"a\":1}", "{\"a\":1.0}"), "");
        assert_eq!(ways("{\"a\":1.0}", "{\"a\":1.0}"), "");
        assert_eq!(ways("{\"a\":1e3}", "{\"a\":1e3}"), "");
        assert_eq!(ways("{\"a\":9007199254740993}", "{\"a\":9007199254740992}"), "b");
        assert_eq!(ways("{\"a\":-0}", "{\"a\":0}"), "");
        assert_eq!(ways("{\"a\":\"1.0\"}", "{\"a\":\"1.0\"}"), "b");
        assert_eq!(letters(ask("{\"a\":9007199254740993}", &["{\"a\":9007199254740992}"], false)), "");
        assert_eq!(letters(ask("{\"a\":-0}", &["{\"a\":0}"], false)), "b");
    }

    #[test]
    fn only_what_is_wanted_is_looked_for() {
        let block = Ways { block: true, ..Ways::default() };
        let mut scratch = MirrorScratch::default();
        let texts: [&[u8]; 2] = [br#"{\"a\":\"x\"}"#, b"x"];
        let structured = br#"{"a":"x"}"#;
        assert_eq!(mirror(structured, &texts, &[], block, false, 128, &mut scratch), block);
        let wrapped = Ways { wrapped: true, ..Ways::default() };
        assert_eq!(mirror(structured, &texts, &[], wrapped, false, 128, &mut scratch), wrapped);
        assert_eq!(mirror(structured, &texts, &[], Ways::default(), false, 128, &mut scratch), Ways::default());
    }

    #[test]
    fn deeper_json_is_none() {
        let nested = |depth: usize, inside| "[".repeat(depth) + inside + &"]".repeat(depth);
        let text = nested(5, "1.0") + " ";
        let find = |depth| {
            let value = nested(5, "1");
            mirror(value.as_bytes(), &[text.as_bytes()], &[], ALL, false, depth, &mut MirrorScratch::default()).block
        };
        assert!(find(5));
        assert!(!find(4));
        let is_json = |text: &str, depth| text_is_json(text.as_bytes(), depth, &mut MirrorScratch::default());
        assert!(is_json(&text, 5));
        assert!(!is_json(&text, 4));
    }

    #[test]
    fn objects_and_arrays_are_json_texts() {
        let is_json = |text: &str| text_is_json(raw(text).as_bytes(), 128, &mut MirrorScratch::default());
        for good in ["{}", " [1, {\"a\": \"b\"}]\n", "\r\n\t{\"a\":1}"] {
            assert!(is_json(good), "{good}");
        }
        for bad in ["", "1", "null", "\"{}\"", "{} x", "[1,]", "\u{feff}{}", "[INFO] started", "{a}"] {
            assert!(!is_json(bad), "{bad}");
        }
        assert!(text_is_json(br"\u005b\u005d", 128, &mut MirrorScratch::default()));
    }

    /// Each text costs no more than itself, however big the structured value is.
    #[test]
    fn many_texts_are_compared_with_a_big_value() {
        let rows: Vec<Value> = (0..5_000).map(|i| json!({"id": i, "name": format!("row {i}")})).collect();
        let texts: Vec<String> = rows.iter().map(Value::to_string).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(ways(&json!({"result": rows}).to_string(), &texts), "w");
        assert_eq!(ways(&json!({"result": rows, "count": rows.len()}).to_string(), &texts), "");
        assert_eq!(ways(&json!({"id": -1, "result": rows}).to_string(), &texts), "");
        assert_eq!(ways(&format!("{{\"id\":{}}}", "1".repeat(1_000_000)), &texts), "");
    }

    proptest! {
        #[test]
        fn a_value_is_found_however_it_is_written(
            members in proptest::collection::btree_map("[a-cé\"]{0,2}", "[a-c\\\\\n🦊]{0,4}", 0..5),
            pretty in any::<bool>(),
            cut in any::<proptest::sample::Index>(),
        ) {
            let value = json!(members);
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            let structured = value.to_string();
            let wrapped = json!({"result": value}).to_string();
            let as_text = json!({"result": text}).to_string();
            prop_assert!(ask(&structured, &["x", &text], false).block);
            prop_assert!(ask(&wrapped, &["x", &text], false).wrapped);
            prop_assert!(ask(&as_text, &["x", &text], false).wrapped);
            let mut at = cut.index(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let (front, back) = text.split_at(at);
            prop_assert!(ask(&structured, &[front, back], false).joined);
            prop_assert!(ask(&wrapped, &[front, back], false).wrapped);
            prop_assert!(ask(&as_text, &[front, back], false).wrapped);
            prop_assert!(!ask(&structured, &[front], false).block);
        }
    }
}
