//! Paths over values: RFC 9535 case by case, random paths beside another implementation, the budget, projections.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn parse(path: &str) -> JsonPath {
    JsonPath::parse(path).unwrap_or_else(|error| panic!("{path}: {error} at {:?}", error.at))
}

/// The normalized paths and the spellings of what a path finds, in document order.
fn select(path: &str, json: &str) -> Option<Vec<(String, String)>> {
    let path = parse(path);
    let (mut nodes, mut names, mut buffers) = (Vec::new(), Vec::new(), walk::Buffers::default());
    let tree = Tree::build(json.as_bytes(), &mut nodes, &mut names)?;
    let hits = Walk::new(tree, path.queries, &mut buffers).select(&path.segments, ROOT, false).ok()?;
    let text = |span| String::from_utf8_lossy(tree.text(span)).into_owned();
    let place = |id: u32| {
        let mut place = String::new();
        let mut at = id;
        while let Some(parent) = tree.node(at).map(|node| node.parent).filter(|&parent| tree.node(parent).is_some()) {
            let step = match tree.node(parent).unwrap().kind {
                tree::Kind::Array => format!("[{}]", tree.children(parent).position(|(child, _)| child == at).unwrap()),
                _ => format!("['{}']", text(tree.node(at).unwrap().name)),
            };
            place.insert_str(0, &step);
            at = parent;
        }
        format!("${place}")
    };
    Some(hits.iter().map(|hit| (place(hit.node), text(tree.node(hit.node).unwrap().span))).collect())
}

fn values(path: &str, json: &str) -> Vec<String> {
    select(path, json).unwrap().into_iter().map(|(_, value)| value).collect()
}

#[track_caller]
fn check(json: &str, cases: &[(&str, &[&str])]) {
    for (path, expected) in cases {
        assert_eq!(values(path, json), *expected, "{path}");
        let found = finds(&parse(path), json.as_bytes(), &mut PathScratch::default());
        assert_eq!(found, Some(!expected.is_empty()), "{path}");
    }
}

// ---- RFC 9535 -------------------------------------------------------------------------------------------

#[test]
fn selects_members_and_elements() {
    check(
        r#" { "o": {"j j": {"k.k": 3}, "n":null} , "a":["p","q","r"], "" : 7, "'": {"@":2}, "é":1, "\u0061b":5} "#,
        &[
            ("$.o['j j']['k.k']", &["3"]),
            ("$.o[\"j j\"][\"k.k\"]", &["3"]),
            ("$['o'] .nothing", &[]),
            ("$.o.n", &["null"]),
            ("$.o.n.x", &[]),
            ("$[\"'\"][\"@\"]", &["2"]),
            (r"$['\'']['@']", &["2"]),
            ("$['']", &["7"]),
            ("$.é", &["1"]),
            (r"$['\u00e9']", &["1"]),
            ("$.ab", &["5"]),
            (r"$['\u0061\u0062']", &["5"]),
            (r"$['\\u0061b']", &[]),
            ("$.a[1]", &["\"q\""]),
            ("$.a[-3]", &["\"p\""]),
            ("$.a[-4]", &[]),
            ("$.a[3]", &[]),
            ("$.a['1']", &[]),
            ("$.o[0]", &[]),
            ("$.a[*]", &["\"p\"", "\"q\"", "\"r\""]),
            ("$.o.*", &["{\"k.k\": 3}", "null"]),
            ("$.a[2,0,2]", &["\"p\"", "\"r\""]),
            ("$['o','a'][0,'n']", &["null", "\"p\""]),
            ("$.a[9007199254740991]", &[]),
            ("$.a[-9007199254740991]", &[]),
        ],
    );
    check("1", &[("$", &["1"]), ("$.a", &[]), ("$[0]", &[]), ("$..*", &[]), ("$[?@]", &[])]);
}

#[test]
fn selects_slices() {
    check(
        "[0,1,2,3,4,5,6]",
        &[
            ("$[1:3]", &["1", "2"]),
            ("$[5:]", &["5", "6"]),
            ("$[1:5:2]", &["1", "3"]),
            ("$[5:1:-2]", &["3", "5"]),
            ("$[::-1]", &["0", "1", "2", "3", "4", "5", "6"]),
            ("$[:-5]", &["0", "1"]),
            ("$[-2:]", &["5", "6"]),
            ("$[-1:-8:-3]", &["0", "3", "6"]),
            ("$[::-3]", &["0", "3", "6"]),
            ("$[4::-3]", &["1", "4"]),
            ("$[:2:-1]", &["3", "4", "5", "6"]),
            ("$[0:7:0]", &[]),
            ("$[3:1]", &[]),
            ("$[ 1 : 2 : 1 ]", &["1"]),
            ("$[-100:100:3]", &["0", "3", "6"]),
            ("$[100:-100:-3]", &["0", "3", "6"]),
            ("$[0:9007199254740991:9007199254740991]", &["0"]),
        ],
    );
    check("{\"a\":1}", &[("$[:]", &[])]);
    check("[]", &[("$[::-1]", &[]), ("$[-1]", &[])]);
}

