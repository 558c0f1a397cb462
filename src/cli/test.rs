//! `test`: the `[[tests]]` of policies, and of the `*.test.toml` files beside them that extend them.

use crate::explain::Report;
use crate::style::{Style, one_line};
use crate::{Done, Stop, policy};
use clap::ValueEnum;
use mcp_select::policy::rule::Layer;
use mcp_select::policy::{Policy, PolicyTest, load_file};
use mcp_select::{Engine, Request, Selection};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(
    after_help = "A file NAME.test.toml beside a policy is a policy file that extends it and holds [[tests]] alone:

  version = 1
  extends = \"./policy.toml\"

  [[tests]]
  name   = \"list_issues keeps titles\"
  server = \"github\"
  tool   = \"list_issues\"
  result = '{\"content\":[],\"structuredContent\":{\"items\":[{\"title\":\"Fix\"}]}}'
  expect = { lane = \"structured\", contains = [\"Fix\"] }"
)]
pub struct Args {
    /// Policy files
    #[arg(required = true, value_name = "POLICY")]
    policies: Vec<PathBuf>,
    /// The least share of the policies' own rules that the tests must make decide something, in percent
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_coverage: Option<u8>,
    #[arg(long, value_enum, default_value_t = TestFormat::Human)]
    format: TestFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestFormat {
    Human,
    Json,
    Junit,
}

/// A test that was run.
struct Outcome {
    file: String,
    name: String,
    place: String,
    /// What was not as expected; none: it passed.
    failures: Vec<String>,
    /// For people: why it came out as it did.
    explanation: Vec<String>,
}

/// A rule of a policy's own file, and whether a test made it decide something.
struct Covered {
    title: String,
    place: String,
    fired: bool,
}

pub fn run(args: &Args) -> Done {
    let mut outcomes = Vec::new();
    let mut rules = Vec::new();
    for path in &args.policies {
        run_policy(path, &mut outcomes, &mut rules)?;
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.failures.is_empty()).count();
    let fired = rules.iter().filter(|rule| rule.fired).count();
    let coverage = if rules.is_empty() { 100 } else { fired * 100 / rules.len() };
    let mut out = std::io::stdout().lock();
    match args.format {
        TestFormat::Human => human(&mut out, &outcomes, &rules, coverage)?,
        TestFormat::Json => writeln!(out, "{}", as_json(&outcomes, &rules, coverage))?,
        TestFormat::Junit => write!(out, "{}", junit(&outcomes))?,
    }
    if outcomes.is_empty() {
        return Err(Stop::No(
            "error: no tests were found; write [[tests]] in the policy or in a *.test.toml beside it".into(),
        ));
    }
    if failed > 0 {
        return Err(Stop::No(format!("error: {failed} of {} tests failed", outcomes.len())));
    }
    match args.min_coverage {
        Some(least) if coverage < usize::from(least) => Err(Stop::No(format!(
            "error: the tests make {coverage} % of the rules decide something, less than {least} %"
        ))),
        _ => Ok(()),
    }
}

fn run_policy(path: &Path, outcomes: &mut Vec<Outcome>, rules: &mut Vec<Covered>) -> Done {
    let policy = read(path)?;
    let own = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut fired: BTreeSet<String> = BTreeSet::new();
    run_tests(path, &policy, &own, outcomes, &mut fired)?;
    for beside in test_files(path) {
        let tests = read(&beside)?;
        let extends = tests.files.iter().skip(1).filter_map(|file| file.path.as_ref());
        if extends.into_iter().any(|file| file.canonicalize().is_ok_and(|file| file == own)) {
            run_tests(&beside, &tests, &own, outcomes, &mut fired)?;
        }
    }
    // Sections of audiences are what everything falls back on: they need no test to be alive.
    for rule in policy.rules.iter().filter(|rule| rule.place.file == 0 && rule.layer != Layer::Audience) {
        let place = policy.place(rule.place);
        let line = format!("{}:{}", rule.place.line, rule.place.column);
        rules.push(Covered { title: rule.title().into_owned(), fired: fired.contains(&line), place });
    }
    Ok(())
}

fn read(path: &Path) -> Result<Policy, Stop> {
    load_file(path).map_err(|error| {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        Stop::Usage(policy::render(&error.diagnostics, &error.files, terminal))
    })
}

/// The `*.test.toml` files in the folder of a policy.
fn test_files(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_test = |file: &Path| file.to_string_lossy().ends_with(".test.toml") && file.file_name() != path.file_name();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|file| is_test(file)).collect();
    files.sort();
    files
}

fn run_tests(
    path: &Path,
    policy: &Policy,
    own: &Path,
    outcomes: &mut Vec<Outcome>,
    fired: &mut BTreeSet<String>,
) -> Done {
    if policy.tests.is_empty() {
        return Ok(());
    }
    let engine = Engine::open(path).map_err(|error| Stop::Usage(format!("error: {error}")))?;
    engine.set_auto_reload(0);
    let mut selection = Selection::new();
    for test in &policy.tests {
        let failures = failures(test, &engine, &mut selection);
        if let Some(decided_by) = selection.policy() {
            for rule in selection.deciding_rules().into_iter().filter_map(|rule| decided_by.rules.get(rule)) {
                let file = decided_by.files.get(usize::from(rule.place.file)).and_then(|file| file.path.as_ref());
                if file.is_some_and(|file| file.canonicalize().is_ok_and(|file| file == own)) {
                    fired.insert(format!("{}:{}", rule.place.line, rule.place.column));
                }
            }
        }
        let explanation = if failures.is_empty() { Vec::new() } else { Report::of(&mut selection, Style::of_stdout()) };
        outcomes.push(Outcome {
            file: path.display().to_string(),
            name: test.name.to_string(),
            place: policy.place(test.place),
            failures,
            explanation,
        });
    }
    Ok(())
}

