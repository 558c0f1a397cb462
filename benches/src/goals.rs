//! What mcp-select wants to be, and whether it is, by the figures of one run.

use crate::alone::{OVERRIDES, SPELLINGS, grouped};
use crate::report::{Row, time};
use crate::{OURS, shapes};
use std::fmt::Write;

const VALUE: &str = "serde_json Value";
const RAW: &str = "serde_json RawValue";
const ENGINES: [&str; 4] = ["cel", "zen-expression", "jaq", "regorus"];
const KB2: usize = 2048;
const KB200: usize = 204_800;

/// One goal.
struct Goal {
    what: String,
    goal: String,
    /// `None`: the figures are not all there.
    measured: Option<String>,
    met: bool,
}

/// A figure that should be at least, or at most, so much.
#[derive(Clone, Copy)]
enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

impl Limit {
    fn holds(self, figure: f64) -> bool {
        match self {
            Limit::AtLeast(least) => figure >= least,
            Limit::AtMost(most) => figure <= most,
        }
    }
}

/// The goals as a table; of a part of a run, those that were measured.
pub fn table(rows: &[Row], whole: bool) -> String {
    let mut out = String::from("\n## Goals\n\n| what | goal | measured | |\n|---|---:|---:|---|\n");
    for goal in all(&Figures(rows)).into_iter().filter(|goal| whole || goal.measured.is_some()) {
        let verdict = match (&goal.measured, goal.met) {
            (None, _) => "not measured",
            (_, true) => "met",
            (_, false) => "**missed**",
        };
        let measured = goal.measured.unwrap_or_default();
        let _ = writeln!(out, "| {} | {} | {measured} | {verdict} |", goal.what, goal.goal);
    }
    out
}

fn all(figures: &Figures<'_>) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (shape, times) in
        [("text", 3.0), ("dual", 6.0), ("structured", 8.0), ("image", 5.0), ("blocks", 5.0), ("meta", 3.0)]
    {
        goals.push(faster(format!("2 KB {shape}: faster than Value"), times, figures.slower(VALUE, &[shape])));
    }
    goals.push(faster("2 KB, every shape: not slower than RawValue".into(), 1.0, figures.slower(RAW, &shapes::SHAPES)));
    for shape in ["text", "dual", "image", "blocks"] {
        goals.push(faster(format!("2 KB {shape}: faster than RawValue"), 1.4, figures.slower(RAW, &[shape])));
    }
    for engine in ENGINES {
        let every = figures.slower(engine, &shapes::SHAPES);
        goals.push(faster(format!("2 KB, every shape: faster than {engine}"), 5.0, every));
        let dense = figures.slower(engine, &["dual", "structured"]);
        goals.push(faster(format!("2 KB dual, structured: faster than {engine}"), 12.0, dense));
    }
    for (shape, rate) in [("text", 4.0), ("dual", 1.9), ("structured", 1.9), ("image", 25.0)] {
        let measured = figures.value(&format!("{shape}, repeated"), KB200);
        let what = format!("200 KB {shape}, repeated: GB/s");
        goals.push(goal(what, Limit::AtLeast(rate), measured.map(|rate| (rate, String::new())), |n| format!("{n:.1}")));
    }
    let mirrors = SPELLINGS.map(|spelling| figures.time(&format!("mirror, {spelling}"), KB2));
    goals.push(within("mirror at 2 KB, the slowest spelling", 1500.0, worst(&SPELLINGS, &mirrors)));
    let coverages = ["coverage, 20 strings and 4 numbers", "coverage, a tenth missing"];
    let times = coverages.map(|name| figures.time(name, KB2));
    goals.push(within("coverage at 2 KB", 5000.0, worst(&coverages, &times)));
    let large = figures.time("coverage, 6,000 leaves", KB200).map(|ns| (ns, String::new()));
    goals.push(within("coverage at 200 KB, 6,000 leaves", 1.5e6, large));
    for what in ["warm", "cold"] {
        let times = OVERRIDES.map(|n| figures.time(&format!("route, {what}, {} overrides", grouped(n)), 200));
        let spread = times.iter().copied().collect::<Option<Vec<f64>>>().map(|times| {
            let largest = times.iter().copied().fold(0.0, f64::max);
            let smallest = times.iter().copied().fold(f64::MAX, f64::min);
            (largest / smallest, format!(" ({})", times.iter().map(|&ns| time(ns)).collect::<Vec<_>>().join(", ")))
        });
        // Equal, as far as a shared machine can tell.
        let name = format!("{what} request, 10, 1,000, 100,000 overrides: largest to smallest");
        goals.push(goal(name, Limit::AtMost(1.1), spread, |n| format!("{n:.2}x")));
    }
    let load = figures.time("route, load, 100,000 overrides", 0).map(|ns| (ns, String::new()));
    goals.push(within("load of 100,000 overrides", 0.5e9, load));
    let memory = figures.value("route, memory a server of 100,000", 0).map(|bytes| (bytes, String::new()));
    goals.push(goal("memory a server, bytes".into(), Limit::AtMost(200.0), memory, |n| format!("{n:.0}")));
    let look_up = figures.time("route, warm look-up", 0).map(|ns| (ns, String::new()));
    goals.push(within("look-up with a warm request", 10.0, look_up));
    for (shape, bytes) in [("text", 200), ("dual", KB2)] {
        let ratio = figures.value(&format!("two threads, {shape}"), bytes).map(|ratio| (ratio, String::new()));
        let what = format!("two threads, {shape} of {bytes} bytes: work of one");
        goals.push(goal(what, Limit::AtLeast(1.8), ratio, |n| format!("{n:.2}x")));
    }
    for (who, times) in [("json", 5.0), ("orjson", 2.0)] {
        let together = (|| {
            let sum = |who: &str| figures.sum(&format!("python: {who}"), 2000);
            Some((sum(who)? / sum(OURS)?, String::new()))
        })();
        goals.push(faster(format!("Python, 2 KB, all shapes together: faster than {who}"), times, together));
    }
    for policy in ["sep-2200", "lossless"] {
        let shape = format!("mixed, {policy}");
        let ratio = (|| {
            let ns = |who: &str| figures.ns(&shape, KB2, &format!("go: {who}"));
            Some((ns("encoding/json")? / ns(OURS)?, String::new()))
        })();
        goals.push(faster(format!("Go, 2 KB, {policy}: faster than encoding/json"), 5.0, ratio));
    }
    goals
}

