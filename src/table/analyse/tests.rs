use super::*;
use crate::policy::{BuiltinsOnly, load_bytes};
use crate::select::probe;
use crate::table::witness;
use proptest::prelude::*;

/// The conditions of a `when`, as a policy writes them.
fn conditions(when: &str) -> Vec<Condition> {
    let policy = format!("version = 1\n[[rules]]\nname = \"r\"\nwhen = {{ {when} }}\nhide = true\n");
    let policy = load_bytes("p", policy.as_bytes(), &BuiltinsOnly).unwrap_or_else(|error| panic!("{error}"));
    policy.rules[0].when.to_vec()
}

fn cell(conditions: &[Condition]) -> Cell<'_> {
    Cell::of(&conditions.iter().map(Part::When).collect::<Vec<_>>())
}

#[test]
fn knows_what_follows_from_what() {
    for (when, condition) in [
        ("coverage = '< 0.9'", "structured = 'present'"),
        ("mirror = false", "structured = 'present'"),
        ("structured_bytes = '> 10'", "structured = ['object', 'array', 'scalar']"),
        ("path = '$.a'", "structured = 'object'"),
        ("path = '$.a.b'", "path = '$.a'"),
        ("path = '$[0]'", "structured = 'array'"),
        ("content = 'empty'", "blocks = 0"),
        ("content = 'empty'", "text_bytes = 0"),
        ("content = 'empty'", "only = 'image'"),
        ("content = 'missing'", "structured = ['null', 'present']"),
        ("blocks = 0", "content = ['missing', 'empty']"),
        ("has = 'text'", "content = ['blank', 'visible']"),
        ("has = 'image'", "content = 'visible'"),
        ("text_json = true", "has = 'text'"),
        ("text_json = true", "content = 'visible'"),
        ("text_bytes = '> 10'", "has = ['text', 'resource_text']"),
        ("mirror = ['block']", "text_bytes = '> 0'"),
        ("mirror = ['joined']", "blocks = '>= 2'"),
        ("mirror = ['wrapped']", "structured = 'object'"),
        ("mirror = ['block']", "mirror = true"),
        ("blocks = '[2..4]'", "blocks = '> 1'"),
        ("blocks = '> 3'", "blocks = '>= 4'"),
        ("coverage = '[0.2..0.3]'", "coverage = '< 0.9'"),
        ("text_bytes = '> 1000', structured_bytes = '< 100'", "ratio = '< 0.5'"),
        ("structured = 'empty'", "coverage = 1"),
        ("structured = 'empty'", "structured_bytes = 2"),
        ("result_bytes = '< 100'", "text_bytes = '<= 99'"),
        ("meta_path = '$.a'", "meta = '*'"),
        ("meta = 'com.example/*'", "meta = 'com.*'"),
        ("server = ['git', 'hub']", "server = ['*i*', 'h*']"),
        ("server = 'list_*'", "server = 'list*'"),
        ("app = 'only'", "app = true"),
        ("revision = '>= 2025-11-25'", "revision = '> 2025-11-24'"),
        ("label.ring = 'canary'", "label.ring = 'c*'"),
        ("error = true", "error = true"),
    ] {
        let (all, one) = (conditions(when), conditions(condition));
        assert!(cell(&all).implies(Part::When(&one[0])), "{when} -> {condition}");
        assert!(!cell(&all).is_empty(), "{when}");
        // Nothing follows from nothing.
        assert!(!Cell::everything().implies(Part::When(&one[0])), "{condition}");
    }
}

#[test]
fn knows_what_cannot_be() {
    for when in [
        "structured = 'absent', coverage = '< 0.9'",
        "structured = ['absent', 'null'], mirror = false",
        "content = 'empty', has = 'text'",
        "content = 'empty', text_bytes = '> 0'",
        "content = ['missing', 'empty'], mirror = true",
        "content = 'missing', structured = 'absent'",
        "content = 'blank', text_json = true",
        "content = 'blank', has = 'image'",
        "only = 'image', text_bytes = '> 0'",
        "only = 'image', text_json = true",
        "only = ['image', 'audio'], mirror = ['block', 'joined']",
        "has = 'image', blocks = 0",
        "blocks = 1, mirror = ['joined']",
        "structured = 'array', path = '$.a'",
        "structured = 'scalar', mirror = ['wrapped']",
        "structured = 'empty', coverage = '< 1'",
        "structured = 'object', structured_bytes = '< 5'",
        "coverage = '< 0.5', content = 'visible', structured = 'null'",
        "ratio = '> 10', text_bytes = '> 1000', structured_bytes = '< 100'",
        "ratio = '< 10', only = 'image'",
        "result_bytes = '< 1000', text_bytes = '> 2000'",
        "server = 'github', tool = 'x', label.ring = 'a', label.model = 'b', error = true, app = true, output_schema = true, content = 'empty', blocks = '> 1'",
        "meta_path = '$.a', meta = 'x', content = 'empty', only = 'text', has = 'text'",
    ] {
        let all = conditions(when);
        assert!(cell(&all).is_empty(), "{when}");
    }
    // Nothing of this contradicts itself.
    for when in
        ["coverage = '< 0.9', mirror = true", "ratio = '> 1000', text_bytes = 0", "content = 'visible', text_bytes = 0"]
    {
        let all = conditions(when);
        assert!(!cell(&all).is_empty(), "{when}");
    }
}