/// What is not as a test expects.
fn failures(test: &PolicyTest, engine: &Engine, selection: &mut Selection) -> Vec<String> {
    let mut request = Request::new(&test.server, &test.tool, &test.audience);
    if let Some(revision) = &test.revision
        && let Err(error) = request.set_revision(revision)
    {
        return vec![error.to_string()];
    }
    let bytes = test.result.as_bytes();
    if let Err(error) = engine.select(&request, bytes, selection) {
        return vec![format!("the result was refused: {error}")];
    }
    let output = String::from_utf8_lossy(selection.json().unwrap_or(bytes)).into_owned();
    let text = selection.text(bytes, "\n").to_owned();
    let mut failures = Vec::new();
    let expect = &test.expect;
    if let Some(lane) = expect.lane.filter(|lane| *lane != selection.lane()) {
        failures.push(format!("lane: expected {}, came {}", lane.name(), selection.lane().name()));
    }
    // Looked for in the text that the reader sees, and in the JSON as it goes out.
    let stands = |needle: &str| text.contains(needle) || output.contains(needle);
    for needle in expect.contains.iter().filter(|needle| !stands(needle)) {
        failures.push(format!("contains: {needle:?} is not in what goes out:\n  {}", shown(&output)));
    }
    for needle in expect.lacks.iter().filter(|needle| stands(needle)) {
        failures.push(format!("lacks: {needle:?} is in what goes out:\n  {}", shown(&output)));
    }
    if let Some(expected) = &expect.result {
        let same = mcp_select::result::equality::json_equal(expected.as_bytes(), output.as_bytes());
        if !same {
            failures.push(format!("result: expected\n  {}\ncame\n  {}", shown(expected), shown(&output)));
        }
    }
    if let Some(is_error) = expect.is_error.filter(|is_error| *is_error != selection.is_error()) {
        failures.push(format!("is_error: expected {is_error}, came {}", selection.is_error()));
    }
    if let Some(rule) = &expect.rule {
        let decided: Vec<String> = selection.policy().map_or_else(Vec::new, |policy| {
            let rules = selection.deciding_rules().into_iter().filter_map(|rule| policy.rules.get(rule));
            rules.filter_map(|rule| rule.name.as_ref()).map(|name| name.to_string()).collect()
        });
        if !decided.iter().any(|name| **name == **rule) {
            let came = if decided.is_empty() { "no named rule".to_owned() } else { format!("{decided:?}") };
            failures.push(format!("rule: expected {rule:?} to decide something, came {came}"));
        }
    }
    failures
}

fn shown(text: &str) -> String {
    const MOST: usize = 400;
    let line = one_line(text);
    if line.chars().count() <= MOST { line } else { line.chars().take(MOST).chain("…".chars()).collect() }
}

fn human(out: &mut impl Write, outcomes: &[Outcome], rules: &[Covered], coverage: usize) -> std::io::Result<()> {
    let style = Style::of_stdout();
    for outcome in outcomes {
        let verdict = if outcome.failures.is_empty() { "ok    " } else { "FAILED" };
        writeln!(out, "{} {}  {}", style.heading(verdict), one_line(&outcome.name), style.quiet(&outcome.place))?;
        for failure in &outcome.failures {
            for line in failure.lines() {
                writeln!(out, "       {line}")?;
            }
        }
        for line in &outcome.explanation {
            writeln!(out, "       {} {line}", style.quiet("|"))?;
        }
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.failures.is_empty()).count();
    writeln!(out, "\n{} passed, {failed} failed", outcomes.len() - failed)?;
    if !rules.is_empty() {
        let fired = rules.iter().filter(|rule| rule.fired).count();
        writeln!(out, "{fired} of {} rules and sections decided something ({coverage} %)", rules.len())?;
        for rule in rules.iter().filter(|rule| !rule.fired) {
            writeln!(out, "   never: {}  {}", one_line(&rule.title), style.quiet(&rule.place))?;
        }
    }
    Ok(())
}

fn as_json(outcomes: &[Outcome], rules: &[Covered], coverage: usize) -> Value {
    json!({
        "tests": outcomes.iter().map(|outcome| json!({
            "file": outcome.file, "name": outcome.name, "place": outcome.place,
            "passed": outcome.failures.is_empty(), "failures": outcome.failures,
        })).collect::<Vec<_>>(),
        "rules": rules.iter().map(|rule| json!({
            "rule": rule.title, "place": rule.place, "fired": rule.fired,
        })).collect::<Vec<_>>(),
        "coverage": coverage,
    })
}

fn junit(outcomes: &[Outcome]) -> String {
    let failed = outcomes.iter().filter(|outcome| !outcome.failures.is_empty()).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"mcp-select\" tests=\"{}\" failures=\"{failed}\">\n",
        outcomes.len()
    );
    for outcome in outcomes {
        let case = format!("    <testcase classname=\"{}\" name=\"{}\"", escape(&outcome.file), escape(&outcome.name));
        if outcome.failures.is_empty() {
            xml.push_str(&format!("{case}/>\n"));
        } else {
            let text = format!("{}\n{}", outcome.place, outcome.failures.join("\n"));
            xml.push_str(&format!("{case}>\n      <failure>{}</failure>\n    </testcase>\n", escape(&text)));
        }
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// Text for XML 1.0: its five characters as entities, what it cannot hold left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}
