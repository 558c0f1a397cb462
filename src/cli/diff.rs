//! `diff`: where two policies decide differently, by example, and over recorded results.

use crate::corpus::{self, CorpusArgs, Recorded};
use crate::measure::{Measured, Measurer};
use crate::replay::{COLUMNS, ReportFormat, Sums, table, thousands};
use crate::style::{Style, one_line};
use crate::{Done, Stop, policy};
use mcp_select::policy::{Policy, load_builtin, load_file};
use mcp_select::table::diff::{Difference, Differences, Shown, differences};
use mcp_select::{Engine, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(
    after_help = "For each difference an example result is built and run through both policies; without one it is called possible.

With --corpus both policies run over recorded results as well: counts, bytes, and the files, the most affected servers first.
Lost data: fewer than 90 % of the strings and numbers of structuredContent can be found in what goes out; lost words: of the texts.

Exit status: 0 no difference, 1 a difference, 2 wrong usage or a policy that does not load."
)]
pub struct Args {
    /// The policy before: a file or the name of a built-in
    old: String,
    /// The policy after
    new: String,
    /// Recorded results to run both over: a folder, *.jsonl, or gzip or zstd of them
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    #[command(flatten)]
    corpus_args: CorpusArgs,
    /// Only what this audience sees; over recorded results `model` unless said
    #[arg(long, short, value_name = "AUDIENCE")]
    audience: Option<String>,
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
}

pub fn run(args: &Args) -> Done {
    let (old, new) = (load(&args.old)?, load(&args.new)?);
    if let Some(audience) = &args.audience {
        for (name, policy) in [(&args.old, &old), (&args.new, &new)] {
            if policy.audience(audience).is_none() {
                return Err(Stop::Usage(format!("error: {name} does not define the audience {audience:?}")));
            }
        }
    }
    let found = differences(&old, &new, args.audience.as_deref());
    let replayed = match &args.corpus {
        Some(corpus) => Some(over_corpus(args, corpus)?),
        None => None,
    };
    let mut out = std::io::stdout().lock();
    match args.format {
        ReportFormat::Json => writeln!(out, "{}", as_json(args, &found, replayed.as_ref()))?,
        format => {
            people(&mut out, format, args, &found)?;
            if let Some(replayed) = &replayed {
                writeln!(out)?;
                corpus_report(&mut out, format, args, replayed)?;
            }
        }
    }
    let changed = replayed.as_ref().map_or(0, |replayed| replayed.changed.len());
    if found.is_empty() && changed == 0 { Ok(()) } else { Err(Stop::No(String::new())) }
}

fn load(name: &str) -> Result<Policy, Stop> {
    let loaded = if policy::is_file(name) { load_file(Path::new(name)) } else { load_builtin(name) };
    loaded
        .map_err(|error| Stop::Usage(policy::render(&error.diagnostics, &error.files, std::io::stderr().is_terminal())))
}

// ---- by example -----------------------------------------------------------------------------------------------

/// Differences of one pair of rules for one audience.
struct Group<'d> {
    head: &'d Difference,
    all: Vec<&'d Difference>,
}

fn groups(found: &Differences) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for difference in &found.settings {
        let is_it = |group: &&mut Group<'_>| {
            group.head.audience == difference.audience
                && group.head.old.place == difference.old.place
                && group.head.new.place == difference.new.place
        };
        match groups.iter_mut().find(is_it) {
            Some(group) => group.all.push(difference),
            None => groups.push(Group { head: difference, all: vec![difference] }),
        }
    }
    groups
}

fn people(out: &mut impl Write, format: ReportFormat, args: &Args, found: &Differences) -> std::io::Result<()> {
    let style = if format == ReportFormat::Human { Style::of_stdout() } else { Style::plain() };
    let (title, item) = if format == ReportFormat::Markdown { ("## ", "- ") } else { ("", "  ") };
    if found.is_empty() {
        writeln!(out, "{} and {} decide alike", one_line(&args.old), one_line(&args.new))?;
    }
    for line in &found.other {
        writeln!(out, "{title}{}", style.heading(&one_line(line)))?;
    }
    for group in groups(found) {
        let Difference { audience, old, new, .. } = group.head;
        writeln!(
            out,
            "{title}{}  {} -> {}",
            style.heading(&format!("{audience}: {} -> {}", one_line(&old.rule), one_line(&new.rule))),
            style.quiet(&old.place),
            style.quiet(&new.place)
        )?;
        for difference in &group.all {
            let (old, new) = (one_line(&difference.old.value), one_line(&difference.new.value));
            writeln!(out, "{item}{} = {old} -> {}", difference.setting.name(), style.strong(&new))?;
        }
        // The one that shows most: an output that differs, else the first.
        let differs = group.all.iter().filter_map(|d| d.example.as_ref()).find(|example| example.old != example.new);
        let example = differs.or_else(|| group.all.iter().find_map(|d| d.example.as_ref()));
        match example {
            None => writeln!(out, "{item}possible: no example was built")?,
            Some(example) => {
                writeln!(out, "{item}example, {}:", one_line(&example.witness.route()))?;
                writeln!(out, "{item}  {}", code(format, &short(&example.witness.shown())))?;
                if example.old == example.new {
                    writeln!(out, "{item}  the same comes out of both: {}", code(format, &shown(&example.old)))?;
                } else {
                    writeln!(out, "{item}  old: {}", code(format, &shown(&example.old)))?;
                    writeln!(out, "{item}  new: {}", code(format, &shown(&example.new)))?;
                }
            }
        }
        writeln!(out)?;
    }
    if found.incomplete {
        writeln!(out, "note: there are too many rules to compare all pairs")?;
    }
    Ok(())
}