#[test]
fn selects_descendants() {
    let json = r#"{"o":{"j":1,"k":2},"a":[5,3,[{"j":4},{"k":6}]]}"#;
    check(
        json,
        &[
            ("$..j", &["1", "4"]),
            ("$..[0]", &["5", "{\"j\":4}"]),
            ("$..[-1]", &["[{\"j\":4},{\"k\":6}]", "{\"k\":6}"]),
            ("$.a..[0,1]", &["5", "3", "{\"j\":4}", "{\"k\":6}"]),
            ("$..['j','k']", &["1", "2", "4", "6"]),
            ("$.o..[*,*]", &["1", "2"]),
            ("$..a..k", &["6"]),
            ("$..*..*..j", &["4"]),
        ],
    );
    assert_eq!(values("$..*", json).len(), 11);
    // Every node is there once, though `$..*..*` finds deep ones by several ways.
    assert_eq!(values("$..*..*", json).len(), 9);
}

#[test]
fn filters_by_existence_and_logic() {
    let json = r#"[{"a":1,"b":null},{"a":{"c":[]}},{"b":2},[{"c":3}],"s"]"#;
    check(
        json,
        &[
            ("$[?@.a].a", &["1", "{\"c\":[]}"]),
            ("$[?@.b].b", &["null", "2"]),
            ("$[?@.a.c]", &["{\"a\":{\"c\":[]}}"]),
            ("$[?@[0].c]", &["[{\"c\":3}]"]),
            ("$[?@.*..c]", &["{\"a\":{\"c\":[]}}", "[{\"c\":3}]"]),
            ("$[?!@.a]", &["{\"b\":2}", "[{\"c\":3}]", "\"s\""]),
            ("$[?@.a && @.b].a", &["1"]),
            ("$[?(@.a && @.b) || @[0]]", &["{\"a\":1,\"b\":null}", "[{\"c\":3}]"]),
            ("$[?!(@.a || @.b)]", &["[{\"c\":3}]", "\"s\""]),
            ("$[?@.b || @.a && @.b].b", &["null", "2"]),
            ("$[?$[2].b][0]", &["{\"c\":3}"]),
            ("$[?$[2].none]", &[]),
            ("$[?@.a[?@]].a", &["{\"c\":[]}"]),
            ("$[?@[?@.c==3]]", &["[{\"c\":3}]"]),
            ("$[0,?@.b].b", &["null", "2"]),
            ("$[?@]", &["{\"a\":1,\"b\":null}", "{\"a\":{\"c\":[]}}", "{\"b\":2}", "[{\"c\":3}]", "\"s\""]),
        ],
    );
    check(r#"{"x":1,"y":5}"#, &[("$[?@>2]", &["5"]), ("$[?@==$.x]", &["1"])]);
}

/// Comparisons of RFC 9535, 2.3.5.3, table 12, and of what it leaves to numbers and strings.
#[test]
fn compares() {
    let json = r#"{"obj":{"x":"y","z":[1.0]},"obj2":{"\u007a":[1],"x":"\u0079"},"arr":[2,3],"arr2":[2.0,3e0],
        "n":0.50,"tiny":1e-20,"huge":1e400,"long":9007199254740993,"s":"b\u00e9","t":true,"nil":null,
        "fox":"\ud83e\udd8a","last":"\uffff","back":"a\\nb"}"#;
    let holds = |condition: &str| {
        let path = format!("$[?{condition}]");
        !values(&path, json).is_empty()
    };
    for condition in [
        "$.absent1 == $.absent2",
        "$.absent1 <= $.absent2",
        "$.absent == $.absent.x",
        "$.absent != 'g'",
        "1 <= 2",
        "'a' <= 'b'",
        "$.obj == $.obj",
        "$.obj != $.arr",
        "$.obj <= $.obj",
        "$.arr >= $.arr",
        "true <= true",
        "null >= null",
        "$.nil == null",
        "$.nil != $.absent",
        "true != 1",
        "$.t == true",
        "$.obj == $.obj2",
        "$.arr == $.arr2",
        "$.n == 0.5",
        "$.n == 5e-1",
        "$.tiny > 0",
        "$.tiny != 0",
        "$.tiny == 1e-20",
        "$.huge > 1e308",
        "$.huge != $.tiny",
        "$.long > 9007199254740991",
        "$.long != 9007199254740991",
        "-0 == 0",
        "-0.0 == 0",
        "$.s == 'bé'",
        r"$.s == 'b\u00E9'",
        "$.s < 'bê'",
        "$.s > 'b'",
        "$.s < 'béa'",
        // By characters, not by UTF-16 units: U+1F98A is behind U+FFFF.
        "$.fox > $.last",
        "$.fox > '\u{ffff}'",
        "'\u{ffff}' < $.fox",
        r"$.back == 'a\\nb'",
        r"$.back != 'a\nb'",
        "$['arr'][1] == 3",
    ] {
        assert!(holds(condition), "{condition}");
    }
    for condition in [
        "$.absent == 'g'",
        "$.absent < 1",
        "$.absent1 < $.absent2",
        "$.absent1 != $.absent2",
        "13 == '13'",
        "1 > 2",
        "'a' > 'b'",
        "$.obj == $.arr",
        "$.obj < $.obj",
        "1 <= $.arr",
        "1 >= $.arr",
        "1 > $.arr",
        "true < true",
        "false < true",
        "null < null",
        "$.nil == $.absent",
        "$.obj != $.obj2",
        "$.arr == $.obj.z",
        "1e-20 == 0",
        "$.huge <= 1e308",
    ] {
        assert!(!holds(condition), "{condition}");
    }
}

