//! The figures: as JSON for programs, as Markdown for people. Rows of other languages are merged in.

use crate::goals;
use crate::{OURS, shapes};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::Path;

/// One figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub shape: String,
    pub bytes: usize,
    pub who: String,
    /// Nanoseconds a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns: Option<f64>,
    /// What else was measured, and its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl Row {
    /// A time.
    pub fn new(shape: &str, bytes: usize, who: &str, ns: f64) -> Row {
        let ns = Some((ns * 10.0).round() / 10.0);
        Row { shape: shape.into(), bytes, who: who.into(), ns, value: None, unit: None }
    }

    /// Something that is no time.
    pub fn of(shape: &str, bytes: usize, who: &str, value: f64, unit: &str) -> Row {
        Row { ns: None, ..Row::new(shape, bytes, who, 0.0) }.with(value, unit)
    }

    pub fn with(self, value: f64, unit: &str) -> Row {
        Row { value: Some((value * 100.0).round() / 100.0), unit: Some(unit.into()), ..self }
    }

    fn figure(&self) -> String {
        let value = self.value.map(|value| format!("{value:.2} {}", self.unit.as_deref().unwrap_or_default()));
        [self.ns.map(time), value].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// `python` of `python: json`; of what is measured here, nothing.
    pub fn language(&self) -> &str {
        self.who.split_once(": ").map_or("", |(language, _)| language)
    }
}

/// All figures of one run.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
}

/// Who a row is of that says how busy the machine was.
const MACHINE: &str = "machine";

impl Report {
    pub fn begin() -> Report {
        let load = load_average().map(|load| Row::of("load average when it began", 0, MACHINE, load, ""));
        Report { rows: load.into_iter().collect() }
    }

    pub fn add(&mut self, row: Row) {
        eprintln!("{:>9} {:36} {:22} {:>14}", row.bytes, row.shape, row.who, row.figure());
        self.rows.push(row);
    }

    /// The rows of a JSON file, or of the output of `go test -bench`.
    pub fn read(file: &Path) -> Vec<Row> {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if file.extension().is_some_and(|extension| extension == "json") {
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        } else {
            go_rows(&text)
        }
    }

    /// Writes the files of a whole run or of a part.
    pub fn write(&self, folder: &Path, whole: bool) {
        let stem = if whole { "summary" } else { "part" };
        let text = self.markdown(whole);
        print!("{text}");
        let lines: Vec<String> = self.rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(stem).with_extension("json"), format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
        std::fs::write(folder.join(stem).with_extension("md"), text).unwrap();
    }

    fn markdown(&self, whole: bool) -> String {
        let mut out = String::from(
            "# Figures of one run\n\nMedians of 31 rounds, fewer where a call takes long (three at least), more where there are few candidates; processor time. In brackets: how many times slower than mcp-select.\n",
        );
        let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
        let _ = write!(out, "\n{}, {cores} cores", processor());
        for row in self.rows.iter().filter(|row| row.who == MACHINE) {
            let _ = write!(out, "; {}: {:.2}", row.shape, row.value.unwrap_or_default());
        }
        out.push_str(".\n");
        let decides = |row: &&Row| row.language().is_empty() && shapes::SHAPES.contains(&&*row.shape);
        let decisions: Vec<&Row> = self.rows.iter().filter(decides).collect();
        out.push_str(&tables("", &decisions, OURS));
        let alone = self.rows.iter().filter(|row| row.language().is_empty() && !decides(row) && row.who != MACHINE);
        let alone: Vec<&Row> = alone.collect();
        if !alone.is_empty() {
            out.push_str("\n## Without peers\n\n| what | who | bytes | figure |\n|---|---|---:|---:|\n");
            for row in alone {
                let bytes = if row.bytes == 0 { String::new() } else { row.bytes.to_string() };
                let _ = writeln!(out, "| {} | {} | {bytes} | {} |", row.shape, row.who, row.figure());
            }
        }
        for language in ["python", "go"] {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.language() == language).collect();
            out.push_str(&tables(&format!("{language}, "), &rows, &format!("{language}: {OURS}")));
        }
        out.push_str(&goals::table(&self.rows, whole));
        out
    }
}

impl Extend<Row> for Report {
    fn extend<I: IntoIterator<Item = Row>>(&mut self, rows: I) {
        self.rows.extend(rows);
    }
}