#[test]
fn rows_cover_alone_or_together() {
    let rows = |all: &[&str]| -> Vec<Vec<Condition>> { all.iter().map(|when| conditions(when)).collect() };
    for (when, above, expected) in [
        ("coverage = '< 0.5'", vec!["coverage = '< 0.9'"], Some(vec![0])),
        ("coverage = '< 0.9'", vec!["coverage = '< 0.5'"], None),
        ("text_json = true", vec!["error = true", "error = false"], Some(vec![0, 1])),
        ("has = 'text'", vec!["blocks = '< 3'", "blocks = '[3..8]'", "blocks = '> 8'"], Some(vec![0, 1, 2])),
        ("has = 'text'", vec!["blocks = '< 3'", "blocks = '[3..8]'", "blocks = '> 9'"], None),
        (
            "structured = 'present'",
            vec!["structured = 'object'", "structured = ['array', 'empty']", "structured = 'scalar'"],
            Some(vec![0, 1, 2]),
        ),
        // What cannot be known makes both false.
        ("error = false", vec!["coverage = '< 0.5'", "coverage = '>= 0.5'"], None),
        ("structured = 'present'", vec!["mirror = true", "mirror = false"], Some(vec![0, 1])),
        ("structured = 'present'", vec!["coverage = '< 0.5'", "coverage = '>= 0.5'"], None),
        ("server = 'github'", vec!["server = 'git*'"], Some(vec![0])),
        ("server = 'git*'", vec!["server = 'github'"], None),
        ("path = '$.a.b'", vec!["path = '$.a', error = true", "path = '$.a', error = false"], Some(vec![0, 1])),
    ] {
        let (own, above) = (conditions(when), rows(&above));
        let above: Vec<Vec<Part<'_>>> = above.iter().map(|row| row.iter().map(Part::When).collect()).collect();
        assert_eq!(covered_by(&cell(&own), &above), expected, "{when}");
    }
}

// ---- against results ----------------------------------------------------------------------------------------

/// Results of every shape that conditions tell apart.
fn results() -> Vec<String> {
    let texts = [
        "",
        r#"{"type":"text","text":" "}"#,
        r#"{"type":"text","text":""}"#,
        r#"{"type":"text","text":"amber"}"#,
        r#"{"type":"text","text":"{\"a\":\"amber\"}"}"#,
        r#"{"type":"text","text":"{\"a\":"},{"type":"text","text":"\"amber\"}"}"#,
        r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#,
        r#"{"type":"text","text":"amber"},{"type":"image","data":"aGk=","mimeType":"image/png"}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","text":"{\"a\":\"amber\"}"}}"#,
        r#"{"type":"hologram"}"#,
        r#"{"type":"text","text":"[1]"},{"type":"image","data":"aGk=","mimeType":"image/png"}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","text":"a"}},{"type":"image","data":"aGk=","mimeType":"image/png"}"#,
        r#"{"type":"audio","data":"aGk=","mimeType":"audio/wav"}"#,
        r#"{"type":"text","text":"a"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"}"#,
        r#"{"type":"text","text":"[2]"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"}"#,
        r#"{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"}"#,
    ];
    let values = [
        "",
        r#","structuredContent":null"#,
        r#","structuredContent":{}"#,
        r#","structuredContent":[]"#,
        r#","structuredContent":{"a":"amber"}"#,
        r#","structuredContent":{"a":"amber","b":"birch"}"#,
        r#","structuredContent":{"result":"amber"}"#,
        r#","structuredContent":["amber","birch","cedar"]"#,
        r#","structuredContent":"amber""#,
        r#","structuredContent":7"#,
        r#","structuredContent":{"a":{"b":[1,2]}}"#,
    ];
    let mut results = Vec::new();
    for value in values {
        for error in ["", r#","isError":true"#] {
            for meta in ["", r#","_meta":{"com.example/a":{"x":1}}"#] {
                for text in texts {
                    results.push(format!("{{\"content\":[{text}]{value}{error}{meta}}}"));
                }
                if !value.is_empty() {
                    results.push(format!("{{{}{error}{meta}}}", &value[1..]));
                }
            }
        }
    }
    results
}