#[test]
fn calls_functions() {
    let json = r#"[{"s":"abc","a":[1,2,3],"o":{"x":1,"y":2,"x":3}},{"s":"\ud83e\udd8a\u00e9","a":[],"o":{}},{"s":5}]"#;
    let rows = |condition: &str| -> Vec<String> {
        select(&format!("$[?{condition}]"), json).unwrap().into_iter().map(|(place, _)| place).collect()
    };
    let cases: [(&str, &[&str]); 26] = [
        ("length(@.s) == 3", &["$[0]"]),
        ("length(@.s) == 2", &["$[1]"]),
        ("length(@.a) >= 3", &["$[0]"]),
        ("length(@.o) == 2", &["$[0]"]),
        ("length(@.o) == 0", &["$[1]"]),
        ("length(@.none) == length(@.s)", &["$[2]"]),
        ("length('abc') == 3.0", &["$[0]", "$[1]", "$[2]"]),
        ("count(@.*) == 3", &["$[0]", "$[1]"]),
        ("count(@..*) == 8", &["$[0]"]),
        ("count(@['s','s']) == 2", &["$[0]", "$[1]", "$[2]"]),
        // 1, 2, 3 and the three again below `a`, found from `@` and from `a`.
        ("count(@..[*]..[*]) == 5", &["$[0]"]),
        ("count(@.none) == 0", &["$[0]", "$[1]", "$[2]"]),
        ("count($.*) == 3", &["$[0]", "$[1]", "$[2]"]),
        ("value(@..x) == 3", &["$[0]"]),
        ("value(@.a[*]) == value(@.none)", &["$[0]", "$[1]", "$[2]"]),
        ("value(@['s','s']) == 5", &[]),
        ("length(value(@..s)) == 3", &["$[0]"]),
        ("match(@.s, 'a.c')", &["$[0]"]),
        ("match(@.s, 'b')", &[]),
        ("search(@.s, 'b')", &["$[0]"]),
        ("!search(@.s, '[a-c]')", &["$[1]", "$[2]"]),
        ("match(@.s, '🦊.')", &["$[1]"]),
        (r"match(@.s, '\\p{So}\\p{Ll}')", &["$[1]"]),
        (r"match('a.b', 'a\\.b')", &["$[0]", "$[1]", "$[2]"]),
        ("match(value(@..s), 'abc')", &["$[0]"]),
        ("match(@.a, '.*')", &[]),
    ];
    for (condition, expected) in cases {
        assert_eq!(rows(condition), expected, "{condition}");
    }
}

#[test]
fn the_last_of_a_repeated_name_is_the_member() {
    check(
        r#"{"a":{"x":1},"a":{"y":2,"\u0079":3},"b":4}"#,
        &[("$.a.x", &[]), ("$.a.y", &["3"]), ("$..x", &[]), ("$..y", &["3"]), ("$[?@.x]", &[]), ("$.*.*", &["3"])],
    );
}

// ---- reading --------------------------------------------------------------------------------------------

