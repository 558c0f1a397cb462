//! `include/mcp_select.h` says what `src/ffi/` says: it is made of it by cbindgen, and this test fails when the committed
//! one is another. `make header` (which sets `MCP_SELECT_WRITE_HEADER=1`) renews it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The files of `src/ffi/` in the order of the header. The first lines of each introduce its section.
const SECTIONS: [&str; 7] = ["constants", "version", "engine", "request", "selection", "error", "text"];
const OPAQUE: [&str; 5] =
    ["mcp_select_engine", "mcp_select_request", "mcp_select_selection", "mcp_select_error", "mcp_select_text"];
const WIDTH: usize = 110;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn file(section: &str) -> PathBuf {
    root().join("src/ffi").join(section).with_extension("rs")
}

/// The `//!` lines a file begins with, up to a heading for those who change it.
fn introduction(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned());
    let mut lines: Vec<String> = lines.take_while(|line| !line.starts_with("# ")).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Rustdoc marks what is to be shown as it is; in a comment of C, code is indented instead.
fn without_fences(lines: &[String]) -> Vec<String> {
    let mut indent = "";
    let mut out = Vec::new();
    for line in lines {
        match line.as_str() {
            "```c" => indent = "    ",
            "```" | "```text" => indent = "",
            line => out.push(format!("{}{line}", if line.is_empty() { "" } else { indent })),
        }
    }
    out
}

fn config() -> cbindgen::Config {
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        no_includes: true,
        usize_is_size_t: true,
        style: cbindgen::Style::Type,
        documentation_style: cbindgen::DocumentationStyle::C,
        documentation_length: cbindgen::DocumentationLength::Full,
        line_length: WIDTH,
        ..cbindgen::Config::default()
    };
    let enums = ["Status", "mcp_select_input", "mcp_select_outcome", "mcp_select_lane", "mcp_select_block"];
    config.export.include = enums.iter().map(|name| (*name).to_owned()).collect();
    config.export.item_types = vec![
        cbindgen::ItemType::Constants,
        cbindgen::ItemType::Enums,
        cbindgen::ItemType::OpaqueItems,
        cbindgen::ItemType::Functions,
    ];
    config.export.rename.insert("Status".into(), "mcp_select_status".into());
    config.enumeration.prefix_with_name = true;
    config.enumeration.rename_variants = cbindgen::RenameRule::ScreamingSnakeCase;
    config
}

/// What cbindgen makes of one file: its items, each with its comment.
fn items(path: &Path) -> Vec<String> {
    // `#[repr(i32)]` would bring an integer type that depends on the version of C; the header has plain enumerators.
    let source = fs::read_to_string(path).unwrap().replace("#[repr(i32)]", "#[repr(C)]");
    let copy = tempfile(path.file_name().unwrap().to_str().unwrap(), &source);
    let bindings = cbindgen::Builder::new().with_config(config()).with_src(&copy).generate().unwrap();
    fs::remove_file(copy).unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).unwrap();
    // An item ends with `;`, a constant with its line, both before an empty line or the end.
    let mut items = vec![String::new()];
    let mut comment = false;
    for line in text.lines() {
        comment = (comment || line.trim_start().starts_with("/*")) && !line.contains("*/");
        let item = items.last_mut().unwrap();
        if line.is_empty() && !comment {
            if !item.is_empty() {
                items.push(String::new());
            }
        } else {
            writeln!(item, "{line}").unwrap();
        }
    }
    items.retain(|item| !item.is_empty());
    items.into_iter().map(|item| tidy(&item)).collect()
}

fn tempfile(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("header-{}-{name}", std::process::id()));
    fs::write(&path, text).unwrap();
    path
}

/// Plain enumerators, comments of one line on one line, prose and parameters wrapped at the header's width.
fn tidy(item: &str) -> String {
    let mut text = item.replace("MCP_SELECT_STATUS_", "MCP_SELECT_");
    if let Some((comment, rest)) = text.split_once("typedef enum ") {
        let (body, name) = rest.rsplit_once("} ").unwrap();
        let name = name.trim().trim_end_matches(';');
        let body = body.split_once('{').unwrap().1;
        text = format!("{comment}enum {name} {{{body}}};\n");
    }
    let mut out = String::new();
    let mut enumerators: Vec<(String, String)> = Vec::new();
    let mut said = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "/*" {
            let comment = lines.by_ref().take_while(|line| line.trim() != "*/");
            let comment: Vec<String> = comment.map(|line| line.trim().trim_start_matches('*').trim().into()).collect();
            match line.starts_with(' ') {
                true => said = comment.join(" "),
                false => out.push_str(&block(&comment)),
            }
        } else if line.starts_with("  MCP_SELECT_") {
            enumerators.push((line.trim().into(), std::mem::take(&mut said)));
        } else if line.contains('(') {
            let whole = line.to_owned() + &lines.by_ref().collect::<String>();
            out.push_str(&function(&whole));
        } else {
            out.push_str(&columns(&std::mem::take(&mut enumerators)));
            writeln!(out, "{line}").unwrap();
        }
    }
    out
}

