//! Keeps the documentation true: runs what `README.md` and `docs/*.md` show.
//!
//! * A ```` ```toml ```` block is a policy and must load; where it does not say its version, `version = 1` is put in front.
//!   `<!-- refused -->` behind it, and a text block: it must not load, and that is what is said.
//! * `<!-- case: server=github tool=list_issues -->`, a JSON block and another block: the result under the policy above
//!   (or under `policy=NAME`) and what goes out of it, as JSON, or as the texts that the reader sees when it is a text block.
//!   It also knows `audience`, `revision`, `definition` and `label.NAME`.
//! * `<!-- file: NAME -->`: the block behind it is a file for the commands of that page.
//! * A ```` ```console ```` block: each `$ ` line is run by the shell, where `mcp-select` is the one just built. `…` in what it
//!   prints stands for anything; a line with nothing else, for any lines.
//! * `<!-- table: NAME -->` to `<!-- end -->`: a table that is written from the code.
//! * `<!-- not run: why -->`: the block behind it is left alone.
//! * `make NAME` in code is a target that exists; it is not run.
//!
//! `MCP_SELECT_WRITE_DOCS=1` writes what came out into the pages, except over outputs with `…`.

#![cfg(unix)]

use mcp_select::policy::json_schema::{Described, conditions, settings};
use mcp_select::result::json::without_space_into;
use mcp_select::{Engine, Request, Selection};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

// ---- reading a page ---------------------------------------------------------------------------------------

/// A comment or a fenced block, with the lines of its inside.
#[derive(Clone, Debug)]
enum Item {
    Comment(String, usize),
    Block { language: String, lines: Range<usize>, text: String },
}

fn items(page: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let lines: Vec<&str> = page.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some(comment) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            items.push(Item::Comment(comment.to_owned(), at));
        } else if let Some(language) = line.strip_prefix("```") {
            let end = (at + 1..lines.len()).find(|&end| lines[end] == "```").expect("a block without an end");
            let text = lines[at + 1..end].iter().map(|line| format!("{line}\n")).collect();
            items.push(Item::Block { language: language.to_owned(), lines: at + 1..end, text });
            at = end;
        }
        at += 1;
    }
    items
}

/// What is wrong with a page, and what would stand there if it were right.
#[derive(Default)]
struct Findings {
    wrong: String,
    new: Vec<(Range<usize>, String)>,
}

impl Findings {
    fn compare(&mut self, place: &str, lines: &Range<usize>, shown: &str, got: &str, same: bool) {
        if !same {
            self.wrong += &format!("{place}:{}\n--- shown\n{shown}--- got\n{got}\n", lines.start + 1);
            self.new.push((lines.clone(), got.to_owned()));
        }
    }

    /// Writes what came out, when that is wanted; else complains.
    fn settle(mut self, path: &Path, page: &str) -> String {
        if std::env::var_os("MCP_SELECT_WRITE_DOCS").is_none() || self.new.is_empty() {
            return self.wrong;
        }
        let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
        self.new.sort_by_key(|(lines, _)| std::cmp::Reverse(lines.start));
        for (range, text) in self.new {
            lines.splice(range, text.lines().map(str::to_owned));
        }
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
        String::new()
    }
}

const CARGO_RUN: &str = "cargo run --release -- ";

/// A folder for the files of a page, with those of the repository beside them.
struct Folder(PathBuf);

impl Folder {
    fn new(page: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("mcp-select-docs-{page}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["examples", "rules", "tests"] {
            std::os::unix::fs::symlink(root().join(name), folder.join(name)).unwrap();
        }
        Folder(folder)
    }

