//! Equality of JSON texts and the condition `mirror`, against trees and a decimal arithmetic of their own.
//!
//! The input is a JSON text. A list with two elements or more: each is compared with each, as a value and as a number.
//! An object: a result, whose texts are asked whether they mirror its structured value. What is no JSON is compared too;
//! that must end, whatever it says. Each element is compared with itself in another spelling, too: members in another order,
//! with superseded ones among them, escapes, the point elsewhere in numbers; sometimes with another value in it.
#![no_main]

#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use mcp_select::result::equality::{
    EqualityScratch, Rules, is_canonical_number, json_equal, numbers_are_canonical, numbers_equal,
};
use mcp_select::result::json::{Span, elements, member, string_inside, text_of, validate_text};
use mcp_select::result::mirror::{MirrorScratch, Ways, mirror, text_is_json};
use support::tree::Tree;

const ALL: Ways = Ways { block: true, joined: true, wrapped: true };

fuzz_target!(|input: &[u8]| {
    // The scanner has seen to UTF-8 before anything is compared.
    let is_text = std::str::from_utf8(input).is_ok();
    let Some(whole) = validate_text(input, 100).ok().filter(|_| is_text) else {
        let middle = input.len() / 2;
        let mut scratch = EqualityScratch::default();
        scratch.equal(&input[..middle], &input[middle..], Rules::default());
        scratch.equal(input, input, Rules::default());
        return;
    };
    match input[whole.start as usize] {
        b'[' => compare_all(input, whole),
        b'{' => ask_result(input, whole),
        _ => {}
    }
});

// ---- equality -------------------------------------------------------------------------------------------------

fn compare_all(input: &[u8], whole: Span) {
    let values: Vec<(&[u8], Tree)> = elements(input, whole)
        .take(8)
        .map(|span| (span.of(input), Tree::read(span.of(input)).expect("an element is JSON")))
        .collect();
    // One for all: what it remembers must not show.
    let mut scratch = EqualityScratch::default();
    for (right, right_tree) in &values {
        for rules in [
            Rules::default(),
            Rules { doubles: true, ..Rules::default() },
            Rules { null_is_absent: true, ..Rules::default() },
        ] {
            scratch.expect_other_right();
            for (left, left_tree) in &values {
                let found = scratch.equal_again(left, right, rules);
                assert_eq!(found, same(left_tree, right_tree, rules), "{rules:?}: {} and {}", show(left), show(right));
            }
        }
        for (left, left_tree) in &values {
            if let (Tree::Number(a), Tree::Number(b)) = (left_tree, right_tree) {
                assert_eq!(numbers_equal(a.as_bytes(), b.as_bytes()), exact(a) == exact(b), "{a} and {b}");
            }
            assert_eq!(json_equal(left, right), json_equal(right, left), "{} and {}", show(left), show(right));
        }
        for salt in 0..3 {
            let mut spelling = Spelling { state: hash(right) ^ salt, changes: salt == 2 };
            let other = spelling.value(right_tree);
            let other_tree = Tree::read(other.as_bytes()).expect("another spelling is JSON");
            let expected = same(right_tree, &other_tree, Rules::default());
            assert!(expected || spelling.changes, "the judge: {} and {other}", show(right));
            assert_eq!(json_equal(right, other.as_bytes()), expected, "{} and {other}", show(right));
            assert_eq!(json_equal(other.as_bytes(), right), expected, "{other} and {}", show(right));
        }
        let mut numbers = Vec::new();
        right_tree.walk(&mut |_, value| numbers.extend(as_number(value)));
        for number in &numbers {
            let spelled = canonical(number);
            assert_eq!(
                is_canonical_number(number.as_bytes()),
                spelled.as_deref() == Some(*number),
                "{number}: {spelled:?}"
            );
        }
        let all = numbers.iter().all(|number| canonical(number).as_deref() == Some(*number));
        assert_eq!(numbers_are_canonical(right), all, "{}", show(right));
    }
}

fn show(json: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(json)
}