fn goal(what: String, limit: Limit, measured: Option<(f64, String)>, write: impl Fn(f64) -> String) -> Goal {
    let text = match limit {
        Limit::AtLeast(least) => format!("≥ {}", write(least)),
        Limit::AtMost(most) => format!("≤ {}", write(most)),
    };
    let met = measured.as_ref().is_some_and(|(figure, _)| limit.holds(*figure));
    let measured = measured.map(|(figure, note)| format!("{}{note}", write(figure)));
    Goal { what, goal: text, measured, met }
}

fn faster(what: String, times: f64, measured: Option<(f64, String)>) -> Goal {
    goal(what, Limit::AtLeast(times), measured, |n| format!("{n:.1}x"))
}

fn within(what: &str, ns: f64, measured: Option<(f64, String)>) -> Goal {
    goal(what.into(), Limit::AtMost(ns), measured, time)
}

/// The largest, and whose it is; `None` unless all are there.
fn worst(names: &[&str], times: &[Option<f64>]) -> Option<(f64, String)> {
    let mut worst = (0.0, String::new());
    for (name, ns) in names.iter().zip(times) {
        if (*ns)? > worst.0 {
            worst = ((*ns)?, format!(" ({})", name.trim_start_matches("coverage, ")));
        }
    }
    Some(worst)
}

struct Figures<'a>(&'a [Row]);

impl Figures<'_> {
    fn rows(&self, shape: &str) -> impl Iterator<Item = &Row> {
        self.0.iter().filter(move |row| row.shape == shape)
    }

    fn ns(&self, shape: &str, bytes: usize, who: &str) -> Option<f64> {
        self.rows(shape).find(|row| row.bytes == bytes && row.who == who)?.ns
    }

    /// Of mcp-select.
    fn time(&self, shape: &str, bytes: usize) -> Option<f64> {
        self.ns(shape, bytes, OURS)
    }

    /// Of mcp-select.
    fn value(&self, shape: &str, bytes: usize) -> Option<f64> {
        self.rows(shape).find(|row| row.bytes == bytes && row.who == OURS)?.value
    }

    /// Over all shapes.
    fn sum(&self, who: &str, bytes: usize) -> Option<f64> {
        let times = self.0.iter().filter(|row| row.who == who && row.bytes == bytes).filter_map(|row| row.ns);
        let times: Vec<f64> = times.collect();
        (!times.is_empty()).then(|| times.iter().sum())
    }

    /// How many times slower this one is at 2 KB, on the shape where it does best.
    fn slower(&self, who: &str, shapes: &[&str]) -> Option<(f64, String)> {
        let mut best: Option<(f64, String)> = None;
        for shape in shapes {
            let ratio = self.ns(shape, KB2, who)? / self.time(shape, KB2)?;
            if best.as_ref().is_none_or(|(least, _)| ratio < *least) {
                let note = if shapes.len() > 1 { format!(" ({shape})") } else { String::new() };
                best = Some((ratio, note));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_missed_or_not_measured() {
        let rows = [
            Row::new("text", KB2, OURS, 1000.0),
            Row::new("text", KB2, VALUE, 3100.0),
            Row::new("dual", KB2, OURS, 1000.0),
            Row::new("dual", KB2, VALUE, 5000.0),
            Row::of("two threads, text", 200, OURS, 1.85, "x"),
            Row::new("route, load, 100,000 overrides", 0, OURS, 0.6e9),
        ];
        let text = table(&rows, true);
        assert!(text.contains("| 2 KB text: faster than Value | ≥ 3.0x | 3.1x | met |"), "{text}");
        assert!(text.contains("| 2 KB dual: faster than Value | ≥ 6.0x | 5.0x | **missed** |"), "{text}");
        assert!(text.contains("| 2 KB image: faster than Value | ≥ 5.0x |  | not measured |"), "{text}");
        assert!(text.contains("| two threads, text of 200 bytes: work of one | ≥ 1.80x | 1.85x | met |"), "{text}");
        assert!(!table(&rows, false).contains("not measured"));
        assert!(text.contains("| load of 100,000 overrides | ≤ 500 ms | 600 ms | **missed** |"), "{text}");
    }
}