const POOL: &[&str] = &[
    "error = true",
    "error = false",
    "structured = 'present'",
    "structured = ['absent', 'null']",
    "structured = 'object'",
    "structured = ['array', 'empty']",
    "structured = 'scalar'",
    "content = 'empty'",
    "content = 'missing'",
    "content = ['blank', 'visible']",
    "content = 'visible'",
    "has = 'text'",
    "has = ['image', 'unknown']",
    "only = 'text'",
    "only = ['text', 'image']",
    "blocks = 0",
    "blocks = '> 1'",
    "blocks = '[1..2]'",
    "text_bytes = 0",
    "text_bytes = '> 4'",
    "text_bytes = '[1..5]'",
    "structured_bytes = '<= 2'",
    "structured_bytes = '> 12'",
    "ratio = '> 2'",
    "ratio = '<= 1'",
    "result_bytes = '< 60'",
    "result_bytes = '> 90'",
    "coverage = '< 0.9'",
    "coverage = '>= 0.5'",
    "coverage = 1",
    "mirror = true",
    "mirror = false",
    "mirror = ['block']",
    "mirror = ['joined']",
    "mirror = ['wrapped', 'canonical']",
    "text_json = true",
    "text_json = false",
    "path = '$.a'",
    "path = '$.a.b'",
    "path = '$[1]'",
    "path = '$.*'",
    "meta = '*'",
    "meta = 'com.*'",
    "meta = 'org.*'",
    "meta_path = '$.*'",
];

/// Conditions, results, and for each result which of the conditions hold.
type Known = (Vec<Condition>, Vec<String>, Vec<Vec<bool>>);

fn facts() -> &'static Known {
    static FACTS: std::sync::LazyLock<Known> = std::sync::LazyLock::new(|| {
        let pool: Vec<Condition> = POOL.iter().map(|when| conditions(when).remove(0)).collect();
        let results = results();
        let truths = results
            .iter()
            .map(|result| {
                pool.iter()
                    .map(|condition| probe::all_are(result.as_bytes(), [(condition, true)].into_iter()))
                    .collect()
            })
            .collect();
        (pool, results, truths)
    });
    &FACTS
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// What is said to be empty holds for no result; what is said to be covered is covered for every result.
    #[test]
    fn verdicts_hold_for_results(
        own in prop::collection::vec((0..POOL.len(), proptest::bool::ANY), 0..4),
        above in prop::collection::vec(prop::collection::vec(0..POOL.len(), 1..4), 1..6),
    ) {
        let (pool, results, truths) = facts();
        let mut cell = Cell::everything();
        for (condition, truth) in &own {
            cell = cell.with(Part::When(&pool[*condition]), *truth);
        }
        let rows: Vec<Vec<Part<'_>>> =
            above.iter().map(|row| row.iter().map(|c| Part::When(&pool[*c])).collect()).collect();
        let covered = covered_by(&cell, &rows);
        for (result, truth) in results.iter().zip(truths) {
            if !own.iter().all(|(condition, expected)| truth[*condition] == *expected) {
                continue;
            }
            prop_assert!(!cell.is_empty(), "{result}");
            if let Some(used) = &covered {
                prop_assert!(used.iter().any(|row| above[*row].iter().all(|c| truth[*c])), "{result}");
            }
        }
    }
}