fn as_number(tree: &Tree) -> Option<&str> {
    if let Tree::Number(number) = tree { Some(number) } else { None }
}

/// Whether two trees are the same value: members in any order, of repeated ones the last.
fn same(a: &Tree, b: &Tree, rules: Rules) -> bool {
    match (a, b) {
        (Tree::Number(a), Tree::Number(b)) if rules.doubles => {
            a.parse::<f64>().unwrap().to_bits() == b.parse::<f64>().unwrap().to_bits()
        }
        (Tree::Number(a), Tree::Number(b)) => exact(a) == exact(b),
        (Tree::List(a), Tree::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, rules)),
        (Tree::Object(_), Tree::Object(_)) => {
            let counts = |value: &&Tree| !rules.null_is_absent || **value != Tree::Null;
            let within = |of: &Tree, other: &Tree| {
                of.members().iter().all(|(name, _)| {
                    let (own, others) = (of.get(name).filter(counts), other.get(name).filter(counts));
                    own.is_none_or(|own| others.is_some_and(|others| same(own, others, rules)))
                })
            };
            within(a, b) && within(b, a)
        }
        _ => a == b,
    }
}

/// A number as sign, digits without zeros at the ends, and the power of ten of the first digit, itself a decimal.
fn exact(number: &str) -> (bool, String, String) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let digits = mantissa.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_start_matches('0');
    if kept.is_empty() {
        return (false, String::new(), String::new());
    }
    let zeros = all.len() - kept.len();
    let power = add(exponent, whole.len() as i64 - zeros as i64);
    (number.starts_with('-'), kept.trim_end_matches('0').to_owned(), power)
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

/// Another spelling of a value.
struct Spelling {
    state: u64,
    /// Once in a while something else takes the place of a scalar.
    changes: bool,
}

impl Spelling {
    fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap() % n
    }

    fn space(&mut self) -> &'static str {
        ["", "", " ", "\n\t"][self.below(4)]
    }

    fn value(&mut self, tree: &Tree) -> String {
        let scalar = !matches!(tree, Tree::List(_) | Tree::Object(_));
        if self.changes && scalar && self.below(8) == 0 {
            return ["1", "null", "\"\"", "{}"][self.below(4)].into();
        }
        match tree {
            Tree::Null => "null".into(),
            Tree::Bool(value) => value.to_string(),
            Tree::Number(number) => self.number(number),
            Tree::Text(text) => self.string(text),
            Tree::List(elements) => {
                let elements: Vec<String> =
                    elements.iter().map(|element| format!("{}{}", self.space(), self.value(element))).collect();
                format!("[{}{}]", elements.join(","), self.space())
            }
            Tree::Object(_) => {
                let last = tree.last_of_each();
                let mut order: Vec<usize> = (0..last.members().len()).collect();
                (1..order.len()).for_each(|at| order.swap(at, self.below(at + 1)));
                let mut members = Vec::new();
                for (name, value) in order.into_iter().map(|at| &last.members()[at]) {
                    // One that is superseded stands anywhere before.
                    if self.below(6) == 0 {
                        let at = self.below(members.len() + 1);
                        let value = ["{\"a\":[{}]}", "1", "[[]]", "\"}\""][self.below(4)];
                        members.insert(at, format!("{}:{value}", self.string(name)));
                    }
                    let (name, value) = (self.string(name), self.value(value));
                    members.push(format!("{}{name}{}:{}{value}", self.space(), self.space(), self.space()));
                }
                format!("{{{}{}}}", members.join(","), self.space())
            }
        }
    }

    fn string(&mut self, text: &str) -> String {
        let plain = serde_json::to_string(text).unwrap();
        match self.below(3) {
            0 => format!("\"{}\"", text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>()),
            _ => plain,
        }
    }

    /// The same number with its point elsewhere, the exponent making up for it.
    fn number(&mut self, number: &str) -> String {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let Ok(exponent) = exponent.parse::<i64>() else { return number.into() };
        if exponent.abs() > 1 << 60 || self.below(4) == 0 {
            return number.into();
        }
        let digits = mantissa.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        let all = all.trim_start_matches('0');
        let all = if all.is_empty() { "0" } else { all };
        let sign = if number.starts_with('-') { "-" } else { "" };
        let zeros = if all == "0" { 0 } else { self.below(40) };
        let power = exponent - i64::try_from(fraction.len()).unwrap();
        match self.below(3) {
            0 => format!("{sign}{all}{}E{}", "0".repeat(zeros), power - i64::try_from(zeros).unwrap()),
            1 => format!("{sign}0.{}{all}e{:+}", "0".repeat(zeros), power + i64::try_from(zeros + all.len()).unwrap()),
            _ => format!("{sign}{all}e{}{}", if power < 0 { "-0" } else { "+00" }, power.abs()),
        }
    }
}