/// A table for each size: a row for each shape, a column for each candidate.
fn tables(title: &str, rows: &[&Row], ours: &str) -> String {
    let mut out = String::new();
    for bytes in distinct(rows.iter().map(|row| row.bytes)) {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.bytes == bytes).collect();
        let all = distinct(rows.iter().map(|row| &*row.who));
        let _ = writeln!(out, "\n## {title}{}\n\n| shape | {} |", size(bytes), all.join(" | "));
        let _ = writeln!(out, "|---|{}", "---:|".repeat(all.len()));
        for shape in distinct(rows.iter().map(|row| &*row.shape)) {
            let of = |who: &str| rows.iter().find(|row| row.shape == shape && row.who == who).and_then(|row| row.ns);
            let cells = all.iter().map(|who| match (of(who), of(ours)) {
                (Some(ns), Some(ours_ns)) if *who != ours => format!("{} ({:.1}x)", time(ns), ns / ours_ns),
                (Some(ns), _) => time(ns),
                (None, _) => String::new(),
            });
            let _ = writeln!(out, "| {shape} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
    }
    out
}

/// `BenchmarkSelect/POLICY/WHO/BYTES-CORES  CALLS  NS ns/op ...`; the median where a line comes again.
fn go_rows(text: &str) -> Vec<Row> {
    let mut found: Vec<(Row, Vec<f64>)> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next().and_then(|name| name.strip_prefix("BenchmarkSelect/")) else { continue };
        let [policy, who, bytes] = name.split('/').collect::<Vec<_>>()[..] else { continue };
        let bytes = bytes.split('-').next().and_then(|bytes| bytes.parse().ok());
        let words: Vec<&str> = words.collect();
        let ns = words.windows(2).find(|pair| pair[1] == "ns/op").and_then(|pair| pair[0].parse::<f64>().ok());
        let (Some(bytes), Some(ns)) = (bytes, ns) else { continue };
        let who = match who {
            "encoding-json" => "go: encoding/json".into(),
            "request" => format!("go: {OURS}"),
            "prepared" => format!("go: {OURS}, prepared"),
            other => format!("go: {OURS}, {}", other.replace('-', " ")),
        };
        let row = Row::new(&format!("mixed, {policy}"), bytes, &who, ns);
        match found.iter_mut().find(|(other, _)| (&other.shape, other.bytes, &other.who) == (&row.shape, bytes, &who)) {
            Some((_, times)) => times.push(ns),
            None => found.push((row, vec![ns])),
        }
    }
    let median = |(row, times): (Row, Vec<f64>)| Row { ns: Some(crate::turns::median(times)), ..row };
    found.into_iter().map(median).collect()
}

/// Each once, in the order of their first coming.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

fn size(bytes: usize) -> String {
    let kilo = if bytes.is_multiple_of(1024) { 1024 } else { 1000 };
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} KB", bytes / kilo),
        _ => format!("{} MB", bytes / kilo / kilo),
    }
}

/// With three digits that count.
pub fn time(ns: f64) -> String {
    let (number, unit) = match ns {
        ..1e3 => (ns, "ns"),
        ..1e6 => (ns / 1e3, "µs"),
        _ => (ns / 1e6, "ms"),
    };
    let digits = match number {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{number:.digits$} {unit}")
}

fn processor() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or(std::env::consts::ARCH, |(_, model)| model).to_owned()
}

fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_how_many_times_slower() {
        let mut report = Report::default();
        report.extend([
            Row::new("text", 2048, "mcp-select", 1000.0),
            Row::new("text", 2048, "jaq", 12_500.0),
            Row::of("two threads, text", 200, "mcp-select", 1.9, "x"),
        ]);
        let text = report.markdown(true);
        assert_eq!([200, 2000, 2048, 20_480, 2_097_152].map(size), ["200 B", "2 KB", "2 KB", "20 KB", "2 MB"]);
        assert!(text.contains("## 2 KB\n\n| shape | mcp-select | jaq |"), "{text}");
        assert!(text.contains("| text | 1.00 µs | 12.5 µs (12.5x) |"), "{text}");
        assert!(text.contains("| two threads, text | mcp-select | 200 | 1.90 x |"), "{text}");
    }

    #[test]
    fn reads_what_go_prints() {
        let text = "goos: linux\n\
            BenchmarkSelect/sep-2200/encoding-json/2048-2  100  9000 ns/op  9 cpu-ns/op  3 B/op\n\
            BenchmarkSelect/sep-2200/encoding-json/2048-2  100  7000.5 ns/op  9 cpu-ns/op  3 B/op\n\
            BenchmarkSelect/sep-2200/encoding-json/2048-2  100  8000 ns/op  9 cpu-ns/op  3 B/op\n\
            BenchmarkSelect/sep-2200/request/2048-2  100  900 ns/op\nBenchmarkParallel-2 10 5 ns/op\nPASS\n";
        let rows = go_rows(text);
        assert_eq!(rows.len(), 2);
        assert_eq!((&*rows[0].who, rows[0].bytes, rows[0].ns), ("go: encoding/json", 2048, Some(8000.0)));
        assert_eq!(&*rows[1].who, "go: mcp-select");
    }

    #[test]
    fn rows_survive_json() {
        let row = Row::new("text", 200, "mcp-select", 812.34);
        let json = serde_json::to_string(&row).unwrap();
        assert_eq!(json, r#"{"shape":"text","bytes":200,"who":"mcp-select","ns":812.3}"#);
        assert_eq!(serde_json::from_str::<Row>(&json).unwrap().ns, Some(812.3));
    }
}