    /// What a command prints, standard error included.
    fn run(&self, command: &str) -> String {
        let binary = Path::new(env!("CARGO_BIN_EXE_mcp-select"));
        let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
        // The same program, built otherwise.
        let command = command.strip_prefix(CARGO_RUN).map_or(command.to_owned(), |rest| format!("mcp-select {rest}"));
        let script = format!("{{ {command}\n}} 2>&1");
        let output = Command::new("sh").args(["-c", &script]).current_dir(&self.0).env("PATH", path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

// ---- running it -------------------------------------------------------------------------------------------

fn policy_text(text: &str) -> String {
    let says_version = text.lines().any(|line| line.starts_with("version"));
    if says_version { text.to_owned() } else { format!("version = 1\n{text}") }
}

/// What is said about a policy that does not load.
fn refusal(text: &str) -> Option<String> {
    Engine::from_toml(policy_text(text).as_bytes()).err().map(|error| format!("{}\n", error.message()))
}

/// What goes out of a result: JSON, or the texts.
fn selected(case: &str, policy: &str, result: &str, as_json: bool) -> String {
    let mut words: BTreeMap<&str, &str> =
        case.split_whitespace().map(|word| word.split_once('=').unwrap_or_else(|| panic!("{case}: {word}"))).collect();
    let mut word = |name: &str, default: &'static str| words.remove(name).unwrap_or(default).to_owned();
    let engine = match word("policy", "").as_str() {
        "" => Engine::from_toml(policy_text(policy).as_bytes()),
        name => Engine::builtin(name),
    };
    let engine = engine.unwrap_or_else(|error| panic!("{}", error.message()));
    let mut request = Request::new(&word("server", "demo"), &word("tool", "tool"), &word("audience", "model"));
    let (revision, definition) = (word("revision", ""), word("definition", ""));
    if !revision.is_empty() {
        request.set_revision(&revision).unwrap();
    }
    if !definition.is_empty() {
        request.set_tool_definition(Some(definition.as_bytes())).unwrap();
    }
    for (name, value) in words {
        let label = name.strip_prefix("label.").unwrap_or_else(|| panic!("a case knows no {name}"));
        request.set_label(label, value);
    }
    let result = result.trim_end().as_bytes();
    let mut selection = Selection::new();
    if let Err(error) = engine.select(&request, result, &mut selection) {
        return format!("{}\n", error.message());
    }
    if as_json {
        let json = selection.json().unwrap_or(result);
        return format!("{}\n", std::str::from_utf8(json).unwrap());
    }
    format!("{}\n", selection.text(result, "\n"))
}

fn compact(json: &str) -> Vec<u8> {
    let mut out = Vec::new();
    without_space_into(json.trim_end().as_bytes(), &mut out);
    out
}

/// Whether a line is as it is shown, `…` standing for anything.
fn line_fits(shown: &str, got: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(rest) = got.strip_prefix(parts.next().unwrap()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    let mut rest = rest;
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn lines_fit(shown: &[&str], got: &[&str]) -> bool {
    match shown.split_first() {
        None => got.is_empty(),
        Some((first, rest)) if first.trim() == "…" => (0..=got.len()).any(|skip| lines_fit(rest, &got[skip..])),
        Some((first, rest)) => {
            got.split_first().is_some_and(|(one, more)| line_fits(first, one) && lines_fit(rest, more))
        }
    }
}

fn console(place: &str, lines: &Range<usize>, text: &str, folder: &Folder, findings: &mut Findings) {
    let shown: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..shown.len()).filter(|&at| shown[at].starts_with("$ ")).collect();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(shown.len());
        // A command goes on where its line ends in a backslash.
        let last = (start..end).find(|&at| !shown[at].ends_with('\\')).unwrap_or(start);
        let command = shown[start..=last].join("\n");
        let command = &command[2..];
        let line = lines.start + last + 1;
        if !command.contains("mcp-select ") && !command.starts_with(CARGO_RUN) && !command.starts_with("cat ") {
            findings.wrong += &format!("{place}:{line}: not run, so it needs `<!-- not run: why -->`: {command}\n");
            continue;
        }
        let output = &shown[last + 1..end];
        let got = folder.run(command);
        let got_lines: Vec<&str> = got.lines().collect();
        if !lines_fit(output, &got_lines) {
            let shown = output.join("\n");
            findings.wrong += &format!("{place}:{line}: $ {command}\n--- shown\n{shown}\n--- got\n{got}\n");
            if !shown.contains('…') {
                findings.new.push((line..lines.start + end, got));
            }
        }
    }
}

fn table(rows: &[Described], with_default: bool) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut out = String::from("\n");
    out += if with_default {
        "| setting | values | in `sep-2200` | meaning |\n|---|---|---|---|\n"
    } else {
        "| condition | value | holds when |\n|---|---|---|\n"
    };
    for Described { name, values, default, about } in rows {
        let default = if with_default { format!(" `{}` |", cell(default)) } else { String::new() };
        out += &format!("| `{name}` | {} |{default} {} |\n", cell(values), cell(about));
    }
    out + "\n"
}

#[test]
fn pages_are_true() {
    let mut wrong = String::new();
    let (mut cases, mut commands) = (0, 0);
    for path in pages() {
        let place = path.strip_prefix(root()).unwrap().display().to_string();
        let page = std::fs::read_to_string(&path).unwrap();
        let folder = Folder::new(path.file_stem().unwrap().to_str().unwrap());
        let items = items(&page);
        let mut findings = Findings::default();
        let mut policy = String::new();
        let mut marked: Option<String> = None;
        let mut at = 0;
        while let Some(item) = items.get(at) {
            at += 1;
            match item {
                Item::Comment(comment, line) => {
                    if let Some(case) = comment.strip_prefix("case:") {
                        let [Item::Block { text: result, .. }, Item::Block { language, lines, text }] =
                            &items[at..at + 2]
                        else {
                            panic!("{place}:{}: a case has a result and an output", line + 1)
                        };
                        at += 2;
                        cases += 1;
                        let as_json = language == "json";
                        let got = selected(case, &policy, result, as_json);
                        let same = if as_json { compact(text) == compact(&got) } else { *text == got };
                        findings.compare(&place, lines, text, &got, same);
                    } else if let Some(name) = comment.strip_prefix("table: ") {
                        let end = items[at..].iter().find_map(|item| match item {
                            Item::Comment(comment, end) if comment == "end" => Some(*end),
                            _ => None,
                        });
                        let lines = line + 1..end.unwrap();
                        let shown: String =
                            page.lines().take(lines.end).skip(lines.start).map(|l| format!("{l}\n")).collect();
                        let of = |prefix: &str| {
                            settings().into_iter().filter(|s| s.name.starts_with(prefix)).collect::<Vec<_>>()
                        };
                        let got = match name {
                            "conditions" => table(&conditions(), false),
                            "settings" => table(&of(""), true),
                            other => panic!("{place}: no table {other}"),
                        };
                        findings.compare(&place, &lines, &shown, &got, shown == got);
                    } else if comment.starts_with("not run: ") || comment.starts_with("file: ") {
                        marked = Some(comment.clone());
                    }
                }
                Item::Block { language, lines, text } => {
                    let mark = marked.take();
                    if mark.as_deref().is_some_and(|mark| mark.starts_with("not run: ")) {
                        continue;
                    }
                    if let Some(name) = mark.as_deref().and_then(|mark| mark.strip_prefix("file: ")) {
                        std::fs::write(folder.0.join(name), text).unwrap();
                        if language == "toml" {
                            Engine::open(folder.0.join(name))
                                .unwrap_or_else(|error| panic!("{place}: {}", error.message()));
                            policy = text.clone();
                        }
                    } else if language == "toml" {
                        let refused = match &items.get(at..at + 2) {
                            Some([Item::Comment(comment, _), Item::Block { lines, text, .. }])
                                if comment == "refused" =>
                            {
                                at += 2;
                                Some((lines.clone(), text.clone()))
                            }
                            _ => None,
                        };
                        match (refusal(text), refused) {
                            (None, None) => policy = text.clone(),
                            (Some(got), Some((lines, shown))) => {
                                findings.compare(&place, &lines, &shown, &got, shown == got)
                            }
                            (Some(got), None) => findings.wrong += &format!("{place}:{}\n{got}", lines.start),
                            (None, Some(_)) => findings.wrong += &format!("{place}:{}: loads\n", lines.start),
                        }
                        cases += 1;
                    } else if language == "console" {
                        commands += text.lines().filter(|line| line.starts_with("$ ")).count();
                        console(&place, lines, text, &folder, &mut findings);
                    }
                }
            }
        }
        wrong += &findings.settle(&path, &page);
    }
    eprintln!("{cases} examples, {commands} commands");
    assert!(wrong.is_empty(), "\n{wrong}\nMCP_SELECT_WRITE_DOCS=1 writes what came out");
}

#[test]
fn every_setting_and_condition_has_an_example() {
    let page = std::fs::read_to_string(root().join("docs/policy.md")).unwrap();
    let mut examples = String::new();
    for item in items(&page) {
        if let Item::Block { language, text, .. } = item
            && language == "toml"
        {
            examples += &text;
        }
    }
    let missing: Vec<&str> = settings()
        .iter()
        .chain(&conditions())
        .map(|described| described.name)
        .filter(|name| {
            // `blocks.image` may stand as `blocks.image =` or as `image =` in the group's table.
            let member = name.rsplit('.').next().unwrap();
            // Not every kind needs an example of its own.
            let is_kind = name.starts_with("blocks.") && *name != "blocks.blank" || name.starts_with("notes.");
            let is_set = |at: usize| {
                let rest = &examples[at + member.len()..];
                rest.starts_with('.') || rest.trim_start_matches(' ').starts_with('=')
            };
            !is_kind && !examples.match_indices(member).any(|(at, _)| is_set(at))
        })
        .collect();
    assert!(missing.is_empty(), "docs/policy.md has no example of {missing:?}");
}

// ---- make ---------------------------------------------------------------------------------------------------

/// The lines of the Makefile and what it includes.
fn makefiles() -> String {
    let parts = root().join("mk").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let files = parts.filter(|path| path.extension().is_some_and(|extension| extension == "mk"));
    files.chain([root().join("Makefile")]).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_make_target_that_is_named_exists() {
    let makefiles = makefiles();
    let mut named = BTreeSet::new();
    for page in pages() {
        let text = std::fs::read_to_string(page).unwrap();
        for start in ["`make ", "\nmake ", "$ make "] {
            let commands = text.split(start).skip(1).map(|rest| rest.split(['`', '\n', '#']).next().unwrap());
            let words = commands.flat_map(str::split_whitespace);
            named.extend(
                words.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')).map(str::to_owned),
            );
        }
    }
    assert!(named.len() > 10, "{named:?}");
    let is_there = |target: &str| makefiles.lines().any(|line| line.starts_with(&format!("{target}:")));
    let missing: Vec<&String> = named.iter().filter(|target| !is_there(target)).collect();
    assert!(missing.is_empty(), "no such make targets: {missing:?}");
}

/// The table in `docs/security.md`, what `make fuzz` runs and the programs of `fuzz/` are the same targets.
#[test]
fn the_fuzz_targets_are_those_that_there_are() {
    let files = root().join("fuzz/fuzz_targets").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let page = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let section = page.split("## How it is tested").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.map(str::to_owned).collect::<BTreeSet<_>>(), files);
    let makefiles = makefiles();
    let run = makefiles.lines().find_map(|line| line.strip_prefix("FUZZ_TARGETS ?= ")).unwrap();
    assert_eq!(run.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>(), files);
    let manifest: toml::Table =
        toml::from_str(&std::fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap()).unwrap();
    let bins = manifest["bin"].as_array().unwrap().iter().map(|bin| bin["name"].as_str().unwrap().to_owned());
    assert_eq!(bins.collect::<BTreeSet<_>>(), files);
}

// ---- conformance ------------------------------------------------------------------------------------------

/// The numbers of all clauses.
const CLAUSES: &[Range<u16>] =
    &[1..18, 20..28, 30..47, 50..64, 70..86, 90..103, 110..120, 120..126, 130..137, 140..153, 160..171, 180..188];

/// The names of the cases of each file of `tests/cases`.
fn case_names() -> BTreeMap<String, BTreeSet<String>> {
    let mut names = BTreeMap::new();
    for entry in root().join("tests/cases").read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let file: toml::Table = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let of = |case: &toml::Value| case["name"].as_str().unwrap().to_owned();
        let cases = file["cases"].as_array().unwrap().iter().map(of).collect();
        names.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), cases);
    }
    names
}