fn code(format: ReportFormat, text: &str) -> String {
    if format == ReportFormat::Markdown { format!("`{}`", text.replace('`', "'")) } else { text.to_owned() }
}

fn shown(shown: &Shown) -> String {
    let lane = shown.lane.map_or(String::new(), |lane| format!("{}  ", lane.name()));
    format!("{lane}{}", short(&shown.output))
}

fn short(text: &str) -> String {
    const MOST: usize = 300;
    let line = one_line(text);
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} bytes)", line.get(..end).unwrap_or_default(), text.len()),
        None => line,
    }
}

// ---- over recorded results ------------------------------------------------------------------------------------

/// A result that comes out otherwise.
struct Changed {
    server: String,
    name: String,
    lanes: [&'static str; 2],
    bytes: [usize; 2],
    text_bytes: [usize; 2],
    /// What was lost, and is no longer; what is lost now.
    regained: Vec<&'static str>,
    lost: Vec<&'static str>,
}

impl Changed {
    fn grows(&self) -> i64 {
        let [old, new] = self.text_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        new - old
    }
}

/// What one worker found out.
#[derive(Default)]
struct Replayed {
    old: Sums,
    new: Sums,
    changed: Vec<Changed>,
    not_for_readers: u64,
    refused: Vec<String>,
}

#[derive(Default)]
struct Worker {
    old: Measurer,
    new: Measurer,
    replayed: Replayed,
}

fn over_corpus(args: &Args, path: &Path) -> Result<Replayed, Stop> {
    let engines = [policy::engine(&args.old)?, policy::engine(&args.new)?];
    let audience = args.audience.as_deref().unwrap_or("model");
    for engine in &engines {
        engine.set_auto_reload(0);
        engine.table(&Request::new("", "", audience)).map_err(|error| Stop::Usage(format!("error: {error}")))?;
    }
    let work = |worker: &mut Worker, recorded: Recorded| worker.take(&engines, audience, &recorded);
    let workers = corpus::each(path, &args.corpus_args, Worker::default, work)?;
    let mut all = Replayed::default();
    for Worker { replayed, .. } in workers {
        all.old.join(&replayed.old);
        all.new.join(&replayed.new);
        all.changed.extend(replayed.changed);
        all.not_for_readers += replayed.not_for_readers;
        all.refused.extend(replayed.refused);
    }
    all.changed.sort_by(|one, other| one.name.cmp(&other.name));
    all.refused.sort();
    Ok(all)
}

impl Worker {
    fn take(&mut self, [old, new]: &[Engine; 2], audience: &str, recorded: &Recorded) {
        let request = recorded.request(audience);
        let before = self.old.measure(old, &request, &recorded.bytes);
        let after = self.new.measure(new, &request, &recorded.bytes);
        let replayed = &mut self.replayed;
        let (before, after) = match (before, after) {
            (Ok(Some(before)), Ok(Some(after))) => (before, after),
            (Err(error), _) | (_, Err(error)) => {
                replayed.refused.push(format!("{}: {error}", recorded.name));
                return;
            }
            _ => {
                replayed.not_for_readers += 1;
                return;
            }
        };
        replayed.old.add(&before);
        replayed.new.add(&after);
        let outputs = [&self.old, &self.new].map(|measurer| measurer.selection.json().unwrap_or(&recorded.bytes));
        let [old_output, new_output] = outputs;
        if before.lane == after.lane && old_output == new_output {
            return;
        }
        let went = |was: fn(&Measured) -> bool| (was(&before), was(&after));
        let losses = [("data", went(|measured| measured.loses_data)), ("words", went(|measured| measured.loses_words))];
        let those =
            |wanted: (bool, bool)| losses.iter().filter(|(_, is)| *is == wanted).map(|(what, _)| *what).collect();
        replayed.changed.push(Changed {
            server: recorded.server.clone(),
            name: recorded.name.clone(),
            lanes: [before.lane.name(), after.lane.name()],
            bytes: [before.bytes_out, after.bytes_out],
            text_bytes: [before.text_bytes, after.text_bytes],
            regained: those((true, false)),
            lost: those((false, true)),
        });
    }
}

/// Changed results by server, the most affected first.
fn by_server(replayed: &Replayed) -> Vec<(&str, Vec<&Changed>)> {
    let mut servers: BTreeMap<&str, Vec<&Changed>> = BTreeMap::new();
    for changed in &replayed.changed {
        servers.entry(&changed.server).or_default().push(changed);
    }
    let mut servers: Vec<_> = servers.into_iter().collect();
    servers.sort_by_key(|(name, changed)| (std::cmp::Reverse(changed.len()), *name));
    servers
}

fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "+" };
    format!("{sign}{}", thousands(number.unsigned_abs()))
}