#[test]
fn refuses_what_is_no_path() {
    let cases = [
        ("", Some(0), "a JSONPath starts with `$`"),
        (" $", Some(0), "a JSONPath starts with `$`"),
        ("items", Some(0), "a JSONPath starts with `$`"),
        ("$.a ", Some(3), "a blank after the path"),
        ("$. a", Some(2), "a blank after a dot"),
        ("$.. a", Some(3), "a blank after a dot"),
        ("$.a\u{a0}", Some(3), "a name with a blank like `\\u{a0}` needs quotes"),
        ("$.a b", Some(3), "a blank inside a name or a number"),
        ("$[1 2]", Some(3), "a blank inside a name or a number"),
        ("$[?@. a==1]", Some(5), "a blank after a dot"),
        ("$.", Some(2), "the path ends too early"),
        ("$.a[", Some(4), "the path ends too early"),
        ("$.a]", Some(3), "`]` cannot stand here in a JSONPath (RFC 9535)"),
        ("$['é'].[0]", Some(8), "`[` cannot stand here in a JSONPath (RFC 9535)"),
        ("$['a", Some(2), "a string is not closed"),
        ("$[9007199254740992]", Some(2), "an integer beyond 9007199254740991"),
        ("$[-9007199254740992]", Some(3), "an integer beyond 9007199254740991"),
        ("$[?@.a==1e400]", Some(8), "a number with more than 15 digits, or out of range"),
        ("$[?@.a==1e-400]", Some(8), "a number with more than 15 digits, or out of range"),
        ("$[?@.a==0.12345678901234567890]", Some(8), "a number with more than 15 digits, or out of range"),
        (
            "$[?in(@.a, 'x')]",
            Some(3),
            "`in` is no function of RFC 9535; there are `length`, `count`, `value`, `match`, `search`",
        ),
        ("$[?length(@)]", None, "`length` gives a number: compare it with something"),
        ("$[?count(@.*)]", None, "`count` gives a number: compare it with something"),
        ("$[?value(@.*)]", None, "`value` gives a value: compare it with something"),
        ("$[?match(@.a, @.b)]", None, "the regular expression of `match` must be a string that stands in the path"),
        ("$[?match(@.a, 'a(')]", None, "`a(` is no regular expression: a group is not closed"),
        ("$[?length(@.*) == 1]", None, "`length` takes a path of names and indexes; use `value(...)` around others"),
        ("$[?count(length(@.a)) == 1]", None, "`count` takes a path"),
        ("$[?value(1) == 1]", None, "`value` takes a path"),
        ("$[?length(match(@.a,'b')) == 1]", None, "`match` is true or false, no value"),
    ];
    for (path, at, message) in cases {
        let error = JsonPath::parse(path).expect_err(path);
        assert_eq!((error.at, error.to_string().as_str()), (at, message), "{path}");
    }
    for path in [
        "$a",
        "$.'a'",
        "$.1",
        "$[01]",
        "$[-0]",
        "$[1:2:3:4]",
        "$[a]",
        "$[]",
        "$[,]",
        "$['a' 'b']",
        r"$['\x']",
        r"$['\ud800']",
        r#"$["\'"]"#,
        "$['\u{1}']",
        "$[?@.a=1]",
        "$[?@.a===1]",
        "$[?@.*==1]",
        "$[?@..a==1]",
        "$[?1]",
        "$[?'a']",
        "$[?true]",
        "$[?@.a==[1]]",
        "$[?@.a==.5]",
        "$[?@.a==1.]",
        "$[?@.a==+1]",
        "$[?@.a==01]",
        "$[?match(@.a,'b')==true]",
        "$[?length(@.a,@.b)==1]",
        "$[?length()==1]",
        "$[?length (@.a)==1]",
        "$[?!@.a==1]",
        "$[?(@.a]",
        "$[?@.a)]",
        "$[?@.a&&]",
        "$[?@.a and @.b]",
        "$[?nin(@.a,'b')]",
        "$[?none_of(@.a,'b')]",
        "$[?any_of(@.a,'b')]",
        "$[?subset_of(@.a,'b')]",
        "$...a",
        "$..",
        "$.a.",
        "@.a",
        "$.$",
        "$[?$.a ==\u{a0}1]",
        "$[?@.a==1e 5]",
        "$[?@.a== - 1]",
        "$[- 1]",
        "$\n.a\n",
        "$[?@.a==TRUE]",
        "$[?@.a==Null]",
    ] {
        assert!(JsonPath::parse(path).is_err(), "{path}");
    }
}

