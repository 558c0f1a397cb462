use super::*;

fn compile(schema: &str) -> CompiledSchema {
    CompiledSchema::compile(schema.as_bytes()).unwrap()
}

fn fault(schema: &str) -> SchemaFault {
    CompiledSchema::compile(schema.as_bytes()).unwrap_err()
}

fn conforms(schema: &str, value: &str) -> bool {
    match compile(schema).check(value.as_bytes()) {
        Verdict::Conforms => true,
        Verdict::DoesNot { .. } => false,
        Verdict::NotChecked { reason } => panic!("{schema} {value}: {reason}"),
    }
}

fn reason(schema: &str, value: &str) -> String {
    match compile(schema).check(value.as_bytes()) {
        Verdict::NotChecked { reason } => reason,
        other => panic!("{other:?}"),
    }
}

/// Runs what would not end in a lifetime were it exponential.
fn quickly<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Runs on a stack of this many KiB.
fn with_stack<T: Send + 'static>(kib: usize, run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(kib << 10).spawn(run).unwrap().join().unwrap()
}

#[test]
fn is_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<CompiledSchema>();
}

#[test]
fn says_where_and_what() {
    let schema = compile(r#"{"type":"object","properties":{"a/b":{"items":{"type":"string"}}},"required":["a/b"]}"#);
    assert_eq!(schema.check(br#"{"a/b":["x"]}"#), Verdict::Conforms);
    assert_eq!(
        schema.check(br#"{"a/b":["x",7]}"#),
        Verdict::DoesNot { path: "/a~1b/1".into(), message: r#"the value is not of type "string""#.into() }
    );
    assert_eq!(
        schema.check(b"{}"),
        Verdict::DoesNot { path: String::new(), message: r#""a/b" is a required property"#.into() }
    );
    assert_eq!(
        schema.check(b"null"),
        Verdict::DoesNot { path: String::new(), message: r#"the value is not of type "object""#.into() }
    );
}

#[test]
fn messages_are_short_and_never_the_value() {
    let names: String = (0..100).map(|n| format!(r#","secret\u001b{n}":1"#)).collect();
    let value = format!(r#"{{"a":"{}"{names}}}"#, "s3cret".repeat(100));
    for schema in [
        r#"{"properties":{"a":{"type":"number"}}}"#,
        r#"{"properties":{"a":{"maxLength":3}}}"#,
        r#"{"properties":{"a":{"enum":[1,"b"]}}}"#,
        r#"{"properties":{"a":{"pattern":"^x$"}}}"#,
        r#"{"properties":{"a":{"anyOf":[{"type":"null"},{"const":"b"}]}}}"#,
        r#"{"properties":{"a":{"not":{"type":"string"}}}}"#,
        r#"{"type":"array"}"#,
        r#"{"additionalProperties":false}"#,
        r#"{"maxProperties":2}"#,
    ] {
        let Verdict::DoesNot { message, .. } = compile(schema).check(value.as_bytes()) else { panic!("{schema}") };
        assert!(message.chars().count() <= 200, "{message}");
        assert!(!message.contains("s3cret"), "{message}");
        assert!(!message.chars().any(char::is_control), "{message}");
    }
}

#[test]
fn follows_the_draft_that_is_named() {
    // A list of schemas in `items` is for each place up to 2019-09, and no schema in 2020-12.
    let items = |schema: &str| format!(r#"{{"$schema":"{schema}","items":[{{"type":"string"}}]}}"#);
    for known in [
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        assert!(conforms(&items(known), r#"["a",1]"#));
        assert!(!conforms(&items(known), "[1]"));
    }
    for schema in [items("https://json-schema.org/draft/2020-12/schema"), r#"{"items":[{"type":"string"}]}"#.into()] {
        assert!(matches!(fault(&schema), SchemaFault::Invalid(_)), "{schema}");
    }
    assert!(conforms(r#"{"prefixItems":[{"type":"string"}]}"#, r#"["a",1]"#));
    for unknown in
        [r#""https://example.com/my-dialect""#, r#""http://json-schema.org/draft-03/schema""#, "7", r#""""#, "null"]
    {
        let fault = fault(&format!(r#"{{"$schema":{unknown}}}"#));
        assert!(matches!(fault, SchemaFault::Dialect(_)), "{unknown}: {fault}");
    }
}

#[test]
fn refuses_what_is_no_schema() {
    for schema in ["", "true", "[]", "{", r#""x""#] {
        assert!(matches!(fault(schema), SchemaFault::NoObject(_)), "{schema}");
    }
    for schema in [r#"{"type":"strnig"}"#, r#"{"required":"a"}"#, r#"{"pattern":"("}"#, r#"{"properties":[]}"#] {
        assert!(matches!(fault(schema), SchemaFault::Invalid(_)), "{schema}");
    }
    assert!(fault(r#"{"properties":{"a":{"type":"strnig"}}}"#).to_string().contains("/properties/a/type"));
    let large = format!(r#"{{"description":"{}"}}"#, "x".repeat(MAX_BYTES));
    assert_eq!(fault(&large), SchemaFault::TooLarge(large.len()));
}

#[test]
fn follows_references_inside_the_document_only() {
    let inside = |reference: &str, more: &str| {
        format!(
            r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}},"$defs":{{"s t/%":{{"type":"string"}},"n":{{"$anchor":"num","type":"number"}}}}{more}}}"#
        )
    };
    let id = r#","$id":"https://example.com/tool.json""#;
    for (reference, more, good, bad) in [
        ("#/$defs/s%20t~1%25", "", r#"{"a":"x"}"#, r#"{"a":1}"#),
        ("#num", "", r#"{"a":1}"#, r#"{"a":"x"}"#),
        ("#", "", r#"{"a":{"a":{}}}"#, r#"{"a":1,"b":1}"#),
        ("https://example.com/tool.json#/$defs/n", id, r#"{"a":1}"#, r#"{"a":"x"}"#),
        ("#/$defs/n", id, r#"{"a":1}"#, r#"{"a":"x"}"#),
    ] {
        let schema = inside(reference, more);
        assert!(conforms(&schema, good), "{schema}");
        assert!(reference == "#" || !conforms(&schema, bad), "{schema}");
    }
    for (reference, more) in [
        ("#/$defs/none", ""),
        ("#none", ""),
        ("#/$defs/%zz", ""),
        ("item.json", ""),
        ("item.json", id),
        ("https://example.com/other.json", id),
        ("https://json-schema.org/draft/2020-12/schema", ""),
        ("file:///etc/passwd", ""),
        ("urn:x:y", ""),
        ("data:application/json,{}", ""),
    ] {
        let fault = fault(&inside(reference, more));
        assert!(matches!(fault, SchemaFault::Reference(_)), "{reference}: {fault}");
    }
    // An `$id` below the root changes what references mean.
    let nested = r##"{"$ref":"#/$defs/a","$defs":{"a":{"$id":"https://example.com/a","type":"string"}}}"##;
    assert!(matches!(fault(nested), SchemaFault::Reference(_)));
    let past = r##"{"$ref":"#/x/y","x":{"$id":"https://example.com/a","y":{"$ref":"#/z"}},"z":{}}"##;
    assert!(matches!(fault(past), SchemaFault::Reference(_)));
    // Draft 7 writes anchors so.
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#num"}},"definitions":{"n":{"$id":"#num","type":"number"}}}"##;
    assert!(!conforms(schema, r#"{"a":"x"}"#));
}

#[test]
fn fetches_nothing() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = std::env::temp_dir().join(format!("mcp-select-schema-{}.json", std::process::id()));
    std::fs::write(&file, r#"{"type":"string"}"#).unwrap();
    let (http, path) = (format!("http://127.0.0.1:{port}/s.json"), format!("file://{}", file.display()));
    for canary in [http, path.clone()] {
        for schema in [
            format!(r#"{{"$ref":"{canary}"}}"#),
            format!(r#"{{"$schema":"{canary}"}}"#),
            format!(r#"{{"$id":"{canary}","$ref":"other.json"}}"#),
            format!(r#"{{"$dynamicRef":"{canary}#x"}}"#),
            format!(r#"{{"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{{"$ref":"{canary}"}}]}}"#),
            format!(r#"{{"$defs":{{"unused":{{"$ref":"{canary}"}}}}}}"#),
        ] {
            fault(&schema);
        }
    }
    // Where nothing is a subschema, a reference is plain data, and is not followed either.
    let data = format!(r#"{{"const":{{"$ref":"{path}"}},"x":{{"$ref":"http://127.0.0.1:{port}/s.json"}}}}"#);
    assert!(!CompiledSchema::compile(data.as_bytes()).is_ok_and(|schema| schema.check(b"1") == Verdict::Conforms));
    std::fs::remove_file(file).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn refuses_references_that_multiply() {
    let level = |n: u32, keyword: &str| {
        format!(r##""a{n}":{{"{keyword}":[{{"$ref":"#/$defs/a{0}"}},{{"$ref":"#/$defs/a{0}"}}]}}"##, n + 1)
    };
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let levels: Vec<String> = (0..24).map(|n| level(n, keyword)).collect();
        let schema =
            format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a24":{{"type":"integer"}}}}}}"##, levels.join(","));
        let fault = quickly(|| fault(&schema));
        assert!(matches!(&fault, SchemaFault::Limit(why) if why.contains("multiply")), "{fault}");
    }
    // A chain without doubling, too long for the stack.
    let chain: Vec<String> = (0..5000).map(|n| format!(r##""a{n}":{{"$ref":"#/$defs/a{}"}}"##, n + 1)).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a5000":{{}}}}}}"##, chain.join(","));
    assert!(matches!(quickly(|| fault(&schema)), SchemaFault::Limit(_)));
    // Round in a circle at one value.
    for circle in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
    ] {
        assert!(matches!(fault(circle), SchemaFault::Limit(_)), "{circle}");
    }
}

#[test]
fn recursion_through_members_is_followed_as_far_as_it_is_cheap() {
    // One way down for each member: a tree.
    let tree =
        r##"{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}},"additionalProperties":false}"##;
    let deep =
        |depth: usize, innermost: &str| format!("{}{innermost}{}", r#"{"left":"#.repeat(depth), "}".repeat(depth));
    assert!(conforms(tree, &deep(100, "{}")));
    assert_eq!(
        compile(tree).check(deep(2, r#"{"x":1}"#).as_bytes()),
        Verdict::DoesNot {
            path: "/left/left".into(),
            message: "Additional properties are not allowed ('x' was unexpected)".into()
        }
    );
    // Two ways down for the same member: doubles with each level of the value.
    let doubling =
        r##"{"allOf":[{"properties":{"left":{"$ref":"#"}}},{"properties":{"left":{"$ref":"#"}}}],"not":{"const":1}}"##;
    assert!(conforms(doubling, &deep(6, "{}")));
    assert!(!conforms(doubling, &deep(6, "1")));
    assert!(quickly(|| reason(doubling, &deep(100, "1"))).contains("too dear"));
    // The same without recursion.
    let levels: Vec<String> = (0..60)
        .map(|n| {
            let down = format!(r##"{{"properties":{{"left":{{"$ref":"#/$defs/a{}"}}}}}}"##, n + 1);
            format!(r#""a{n}":{{"allOf":[{down},{down}]}}"#)
        })
        .collect();
    let schema = format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a60":{{"type":"integer"}}}}}}"##, levels.join(","));
    assert!(quickly(|| reason(&schema, &deep(60, "1"))).contains("too dear"));
    // A union of recursive variants, as generators write it.
    let union = r##"{"$defs":{"e":{"anyOf":[
        {"type":"object","properties":{"op":{"const":"add"},"l":{"$ref":"#/$defs/e"},"r":{"$ref":"#/$defs/e"}},"required":["op","l","r"]},
        {"type":"object","properties":{"op":{"const":"neg"},"l":{"$ref":"#/$defs/e"}},"required":["op","l"]},
        {"type":"number"}]}},"$ref":"#/$defs/e"}"##;
    assert!(conforms(union, r#"{"op":"add","l":1,"r":{"op":"neg","l":{"op":"neg","l":2}}}"#));
    assert!(!conforms(union, r#"{"op":"add","l":1,"r":{"op":"neg","l":{"op":"neg","l":"2"}}}"#));
}

#[test]
fn a_small_stack_is_enough() {
    let schema = {
        // The longest chain that is allowed, then into the value, and round again.
        let link = |n: u32| format!(r##""a{n}":{{"anyOf":[{{"$ref":"#/$defs/a{}"}}]}}"##, n + 1);
        let chain: Vec<String> = (0..30).map(link).collect();
        let last = r##""a30":{"items":{"$ref":"#/$defs/a0"},"not":{"const":1}}"##;
        format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},{last}}}}}"##, chain.join(","))
    };
    with_stack(1024, move || {
        let schema = compile(&schema);
        let nested = |depth: usize, inner: &str| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(schema.graph.chain, 63);
        assert_eq!(schema.check(nested(15, "").as_bytes()), Verdict::Conforms);
        assert!(matches!(schema.check(nested(15, "1").as_bytes()), Verdict::DoesNot { .. }));
        assert!(matches!(schema.check(nested(40, "").as_bytes()), Verdict::NotChecked { .. }));
    });
    // Deep schemas and long chains through members, built and dropped.
    with_stack(1024, || {
        let deep = format!("{}{}{}", r#"{"not":"#.repeat(60), "{}", "}".repeat(60));
        assert_eq!(compile(&deep).check(b"1"), Verdict::Conforms);
        let deep = format!("{}{}{}", r#"{"items":"#.repeat(120), "{}", "}".repeat(120));
        let value = format!("{}{}", "[".repeat(120), "]".repeat(120));
        assert_eq!(compile(&deep).check(value.as_bytes()), Verdict::Conforms);
        let chain = |length: u32| {
            let links: Vec<String> =
                (0..length).map(|n| format!(r##""a{n}":{{"items":{{"$ref":"#/$defs/a{}"}}}}"##, n + 1)).collect();
            format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a{length}":{{}}}}}}"##, links.join(","))
        };
        assert_eq!(compile(&chain(4000)).check(value.as_bytes()), Verdict::Conforms);
        assert!(matches!(fault(&chain(10_000)), SchemaFault::Limit(_)));
    });
    let deep = format!("{}{}{}", r#"{"not":"#.repeat(200), "{}", "}".repeat(200));
    assert!(matches!(fault(&deep), SchemaFault::NoObject(_)));
}

#[test]
fn patterns_are_short_and_linear() {
    let pattern = |pattern: &str| format!(r#"{{"pattern":{}}}"#, Value::from(pattern));
    assert!(conforms(&pattern(r"^\d{4}-\p{Lu}[\w-]+$"), r#""2026-Äb-c""#));
    assert!(matches!(fault(&pattern(&"a".repeat(1025))), SchemaFault::Limit(_)));
    assert!(matches!(
        fault(&format!(r#"{{"patternProperties":{{"{}":{{}}}}}}"#, "a".repeat(1025))),
        SchemaFault::Limit(_)
    ));
    for not_linear in [r"^(?!x)", r"(a)\1", r"(?<=a)b"] {
        assert!(matches!(fault(&pattern(not_linear)), SchemaFault::Invalid(_)), "{not_linear}");
    }
    for too_large in [r"((a{100}){100}){100}", r"\p{L}{1000}"] {
        assert!(matches!(quickly(|| fault(&pattern(too_large))), SchemaFault::Invalid(_)), "{too_large}");
    }
    let many: Vec<String> = (0..300).map(|n| pattern(&format!("^{n}$"))).collect();
    assert!(matches!(fault(&format!(r#"{{"anyOf":[{}]}}"#, many.join(","))), SchemaFault::Limit(_)));
    // The classics: linear, or too dear.
    let value = format!(r#""{}!""#, "a".repeat(20_000));
    for evil in [r"^(a+)+$", r"^(a|a)*$", r"^(.*a){12}b$", r"[ab]*a[ab]{200}c"] {
        quickly(|| assert_ne!(compile(&pattern(evil)).check(value.as_bytes()), Verdict::Conforms));
    }
}

#[test]
fn large_schemas_and_values_cost_no_more_than_allowed() {
    // Each value is compared with each constant.
    let constants: Vec<String> = (0..20_000).map(|n| format!(r#""constant {n}""#)).collect();
    let schema = format!(r#"{{"items":{{"enum":[{}]}}}}"#, constants.join(","));
    let value = format!("[{}1]", "1,".repeat(100_000));
    quickly(|| assert!(matches!(compile(&schema).check(value.as_bytes()), Verdict::NotChecked { .. })));
    // Large and harmless.
    let rows: Vec<String> =
        (0..15_000).map(|n| format!(r#"{{"id":{n},"name":"name {n}","tags":["a","b"]}}"#)).collect();
    let value = format!(r#"{{"rows":[{}]}}"#, rows.join(","));
    let schema = r#"{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{
        "id":{"type":"integer"},"name":{"anyOf":[{"type":"string"},{"type":"null"}]},
        "tags":{"type":"array","items":{"type":"string"},"uniqueItems":true}},"required":["id","name","tags"]}}},"required":["rows"]}"#;
    assert!(conforms(schema, &value));
    let wrong = value.replace(r#""name":"name 14999""#, r#""name":14999"#);
    let verdict = compile(schema).check(wrong.as_bytes());
    assert!(matches!(&verdict, Verdict::DoesNot { path, .. } if path == "/rows/14999/name"), "{verdict:?}");
    let over = format!(r#""{}""#, "x".repeat(MAX_BYTES));
    assert!(reason("{}", &over).contains("1048576"));
    // Errors of many branches would copy the value for each.
    let branches: Vec<String> = (0..2000).map(|n| format!(r#"{{"type":"object","required":["{n}"]}}"#)).collect();
    let schema = format!(r#"{{"anyOf":[{}]}}"#, branches.join(","));
    let value = format!("[{}1]", "1,".repeat(500));
    assert!(matches!(quickly(|| compile(&schema).check(value.as_bytes())), Verdict::DoesNot { .. }));
}

#[test]
fn numbers_are_exact_to_64_bits_and_nearest_doubles_beyond() {
    let constant = |number: &str| format!(r#"{{"const":{number}}}"#);
    // Beyond 2^53, where doubles are two apart.
    assert!(!conforms(&constant("9007199254740993"), "9007199254740992"));
    assert!(conforms(&constant("9007199254740993"), "9007199254740993"));
    assert!(!conforms(&constant("18446744073709551615"), "18446744073709551614"));
    assert!(!conforms(r#"{"maximum":9007199254740992}"#, "9007199254740993"));
    // Beyond 2^64 neighbours are the same.
    assert!(conforms(&constant("100000000000000000000000000001"), "100000000000000000000000000002"));
    assert!(conforms(r#"{"type":"integer"}"#, "100000000000000000000000000001"));
    // Decimals: the nearest double.
    assert!(conforms(&constant("0.1"), "0.1000000000000000055511151231257827"));
    assert!(!conforms(&constant("0.1"), "0.10000000000000002"));
    assert!(conforms(&constant("1"), "1.0"));
    assert!(conforms(r#"{"type":"integer"}"#, "1.0"));
    assert!(!conforms(r#"{"type":"integer"}"#, "1.5"));
    assert!(conforms(r#"{"multipleOf":0.01}"#, "19.99"));
    assert!(reason("{}", "1e999").contains("number"));
}

#[test]
fn formats_and_encodings_are_annotations() {
    for schema in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        for keyword in
            [r#""format":"email""#, r#""contentEncoding":"base64""#, r#""contentMediaType":"application/json""#]
        {
            assert!(conforms(&format!(r#"{{"$schema":"{schema}",{keyword}}}"#), r#""{""#), "{schema} {keyword}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_not_checked() {
    assert!(reason("{}", r#""\ud800""#).contains("cannot be read"));
    // The last of repeated members counts.
    assert!(conforms(r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":1,"a":"x"}"#));
}
