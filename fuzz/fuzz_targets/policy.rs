//! Raw bytes as a policy: an answer and no panic.
//!
//! What does not load says why: a code, a message that is safe to print, a place within the file. What loads is printed,
//! linted, compiled and explained, and loads again the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_select::policy::lint::{lint, lint_broken};
use mcp_select::policy::{BuiltinsOnly, Diagnostic, Policy, SourceFile, load_bytes};
use mcp_select::table::print::to_json;
use mcp_select::table::route::Route;
use mcp_select::table::{Index, Table};
use mcp_select::{Engine, Request, Selection};

fuzz_target!(|input: &[u8]| {
    match load_bytes("policy.toml", input, &BuiltinsOnly) {
        Ok(policy) => {
            let again = load_bytes("policy.toml", input, &BuiltinsOnly).expect("it did load");
            assert_eq!(format!("{policy:?}"), format!("{again:?}"), "loaded again, it is another one");
            policy.warnings.iter().for_each(|warning| is_sound(warning, &policy.files));
            lint(&policy).iter().for_each(|finding| is_sound(finding, &policy.files));
            print(&policy);
            explain(input, &policy);
        }
        Err(error) => {
            assert!(!error.diagnostics.is_empty(), "an error without a reason");
            error.diagnostics.iter().for_each(|diagnostic| is_sound(diagnostic, &error.files));
            lint_broken(&error).iter().for_each(|finding| is_sound(finding, &error.files));
            assert!(Engine::from_toml(input).is_err(), "the engine takes what does not load");
        }
    }
});

fn is_sound(diagnostic: &Diagnostic, files: &[SourceFile]) {
    assert!(!diagnostic.code.is_empty() && !diagnostic.message.trim().is_empty(), "{diagnostic:?}");
    let text = diagnostic.to_string();
    let hostile =
        |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    assert!(!text.chars().any(hostile), "{text:?}");
    let Some(file) = files.iter().find(|file| file.name == diagnostic.file) else {
        // Bytes that are no UTF-8 are no file.
        assert!(diagnostic.span.start <= diagnostic.span.end, "{diagnostic:?}");
        return;
    };
    let spans = [Some(&diagnostic.span), diagnostic.also.as_ref().map(|also| &also.span)];
    for span in spans.into_iter().flatten().chain(diagnostic.fix.as_ref().map(|fix| &fix.span)) {
        assert!(file.text.get(span.clone()).is_some(), "not within {} bytes: {diagnostic:?}", file.text.len());
    }
    if diagnostic.line > 0 {
        let before = &file.text[..diagnostic.span.start];
        let line = 1 + before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = 1 + before[start..].trim_start_matches(if start == 0 { '\u{FEFF}' } else { '\n' }).chars().count();
        assert_eq!((diagnostic.line as usize, diagnostic.column as usize), (line, column), "{diagnostic:?}");
    }
}

fn print(policy: &Policy) {
    for rule in &policy.rules {
        rule.when.iter().for_each(|condition| assert!(!condition.to_string().is_empty()));
        rule.settings.iter().for_each(|(_, value)| drop(value.to_string()));
        assert!(!rule.title().is_empty());
    }
    let index = Index::new(&policy.rules);
    for audience in &policy.audiences {
        let route = Route { server: "a".into(), tool: "t".into(), audience: audience.name.clone(), ..Route::default() };
        // Too many conditions for one route is an answer too.
        let Ok(table) = Table::specialise(&policy.rules, &index, &audience.chain, &route) else { continue };
        serde_json::from_str::<serde_json::Value>(&to_json(policy, &table, &route)).expect("the table is JSON");
    }
}

fn explain(input: &[u8], policy: &Policy) {
    let engine = Engine::from_toml(input).expect("it did load");
    for audience in &policy.audiences {
        for result in [
            &br#"{"content":[{"type":"text","text":"a\u001b[1m","_meta":{"k":1}}],"structuredContent":{"a":[1,"b"]},"_meta":{"k":1}}"#[..],
            br#"{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"new"}],"isError":true}"#,
        ] {
            let mut selection = Selection::new();
            let request = Request::new("a", "t", &audience.name);
            if engine.select(&request, result, &mut selection).is_ok() {
                serde_json::from_slice::<serde_json::Value>(selection.decision()).expect("the record is JSON");
                let json = selection.json().unwrap_or(result);
                serde_json::from_slice::<serde_json::Value>(json).expect("the output is JSON");
            }
            let _ = selection.explain();
        }
    }
}
