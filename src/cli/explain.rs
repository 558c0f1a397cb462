//! `explain`: what came, which lane, which rule decided what, what was left out and why.

use crate::route::RouteArgs;
use crate::style::{Style, bytes, one_line};
use crate::{Done, Format, Stop, input, policy};
use mcp_select::select::{ExplainedSetting, Explanation};
use mcp_select::{Fate, Outcome, Selection, Status};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    route: RouteArgs,
    /// json: the decision record
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The result, a JSON file; none or `-`: standard input
    result: Option<PathBuf>,
}

pub fn run(args: &Args) -> Done {
    let engine = policy::engine(&args.route.policy)?;
    let request = args.route.request()?;
    let result = input::read(args.result.as_deref())?;
    let mut selection = Selection::new();
    engine.select(&request, &result, &mut selection).map_err(|error| match error.status() {
        Status::ErrAudience => Stop::Usage(format!("error: {error}")),
        _ => Stop::No(format!("error: {error}")),
    })?;
    let mut out = std::io::stdout().lock();
    if args.format == Format::Json {
        out.write_all(selection.decision())?;
        writeln!(out)?;
        return Ok(());
    }
    for line in Report::of(&mut selection, Style::of_stdout()) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What is said of a selection, for people.
pub struct Report<'a> {
    selection: &'a Selection,
    record: &'a Value,
    style: Style,
    lines: Vec<String>,
}

/// Every line starts with a heading, or with as much space.
const MARGIN: usize = 10;

