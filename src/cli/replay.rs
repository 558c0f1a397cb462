//! `replay`: a policy over recorded results.

use crate::corpus::{self, CorpusArgs, Recorded};
use crate::measure::{Measured, Measurer};
use crate::style::{one_line, thousands};
use crate::{Done, Stop, policy};
use clap::ValueEnum;
use mcp_select::Engine;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "A corpus is a folder of results (with a calls.jsonl that says whose they are, if there is one), JSON lines, or gzip or zstd of them.

Loses data: fewer than 90 % of the strings and numbers of structuredContent can be found in what goes out. Loses words: fewer than 90 %
of the distinct words of the texts. Errors are not counted in either. Tokens are estimated as a quarter of the text's bytes."
)]
pub struct Args {
    /// A policy file, or the name of a built-in
    #[arg(long, short, default_value = mcp_select::policy::DEFAULT, value_name = "POLICY")]
    policy: String,
    /// Who will read
    #[arg(long, short, default_value = "model", value_name = "AUDIENCE")]
    audience: String,
    #[command(flatten)]
    corpus_args: CorpusArgs,
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    /// Recorded results
    corpus: PathBuf,
}

/// How a report over many results is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    Human,
    Json,
    Markdown,
}

/// Sums over results.
#[derive(Clone, Default)]
pub struct Sums {
    pub results: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub text_bytes: u64,
    pub loses_data: u64,
    pub loses_words: u64,
}

impl Sums {
    pub fn add(&mut self, measured: &Measured) {
        self.results += 1;
        self.bytes_in += measured.bytes_in as u64;
        self.bytes_out += measured.bytes_out as u64;
        self.text_bytes += measured.text_bytes as u64;
        self.loses_data += u64::from(measured.loses_data);
        self.loses_words += u64::from(measured.loses_words);
    }

    pub fn join(&mut self, other: &Sums) {
        self.results += other.results;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.text_bytes += other.text_bytes;
        self.loses_data += other.loses_data;
        self.loses_words += other.loses_words;
    }

    pub fn tokens(&self) -> u64 {
        self.text_bytes.div_ceil(4)
    }

    pub fn json(&self) -> Value {
        json!({
            "results": self.results, "bytes_in": self.bytes_in, "bytes_out": self.bytes_out, "text_bytes": self.text_bytes,
            "tokens": self.tokens(), "loses_data": self.loses_data, "loses_words": self.loses_words,
        })
    }

    pub fn cells(&self) -> Vec<String> {
        [self.results, self.bytes_in, self.bytes_out, self.text_bytes, self.tokens(), self.loses_data, self.loses_words]
            .map(thousands)
            .to_vec()
    }
}

pub const COLUMNS: [&str; 7] = ["results", "bytes in", "bytes out", "text bytes", "tokens", "lose data", "lose words"];

/// What one worker found out.
#[derive(Default)]
struct Totals {
    measurer: Measurer,
    all: Sums,
    lanes: BTreeMap<&'static str, Sums>,
    servers: BTreeMap<String, Sums>,
    rules: BTreeMap<usize, u64>,
    not_for_readers: u64,
    refused: Vec<(String, String)>,
    lose_data: Vec<String>,
    lose_words: Vec<String>,
}

impl Totals {
    fn take(&mut self, engine: &Engine, audience: &str, recorded: &Recorded) {
        match self.measurer.measure(engine, &recorded.request(audience), &recorded.bytes) {
            Err(error) => self.refused.push((recorded.name.clone(), error.to_string())),
            Ok(None) => self.not_for_readers += 1,
            Ok(Some(measured)) => {
                self.all.add(&measured);
                self.lanes.entry(measured.lane.name()).or_default().add(&measured);
                self.servers.entry(recorded.server.clone()).or_default().add(&measured);
                for rule in &measured.rules {
                    *self.rules.entry(*rule).or_default() += 1;
                }
                if measured.loses_data {
                    self.lose_data.push(recorded.name.clone());
                }
                if measured.loses_words {
                    self.lose_words.push(recorded.name.clone());
                }
            }
        }
    }

    fn join(mut self, other: Totals) -> Totals {
        self.all.join(&other.all);
        for (lane, sums) in other.lanes {
            self.lanes.entry(lane).or_default().join(&sums);
        }
        for (server, sums) in other.servers {
            self.servers.entry(server).or_default().join(&sums);
        }
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        self.not_for_readers += other.not_for_readers;
        self.refused.extend(other.refused);
        self.lose_data.extend(other.lose_data);
        self.lose_words.extend(other.lose_words);
        self
    }
}

