//! Coverage by example, against a plain reading of its definition on random input, and under hostile input.

use std::collections::HashSet;

use proptest::prelude::*;

use super::{Coverage, Measured, fold};
use crate::result::json::{self, Span};

fn measure(structured: &str, blocks: &[&str]) -> (u32, u32, Vec<String>) {
    let mut coverage = Coverage::new();
    let Measured { covered, total } =
        coverage.measure(structured.as_bytes(), blocks.iter().map(|block| block.as_bytes())).unwrap();
    (covered, total, coverage.missing().to_vec())
}

/// A text block.
fn block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}

fn quote(text: &str) -> String {
    let mut out = b"\"".to_vec();
    json::escape_into(text.as_bytes(), &mut out);
    out.push(b'"');
    String::from_utf8(out).unwrap()
}

/// The leaves of `structured` that `text` does not cover.
fn missing(structured: &str, text: &str) -> Vec<String> {
    let found = measure(structured, &[&block(text)]);
    assert_eq!(found, naive::measure(structured, &[&block(text)]), "{structured} in {text:?}");
    found.2
}

fn covers(leaf: &str, text: &str) -> bool {
    missing(&format!("[{leaf}]"), text).is_empty()
}

#[test]
fn leaves_are_distinct_strings_and_numbers() {
    let total = |structured: &str| {
        let (covered, total, _) = measure(structured, &[]);
        assert_eq!(covered, 0);
        total
    };
    assert_eq!(total(r#"{"a":[true,false,null,{"b":{}}],"c":[]}"#), 0);
    assert_eq!(total(r#""one""#), 1);
    assert_eq!(total("-1.5"), 1);
    assert_eq!(total("null"), 0);
    assert_eq!(total(r#"["Berlin","BERLIN"," berlin\n","b\u0065rlin","Berlin Mitte","berlin \t\u00a0MITTE"]"#), 2);
    assert_eq!(total(r#"[1,1.0,10e-1,0.1E+1,100e-2,-1]"#), 2);
    assert_eq!(total(r#"[0,-0,0.0,0e7,-0.00E-3]"#), 1);
    assert_eq!(total(r#"[12345678901234567890123,12345678901234567890124,1.2345678901234567890123e22]"#), 2);
    assert_eq!(total(r#"["","  ","\n\t","\u200b","\ufeff \u00ad"]"#), 0);
    assert_eq!(total(r#"["1",1]"#), 2);
}

#[test]
fn of_a_repeated_member_the_last_counts() {
    assert_eq!(missing(r#"{"a":"lost","b":["kept"],"\u0061":"last"}"#, "kept"), ["last"]);
    let nested = r#"{"a":{"a":"x1x1","a":"x2x2"},"b":{"a":"x3x3"},"a":[1,{"a":"x4x4"}]}"#;
    assert_eq!(missing(nested, ""), ["x3x3", "1", "x4x4"]);
    let many: String = (0..100).map(|i| format!(r#""k{}":"value {i}","#, i % 60)).collect();
    assert_eq!(measure(&format!(r#"{{{many}"end":0}}"#), &[]).1, 61);
}

#[test]
fn without_leaves_nothing_is_missing() {
    let measured = Coverage::new().measure(b"{}", std::iter::empty()).unwrap();
    assert_eq!((measured.covered, measured.total), (0, 0));
    assert!((measured.share() - 1.0).abs() < f64::EPSILON);
    assert!((Measured { covered: 1, total: 4 }.share() - 0.25).abs() < f64::EPSILON);
}

#[test]
fn letter_case_and_white_space_do_not_matter() {
    assert!(covers(r#""Hello World""#, "say hello\n\t  WORLD!"));
    assert!(covers(r#""  Hello\u3000World ""#, "HELLO WORLD"));
    assert!(!covers(r#""Hello World""#, "helloworld"));
    assert!(!covers(r#""HelloWorld""#, "hello world"));
    assert!(covers(r#""STRASSE ÉCOLE""#, "strasse école"));
    assert!(covers("\"\u{212A}elvin ſet\"", "kelvin SET"));
    assert!(covers(r#""kelvin set""#, "\u{212A}ELVIN ſET"));
    assert!(covers(r#""ΟΔΥΣΣΕΥΣ""#, "οδυσσευς"));
    assert!(covers(r#""5 µm µm""#, "5 μM Μm"));
    assert!(!covers(r#""straße""#, "STRASSE"));
}

#[test]
fn json_inside_a_text_is_read_with_its_escapes_undone() {
    assert!(covers(r#""say \"hi\" now""#, r#"{"a":"say \"hi\" now"}"#));
    assert!(covers(r#""café au lait""#, r#"{"a":"Caf\u00E9 au lait"}"#));
    assert!(covers(r#""a/b/c/d""#, r#"{"a":"a\/b\/c\/d"}"#));
    assert!(covers(r#""one\ntwo three""#, r#"{"a":"one\r\n  two\tthree"}"#));
    assert!(covers(r#""C:\\Users\\new""#, r"C:\Users\new"));
    assert!(covers(r#""\ud83e\udd8a den""#, r#""\ud83e\udd8a den""#));
    assert!(covers(r#""yes""#, r#"{"a":"\nyes\n"}"#));
    assert!(covers("5", r#"{"a":"\u20ac5"}"#));
    assert!(!covers(r#""say \"hi\" now""#, r#"say \\\"hi\\\" now"#));
}

#[test]
fn short_strings_stand_as_words() {
    assert!(covers(r#""id""#, "the ID."));
    assert!(!covers(r#""id""#, "idle, hidden, fluid, id3, 5id, ide\u{301}"));
    assert!(!covers(r#""e""#, "e\u{301}"));
    assert!(covers(r#""C#""#, "in C# and"));
    assert!(covers(r#""%""#, "100%"));
    assert!(covers(r#""a-a""#, "ba-a-a"));
    assert!(covers(r#""a b""#, "x a \n b"));
    assert!(covers(r#""東京""#, "東京都"));
    assert!(covers(r#""東""#, "a東b"));
    assert!(covers(r#""ไทย""#, "ภาษาไทยครับ"));
    assert!(covers(r#""ab""#, "東ab京"));
    assert!(!covers(r#""한국""#, "한국어"));
    assert!(covers(r#""한국""#, "한국 (KR)"));
    assert!(covers(r#""abcd""#, "xabcdx"));
    // More than eight of them are found in one pass.
    let leaves: Vec<String> = "a b c d e f g h i j 東 京 xy é".split(' ').map(quote).collect();
    assert_eq!(
        missing(&format!("[{}]", leaves.join(",")), "ab b. (c) d1 e f-g xyz Xy 東京 É"),
        ["a", "d", "h", "i", "j"]
    );
}

#[test]
fn numbers_stand_as_numbers() {
    let yes = [
        ("3", "3"),
        ("3", "(3)"),
        ("3", "v3"),
        ("3", "3px"),
        ("600", "800x600"),
        ("22.5", "22.50"),
        ("22.50", "22.5"),
        ("22.5", "022.500°C"),
        ("1234", "1,234"),
        ("1", "1,234"),
        ("234", "1,234"),
        ("1234567.89", "1,234,567.89"),
        ("1234567", "1'234'567"),
        ("1234567", "1_234_567"),
        ("1000", "1e3"),
        ("1e3", "1000"),
        ("0.001", "1E-3"),
        ("1.5e10", "15000000000"),
        ("-5", "-5"),
        ("-5", "\u{2212}5"),
        ("11", "2024-11"),
        ("3", "2024-11-03"),
        ("2024", "2024-11-03T12:30:00Z"),
        ("12", "2024-11-03T12:30:00Z"),
        ("10", "10.0.0.1"),
        ("3", "03.11.2024"),
        ("0.5", ".5"),
        ("-0.5", "-.5"),
        ("5", "No.5"),
        ("5", "...5"),
        ("5", "5."),
        ("2.5", "[1,2.5,3]"),
        ("3", "[1,2.5,3]"),
        ("5", "+5"),
        ("5", "2+5"),
        ("5", "item_5"),
        ("0", "-0"),
        ("12", "12e"),
        ("12", "12e5f"),
        ("5", "12e5f"),
        ("5", "€5"),
        ("5", "5€"),
        ("5", "5%"),
        ("5", "第5章"),
        ("-5", "[-5]"),
        ("5", "{\"a\":5}"),
        ("100000", "1e5、"),
        ("12345678901234567890.5", "12,345,678,901,234,567,890.50"),
        ("3", "1.2.3"),
        ("1", "1.2.3"),
    ];
    for (leaf, text) in yes {
        assert!(covers(leaf, text), "{leaf} in {text}");
        let many: String = (0..20).map(|i| format!("{}.75,", i + 1_000_000)).collect();
        assert!(!missing(&format!("[{many}{leaf}]"), text).contains(&leaf.to_owned()), "{leaf} among many in {text}");
    }
    let no = [
        ("3", "13"),
        ("3", "31"),
        ("3", "3.1"),
        ("3", "1.3"),
        ("5", "-5"),
        ("-5", "5"),
        ("5", "\u{2212}5"),
        ("1", "1e3"),
        ("3", "1e3"),
        ("12", "1,2"),
        ("1234", "1,23,4"),
        ("1234", "01,234"),
        ("1234", "1,234_567"),
        ("1.2", "1.2.3"),
        ("2.3", "1.2.3"),
        ("22.5", "22,5"),
        ("5", ".5"),
        ("1234567", "1,234.567"),
        ("12345678901234567890", "12345678901234567891"),
        ("5", "five"),
        ("5", "５"),
        ("1000000000000000000000", "1000000000000000000001"),
        ("1234", "1,,234"),
        ("1234", "1, 234"),
    ];
    for (leaf, text) in no {
        assert!(!covers(leaf, text), "{leaf} in {text}");
    }
    assert!(!covers(r#""5""#, "15"), "a string of digits is a word");
    assert!(covers(r#""-""#, "a-b"));
}

#[test]
fn only_some_members_of_a_block_are_searched() {
    let structured = r#"["needle in hay"]"#;
    let covered = |block: &str| {
        let found = measure(structured, &[block]);
        assert_eq!(found, naive::measure(structured, &[block]), "{block}");
        found.0 == 1
    };
    for member in ["text", "name", "title", "description", r"te\u0078t"] {
        assert!(covered(&format!(r#"{{"{member}":"a needle in hay!"}}"#)), "{member}");
        assert!(covered(&format!(r#" {{ "resource" : {{"{member}":"a needle in hay!"}} }} "#)), "{member}");
        assert!(!covered(&format!(r#"{{"other":{{"{member}":"a needle in hay!"}}}}"#)), "{member}");
        assert!(!covered(&format!(r#"{{"resource":{{"resource":{{"{member}":"a needle in hay!"}}}}}}"#)));
        assert!(!covered(&format!(r#"{{"{member}":["a needle in hay!"]}}"#)), "{member}");
        assert!(covered(&format!(r#"{{"{member}":["Needle  in hay"]}}"#)), "{member}");
        assert!(!covered(&format!(r#"{{"{member}":"a needle in hay!","{member}":"none"}}"#)), "{member}");
    }
    for block in [
        r#"{"uri":"needle in hay"}"#,
        r#"{"x":[{"y":"NEEDLE\nin hay"}]}"#,
        r#"["needle in hay"]"#,
        r#""needle in hay""#,
        r#"{"resource":"needle in hay"}"#,
    ] {
        assert!(covered(block), "{block}");
    }
    for block in
        [r#"{"uri":"a needle in hay"}"#, r#"{"needle in hay":1}"#, r#"{"x":{"needle in hay" :1}}"#, "7", "{}", "[]"]
    {
        assert!(!covered(block), "{block}");
    }
}

#[test]
fn nothing_matches_across_blocks() {
    let (one, two) = (block("needle "), block("in hay"));
    assert_eq!(measure(r#"["needle in hay",12]"#, &[&one, &two]).0, 0);
    assert_eq!(measure("[12]", &[&block("1"), &block("2")]).0, 0);
    let words = measure(r#"["id",-2]"#, &[&block("x-"), &block("id"), &block("-"), &block("2")]);
    assert_eq!(words.0, 1);
}

#[test]
fn missing_leaves_are_named_in_order_and_shortened() {
    let long = "Ä".repeat(81);
    let structured =
        format!(r#"{{"a":1.50,"b":"Two\nLines","c":["there",{{"d":{}}}],"e":-3e2,"f":"x","g":"y"}}"#, quote(&long));
    let found = missing(&structured, "there");
    assert_eq!(found, ["1.50", "Two\nLines", &("Ä".repeat(79) + "…"), "-3e2", "x"]);
    let fits = "Ä".repeat(80);
    assert_eq!(missing(&quote(&fits), ""), [fits]);
}

#[test]
fn what_is_over_budget_is_not_measured() {
    let mut coverage = Coverage::new();
    let mut total = |leaves: &[String]| {
        let structured = format!("[{}]", leaves.join(","));
        coverage.measure(structured.as_bytes(), std::iter::empty()).map(|measured| measured.total)
    };
    let numbers = |n: u32| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    assert_eq!(total(&numbers(16_384)), Some(16_384));
    assert_eq!(total(&numbers(16_385)), None);
    assert_eq!(total(&[numbers(16_384), numbers(16_384), vec!["\"\"".to_owned()]].concat()), Some(16_384));
    let text = |n: usize| quote(&"é".repeat(n / 2));
    assert_eq!(total(&[text(1 << 20)]), Some(1));
    assert_eq!(total(&[text(1 << 20), text(1 << 20)]), Some(1));
    assert_eq!(total(&[text(1 << 20), "\"x\"".to_owned()]), None);
    assert_eq!(total(&[text((1 << 20) + 2)]), None);
    assert_eq!(total(&["1".repeat(1 << 21), "2".repeat(1 << 21)]), None);
    // Nothing of all this stays.
    assert_eq!(total(&numbers(3)), Some(3));
}

#[test]
fn buffers_used_again_give_the_same_answer() {
    let mut coverage = Coverage::new();
    for round in 0..3 {
        for (structured, text, share) in [
            (r#"["alpha beta",3]"#, "alpha\nbeta 3", 1.0),
            (r#"["gamma",3.5]"#, "3.5", 0.5),
            ("[]", "", 1.0),
            (r#"["a"]"#, "", 0.0),
        ] {
            let block = block(text);
            let measured = coverage.measure(structured.as_bytes(), [block.as_bytes()].into_iter()).unwrap();
            assert!((measured.share() - share).abs() < f64::EPSILON, "{structured} in round {round}");
            assert_eq!(coverage.missing().is_empty(), (share - 1.0).abs() < f64::EPSILON);
        }
    }
}

#[test]
fn nasty_texts_are_read_to_their_end() {
    // Each would take minutes if any step went back over what it has read.
    let structured =
        r#"["a-a","x y","东京市区","needle in hay",7.5,-3,1e9,"ab","cd","ef","gh","ij","kl","mn","op","qr"]"#;
    let pieces = [
        "1,234",
        "1,",
        "1.",
        "1e1",
        "1e",
        "9",
        "0",
        "-",
        "a-",
        "a a ",
        " \n",
        "\\u0041",
        "\\",
        "x ",
        "京",
        "é",
        "\u{a0}",
        "needle ",
        "needle  in ",
    ];
    for piece in pieces {
        let block = block(&piece.repeat(300_000 / piece.len()));
        let measured = Coverage::new().measure(structured.as_bytes(), [block.as_bytes()].into_iter()).unwrap();
        assert!(measured.covered < 6, "{piece:?}");
        // The same as the value.
        let blocks = [&br#"{"text":"-"}"#[..]].into_iter();
        Coverage::new().measure(quote(&piece.repeat(300_000 / piece.len())).as_bytes(), blocks).unwrap();
    }
    for (open, close) in [(r#"{"a":"#, "}"), ("[", "]")] {
        let deep = format!("{}\"leaf\"{}", open.repeat(128), close.repeat(128));
        assert_eq!(measure(&deep, &[]).1, 1);
        let wide = format!("[{}0]", r#"{"a":1,"b":2,"a":3},"#.repeat(20_000));
        assert_eq!(measure(&wide, &[]).1, 3);
    }
}

/// Text and leaves of a test of work, and what may be done for it: a few steps for each byte.
fn work_of(leaves: &[String], text: &str) -> (u32, f64) {
    let structured = format!("[{}]", leaves.iter().map(|leaf| quote(leaf)).collect::<Vec<_>>().join(","));
    let mut coverage = Coverage::new();
    let measured = coverage.measure(structured.as_bytes(), [block(text).as_bytes()].into_iter()).unwrap();
    let size = structured.len() + text.len();
    (measured.covered, f64::from(u32::try_from(coverage.work()).unwrap()) / f64::from(u32::try_from(size).unwrap()))
}

#[test]
fn nested_leaves_cost_linear_work() {
    // 800 leaves, each a part of the next, and one of 80 KB round them all.
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let long: String = (0..80_000).map(|i: usize| char::from(letters.as_bytes()[(i * i / 7 + i) % 26])).collect();
    let mut leaves: Vec<String> = (0..800).map(|i| long[40_000 - i / 2..40_004 + i / 2 + i % 2].to_owned()).collect();
    leaves.push(long.clone());
    let (covered, work) = work_of(&leaves, &long);
    assert_eq!(covered, 801);
    assert!(work < 8.0, "{work} steps a byte");

    let mut leaves: Vec<String> = (4..800).map(|n| "a".repeat(n)).collect();
    leaves.push("a".repeat(80_000));
    for text in ["a".repeat(80_000), "a".repeat(79_999), "ab".repeat(40_000)] {
        let (_, work) = work_of(&leaves, &text);
        assert!(work < 8.0, "{work} steps a byte");
    }
}

#[test]
fn leaves_with_a_common_beginning_cost_linear_work() {
    let beginning = "a".repeat(60);
    let leaves: Vec<String> = (0..5_000).map(|i| format!("{beginning}{i}")).collect();
    for size in [20_000, 200_000] {
        let (covered, work) = work_of(&leaves, &"a".repeat(size));
        assert_eq!(covered, 0);
        assert!(work < 8.0, "{work} steps a byte");
    }
    // The same where the differing part is too short to be a gram of its own.
    let leaves: Vec<String> =
        (0..5_000).map(|i| format!("{beginning}{}{beginning}", char::from_u32(0x4e00 + i).unwrap())).collect();
    let (_, work) = work_of(&leaves, &"a".repeat(200_000));
    assert!(work < 8.0, "{work} steps a byte");
}

#[test]
fn honest_input_stays_within_the_budget() {
    let leaves: Vec<String> =
        (0..6_000).map(|i| format!("https://example.com/team/project-{}/issues/{i}", i % 7)).collect();
    let (covered, work) = work_of(&leaves, &leaves.join("\n"));
    assert_eq!(covered, 6_000);
    assert!(work < 4.0, "{work} steps a byte");
}

/// The definition of coverage, written down as plainly as possible.
mod naive {
    use super::*;

    enum Value {
        String(String),
        Number(String),
        Array(Vec<Value>),
        Object(Vec<(String, Value)>),
        Other,
    }

    fn parse(text: &str) -> Value {
        let bytes = text.as_bytes();
        let string = |raw: Span| json::decoded(raw.of(bytes)).collect::<String>();
        let text_of = |span: Span| std::str::from_utf8(span.of(bytes)).unwrap();
        let whole = json::validate_text(bytes, 128).unwrap();
        match bytes[whole.start as usize] {
            b'"' => Value::String(string(json::string_inside(bytes, whole).unwrap())),
            b'[' => Value::Array(json::elements(bytes, whole).map(|span| parse(text_of(span))).collect()),
            b'{' => Value::Object(
                json::members(bytes, whole).map(|(name, span)| (string(name), parse(text_of(span)))).collect(),
            ),
            b't' | b'f' | b'n' => Value::Other,
            _ => Value::Number(text_of(whole).to_owned()),
        }
    }

    /// Strings and numbers in document order, without superseded members.
    fn leaves<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
        match value {
            Value::String(_) | Value::Number(_) => out.push(value),
            Value::Array(elements) => elements.iter().for_each(|element| leaves(element, out)),
            Value::Object(members) => {
                for (i, (name, value)) in members.iter().enumerate() {
                    if members[i + 1..].iter().all(|(later, _)| later != name) {
                        leaves(value, out);
                    }
                }
            }
            Value::Other => {}
        }
    }

    fn strings(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::String(text) => out.push(text.clone()),
            Value::Array(elements) => elements.iter().for_each(|element| strings(element, out)),
            Value::Object(members) => members.iter().for_each(|(_, value)| strings(value, out)),
            _ => {}
        }
    }

    fn read_block(block: &Value, depth: u32, texts: &mut Vec<String>, whole: &mut Vec<String>) {
        let Value::Object(members) = block else { return strings(block, whole) };
        for (i, (name, value)) in members.iter().enumerate() {
            let special = ["text", "name", "title", "description", "resource"].contains(&name.as_str());
            if special && members[i + 1..].iter().any(|(later, _)| later == name) {
                continue;
            }
            match value {
                Value::String(text) if special && name != "resource" => texts.push(text.clone()),
                _ if name == "resource" && depth == 0 => read_block(value, 1, texts, whole),
                _ => strings(value, whole),
            }
        }
    }

    fn fold(text: &str) -> String {
        text.chars().map(super::fold::fold_char).collect()
    }

    fn normal(text: &str) -> String {
        fold(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn collapse(text: &str) -> String {
        let mut out = String::new();
        for c in fold(text).chars() {
            if !c.is_whitespace() {
                out.push(c);
            } else if !out.ends_with(' ') {
                out.push(' ');
            }
        }
        out
    }

    fn unescape(text: &str) -> String {
        let mut out = Vec::new();
        super::fold::unescape_into(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    fn contains(text: &str, leaf: &str) -> bool {
        if leaf.chars().count() >= 4 {
            return text.contains(leaf);
        }
        let joins =
            |a: Option<char>, b: Option<char>| a.is_some_and(super::fold::joins) && b.is_some_and(super::fold::joins);
        text.char_indices().any(|(at, first)| {
            let Some(rest) = text[at..].strip_prefix(leaf) else { return false };
            !joins(text[..at].chars().next_back(), Some(first)) && !joins(leaf.chars().next_back(), rest.chars().next())
        })
    }

    /// A number as its sign, its digits without zeros at the ends, and a power of ten.
    fn canonical(negative: bool, digits: &str, exponent: i64) -> String {
        let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
        let all = digits.replace('.', "");
        let all = all.trim_start_matches('0');
        let kept = all.trim_end_matches('0');
        if kept.is_empty() {
            return "0".to_owned();
        }
        let power = exponent - fraction + (all.len() - kept.len()) as i64;
        format!("{}{kept}e{power}", if negative { "-" } else { "" })
    }

    fn power_of(text: &str) -> i64 {
        let most = 1_000_000_000_000_000;
        text.parse::<i64>().map_or(if text.starts_with('-') { -most } else { most }, |power| power.clamp(-most, most))
    }

    fn value_of(number: &str) -> String {
        let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        canonical(number.starts_with('-'), digits.trim_start_matches('-'), power_of(exponent))
    }

    /// All numbers that stand in a text.
    fn numbers(text: &str) -> HashSet<String> {
        let chars: Vec<char> = text.chars().collect();
        let at = |i: usize| chars.get(i).copied().unwrap_or('\n');
        let mut found = HashSet::new();
        let mut start = 0;
        while start < chars.len() {
            if !at(start).is_ascii_digit() {
                start += 1;
                continue;
            }
            let mut end = start;
            while at(end).is_ascii_digit() || (".,_'".contains(at(end)) && at(end + 1).is_ascii_digit()) {
                end += 1;
            }
            let run: String = chars[start..end].iter().collect();
            // What stands before: a point, a sign.
            let before = |n: usize| start.checked_sub(n).map_or('\n', |i| chars[i]);
            let dot = before(1) == '.';
            let point = dot && before(2) != '.' && !before(2).is_alphanumeric();
            let (sign, beyond) = if point { (before(2), before(3)) } else { (before(1), before(2)) };
            let signs: &[bool] = match sign {
                '-' | '\u{2212}' if beyond.is_alphanumeric() => &[false, true],
                '-' | '\u{2212}' => &[true],
                _ => &[false],
            };
            // What stands after: an exponent.
            let mut exponent = None;
            if at(end) == 'e' {
                let digits = end + 1 + usize::from("+-".contains(at(end + 1)));
                let stop = (digits..).find(|&i| !at(i).is_ascii_digit()).unwrap();
                let more = at(stop).is_alphanumeric() || (at(stop) == '.' && at(stop + 1).is_ascii_digit());
                if stop > digits && !more {
                    let text: String = chars[end + 1..stop].iter().collect();
                    exponent = Some((power_of(&text), stop));
                }
            }
            let parts: Vec<&str> = run.split([',', '_', '\'']).collect();
            let points = |i: usize| parts[i].matches('.').count() + usize::from(i == 0 && point);
            let last = parts.len() - 1;
            if points(last) > 1 {
                exponent = None;
            }
            let power = exponent.map_or(0, |(power, _)| power);
            for (i, part) in parts.iter().enumerate() {
                if points(i) > 1 {
                    found.extend(part.split('.').map(|group| canonical(false, group, 0)));
                    continue;
                }
                let digits = if i == 0 && point { format!(".{part}") } else { (*part).to_owned() };
                for &negative in if i == 0 { signs } else { &[false] } {
                    found.insert(canonical(negative, &digits, if i == last { power } else { 0 }));
                }
            }
            let separators: HashSet<char> = run.chars().filter(|c| ",_'".contains(*c)).collect();
            let thousands = last > 0
                && separators.len() == 1
                && parts[0].len() <= 3
                && !parts[0].starts_with('0')
                && (0..last).all(|i| points(i) == 0 && (i == 0 || parts[i].len() == 3))
                && points(last) <= 1
                && parts[last].split('.').next().unwrap().len() == 3;
            if thousands {
                for &negative in signs {
                    found.insert(canonical(negative, &parts.concat(), power));
                }
            }
            start = exponent.map_or(end, |(_, stop)| stop);
        }
        found
    }

    pub fn measure(structured: &str, blocks: &[&str]) -> (u32, u32, Vec<String>) {
        let (mut texts, mut whole) = (Vec::new(), Vec::new());
        for block in blocks {
            read_block(&parse(block), 0, &mut texts, &mut whole);
        }
        let forms: Vec<String> = texts.iter().flat_map(|text| [collapse(text), collapse(&unescape(text))]).collect();
        let whole: HashSet<String> = whole.iter().map(|text| normal(text)).collect();
        let numbers: HashSet<String> = forms.iter().flat_map(|form| numbers(form)).collect();

        let value = parse(structured);
        let mut all = Vec::new();
        leaves(&value, &mut all);
        let (mut seen, mut covered, mut missing) = (HashSet::new(), 0, Vec::new());
        for leaf in all {
            let (key, found, spelled) = match leaf {
                Value::String(text) if text.chars().all(crate::result::text::is_blank_char) => continue,
                Value::String(text) => {
                    let leaf = normal(text);
                    let found = whole.contains(&leaf) || forms.iter().any(|form| contains(form, &leaf));
                    (format!("s{leaf}"), found, text.clone())
                }
                Value::Number(spelled) => {
                    let value = value_of(spelled);
                    (format!("n{value}"), numbers.contains(&value), spelled.clone())
                }
                _ => continue,
            };
            if !seen.insert(key) {
                continue;
            }
            covered += u32::from(found);
            if !found {
                let cut: String = spelled.chars().take(79).collect();
                missing.push(if spelled.chars().count() > 80 { cut + "…" } else { spelled });
            }
        }
        missing.truncate(5);
        (covered, seen.len() as u32, missing)
    }
}

/// Pieces that make trouble: they overlap, fold, collapse, escape, and look like numbers.
const PIECES: &[&str] = &[
    "a",
    "b",
    "A",
    "ab",
    "abc",
    "abcd",
    "aaaa",
    "aab",
    "K",
    "\u{212A}",
    "k",
    "ſ",
    "s",
    "S",
    "µ",
    "μ",
    "Σ",
    "ς",
    "ẞ",
    "ß",
    "İ",
    "i",
    "é",
    "É",
    "e\u{301}",
    " ",
    "  ",
    "\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "東",
    "京",
    "東京",
    "ไทย",
    "한",
    "국",
    "\u{200b}",
    "\u{feff}",
    "\"",
    "\\",
    "\\n",
    "\\\"",
    "\\u0041",
    "\\u00e9",
    "\\/",
    "\\ud83e\\udd8a",
    "🦊",
    "/",
    "{",
    "}",
    "[",
    "]",
    ":",
    "id",
    "ID",
    "x",
    "https://example.com/a/",
    "title of a thing",
    "1",
    "12",
    "123",
    "0",
    "00",
    "5",
    "3",
    "-",
    "\u{2212}",
    "+",
    ".",
    ",",
    "_",
    "'",
    "e",
    "E",
    "e5",
    ",234",
    "1e3",
    "22.50",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "12",
    "123",
    "5",
    "-5",
    "3",
    "13",
    "1e3",
    "1000",
    "1234",
    "1,234",
    "22.5",
    "22.50",
    "0.5",
    "-0.5",
    "5e-1",
    "123123",
    "123.5",
    "12345678901234567890123",
    "1.0",
    "10",
    "2.5",
    "100",
    "500000",
    "5e5",
    "1234567",
];

fn pieces(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..most).prop_map(|pieces| pieces.concat())
}

/// A JSON string, sometimes with escapes that need not be.
fn spelled(text: &str, escaped: bool) -> String {
    if !escaped {
        return quote(text);
    }
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("\"{units}\"")
}

/// Parts of a text: what the leaves say, changed a little, between other pieces.
fn texts(leaves: Vec<String>) -> impl Strategy<Value = String> {
    let part = (any::<prop::sample::Index>(), 0..9u8, pieces(4)).prop_map(move |(index, change, piece)| {
        let leaf = if leaves.is_empty() { "" } else { leaves[index.index(leaves.len())].as_str() };
        match change {
            0 => leaf.to_uppercase(),
            1 => leaf.to_lowercase(),
            2 => leaf.replace(char::is_whitespace, " \n"),
            3 => quote(leaf),
            4 => spelled(leaf, true),
            5 => leaf.chars().skip(1).collect(),
            6 => leaf.to_owned(),
            _ => piece,
        }
    });
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn cases() -> impl Strategy<Value = (String, Vec<String>)> {
    let strings = prop::collection::vec(pieces(7), 0..40);
    let numbers = prop::collection::vec(prop::sample::select(NUMBERS).prop_map(|n| n.replace(',', "")), 0..14);
    (strings, numbers).prop_flat_map(|(strings, numbers)| {
        let all: Vec<String> = strings.iter().chain(&numbers).cloned().collect();
        let text = (texts(all), 0..12u8);
        (Just(strings), Just(numbers), prop::collection::vec(text, 0..4), any::<u64>()).prop_map(
            |(strings, numbers, texts, bits)| {
                let mut members: Vec<String> =
                    strings.iter().zip(0..).map(|(text, i)| spelled(text, bits >> (i % 64) & 7 == 7)).collect();
                members.extend(numbers.iter().cloned());
                let structured = match bits % 4 {
                    0 => format!("[{}]", members.join(" , ")),
                    // Some names are repeated.
                    _ => {
                        let named: Vec<String> =
                            members.iter().zip(0..).map(|(value, i)| format!("\"m{}\":{value}", i * 7 % 31)).collect();
                        format!("{{\"all\":[{{{}}}],\"m1\":null}}", named.join(","))
                    }
                };
                let blocks = texts
                    .iter()
                    .map(|(text, form)| match form {
                        0 => format!(r#"{{"uri":{}}}"#, quote(text)),
                        1 => format!(r#"{{"resource":{{"text":{},"title":"T"}},"x":[{}]}}"#, quote(text), quote(text)),
                        2 => format!(r#"{{"text":"old","name":{},"text":{}}}"#, quote(text), spelled(text, true)),
                        _ => block(text),
                    })
                    .collect();
                (structured, blocks)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_plain_definition((structured, blocks) in cases()) {
        let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
        let expected = naive::measure(&structured, &blocks);
        prop_assert_eq!(&measure(&structured, &blocks), &expected);

        let mut automaton = Coverage::new();
        automaton.strings.no_budget = true;
        let found = automaton.measure(structured.as_bytes(), blocks.iter().map(|block| block.as_bytes())).unwrap();
        prop_assert_eq!((found.covered, found.total, automaton.missing()), (expected.0, expected.1, &expected.2[..]));
    }
}
