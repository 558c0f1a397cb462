//! `compare`: one result under every built-in policy, or recorded results under all of them: bytes and losses.

use crate::corpus::{self, CorpusArgs, Recorded};
use crate::measure::Measurer;
use crate::replay::{ReportFormat, Sums, table};
use crate::style::{one_line, thousands};
use crate::{Done, Stop, input, policy};
use mcp_select::policy::BUILTINS;
use mcp_select::{Engine, Request};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Over a corpus only results that carry both content and structuredContent are counted, unless --all."
)]
pub struct Args {
    /// Further policies to compare, beside the built-in ones (may be repeated)
    #[arg(long, short, value_name = "POLICY")]
    policy: Vec<String>,
    /// The host's own id of the server's connection
    #[arg(long, short, default_value = "")]
    server: String,
    /// The tool's name
    #[arg(long, short, default_value = "")]
    tool: String,
    /// Who will read
    #[arg(long, short, default_value = "model", value_name = "AUDIENCE")]
    audience: String,
    /// Over a corpus: count every result, not only those that carry both fields
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    corpus_args: CorpusArgs,
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    /// A result (JSON), or recorded results (a folder, *.jsonl, *.gz, *.zst); none or `-`: a result on standard input
    result: Option<PathBuf>,
}

pub fn run(args: &Args) -> Done {
    let mut engines: Vec<(String, Engine)> = Vec::new();
    let names = BUILTINS.iter().map(|(name, _)| (*name).to_owned()).chain(args.policy.iter().cloned());
    for name in names {
        let engine = policy::engine(&name)?;
        engine.set_auto_reload(0);
        engines.push((name, engine));
    }
    let is_corpus = args.result.as_ref().is_some_and(|path| {
        path.is_dir() || [".jsonl", ".gz", ".zst"].iter().any(|end| path.to_string_lossy().ends_with(end))
    });
    if is_corpus { over_corpus(args, &engines) } else { one_result(args, &engines) }
}

fn one_result(args: &Args, engines: &[(String, Engine)]) -> Done {
    let result = input::read(args.result.as_deref())?;
    let request = Request::new(&args.server, &args.tool, &args.audience);
    let mut measurer = Measurer::default();
    let mut rows = Vec::new();
    let mut reports = Vec::new();
    for (name, engine) in engines {
        let measured = match measurer.measure(engine, &request, &result) {
            Ok(Some(measured)) => measured,
            Ok(None) => return Err(Stop::No("error: the result is for the protocol driver, shown to nobody".into())),
            Err(error) => return Err(Stop::No(format!("error: {error}"))),
        };
        let blocks = measurer.selection.blocks().len();
        let text = measurer.selection.text(&result, " ⏎ ").to_owned();
        let start: String = one_line(&text.replace('\n', " ")).chars().take(60).collect();
        let lost = match (measured.loses_data, measured.loses_words) {
            (true, true) => "data, words",
            (true, false) => "data",
            (false, true) => "words",
            (false, false) => "",
        };
        reports.push(json!({
            "policy": name, "lane": measured.lane.name(), "blocks": blocks, "text_bytes": measured.text_bytes,
            "bytes_out": measured.bytes_out, "loses_data": measured.loses_data, "loses_words": measured.loses_words,
        }));
        rows.push((
            name.clone(),
            vec![
                measured.lane.name().to_owned(),
                blocks.to_string(),
                thousands(measured.text_bytes as u64),
                lost.to_owned(),
                start,
            ],
        ));
    }
    let mut out = std::io::stdout().lock();
    match args.format {
        ReportFormat::Json => writeln!(out, "{}", Value::Array(reports))?,
        format => {
            write!(out, "{}", table(format, "policy", &["lane", "blocks", "text bytes", "loses", "text"], &rows))?
        }
    }
    Ok(())
}

/// Sums of one worker, one for each policy.
struct Worker {
    measurer: Measurer,
    sums: Vec<Sums>,
    refused: u64,
}

fn over_corpus(args: &Args, engines: &[(String, Engine)]) -> Done {
    let path = args.result.clone().unwrap_or_default();
    let start = || Worker { measurer: Measurer::default(), sums: vec![Sums::default(); engines.len()], refused: 0 };
    let work = |worker: &mut Worker, recorded: Recorded| {
        let request = recorded.request(&args.audience);
        for ((_, engine), sums) in engines.iter().zip(&mut worker.sums) {
            match worker.measurer.measure(engine, &request, &recorded.bytes) {
                Ok(Some(measured)) if args.all || measured.has_both => sums.add(&measured),
                Ok(_) => {}
                Err(_) => worker.refused += 1,
            }
        }
    };
    let workers = corpus::each(&path, &args.corpus_args, start, work)?;
    let mut sums = vec![Sums::default(); engines.len()];
    let mut refused = 0;
    for worker in &workers {
        sums.iter_mut().zip(&worker.sums).for_each(|(sum, more)| sum.join(more));
        refused += worker.refused;
    }
    let mut out = std::io::stdout().lock();
    if args.format == ReportFormat::Json {
        let all: Vec<Value> = engines
            .iter()
            .zip(&sums)
            .map(|((name, _), sums)| {
                let mut report = sums.json();
                report["policy"] = json!(name);
                report
            })
            .collect();
        writeln!(out, "{}", Value::Array(all))?;
    } else {
        let rows: Vec<(String, Vec<String>)> = engines
            .iter()
            .zip(&sums)
            .map(|((name, _), sums)| {
                let cells = [sums.results, sums.text_bytes, sums.tokens(), sums.loses_data, sums.loses_words];
                (name.clone(), cells.map(thousands).to_vec())
            })
            .collect();
        write!(
            out,
            "{}",
            table(args.format, "policy", &["results", "text bytes", "tokens", "lose data", "lose words"], &rows)
        )?;
    }
    if refused > 0 {
        return Err(Stop::No(format!("error: {} results were refused", refused / engines.len().max(1) as u64)));
    }
    Ok(())
}