impl Report<'_> {
    /// The lines of the report on the last call.
    pub fn of(selection: &mut Selection, style: Style) -> Vec<String> {
        let record: Value = serde_json::from_slice(selection.decision()).unwrap_or_default();
        let report = Report { selection, record: &record, style, lines: Vec::new() };
        report.write().iter().map(|line| line.trim_end().to_owned()).collect()
    }

    fn write(mut self) -> Vec<String> {
        let Some(explanation) = self.selection.explain() else { return self.lines };
        self.came();
        self.asked(&explanation);
        if self.selection.outcome() != Outcome::Selected {
            let outcome = self.selection.outcome().name();
            self.section("Outcome", &[format!("{outcome}: for the protocol driver, shown to nobody")]);
            return self.lines;
        }
        self.lane(&explanation);
        self.facts();
        self.settings(&explanation);
        self.output(&explanation);
        self.left_out(&explanation);
        self.notes();
        self.lines
    }

    fn section(&mut self, heading: &str, lines: &[String]) {
        for (index, line) in lines.iter().enumerate() {
            let heading = if index == 0 { heading } else { "" };
            let margin = " ".repeat(MARGIN - heading.len().min(MARGIN - 1));
            self.lines.push(format!(
                "{}{margin}{line}",
                if heading.is_empty() { String::new() } else { self.style.heading(heading) }
            ));
        }
    }

    fn came(&mut self) {
        let input = self.selection.input_summary();
        let mut parts: Vec<String> = input.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        if parts.is_empty() {
            parts.push("no blocks".into());
        }
        parts.push(match input.structured_bytes {
            Some(size) => format!("structuredContent of {}", bytes(size)),
            None => "no structuredContent".into(),
        });
        if let Some(size) = input.meta_bytes {
            parts.push(format!("_meta of {}", bytes(size)));
        }
        if input.is_error {
            parts.push("an error".into());
        }
        self.section("Came", &[format!("{}: {}", bytes(input.bytes), parts.join(", "))]);
    }

    fn asked(&mut self, explanation: &Explanation) {
        let mut parts = vec![self.style.strong(&one_line(&explanation.audience))];
        for (word, name) in [("server", &explanation.server), ("tool", &explanation.tool)] {
            if !name.is_empty() {
                parts.push(format!("{word} {}", one_line(name)));
            }
        }
        let policy = format!("policy {} {}", one_line(&explanation.policy), self.style.quiet(&explanation.hash));
        self.section("For", &[format!("{}, by {policy}", parts.join(", "))]);
    }

    fn lane(&mut self, explanation: &Explanation) {
        let lane = explanation.lane.map_or("none", |lane| lane.name());
        let meaning = match lane {
            "content" => "the visible blocks",
            "structured" => "the structured value in the place of the texts",
            "structured-only" => "the structured value alone",
            "both" => "the visible blocks, then the structured value",
            "raw" => "all that may be seen, as JSON text",
            "whole" => "the result as it came",
            _ => "nothing of the result; the placeholder, or notes",
        };
        let out = self.record["bytes_out"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or_default();
        let change = if self.selection.status() == Some(Status::Unchanged) {
            "unchanged: the reader gets the input as it is".to_owned()
        } else {
            format!("{} go out", bytes(out))
        };
        let mut lines = vec![format!("{}: {meaning}; {change}", self.style.strong(lane))];
        if self.record["deviates"].as_array().is_some_and(|list| !list.is_empty()) {
            lines.push("deviates from sep-2200: both fields reach the model".into());
        }
        self.section("Lane", &lines);
    }

    fn facts(&mut self) {
        let mut lines = Vec::new();
        for (name, value) in self.record["facts"].as_object().into_iter().flatten() {
            if name == "coverage" && value.is_object() {
                let (share, covered, leaves) = (&value["share"], &value["covered"], &value["leaves"]);
                lines.push(format!(
                    "coverage {share}: {covered} of {leaves} {} of structuredContent can be found in the blocks",
                    if leaves.as_u64() == Some(1) { "value" } else { "values" }
                ));
                let missing: Vec<String> = value["missing"].as_array().into_iter().flatten().map(shown).collect();
                if !missing.is_empty() {
                    let more = if leaves.as_u64().unwrap_or_default() - covered.as_u64().unwrap_or_default() > 5 {
                        ", …"
                    } else {
                        ""
                    };
                    lines.push(format!("missing: {}{more}", missing.join(", ")));
                }
            } else if let Some(ways) = value.as_object() {
                let found: Vec<&str> = ways
                    .iter()
                    .filter(|(_, found)| **found == Value::Bool(true))
                    .map(|(way, _)| way.as_str())
                    .collect();
                lines.push(format!("{name}: {}", if found.is_empty() { "none".into() } else { found.join(", ") }));
            } else if let Some(list) = value.as_array() {
                lines.push(format!("{name}: {}", list.iter().map(shown).collect::<Vec<_>>().join(", ")));
            } else {
                lines.push(format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
            }
        }
        self.section("Facts", &lines);
    }

    /// Each setting that a rule with conditions won or could have won; the others in one line for each section.
    fn settings(&mut self, explanation: &Explanation) {
        let is_plain = |setting: &&ExplainedSetting| setting.held.is_empty() && setting.beaten.is_empty();
        let mut lines = Vec::new();
        for setting in explanation.settings.iter().filter(|setting| !is_plain(setting)) {
            lines.push(format!("{} = {}", setting.setting, one_line(&setting.value)));
            let why = if setting.held.is_empty() {
                String::new()
            } else {
                format!(", since {}", one_line(&setting.held.join(" and ")))
            };
            lines.push(format!("   by {}{why}", self.rule(&setting.rule, &setting.place)));
            for beaten in &setting.beaten {
                let failed = one_line(&beaten.failed);
                lines.push(format!("   not {}: {failed} does not hold", self.rule(&beaten.rule, &beaten.place)));
            }
        }
        let mut plain: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for setting in explanation.settings.iter().filter(is_plain) {
            let short = if setting.value.chars().count() <= 40 {
                format!("{} = {}", setting.setting, one_line(&setting.value))
            } else {
                setting.setting.to_owned()
            };
            plain.entry((&setting.place, &setting.rule)).or_default().push(short);
        }
        for ((place, rule), settings) in plain {
            lines.push(format!("by {}", self.rule(rule, place)));
            lines.extend(wrap(&settings.join(", "), 84).into_iter().map(|line| format!("   {line}")));
        }
        self.section("Settings", &lines);
    }

    fn rule(&self, rule: &str, place: &str) -> String {
        let named = !rule.starts_with('[');
        let rule = if named { format!("{:?}", one_line(rule)) } else { one_line(rule) };
        format!("{} {}", self.style.strong(&rule), self.style.quiet(&format!("({})", one_line(place))))
    }

    fn output(&mut self, explanation: &Explanation) {
        const MOST: usize = 12;
        let mut lines: Vec<String> = explanation
            .blocks
            .iter()
            .take(MOST)
            .map(|block| {
                let fate = match block.fate {
                    Fate::Kept => "kept",
                    Fate::Rewritten => "rewritten",
                    Fate::Note => "a note in its place",
                    Fate::Added => "added",
                };
                let from = block.source.map_or(String::new(), |source| format!("content[{source}] "));
                let size = block.text_bytes.map_or(String::new(), |size| format!(", {} of text", bytes(size)));
                format!("{from}{}: {fate}{size}", block.kind)
            })
            .collect();
        let more = explanation.blocks.len().saturating_sub(MOST);
        if more > 0 {
            lines.push(format!("and {more} more blocks"));
        }
        self.section("Goes out", &lines);
    }

    fn left_out(&mut self, explanation: &Explanation) {
        let lines: Vec<String> = explanation
            .dropped
            .iter()
            .map(|dropped| {
                let size = usize::try_from(dropped.bytes).unwrap_or_default();
                let why = match dropped.why.as_str() {
                    "lane" => "the lane does not show it".to_owned(),
                    "annotations" => "it is annotated for another audience".to_owned(),
                    "blocks.blank" => "blocks.blank: nothing visible in it".to_owned(),
                    "hide" => "hide = true".to_owned(),
                    "unknown" => return "members of the result that no revision knows".to_owned(),
                    setting => setting.to_owned(),
                };
                format!("{}, {}: {why}", dropped.what, bytes(size))
            })
            .collect();
        self.section("Left out", &lines);
    }

    fn notes(&mut self) {
        let notes = self.record["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let lines: Vec<String> = notes
            .iter()
            .map(|note| {
                let count = note["count"].as_u64().unwrap_or_default();
                let code = note["code"].as_str().unwrap_or_default();
                let Some(message) = note["message"].as_str() else {
                    return if count > 1 { format!("{code} ({count} times)") } else { code.to_owned() };
                };
                let path = note["path"].as_str().filter(|path| !path.is_empty());
                let at = path.map(|path| format!(" at {}", one_line(path))).unwrap_or_default();
                format!("{code}{at}: {}", one_line(message))
            })
            .collect();
        self.section("Notes", &lines);
    }
}

fn shown(value: &Value) -> String {
    one_line(value.as_str().unwrap_or_default())
}

/// Breaks a list at its commas so that no line is longer than `width`, where that can be.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive(", ") {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.trim_end().chars().count() <= width => line.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}
