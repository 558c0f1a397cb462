//! Measures one decision by mcp-select and by others, on results of seven shapes, and what of mcp-select has no peer. Writes
//! the figures to `target/bench/summary.json` and `summary.md`; those of a run with a filter to `part.json` and `part.md`.
//!
//! Its own harness and not criterion: criterion measures one candidate after another; on a shared machine candidates must take turns.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml -- [--shape NAME] [--bytes N] [--who NAME] [--quick] [--out FOLDER]
//! ```
//!
//! Filters are parts of names and may be given more than once; `--bytes` is a whole number, such as 2048. With `--merge FILE`
//! nothing is measured: rows of a JSON file, or of what `go test -bench` printed, are added to the summary.

mod alone;
mod decision;
mod goals;
mod ours;
mod peers;
mod report;
mod shapes;
mod turns;

use report::{Report, Row};
use std::path::PathBuf;
use turns::Effort;

/// The name of the product among the candidates.
pub const OURS: &str = "mcp-select";

/// The sizes of results, and how many different ones take turns: enough that no processor learns them by heart.
const SIZES: [(usize, usize); 5] = [(200, 4096), (2048, 1024), (20_480, 100), (204_800, 16), (2_097_152, 4)];

/// What to measure.
#[derive(Default)]
struct Wanted {
    shapes: Vec<String>,
    bytes: Vec<usize>,
    who: Vec<String>,
    quick: bool,
    merge: Vec<PathBuf>,
    out: Option<PathBuf>,
}

impl Wanted {
    fn from_arguments() -> Result<Wanted, lexopt::Error> {
        use lexopt::prelude::*;
        let mut wanted = Wanted::default();
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("shape") => wanted.shapes.push(arguments.value()?.string()?),
                Long("bytes") => wanted.bytes.push(arguments.value()?.parse()?),
                Long("who") => wanted.who.push(arguments.value()?.string()?),
                Long("quick") => wanted.quick = true,
                // In a process of its own.
                Long("resident") => {
                    alone::print_resident();
                    std::process::exit(0);
                }
                Long("merge") => wanted.merge.push(arguments.value()?.into()),
                Long("out") => wanted.out = Some(arguments.value()?.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(wanted)
    }

    fn shape(&self, shape: &str) -> bool {
        self.shapes.is_empty() || self.shapes.iter().any(|part| shape.contains(&**part))
    }

    fn bytes(&self, bytes: usize) -> bool {
        self.bytes.is_empty() || self.bytes.contains(&bytes)
    }

    fn who(&self, who: &str) -> bool {
        self.who.is_empty() || self.who.iter().any(|part| who.contains(&**part))
    }

    fn is_everything(&self) -> bool {
        self.shapes.is_empty() && self.bytes.is_empty() && self.who.is_empty() && !self.quick
    }

    fn effort(&self) -> Effort {
        if self.quick { Effort::QUICK } else { Effort::FULL }
    }
}

fn main() {
    let wanted = Wanted::from_arguments().unwrap_or_else(|error| {
        eprintln!("bench: {error}; flags: --shape NAME, --bytes N, --who NAME, --quick, --merge FILE, --out FOLDER");
        std::process::exit(2)
    });
    let folder = wanted.out.clone();
    let folder = folder.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench")));
    let mut report = Report::default();
    if wanted.merge.is_empty() {
        report = Report::begin();
        decisions(&wanted, &mut report);
        alone::measure(&wanted, &mut report);
    } else {
        report.extend(Report::read(&folder.join("summary.json")).into_iter().filter(|row| row.language().is_empty()));
        for file in &wanted.merge {
            match file.exists() {
                true => report.extend(Report::read(file)),
                false => eprintln!("bench: not merged, there is no {}", file.display()),
            }
        }
    }
    report.write(&folder, wanted.is_everything());
}

/// Every candidate on every shape and size.
fn decisions(wanted: &Wanted, report: &mut Report) {
    for (bytes, count) in SIZES.into_iter().filter(|(bytes, _)| wanted.bytes(*bytes)) {
        for shape in shapes::SHAPES.into_iter().filter(|shape| wanted.shape(shape)) {
            let mut candidates = decision::candidates();
            candidates.retain(|candidate| wanted.who(candidate.name()));
            let results = shapes::results(shape, bytes, count);
            decision::agree(&mut candidates, &results);
            measure(shape, bytes, &results, &mut candidates, wanted.effort(), report);
        }
        let repeated = ["text", "dual", "structured", "image"];
        if bytes == REPEATED {
            for shape in repeated {
                let name = format!("{shape}, repeated");
                let mut candidates = decision::ours();
                candidates.retain(|candidate| wanted.who(candidate.name()));
                if wanted.shape(&name) {
                    measure(&name, bytes, &shapes::results(shape, bytes, 1), &mut candidates, wanted.effort(), report);
                }
            }
        }
    }
}

/// The size at which the same bytes come again and again: what the memory of the machine does not slow down.
const REPEATED: usize = 204_800;

fn measure(
    shape: &str,
    bytes: usize,
    results: &[Vec<u8>],
    candidates: &mut [Box<dyn decision::Candidate>],
    effort: Effort,
    report: &mut Report,
) {
    let mut runs: Vec<_> =
        candidates.iter_mut().map(|candidate| decision::Rotating::new(&mut **candidate, results)).collect();
    let times = turns::measure(&mut runs, effort);
    let total: usize = results.iter().map(Vec::len).sum();
    for (candidate, ns) in candidates.iter().zip(times) {
        let row = Row::new(shape, bytes, candidate.name(), ns);
        // Of the bytes that there are: a shape keeps to its size only about.
        let rate = total as f64 / results.len() as f64 / ns;
        report.add(if shapes::SHAPES.contains(&shape) { row } else { row.with(rate, "GB/s") });
    }
}
