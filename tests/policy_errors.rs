//! What is said about mistakes in a policy, word for word: `tests/cases/policy_errors.txt`.

use mcp_select::policy::{BuiltinsOnly, PolicyErrorKind, load_builtin, load_bytes};

const FILE: &str = "tests/cases/policy_errors.txt";

#[test]
fn mistakes_are_explained() {
    let text = std::fs::read_to_string(FILE).unwrap();
    let (head, cases) = text.split_once("===== ").unwrap();
    let mut blessed = head.to_string();
    let mut titles = std::collections::HashSet::new();
    let mut wrong = Vec::new();
    for case in cases.split("===== ") {
        let (title, rest) = case.split_once('\n').unwrap();
        let (policy, expected) = rest.split_once("-----\n").unwrap();
        let said = answer(policy);
        assert!(titles.insert(title), "{title}: there twice");
        if said != expected {
            wrong.push(format!("{title}\nexpected:\n{expected}\nsaid:\n{said}"));
        }
        blessed.push_str(&format!("===== {title}\n{policy}-----\n{said}"));
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(FILE, blessed).unwrap();
        return;
    }
    assert!(titles.len() >= 100, "{}", titles.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn answer(policy: &str) -> String {
    match load_bytes("policy.toml", policy.as_bytes(), &BuiltinsOnly) {
        Ok(policy) => {
            let warnings: Vec<String> = policy.warnings.iter().map(|warning| format!("{warning}\n")).collect();
            format!("OK {} rules\n{}", policy.rules.len(), warnings.join("\n"))
        }
        Err(error) => format!("{:?}\n{error}\n", error.kind),
    }
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let error = load_bytes("policy.toml", b"version = 1\nextends = \"\xFF\"\n", &BuiltinsOnly).unwrap_err();
    assert_eq!(error.kind, PolicyErrorKind::Invalid);
    assert_eq!(
        error.to_string(),
        "error[not-utf-8]: byte 0xFF at offset 23 is no UTF-8
 --> policy.toml:2:12
  |
2 | extends = \"
  |            ^
  = help: save the file as UTF-8"
    );
}

#[test]
fn empty_policies_have_their_own_kind() {
    for text in ["", " \n\t", "# nothing\n", "\u{FEFF}", "\u{FEFF}# x\r\n"] {
        let error = load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap_err();
        assert_eq!((error.kind, error.diagnostics.len()), (PolicyErrorKind::Empty, 1), "{text:?}");
    }
}

#[test]
fn unknown_built_ins_have_their_own_kind() {
    let error = load_builtin("lossles").unwrap_err();
    assert_eq!(error.kind, PolicyErrorKind::NoBuiltin);
    assert_eq!(
        error.to_string(),
        "error[no-builtin]: no built-in policy is called \"lossles\"\n --> lossles\n  = help: did you mean \"lossless\"?"
    );
}

#[test]
fn mistakes_come_in_file_order_and_not_without_end() {
    let policy: String = "version = 1\n".to_string() + &(0..500).map(|i| format!("k{i} = 1\n")).collect::<String>();
    let error = load_bytes("p", policy.as_bytes(), &BuiltinsOnly).unwrap_err();
    let lines: Vec<u32> = error.diagnostics.iter().map(|diagnostic| diagnostic.line).collect();
    assert_eq!(lines[..50], (2..52).collect::<Vec<u32>>());
    assert_eq!(error.diagnostics[50..].iter().map(|d| d.message.as_str()).collect::<Vec<_>>(), ["450 more errors"]);
}

#[test]
fn diagnostics_have_the_bytes_of_their_place() {
    let text = "version = 1\r\n# é\r\n[servers.\"é\"]\r\n\"h\u{202E}\" = 1\r\n";
    let error = load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap_err();
    let [diagnostic] = error.diagnostics.as_slice() else { panic!("{error}") };
    assert_eq!(&text[diagnostic.span.clone()], "\"h\u{202E}\"");
    assert_eq!((diagnostic.line, diagnostic.column), (4, 1));
    assert!(!diagnostic.to_string().contains('\u{202E}'), "{diagnostic}");
}