pub fn run(args: &Args) -> Done {
    let engine = policy::engine(&args.policy)?;
    engine.set_auto_reload(0);
    // An audience that does not exist is wrong usage, not a refusal of every result.
    engine
        .table(&mcp_select::Request::new("", "", &args.audience))
        .map_err(|error| Stop::Usage(format!("error: {error}")))?;
    let workers = corpus::each(&args.corpus, &args.corpus_args, Totals::default, |totals, recorded| {
        totals.take(&engine, &args.audience, &recorded);
    })?;
    let mut totals = workers.into_iter().reduce(Totals::join).unwrap_or_default();
    totals.refused.sort();
    totals.lose_data.sort();
    totals.lose_words.sort();
    let rules = rules_hit(&args.policy, &totals);
    let mut out = std::io::stdout().lock();
    match args.format {
        ReportFormat::Json => writeln!(out, "{}", as_json(&totals, &rules))?,
        format => {
            let table = |heading: &str, rows: Vec<(String, Vec<String>)>| table(format, heading, &COLUMNS, &rows);
            let mut lanes: Vec<_> =
                totals.lanes.iter().map(|(lane, sums)| ((*lane).to_owned(), sums.cells())).collect();
            lanes.push(("all".to_owned(), totals.all.cells()));
            write!(out, "{}", table("lane", lanes))?;
            let mut servers: Vec<_> = totals.servers.iter().collect();
            servers
                .sort_by(|(name, sums), (name2, sums2)| sums2.text_bytes.cmp(&sums.text_bytes).then(name.cmp(name2)));
            writeln!(out)?;
            write!(
                out,
                "{}",
                table("server", servers.into_iter().map(|(name, sums)| (one_line(name), sums.cells())).collect())
            )?;
            writeln!(out)?;
            let rules = rules.iter().map(|(rule, count)| (one_line(rule), vec![thousands(*count)])).collect::<Vec<_>>();
            write!(out, "{}", self::table(format, "rule", &["results"], &rules))?;
            list(&mut out, "lose data", &totals.lose_data)?;
            list(&mut out, "lose words", &totals.lose_words)?;
            if totals.not_for_readers > 0 {
                writeln!(out, "\n{} for the protocol driver, shown to nobody", totals.not_for_readers)?;
            }
        }
    }
    if totals.refused.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> =
        totals.refused.iter().take(20).map(|(name, error)| format!("error: {}: {error}", one_line(name))).collect();
    Err(Stop::No(format!("{}\nerror: {} results were refused", shown.join("\n"), totals.refused.len())))
}

fn rules_hit(policy: &str, totals: &Totals) -> Vec<(String, u64)> {
    let Some(policy) = crate::policy::load(policy) else { return Vec::new() };
    let title =
        |rule: &usize| policy.rules.get(*rule).map(|rule| format!("{} ({})", rule.title(), policy.place(rule.place)));
    totals.rules.iter().filter_map(|(rule, count)| Some((title(rule)?, *count))).collect()
}

fn as_json(totals: &Totals, rules: &[(String, u64)]) -> Value {
    let by_name = |sums: Vec<(String, &Sums)>| -> Value {
        Value::Object(sums.into_iter().map(|(name, sums)| (name, sums.json())).collect())
    };
    json!({
        "all": totals.all.json(),
        "lanes": by_name(totals.lanes.iter().map(|(lane, sums)| ((*lane).to_owned(), sums)).collect()),
        "servers": by_name(totals.servers.iter().map(|(server, sums)| (server.clone(), sums)).collect()),
        "rules": rules.iter().map(|(rule, count)| json!({"rule": rule, "results": count})).collect::<Vec<_>>(),
        "lose_data": totals.lose_data,
        "lose_words": totals.lose_words,
        "not_for_readers": totals.not_for_readers,
        "refused": totals.refused.iter().map(|(name, error)| json!({"name": name, "error": error})).collect::<Vec<_>>(),
    })
}

fn list(out: &mut impl Write, heading: &str, names: &[String]) -> std::io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{heading}:")?;
    for name in names {
        writeln!(out, "  {}", one_line(name))?;
    }
    Ok(())
}

/// A table with one name column and columns of figures.
pub fn table(format: ReportFormat, heading: &str, columns: &[&str], rows: &[(String, Vec<String>)]) -> String {
    let mut text = String::new();
    if format == ReportFormat::Markdown {
        text.push_str(&format!("| {heading} | {} |\n|---|{}\n", columns.join(" | "), "---:|".repeat(columns.len())));
        for (name, cells) in rows {
            text.push_str(&format!("| {} | {} |\n", name.replace('|', "\\|"), cells.join(" | ")));
        }
        return text;
    }
    let name_width = rows.iter().map(|(name, _)| name.chars().count()).chain([heading.len()]).max().unwrap_or_default();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            rows.iter()
                .filter_map(|(_, cells)| cells.get(index))
                .map(String::len)
                .chain([column.len()])
                .max()
                .unwrap_or_default()
        })
        .collect();
    let mut line = |name: &str, cells: &[String]| {
        let mut line = format!("{name}{}", " ".repeat(name_width.saturating_sub(name.chars().count())));
        for (cell, width) in cells.iter().zip(&widths) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(heading, &columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>());
    for (name, cells) in rows {
        line(name, cells);
    }
    text
}
