//! Coverage by example, against a plain reading of its definition on random input, and under hostile input.

use proptest::prelude::*;

use super::pieces::{NUMBERS, PIECES, in_escapes};
use super::{Coverage, Measured, naive};
use crate::result::compact::{CompactScratch, has_repeats};
use crate::result::json;

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

fn pieces(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..most).prop_map(|pieces| pieces.concat())
}

/// A JSON string, sometimes with escapes that need not be.
fn spelled(text: &str, escaped: bool) -> String {
    if escaped { in_escapes(text) } else { quote(text) }
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
    let numbers = prop::collection::vec(prop::sample::select(NUMBERS).prop_map(str::to_owned), 0..14);
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

        // Told that names are unique, it does not watch them.
        if !has_repeats(structured.as_bytes(), &mut CompactScratch::default()) {
            let blocks = blocks.iter().map(|block| block.as_bytes());
            let found = automaton.measure_names(structured.as_bytes(), true, blocks).unwrap();
            prop_assert_eq!((found.covered, found.total, automaton.missing()), (expected.0, expected.1, &expected.2[..]));
        }
    }
}