fn corpus_report(out: &mut impl Write, format: ReportFormat, args: &Args, replayed: &Replayed) -> std::io::Result<()> {
    let rows = [(one_line(&args.old), replayed.old.cells()), (one_line(&args.new), replayed.new.cells())];
    write!(out, "{}", table(format, "policy", &COLUMNS, &rows))?;
    let growth: i64 = replayed.changed.iter().map(Changed::grows).sum();
    let regained = |what: &str| replayed.changed.iter().filter(|changed| changed.regained.contains(&what)).count();
    let lost = |what: &str| replayed.changed.iter().filter(|changed| changed.lost.contains(&what)).count();
    writeln!(
        out,
        "\n{} of {} results come out otherwise, {} bytes of text; data: {} regained, {} lost; words: {} regained, {} lost",
        thousands(replayed.changed.len() as u64),
        thousands(replayed.old.results),
        signed(growth),
        regained("data"),
        lost("data"),
        regained("words"),
        lost("words"),
    )?;
    let servers = by_server(replayed);
    if !servers.is_empty() {
        writeln!(out)?;
        let rows: Vec<(String, Vec<String>)> = servers
            .iter()
            .map(|(server, changed)| {
                let count = |of: fn(&Changed) -> bool| thousands(changed.iter().filter(|c| of(c)).count() as u64);
                let growth: i64 = changed.iter().map(|changed| changed.grows()).sum();
                let cells = vec![
                    thousands(changed.len() as u64),
                    signed(growth),
                    count(|c| c.regained.contains(&"data")),
                    count(|c| c.lost.contains(&"data")),
                    count(|c| c.lost.contains(&"words")),
                ];
                (one_line(server), cells)
            })
            .collect();
        let columns = ["changed", "text bytes", "data regained", "data lost", "words lost"];
        write!(out, "{}", table(format, "server", &columns, &rows))?;
        writeln!(out)?;
        let rows: Vec<(String, Vec<String>)> = servers
            .iter()
            .flat_map(|(_, changed)| changed)
            .map(|changed| {
                let [old, new] = changed.lanes;
                let lanes = if old == new { old.to_owned() } else { format!("{old} -> {new}") };
                let mut what: Vec<String> = changed.regained.iter().map(|what| format!("{what} regained")).collect();
                what.extend(changed.lost.iter().map(|what| format!("{what} lost")));
                (one_line(&changed.name), vec![lanes, signed(changed.grows()), what.join(", ")])
            })
            .collect();
        write!(out, "{}", table(format, "file", &["lane", "text bytes", ""], &rows))?;
    }
    if replayed.not_for_readers > 0 {
        writeln!(out, "\n{} for the protocol driver, shown to nobody", replayed.not_for_readers)?;
    }
    if !replayed.refused.is_empty() {
        writeln!(out, "\nrefused:")?;
        for refused in &replayed.refused {
            writeln!(out, "  {}", one_line(refused))?;
        }
    }
    Ok(())
}

// ---- for programs ---------------------------------------------------------------------------------------------

fn as_json(args: &Args, found: &Differences, replayed: Option<&Replayed>) -> Value {
    let shown = |shown: &Shown| json!({ "lane": shown.lane.map(|lane| lane.name()), "output": shown.output });
    let settings: Vec<Value> = found
        .settings
        .iter()
        .map(|difference| {
            let side = |side: &mcp_select::table::diff::Winner| {
                json!({ "rule": side.rule, "place": side.place, "value": side.value })
            };
            json!({
                "audience": difference.audience,
                "setting": difference.setting.name(),
                "old": side(&difference.old),
                "new": side(&difference.new),
                "possible": difference.example.is_none(),
                "example": difference.example.as_ref().map(|example| json!({
                    "server": example.witness.server,
                    "tool": example.witness.tool,
                    "labels": example.witness.labels.iter().cloned().collect::<BTreeMap<_, _>>(),
                    "revision": example.witness.revision,
                    "tool_definition": example.witness.definition,
                    "result": example.witness.result,
                    "old": shown(&example.old),
                    "new": shown(&example.new),
                })),
            })
        })
        .collect();
    let corpus = replayed.map(|replayed| {
        let files: Vec<Value> = by_server(replayed)
            .into_iter()
            .flat_map(|(_, changed)| changed)
            .map(|changed| {
                json!({
                    "name": changed.name, "server": changed.server, "lanes": changed.lanes, "bytes_out": changed.bytes,
                    "text_bytes": changed.text_bytes, "regained": changed.regained, "lost": changed.lost,
                })
            })
            .collect();
        json!({
            "old": replayed.old.json(), "new": replayed.new.json(), "changed": files,
            "not_for_readers": replayed.not_for_readers, "refused": replayed.refused,
        })
    });
    json!({
        "old": args.old, "new": args.new, "differences": settings, "other": found.other, "incomplete": found.incomplete,
        "corpus": corpus,
    })
}