#[test]
fn reads_what_is_a_path() {
    for path in [
        "$",
        "$.a",
        "$ .a",
        "$ [ 'a' , \"b\" ]",
        "$\n..\u{5b}*]",
        "$._1",
        "$.☺",
        "$.a1.true.null",
        "$[?@.a==1.5E+3]",
        "$[?@.a==9007199254740991]",
        "$[?@.a==-9007199254740991]",
        "$[?@.a==123456789.012345]",
        "$[?(((@.a)))]",
        "$[?! @.a]",
        "$[?!(@.a)]",
        "$[? @.a == 'x' && ( @ .b != null ) ]",
        "$[?@['a'] == $['b'][0]]",
        "$[?@.in == 1]",
        "$['in(x)', 'a b', ' 1e400 ']",
        "$[?@.a == '9007199254740992 . x (']",
        "$.e1[0]",
        "$['\u{7f}']",
        "$[?count(@[?count(@[?@.a])>1])>1]",
        "$[?length(value($..x))>length(@.y)]",
    ] {
        assert_eq!(parse(path).as_str(), path);
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| format!("$[?{}@.a{}]", "(".repeat(depth - 1), ")".repeat(depth - 1));
    let filters = |depth: usize| format!("${}{}", "[?@".repeat(depth), "]".repeat(depth));
    assert!(JsonPath::parse(&nested(16)).is_ok());
    assert!(JsonPath::parse(&filters(16)).is_ok());
    assert_eq!(JsonPath::parse(&nested(17)).unwrap_err().message.as_ref(), "brackets nest deeper than 16");
    assert_eq!(JsonPath::parse(&filters(17)).unwrap_err().at, Some(1 + 16 * 3));
    // Unbounded, the parser would take hours over this one.
    let functions = |depth: usize| format!("$[?{}@{}]", "length(value(@[?".repeat(depth), "]))".repeat(depth));
    assert_eq!(JsonPath::parse(&functions(30)).unwrap_err().message.as_ref(), "functions nest deeper than 4");
    // A path that nests as deep as it may over a value that does, on the stack of a small thread.
    let json = "[".repeat(128) + &"]".repeat(128);
    let deep = filters(16);
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let run = small.spawn(move || finds(&parse(&deep), json.as_bytes(), &mut PathScratch::default())).unwrap();
    assert_eq!(run.join().unwrap(), Some(true));
    let smaller = std::thread::Builder::new().stack_size(64 * 1024);
    let error = smaller.spawn(|| JsonPath::parse("$.a").unwrap_err()).unwrap().join().unwrap();
    assert_eq!(error.to_string(), "the stack of this thread is too small to read the path");
}

#[test]
fn paths_can_be_shared() {
    fn shared<T: Send + Sync + Clone + PartialEq>(_: &T) {}
    let path = parse("$[?match(@.a, 'x*')]");
    shared(&path);
    assert_eq!(path, path.clone());
    assert_ne!(path, parse("$[?match(@.a, 'x')]"));
}

// ---- the budget -----------------------------------------------------------------------------------------

#[test]
fn chains_of_descendants_are_linear() {
    let json = "{\"a\":".repeat(126) + "1" + &"}".repeat(126);
    assert_eq!(values("$..*..*..*..*", &json).len(), 123);
    assert_eq!(values("$..*..*..*..*..*..*..a", &json).len(), 120);
    let wide = format!("[{}]", vec!["[1,[2]]"; 20_000].join(","));
    let path = parse("$..*..*..nothing");
    assert_eq!(finds(&path, wide.as_bytes(), &mut PathScratch::default()), Some(false));
}

#[test]
fn queries_from_the_root_are_asked_once() {
    let items = vec!["{\"n\":1}"; 2_000].join(",");
    let json = format!("{{\"items\":[{items}]}}");
    assert_eq!(values("$.items[?count($.items[*]) > 1]", &json).len(), 2_000);
    assert_eq!(values("$.items[?$..n && @.n == value($.items[0].n)]", &json).len(), 2_000);
}

#[test]
fn what_is_not_linear_ends_without_an_answer() {
    // Each of 120 arrays looks at the 30,000 numbers in the innermost.
    let json = "[".repeat(120) + &vec!["1"; 30_000].join(",") + &"]".repeat(120);
    let path = parse("$..[?count(@..*) > 100000]");
    let mut scratch = PathScratch::default();
    assert_eq!(finds(&path, json.as_bytes(), &mut scratch), None);
    let mut out = b"kept".to_vec();
    let paths = [path];
    assert_eq!(project(&paths, &[], json.as_bytes(), &mut out, &mut scratch), Projected::OverBudget);
    assert_eq!(project(&[], &paths, json.as_bytes(), &mut out, &mut scratch), Projected::OverBudget);
    assert_eq!(out, b"kept");
    // One long string beside many items: comparing costs by the byte.
    let long = "x".repeat(1 << 20);
    let items = vec!["1"; 2_000].join(",");
    let json = format!("{{\"a\":\"{long}\",\"b\":\"{long}y\",\"items\":[{items}]}}");
    assert_eq!(finds(&parse("$.items[?$.a == $.b]"), json.as_bytes(), &mut scratch), None);
    assert_eq!(finds(&parse("$.items[?search($.a, 'y')]"), json.as_bytes(), &mut scratch), None);
    assert_eq!(finds(&parse("$.items[?length($.a) == 1]"), json.as_bytes(), &mut scratch), None);
    // Names in reverse order are looked for one by one.
    let members =
        |names: &mut dyn Iterator<Item = usize>| names.map(|i| format!("\"{i}\":1")).collect::<Vec<_>>().join(",");
    let (up, down) = (members(&mut (0..3_000)), members(&mut (0..3_000).rev()));
    let json = format!("[{{{up}}},{{{down}}}]");
    assert_eq!(finds(&parse("$[?$[0] == $[1]]"), json.as_bytes(), &mut scratch), None);
}

#[test]
fn an_honest_value_is_within_the_budget() {
    let item =
        r#"{"number":1,"title":"Fix","state":"open","labels":[{"name":"bug"}],"user":{"login":"x","id":2},"body":""}"#;
    let json = format!("{{\"items\":[{}],\"next\":null}}", vec![item; 5_000].join(","));
    assert_eq!(values("$.items[*]['number','title','state','labels','user','body']", &json).len(), 30_000);
    assert_eq!(
        values("$.items[?@.state=='open' && @.user.id>1 && @.labels[?@.name=='bug']].title", &json).len(),
        5_000
    );
    assert_eq!(values("$..['id','name']", &json).len(), 10_000);
}

// ---- projections ----------------------------------------------------------------------------------------

/// What is left, or how it ended.
fn projected(pick: &[&str], omit: &[&str], json: &str) -> Result<String, Projected> {
    let paths = |paths: &[&str]| paths.iter().map(|path| parse(path)).collect::<Vec<_>>();
    let mut out = b">".to_vec();
    match project(&paths(pick), &paths(omit), json.as_bytes(), &mut out, &mut PathScratch::default()) {
        Projected::Value => Ok(String::from_utf8(out[1..].to_vec()).unwrap()),
        other => {
            assert_eq!(out, b">");
            Err(other)
        }
    }
}

#[test]
fn picks_with_the_containers_around() {
    let data = r#"{"ok":1,"data":{"values":[1],"x":2}}"#;
    assert_eq!(projected(&["$.data.values"], &[], data).unwrap(), r#"{"data":{"values":[1]}}"#);
    let items = r#"{"n":2.50,"items":[{"id":1e2,"b":"x","title":"\u0041"}, {"b":1}, {"title" : { "t" : null } }]}"#;
    assert_eq!(
        projected(&["$.items[*]['id','title']"], &[], items).unwrap(),
        r#"{"items":[{"id":1e2,"title":"\u0041"},{"title":{ "t" : null }}]}"#
    );
    assert_eq!(projected(&["$.items[1]"], &[], items).unwrap(), r#"{"items":[{"b":1}]}"#);
    assert_eq!(projected(&["$.n", "$..b"], &[], items).unwrap(), r#"{"n":2.50,"items":[{"b":"x"},{"b":1}]}"#);
    // The document's order, not that of the paths.
    assert_eq!(projected(&["$.x", "$.items[1]", "$.n", "$.n"], &[], items).unwrap(), r#"{"n":2.50,"items":[{"b":1}]}"#);
    assert_eq!(projected(&["$.a"], &[], r#"{"a":{},"b":[]}"#).unwrap(), r#"{"a":{}}"#);
    assert_eq!(projected(&["$.a.x", "$.c"], &[], r#"{"a":{},"b":[],"c":1}"#).unwrap(), r#"{"c":1}"#);
    assert_eq!(projected(&["$.a"], &[], r#"{"a":1,"a":2,"b":{"c":1}}"#).unwrap(), r#"{"a":2}"#);
    assert_eq!(projected(&["$.b", "$.b.c"], &[], r#"{"a":1,"b":{"c":1, "d":2}}"#).unwrap(), r#"{"b":{"c":1, "d":2}}"#);
}

#[test]
fn omits_after_picking() {
    let json = r#" {"a":{"b":1,"c":2},"d":[1,2,3],"e":"x"} "#;
    assert_eq!(projected(&[], &["$.a.b", "$.d[0,2]"], json).unwrap(), r#"{"a":{"c":2},"d":[2],"e":"x"}"#);
    assert_eq!(projected(&[], &["$.a.*", "$.d[*]"], json).unwrap(), r#"{"a":{},"d":[],"e":"x"}"#);
    assert_eq!(projected(&["$.a"], &["$.a.b"], json).unwrap(), r#"{"a":{"c":2}}"#);
    assert_eq!(projected(&["$.a.b"], &["$.a.b"], json).unwrap(), r#"{"a":{}}"#);
    assert_eq!(projected(&["$.a.b"], &["$.a"], json), Err(Projected::Nothing));
    assert_eq!(projected(&["$.d[1:]"], &["$.d[1]"], json).unwrap(), r#"{"d":[3]}"#);
    // A filter may ask for what is not picked.
    let items = r#"[{"t":1,"private":true},{"t":2}]"#;
    assert_eq!(projected(&["$[*].t"], &["$[?@.private==true]"], items).unwrap(), r#"[{"t":2}]"#);
    assert_eq!(projected(&[], &["$.a"], r#"{"a":1,"b":2,"a":3}"#).unwrap(), r#"{"b":2}"#);
    assert_eq!(
        projected(&[], &["$.x"], r#"{"a":1, "b":[{"c":1,"c":2 , "d":3}]}"#).unwrap(),
        r#"{"a":1,"b":[{"c":2,"d":3}]}"#
    );
}

#[test]
fn tells_whole_and_nothing() {
    let json = r#"{"a":[1],"b":{}}"#;
    for (pick, omit) in [
        (&[][..], &[][..]),
        (&["$"], &[]),
        (&["$", "$.a"], &[]),
        (&["$.*"], &[]),
        (&["$..*"], &["$.none"]),
        (&["$.a[0]", "$.b"], &[]),
        (&[], &["$.none", "$..x", "$.b[0]"]),
    ] {
        assert_eq!(projected(pick, omit, json), Err(Projected::Whole), "{pick:?} {omit:?}");
    }
    for (pick, omit) in [
        (&["$.none"][..], &[][..]),
        (&["$.b.none", "$..none"], &[]),
        (&[], &["$"]),
        (&[], &["$.*"]),
        (&["$"], &["$.a", "$.b"]),
        (&["$.a"], &["$.a"]),
    ] {
        assert_eq!(projected(pick, omit, json), Err(Projected::Nothing), "{pick:?} {omit:?}");
    }
    assert_eq!(projected(&["$"], &[], " [ ] "), Err(Projected::Nothing));
    assert_eq!(projected(&["$"], &[], "5"), Err(Projected::Whole));
    assert_eq!(projected(&["$..*"], &[], "5"), Err(Projected::Nothing));
    assert_eq!(projected(&[], &["$.x"], "null"), Err(Projected::Whole));
    assert_eq!(projected(&[], &[], "{}"), Err(Projected::Whole));
}

#[test]
fn bytes_that_are_no_json_do_not_panic() {
    let mut scratch = PathScratch::default();
    let json = br#"{"a":[1,{"b":"\u00e9"},tru],"c":{}}"#;
    let paths = [parse("$..b"), parse("$.a[-1]"), parse("$[?@.b == 'x' || length(@) > 1]")];
    for cut in 0..json.len() {
        for part in [&json[..cut], &json[cut..]] {
            for path in &paths {
                finds(path, part, &mut scratch);
            }
            project(&paths, &paths[..1], part, &mut Vec::new(), &mut scratch);
        }
    }
}

// ---- at random ------------------------------------------------------------------------------------------

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        (-2i32..4).prop_map(|n| n.to_string()),
        prop::sample::select(vec!["\"\"", "\"a\"", "\"ab\"", "\"é\"", "true", "false", "null"]).prop_map(str::to_owned),
    ]
}

fn document() -> impl Strategy<Value = String> {
    scalar().prop_recursive(5, 60, 5, |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..5).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::btree_map("[abcd]", inside, 0..4).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn index() -> impl Strategy<Value = String> {
    (-4i32..5).prop_map(|i| i.to_string())
}

fn bound() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), index()]
}

fn singular() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        "[abcd]".prop_map(|name| format!(".{name}")),
        "[abcd]".prop_map(|name| format!("['{name}']")),
        index().prop_map(|i| format!("[{i}]")),
    ];
    (prop::sample::select(vec!["@", "@", "@", "$"]), prop::collection::vec(segment, 0..3))
        .prop_map(|(start, segments)| start.to_owned() + &segments.concat())
}

/// One segment of a path; filters nest `depth` deep.
fn segment(depth: u32) -> BoxedStrategy<String> {
    let simple = prop_oneof![
        3 => "[abcd]".prop_map(|name| format!("'{name}'")),
        1 => Just("*".to_owned()),
        2 => index(),
        1 => (bound(), bound(), bound()).prop_map(|(start, end, step)| format!("{start}:{end}:{step}")),
    ];
    let selector = if depth == 0 {
        simple.boxed()
    } else {
        prop_oneof![3 => simple, 2 => condition(depth - 1).prop_map(|condition| format!("?{condition}"))].boxed()
    };
    let bracket = prop::collection::vec(selector, 1..3).prop_map(|selectors| format!("[{}]", selectors.join(",")));
    prop_oneof![
        2 => "[abcd]".prop_map(|name| format!(".{name}")),
        1 => Just(".*".to_owned()),
        3 => bracket.clone(),
        1 => "[abcd]".prop_map(|name| format!("..{name}")),
        1 => Just("..*".to_owned()),
        1 => bracket.prop_map(|bracket| format!("..{bracket}")),
    ]
    .boxed()
}

fn segments(depth: u32) -> impl Strategy<Value = String> {
    prop::collection::vec(segment(depth), 0..4).prop_map(|segments| segments.concat())
}

/// The segments after `@`. The first has no filter: there the other implementation asks the node itself.
fn relative(depth: u32) -> impl Strategy<Value = String> {
    let deeper = (segment(0), prop::collection::vec(segment(depth), 0..3));
    prop_oneof![1 => Just(String::new()), 5 => deeper.prop_map(|(first, rest)| first + &rest.concat())]
}

fn condition(depth: u32) -> BoxedStrategy<String> {
    let literal = scalar().prop_map(|scalar| scalar.replace('"', "'"));
    let function = prop_oneof![
        singular().prop_map(|query| format!("length({query})")),
        relative(depth).prop_map(|segments| format!("value(@{segments})")),
    ];
    let operand = prop_oneof![2 => singular(), 2 => literal, 1 => function];
    let operator = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let whole = prop::sample::select(vec!["a", "a.", "[ab]*", "é"]);
    let part = prop::sample::select(vec!["a", "b|é", ".."]);
    let atom = prop_oneof![
        3 => (operand.clone(), operator, operand).prop_map(|(left, op, right)| format!("{left} {op} {right}")),
        2 => (prop::sample::select(vec!["", "!"]), relative(depth)).prop_map(|(not, rest)| format!("{not}@{rest}")),
        1 => (singular(), whole).prop_map(|(query, regexp)| format!("match({query}, '{regexp}')")),
        1 => (singular(), part).prop_map(|(query, regexp)| format!("search({query}, '{regexp}')")),
    ];
    atom.prop_recursive(2, 6, 2, |inside| {
        prop_oneof![
            (inside.clone(), inside.clone()).prop_map(|(one, two)| format!("{one} && {two}")),
            (inside.clone(), inside.clone()).prop_map(|(one, two)| format!("{one} || {two}")),
            inside.prop_map(|inside| format!("!({inside})")),
        ]
    })
    .boxed()
}

fn path() -> impl Strategy<Value = String> {
    segments(2).prop_map(|segments| format!("${segments}"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn finds_what_another_implementation_finds(json in document(), path in path()) {
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let theirs: BTreeSet<String> = jsonpath_rust::query::js_path_path(&path, &value).unwrap().into_iter().collect();
        let ours: Vec<String> = select(&path, &json).unwrap().into_iter().map(|(place, _)| place).collect();
        prop_assert_eq!(ours.iter().cloned().collect::<BTreeSet<_>>(), theirs, "{} {}", path, json);
        prop_assert_eq!(finds(&parse(&path), json.as_bytes(), &mut PathScratch::default()), Some(!ours.is_empty()));
    }

    // Apart from the others: that implementation takes a count of no nodes for no value at all.
    #[test]
    fn counts_what_another_implementation_counts(json in document(), path in path()) {
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let count = jsonpath_rust::query::js_path_path(&path, &value).unwrap().len();
        let filter = parse(&format!("$[?count({path}) == {count} && count({path}) < {}]", count + 1));
        let children = values("$.*", &json).len();
        let found = finds(&filter, json.as_bytes(), &mut PathScratch::default());
        prop_assert_eq!(found, Some(children > 0), "{} {}", path, count);
    }

    #[test]
    fn projections_keep_what_they_promise(json in document(), pick in path(), omit in path()) {
        let once = match projected(&[&pick], &[], &json) {
            Ok(once) => once,
            Err(Projected::Whole) => json.clone(),
            Err(other) => {
                prop_assert_eq!(other, Projected::Nothing);
                prop_assert!(json.len() == 2 || values(&pick, &json).is_empty());
                return Ok(());
            }
        };
        // Whatever is found stays as it was spelled, and its place is in what is left.
        json::validate_text(once.as_bytes(), 128).unwrap();
        for value in values(&pick, &json) {
            prop_assert!(once.contains(&value), "{} {}", value, once);
        }
        let again = if matches!(&*once, "{}" | "[]") { Projected::Nothing } else { Projected::Whole };
        prop_assert_eq!(projected(&["$"], &[], &once), Err(again));
        // What is omitted is gone, and only that: the nodes that stay are those of which no ancestor is found.
        let places = |path: &str| select(path, &json).unwrap().into_iter().map(|(place, _)| place).collect::<Vec<_>>();
        let gone = places(&omit);
        let all = [places("$"), places("$..*")].concat();
        let stay = all.iter().filter(|place| !gone.iter().any(|gone| place.starts_with(gone.as_str()))).count();
        let left = match projected(&[], &[&omit], &json) {
            Ok(left) => left,
            Err(Projected::Whole) => json.clone(),
            Err(_) => {
                prop_assert!(stay <= 1);
                return Ok(());
            }
        };
        json::validate_text(left.as_bytes(), 128).unwrap();
        prop_assert_eq!(values("$..*", &left).len() + 1, stay, "{} {}", omit, left);
    }

    #[test]
    fn names_alone_pick_the_same_twice(json in document(), names in prop::collection::vec("[abcd]", 1..4)) {
        let pick = format!("$..['{}']", names.join("','"));
        if let Ok(once) = projected(&[&pick], &[], &json) {
            prop_assert_eq!(projected(&[&pick], &[], &once), Err(Projected::Whole), "{}", once);
        }
    }

    #[test]
    fn any_text_is_a_path_or_an_error(text in "[$@.\\[\\]()?*:,'\"\\\\ a-c0-9=!<>&|e-]{0,24}", json in document()) {
        for text in [text.clone(), format!("${text}"), format!("$[?@{text}]")] {
            if let Ok(path) = JsonPath::parse(&text) {
                finds(&path, json.as_bytes(), &mut PathScratch::default());
            }
        }
    }
}