#[test]
fn every_clause_has_a_verdict_and_what_shows_it() {
    let page = std::fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let cases = case_names();
    let mut wrong = String::new();
    let mut seen: BTreeMap<u16, usize> = BTreeMap::new();
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| C-")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [clause, _source, _asks, verdict, how] = cells[..] else {
            wrong += &format!("{} cells: {line}\n", cells.len());
            continue;
        };
        *seen.entry(clause[2..].parse().unwrap()).or_default() += 1;
        *verdicts.entry(verdict).or_default() += 1;
        if !["does", "host", "n/a"].contains(&verdict) {
            wrong += &format!("{clause}: no verdict {verdict:?}\n");
        }
        let mut shown = 0;
        for reference in how.split('`').skip(1).step_by(2) {
            let Some((file, name)) = reference.split_once(": ") else { continue };
            shown += 1;
            // What stands behind the cargo feature `schema` has its own files.
            if file == "schema" && !cases.contains_key(file)
                || file.starts_with("src/result/schema") && !root().join(file).exists()
            {
                continue;
            }
            let there = match file.strip_suffix(".rs") {
                Some(_) => std::fs::read_to_string(root().join(file))
                    .is_ok_and(|source| source.contains(&format!("fn {name}("))),
                None => cases.get(file).is_some_and(|names| names.contains(name)),
            };
            if !there {
                wrong += &format!("{clause}: there is no {reference:?}\n");
            }
        }
        if verdict == "does" && shown == 0 {
            wrong += &format!("{clause}: nothing shows it\n");
        }
    }
    for clause in CLAUSES.iter().cloned().flatten() {
        if seen.remove(&clause) != Some(1) {
            wrong += &format!("C-{clause:02} has not one row\n");
        }
    }
    assert!(seen.is_empty(), "clauses that nobody knows: {seen:?}");
    assert!(wrong.is_empty(), "\n{wrong}");
    eprintln!("{verdicts:?}");
}