/// A decimal of any length plus a small number, digit by digit.
fn add(decimal: &str, more: i64) -> String {
    let negative = decimal.starts_with('-');
    let digits = decimal.trim_start_matches(['-', '+']);
    // Least digit first; each keeps the sign of the whole, and carries go up.
    let mut sum: Vec<i64> = digits.bytes().rev().map(|d| i64::from(d - b'0') * if negative { -1 } else { 1 }).collect();
    sum.resize(sum.len() + 20, 0);
    sum[0] += more;
    for place in 0..sum.len() - 1 {
        sum[place + 1] += sum[place].div_euclid(10);
        sum[place] = sum[place].rem_euclid(10);
    }
    // Ten's complement: the last place tells the sign, and is all there is to add.
    let text: String = sum.iter().rev().skip(1).map(ToString::to_string).collect();
    format!("{}:{}", sum[sum.len() - 1], normal(&text, sum[sum.len() - 1]))
}

/// Without the digits that only fill up: zeros before a positive number, nines before a negative one.
fn normal(digits: &str, sign: i64) -> String {
    digits.trim_start_matches(if sign < 0 { '9' } else { '0' }).to_owned()
}

/// A JSON number as ECMAScript writes it (Number::toString, radix 10); `None` for what overflows.
fn canonical(number: &str) -> Option<String> {
    let value: f64 = number.parse().unwrap();
    if !value.is_finite() {
        return None;
    }
    if value == 0.0 {
        return Some("0".into());
    }
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap();
    let digits = mantissa.replace('.', "");
    // The steps of the specification: k digits, n their place.
    let (k, n) = (digits.len() as i64, exponent.parse::<i64>().unwrap() + 1);
    let sign = if value < 0.0 { "-" } else { "" };
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap());
    let text = if k <= n && n <= 21 {
        format!("{digits}{}", zeros(n - k))
    } else if 0 < n && n <= 21 {
        let (whole, fraction) = digits.split_at(usize::try_from(n).unwrap());
        format!("{whole}.{fraction}")
    } else if -6 < n && n <= 0 {
        format!("0.{}{digits}", zeros(-n))
    } else {
        let point = if k == 1 { "" } else { "." };
        format!("{}{point}{}e{:+}", &digits[..1], &digits[1..], n - 1)
    };
    Some(format!("{sign}{text}"))
}

// ---- mirror ---------------------------------------------------------------------------------------------------

