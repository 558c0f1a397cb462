//! The figures: `summary.json` for programs, `summary.md` for people, and the same tables on the terminal.

use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::Path;

/// What the others are compared with.
const OURS: &str = "mcp-select";

/// One figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub shape: String,
    pub bytes: usize,
    pub who: String,
    /// Nanoseconds a call.
    pub ns: f64,
}

impl Row {
    pub fn new(shape: &str, bytes: usize, who: &str, ns: f64) -> Row {
        Row { shape: shape.into(), bytes, who: who.into(), ns: (ns * 10.0).round() / 10.0 }
    }
}

/// All figures of one run.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
}

impl Report {
    pub fn add(&mut self, row: Row) {
        eprintln!("{:>9} {:18} {:22} {:>14}", row.bytes, row.shape, row.who, time(row.ns));
        self.rows.push(row);
    }

    /// Writes both files.
    pub fn write(&self, folder: &Path) {
        let tables = self.tables();
        print!("{tables}");
        let lines: Vec<String> = self.rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("summary.json"), format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
        std::fs::write(folder.join("summary.md"), tables).unwrap();
    }

    /// A table for each size: a row for each shape, a column for each candidate.
    fn tables(&self) -> String {
        let mut out =
            String::from("# Figures of one run\n\nMedians. In brackets: how many times slower than mcp-select.\n");
        for bytes in distinct(self.rows.iter().map(|row| row.bytes)) {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.bytes == bytes).collect();
            let all = distinct(rows.iter().map(|row| &*row.who));
            let _ = writeln!(out, "\n## {}\n\n| shape | {} |", size(bytes), all.join(" | "));
            let _ = writeln!(out, "|---|{}", "---:|".repeat(all.len()));
            for shape in distinct(rows.iter().map(|row| &*row.shape)) {
                let of = |who: &str| rows.iter().find(|row| row.shape == shape && row.who == who).map(|row| row.ns);
                let ours = of(OURS);
                let cells = all.iter().map(|who| match (of(who), ours) {
                    (Some(ns), Some(ours)) if *who != OURS => format!("{} ({:.1}x)", time(ns), ns / ours),
                    (Some(ns), _) => time(ns),
                    (None, _) => String::new(),
                });
                let _ = writeln!(out, "| {shape} | {} |", cells.collect::<Vec<_>>().join(" | "));
            }
        }
        out
    }
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
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KB", bytes / 1024),
        _ => format!("{} MB", bytes / 1_048_576),
    }
}

/// With three digits that count.
fn time(ns: f64) -> String {
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