/// Enumerators with what they say beside them; an empty line between their tens.
fn columns(enumerators: &[(String, String)]) -> String {
    let width = |part: &str| part.len();
    let names = enumerators.iter().map(|(name, _)| width(name.split(" = ").next().unwrap())).max().unwrap_or(0);
    let mut out = String::new();
    let mut tens = None;
    for (index, (enumerator, said)) in enumerators.iter().enumerate() {
        let (name, number) = enumerator.trim_end_matches(',').split_once(" = ").unwrap();
        let value: i32 = number.parse().unwrap();
        let group = (value < 0, value / 10);
        if tens.replace(group).is_some_and(|before| before != group) {
            out.push('\n');
        }
        let comma = if index + 1 < enumerators.len() { "," } else { "" };
        let said = said.trim_end_matches('.');
        writeln!(out, "  {name:names$} = {:<4} /* {said} */", format!("{number}{comma}")).unwrap();
    }
    out
}

/// A declaration; a pointer and its length stay on one line.
fn function(whole: &str) -> String {
    let (before, parameters) = whole.split_once('(').unwrap();
    let parameters = parameters.trim_end().trim_end_matches(");");
    let parameters: Vec<String> =
        parameters.split(',').map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let mut pieces: Vec<String> = Vec::new();
    for parameter in parameters {
        match pieces.last_mut() {
            Some(last) if parameter.ends_with("len") => *last = format!("{last}, {parameter}"),
            _ => pieces.push(parameter),
        }
    }
    let mut lines = vec![format!("{before}(")];
    let indent = " ".repeat(before.len() + 1);
    let count = pieces.len();
    for (index, piece) in pieces.into_iter().enumerate() {
        let end = if index + 1 == count { ");" } else { "," };
        let line = lines.last_mut().unwrap();
        if index > 0 && line.len() + 1 + piece.len() + end.len() > WIDTH {
            lines.push(format!("{indent}{piece}{end}"));
        } else {
            let space = if index > 0 { " " } else { "" };
            write!(line, "{space}{piece}{end}").unwrap();
        }
    }
    lines.join("\n") + "\n"
}

/// A comment: its lines joined to paragraphs and wrapped again.
fn block(lines: &[String]) -> String {
    let paragraphs = lines.split(String::is_empty).filter(|lines| !lines.is_empty());
    let paragraphs: Vec<String> = paragraphs.map(|lines| wrap(&lines.join(" "), WIDTH - 6).join("\n * ")).collect();
    format!("/* {} */\n", paragraphs.join("\n *\n * "))
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().unwrap();
        if !line.is_empty() && line.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

fn section(title: &str) -> String {
    let dashes = "-".repeat(WIDTH - 10 - title.len());
    format!("\n/* ---- {title} {dashes} */\n\n")
}

static HEADER: LazyLock<String> = LazyLock::new(header);

fn header() -> String {
    let mut out = String::from("/* mcp_select.h - ");
    let first =
        without_fences(&introduction(&root().join("src/ffi/mod.rs"))).join("\n * ").replace("\n * \n", "\n *\n");
    out.push_str(&first);
    out.push_str(
        "\n *\n * This file is made from src/ffi/ by `make header`; do not edit it.\n */\n\
         #ifndef MCP_SELECT_H\n#define MCP_SELECT_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
         #if defined(__cplusplus)\nextern \"C\" {\n#endif\n",
    );
    for name in SECTIONS {
        let lines = introduction(&file(name));
        let mut own: Vec<String> = Vec::new();
        if name == "constants" {
            own.extend(items(&root().join("src/error.rs")));
        }
        own.extend(items(&file(name)).into_iter().filter(|item| !item.contains("typedef struct ")));
        // cbindgen puts enumerations in an order of its own.
        if name == "constants" {
            own.sort_by_key(|item| {
                ["status", "input", "outcome", "lane", "block"]
                    .iter()
                    .position(|name| item.contains(&format!("enum mcp_select_{name} {{")))
            });
        }
        out.push_str(&section(&lines[0]));
        out.push_str(&block(&lines[1..]));
        out.push('\n');
        out.push_str(&own.join("\n"));
        if name == "constants" {
            out.push_str(&section("Types"));
            out.push_str(&opaque_types());
        }
    }
    out.push_str("\n#if defined(__cplusplus)\n} /* extern \"C\" */\n#endif\n#endif /* MCP_SELECT_H */\n");
    out
}

fn opaque_types() -> String {
    let mut out = String::new();
    for name in OPAQUE {
        let short = name.trim_start_matches("mcp_select_");
        let text = fs::read_to_string(file(short)).unwrap();
        let (before, _) = text.split_once(&format!("pub struct {name}")).unwrap();
        let comment = before.lines().rev().find_map(|line| line.strip_prefix("/// ")).unwrap();
        writeln!(out, "/* {comment} */\ntypedef struct {name} {name};").unwrap();
    }
    out
}

#[test]
fn the_header_is_up_to_date() {
    let path = root().join("include/mcp_select.h");
    let made = &*HEADER;
    if std::env::var_os("MCP_SELECT_WRITE_HEADER").is_some() {
        fs::write(&path, made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == *made,
        "include/mcp_select.h is not what src/ffi/ says: run `make header` and look at the change"
    );
}

#[test]
fn every_exported_function_is_in_the_header() {
    let header = &*HEADER;
    let mut count = 0;
    for name in SECTIONS {
        for line in fs::read_to_string(file(name)).unwrap().lines() {
            let Some(rest) = line.split("extern \"C\" fn ").nth(1) else { continue };
            let function = rest.split('(').next().unwrap();
            assert!(header.contains(&format!("{function}(")), "{function} is not in the header");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}