fn ask_result(input: &[u8], whole: Span) {
    let Some(structured) = member(input, whole, "structuredContent") else { return };
    let content = member(input, whole, "content").filter(|content| content.of(input).starts_with(b"["));
    let Some(content) = content else { return };
    let blocks: Vec<&[u8]> = elements(input, content).take(6).map(|span| span.of(input)).collect();
    let text = |block: &&[u8]| {
        let whole = Span::new(0, block.len());
        let inside = (block[0] == b'{').then(|| member(block, whole, "text")).flatten();
        inside.and_then(|value| string_inside(block, value)).map(|inside| inside.of(block).to_vec())
    };
    let raws: Vec<Vec<u8>> = blocks.iter().filter_map(text).collect();
    let raws: Vec<&[u8]> = raws.iter().map(Vec::as_slice).collect();
    let texts: Vec<String> = raws.iter().map(|raw| text_of(raw).into_owned()).collect();
    let structured = structured.of(input);
    let value = Tree::read(structured).expect("the structured value is JSON");
    let trees: Vec<Tree> = blocks.iter().map(|block| Tree::read(block).expect("a block is JSON")).collect();
    let mut scratch = MirrorScratch::default();
    for canonical in [false, true] {
        let found = mirror(structured, &raws, &blocks, ALL, canonical, 100, &mut scratch);
        let expected = expected(&value, &texts, &trees, canonical);
        assert_eq!(found, expected, "canonical: {canonical}\n{}", show(input));
        for wanted in [
            Ways { block: true, ..Ways::default() },
            Ways { joined: true, ..Ways::default() },
            Ways { wrapped: true, ..Ways::default() },
        ] {
            let one = mirror(structured, &raws, &blocks, wanted, canonical, 100, &mut scratch);
            let same = |asked: bool, one: bool, all: bool| one == (asked && all);
            assert!(
                same(wanted.block, one.block, found.block)
                    && same(wanted.joined, one.joined, found.joined)
                    && same(wanted.wrapped, one.wrapped, found.wrapped),
                "{wanted:?} alone is {one:?}, all are {found:?}\n{}",
                show(input)
            );
        }
    }
    for (raw, text) in raws.iter().zip(&texts) {
        let expected = text.trim_matches(SPACE).starts_with(['{', '[']) && read(text).is_some();
        assert_eq!(text_is_json(raw, 100, &mut scratch), expected, "{text:?}");
    }
}

const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

fn read(text: &str) -> Option<Tree> {
    validate_text(text.as_bytes(), 100).ok()?;
    Tree::read(text.as_bytes())
}

/// What the documentation of `mirror` says, by trees.
fn expected(value: &Tree, texts: &[String], blocks: &[Tree], canonical: bool) -> Ways {
    let rules = Rules { doubles: canonical, ..Rules::default() };
    let is_json = |text: &str, value: &Tree| {
        read(text).is_some_and(|tree| same(&tree, value, rules) && (!canonical || is_canonical(&tree)))
    };
    let joined: Vec<String> = if texts.len() > 1 { vec![texts.concat(), texts.join("\n")] } else { Vec::new() };
    let wraps = |inner: &Tree| {
        let all = || texts.iter().chain(&joined);
        let texts_are = |list: &[Tree]| {
            let says = |(value, text): (&Tree, &String)| value.text() == Some(&**text) || is_json(text, value);
            !list.is_empty() && list.len() == texts.len() && list.iter().zip(texts).all(says)
        };
        let blocks_are = |list: &[Tree]| {
            let rules = Rules { null_is_absent: true, ..Rules::default() };
            !list.is_empty() && list.len() == blocks.len() && list.iter().zip(blocks).all(|(a, b)| same(a, b, rules))
        };
        let as_json = inner.text().and_then(read).filter(|tree| matches!(tree, Tree::List(_) | Tree::Object(_)));
        all().any(|text| inner.text() == Some(text))
            || all().any(|text| is_json(text, inner))
            || as_json.is_some_and(|inner| all().any(|text| is_json(text, &inner)))
            || matches!(inner, Tree::List(list) if texts_are(list) || blocks_are(list))
    };
    let names: std::collections::BTreeSet<&str> = value.members().iter().map(|(name, _)| &**name).collect();
    let inner = (names.len() == 1).then(|| &value.members().last().unwrap().1);
    Ways {
        block: texts.iter().any(|text| is_json(text, value)),
        joined: joined.iter().any(|text| is_json(text, value)),
        wrapped: inner.is_some_and(wraps),
    }
}

fn is_canonical(tree: &Tree) -> bool {
    let mut all = true;
    tree.walk(&mut |_, value| {
        all &= as_number(value).is_none_or(|number| canonical(number).as_deref() == Some(number))
    });
    all
}