/// On a small domain, where every combination of facts that can be is there as a result, the verdicts are exact.
#[test]
fn verdicts_are_exact_on_a_small_domain() {
    let small = [
        "error = true",
        "error = false",
        "structured = 'present'",
        "structured = ['absent', 'null']",
        "structured = 'object'",
        "structured = 'scalar'",
        "content = 'empty'",
        "content = 'missing'",
        "content = 'visible'",
        "has = 'text'",
        "only = 'text'",
        "has = ['image', 'unknown']",
        "text_json = true",
        "text_json = false",
        "blocks = 0",
    ];
    let pool: Vec<Condition> = small.iter().map(|when| conditions(when).remove(0)).collect();
    let results = results();
    let truths: Vec<Vec<bool>> = results
        .iter()
        .map(|r| pool.iter().map(|c| probe::all_are(r.as_bytes(), [(c, true)].into_iter())).collect())
        .collect();
    let mut compared = 0;
    for a in 0..pool.len() {
        for b in 0..pool.len() {
            let cell = Cell::of(&[Part::When(&pool[a]), Part::When(&pool[b])]);
            let there: Vec<&Vec<bool>> = truths.iter().filter(|truth| truth[a] && truth[b]).collect();
            assert_eq!(cell.is_empty(), there.is_empty(), "{} and {}", small[a], small[b]);
            for c in 0..pool.len() {
                let implied = cell.implies(Part::When(&pool[c]));
                assert_eq!(
                    implied,
                    there.iter().all(|truth| truth[c]),
                    "{} and {} -> {}",
                    small[a],
                    small[b],
                    small[c]
                );
                for d in c + 1..pool.len() {
                    let rows = [vec![Part::When(&pool[c])], vec![Part::When(&pool[d])]];
                    let covered = covered_by(&cell, &rows).is_some();
                    let expected = there.iter().all(|truth| truth[c] || truth[d]);
                    assert_eq!(covered, expected, "{} and {} -> {} or {}", small[a], small[b], small[c], small[d]);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 20_000, "{compared}");
}

#[test]
fn examples_are_what_they_are_said_to_be() {
    for when in [
        "coverage = '< 0.9', structured = 'present', app = false",
        "coverage = '[0.3..0.4]'",
        "coverage = '>= 0.9', content = 'visible'",
        "mirror = true",
        "mirror = ['joined']",
        "mirror = ['wrapped']",
        "mirror = false, text_json = true",
        "text_json = true, structured = 'absent'",
        "text_bytes = '> 200000'",
        "text_bytes = 3",
        "structured_bytes = '> 1000', content = 'empty'",
        "structured_bytes = 500, structured = 'array'",
        "ratio = '> 10', text_bytes = '>= 20'",
        "ratio = '[2..3]'",
        "result_bytes = '> 100000'",
        "has = ['image', 'audio'], blocks = 3",
        "only = 'image', has = 'image', structured = 'absent'",
        "content = 'missing'",
        "content = 'blank', error = true",
        "structured = 'null'",
        "structured = 'scalar'",
        "path = '$.items[*].title'",
        "path = '$.a.b', coverage = '< 0.5'",
        "path = '$.items[?@.state == \"open\"]'",
        "path = '$[2]'",
        "meta = 'com.example/*'",
        "meta_path = '$.fastmcp[?@.wrap_result==true]'",
        "meta_path = '$.fastmcp.wrap_result'",
        "server = 'git*', tool = ['list_?', 'x'], label.ring = 'c*'",
        "app = true, output_schema = true",
        "app = 'only', output_schema = false",
        "revision = '>= 2025-11-25'",
        "revision = '2025-06-18'",
        "revision = '[2025-07-01..2025-08-01]'",
    ] {
        let all = conditions(when);
        let cell = cell(&all);
        let found = witness::example(&cell, "model", &|_| false);
        let found = found.unwrap_or_else(|| panic!("no example: {when}"));
        let facts = all.iter().filter(|condition| !condition.is_route_condition());
        assert!(probe::all_are(found.result.as_bytes(), facts.map(|condition| (condition, true))), "{when}: {found:?}");
        let request = found.request();
        let route = all.iter().filter(|condition| condition.is_route_condition());
        for condition in route {
            assert!(request.route.holds(condition), "{when}: {found:?}");
        }
    }
}

#[test]
fn sets_of_numbers_know_their_bounds() {
    let range = |low, high| Range { low, high };
    let spans = |number, ranges: &[Range<f64>]| spans_of(number, ranges.iter().copied());
    // "> 3" and "< 4" leave no whole number, but a ratio.
    let above = spans(Number::Blocks, &[range(Some((3.0, false)), None)]);
    assert!(meet(&above, &spans(Number::Blocks, &[range(None, Some((4.0, false)))])).is_empty());
    let above = spans(Number::Ratio, &[range(Some((3.0, false)), None)]);
    assert!(!meet(&above, &spans(Number::Ratio, &[range(None, Some((4.0, false)))])).is_empty());
    for number in [Number::Blocks, Number::Ratio] {
        let some = spans(number, &[range(Some((1.0, true)), Some((2.0, true))), range(Some((5.0, false)), None)]);
        let rest = complement(number, &some);
        assert!(meet(&some, &rest).is_empty(), "{number:?} {some:?} {rest:?}");
        assert_eq!(complement(number, &rest), some, "{number:?}");
    }
}
