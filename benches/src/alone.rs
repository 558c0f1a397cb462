//! What has no peer: the facts that cost something, how a route is found, memory, and two threads. Public functions of the
//! library, called directly.

use crate::decision::Candidate;
use crate::ours::Rust;
use crate::report::{Report, Row};
use crate::shapes::{self, Random};
use crate::turns::{self, Effort, Run};
use crate::{OURS, Wanted};
use mcp_select::result::coverage::Coverage;
use mcp_select::result::mirror::{MirrorScratch, Ways, mirror};
use mcp_select::{Engine, Request, Selection};
use serde_json::Value;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Everything of this file.
pub fn measure(wanted: &Wanted, report: &mut Report) {
    if wanted.who(OURS) {
        mirrors(wanted, report);
        coverages(wanted, report);
        routes(wanted, report);
        threads(wanted, report);
    }
}

/// A number of inputs in turn, each given to the same function.
struct Each<T, F> {
    inputs: Vec<T>,
    next: usize,
    call: F,
}

impl<T, F: FnMut(&T)> Each<T, F> {
    fn new(inputs: Vec<T>, call: F) -> Each<T, F> {
        Each { inputs, next: 0, call }
    }
}

impl<T, F: FnMut(&T)> Run for Each<T, F> {
    fn run(&mut self, calls: usize) {
        for _ in 0..calls {
            (self.call)(black_box(&self.inputs[self.next]));
            self.next += 1;
            if self.next == self.inputs.len() {
                self.next = 0;
            }
        }
    }
}

/// Runs that take turns, by name.
type Named<'a> = (String, Box<dyn Run + 'a>);

fn by_turns(mut runs: Vec<Named<'_>>, bytes: usize, effort: Effort, report: &mut Report) {
    let (names, mut runs): (Vec<String>, Vec<Box<dyn Run + '_>>) = runs.drain(..).unzip();
    for (name, ns) in names.iter().zip(turns::measure(&mut runs, effort)) {
        report.add(Row::new(name, bytes, OURS, ns));
    }
}

// ---- mirror ------------------------------------------------------------------------------------------------

/// How the text of a result spells its structured value.
pub const SPELLINGS: [&str; 5] = ["compact", "Python", "indented", "shuffled", "prose"];

/// The structured value, the text as it stands between its quotes, and the block, of a result of this size.
fn mirrored(spelling: &str, bytes: usize, random: &mut Random) -> (String, String, String) {
    // A text with escaped quotes is as much longer as in the shape `dual`.
    let structured = random.rows((bytes - 80) * 10 / 23);
    let text = match spelling {
        "compact" => structured.clone(),
        "Python" => spaced(&structured, ", ", ": ", false),
        "indented" => spaced(&structured, ",", ": ", true),
        "shuffled" => shuffled(&serde_json::from_str(&structured).unwrap(), random),
        _ => random.prose(bytes / 2).replace("\\n", "\n"),
    };
    let quoted = Value::from(text).to_string();
    let block = format!(r#"{{"type":"text","text":{quoted}}}"#);
    (structured, quoted[1..quoted.len() - 1].to_owned(), block)
}

/// Compact JSON with white space between its parts.
fn spaced(compact: &str, comma: &str, colon: &str, indent: bool) -> String {
    let (mut out, mut depth, mut in_string, mut escaped) = (String::new(), 0, false, false);
    let line = |out: &mut String, depth: usize| {
        if indent {
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        }
    };
    for c in compact.chars() {
        if in_string {
            out.push(c);
            in_string = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                depth += 1;
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push_str(comma);
                line(&mut out, depth);
            }
            ':' => out.push_str(colon),
            _ => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

/// The same value with the members of each object in another order.
fn shuffled(value: &Value, random: &mut Random) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            random.shuffle(&mut members);
            let written: Vec<String> =
                members.iter().map(|(name, value)| format!("{name:?}:{}", shuffled(value, random))).collect();
            format!("{{{}}}", written.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| shuffled(item, random)).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

fn is_mirrored((structured, text, block): &(String, String, String), scratch: &mut MirrorScratch) -> bool {
    let all = Ways { block: true, joined: true, wrapped: true };
    mirror(structured.as_bytes(), &[text.as_bytes()], &[block.as_bytes()], all, false, 128, scratch).block
}

fn mirrors(wanted: &Wanted, report: &mut Report) {
    const BYTES: usize = 2048;
    let mut runs: Vec<Named<'_>> = Vec::new();
    for spelling in SPELLINGS {
        let name = format!("mirror, {spelling}");
        if wanted.bytes(BYTES) && wanted.shape(&name) {
            let mut random = Random(spelling.len() as u64);
            let inputs: Vec<_> = (0..1024).map(|_| mirrored(spelling, BYTES, &mut random)).collect();
            let mut scratch = MirrorScratch::default();
            for input in &inputs {
                assert_eq!(is_mirrored(input, &mut scratch), spelling != "prose", "{input:?}");
            }
            let call = move |input: &_| {
                black_box(is_mirrored(input, &mut scratch));
            };
            runs.push((name, Box::new(Each::new(inputs, call))));
        }
    }
    by_turns(runs, BYTES, wanted.effort(), report);
}

// ---- coverage ----------------------------------------------------------------------------------------------

/// A structured value and a block that says in words what is in it.
struct Covered {
    structured: String,
    block: String,
    total: u32,
    covered: u32,
}

impl Covered {
    /// Every `missing`-th leaf is not in the text; 0: all are.
    fn new(bytes: usize, strings: usize, numbers: usize, missing: usize, random: &mut Random) -> Covered {
        let leaf = |number| format!("{} {number} {}", random.word(), random.word());
        let leaves: Vec<String> = (0..strings).map(leaf).collect();
        // No number is a part of another.
        let numbers: Vec<String> = (0..numbers).map(|n| format!("{}.{}", 100_000 + n * 7, n % 9 + 1)).collect();
        let mut rows = Vec::new();
        for (number, leaf) in leaves.iter().enumerate() {
            let with = numbers.get(number).map(|number| format!(",\"score\":{number}")).unwrap_or_default();
            rows.push(format!("{{\"title\":\"{leaf}\"{with}}}"));
        }
        let structured = format!("{{\"items\":[{}]}}", rows.join(","));
        let said: Vec<&String> = leaves
            .iter()
            .chain(&numbers)
            .enumerate()
            .filter(|(number, _)| missing == 0 || number % missing != missing - 1)
            .map(|(_, leaf)| leaf)
            .collect();
        let space = bytes.saturating_sub(structured.len() + 60 + said.iter().map(|leaf| leaf.len() + 2).sum::<usize>());
        let mut text = String::new();
        for leaf in &said {
            let until = text.len() + space / said.len();
            while text.len() < until {
                let _ = write!(text, "{} ", random.word());
            }
            let _ = write!(text, "{leaf}, ");
        }
        let block = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
        let total = (leaves.len() + numbers.len()) as u32;
        Covered { structured, block, total, covered: said.len() as u32 }
    }

    /// 800 leaves, each a part of the next, and one of 80 KB round them all.
    fn nested(random: &mut Random) -> Covered {
        let long: String = (0..80_000).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
        let mut leaves: Vec<&str> = (0..800).map(|i| &long[40_000 - i / 2..40_004 + i / 2 + i % 2]).collect();
        leaves.push(&long);
        let structured = format!("{leaves:?}");
        let block = format!("{{\"type\":\"text\",\"text\":\"{long}\"}}");
        Covered { structured, block, total: leaves.len() as u32, covered: leaves.len() as u32 }
    }
}

fn coverages(wanted: &Wanted, report: &mut Report) {
    let mut random = Random(7);
    let mut one = |name: &str, bytes: usize, count: usize, make: &dyn Fn(&mut Random) -> Covered| {
        if !wanted.bytes(bytes) || !wanted.shape(name) {
            return;
        }
        let inputs: Vec<Covered> = (0..count).map(|_| make(&mut random)).collect();
        let mut coverage = Coverage::new();
        for input in &inputs {
            let measured = coverage.measure(input.structured.as_bytes(), [input.block.as_bytes()].into_iter()).unwrap();
            assert_eq!((measured.covered, measured.total), (input.covered, input.total), "{name}");
        }
        let call = move |input: &Covered| {
            black_box(coverage.measure(input.structured.as_bytes(), [input.block.as_bytes()].into_iter()));
        };
        by_turns(vec![(name.into(), Box::new(Each::new(inputs, call)))], bytes, wanted.effort(), report);
    };
    one("coverage, 20 strings and 4 numbers", 2048, 1024, &|random| Covered::new(2048, 20, 4, 0, random));
    one("coverage, a tenth missing", 2048, 1024, &|random| Covered::new(2048, 20, 4, 10, random));
    one("coverage, 6,000 leaves", 204_800, 16, &|random| Covered::new(204_800, 5000, 1000, 10, random));
    one("coverage, 801 nested leaves", 204_800, 4, &Covered::nested);
    one("coverage, 12,000 leaves", 2_097_152, 4, &|random| Covered::new(2_097_152, 10_000, 2000, 10, random));
}

// ---- routes ------------------------------------------------------------------------------------------------

/// How many servers have a section of their own in the policies that are compared.
pub const OVERRIDES: [usize; 3] = [10, 1000, 100_000];

/// As people write it: 100,000.
pub fn grouped(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

/// A policy in which so many servers have a section.
fn overriding(servers: usize) -> String {
    let mut policy = String::from("version = 1\nextends = \"sep-2200\"\n");
    for server in 0..servers {
        let _ = write!(policy, "[servers.server-{server}]\norder = [\"structured\", \"content\"]\n");
    }
    policy
}

fn routes(wanted: &Wanted, report: &mut Report) {
    const BYTES: usize = 200;
    let name = |what: &str, servers: usize| format!("route, {what}, {} overrides", grouped(servers));
    let is_wanted = |what: &str| wanted.bytes(BYTES) && OVERRIDES.iter().any(|&n| wanted.shape(&name(what, n)));
    if !["warm", "cold", "load", "memory"].into_iter().any(is_wanted) {
        return;
    }
    let results = shapes::results("text", BYTES, 4096);
    let mut engines = Vec::new();
    for servers in OVERRIDES {
        let policy = overriding(servers);
        let mut times = Vec::new();
        for _ in 0..3 {
            let started = turns::processor_time();
            let engine = Engine::from_toml(policy.as_bytes()).unwrap();
            times.push((turns::processor_time() - started).as_secs_f64() * 1e9);
            if times.len() == 3 {
                engines.push(engine);
            }
        }
        report.add(Row::new(&name("load", servers), 0, OURS, turns::median(times)));
    }
    let mut runs: Vec<Named<'_>> = Vec::new();
    for (engine, servers) in engines.iter().zip(OVERRIDES) {
        let request = Request::new(&format!("server-{}", servers / 2), "tool", "model");
        let mut selection = Selection::new();
        let call = move |result: &Vec<u8>| {
            black_box(engine.select(&request, result, &mut selection).unwrap());
        };
        runs.push((name("warm", servers), Box::new(Each::new(results.clone(), call))));
    }
    by_turns(runs, BYTES, wanted.effort(), report);
    let mut runs: Vec<Named<'_>> = Vec::new();
    for (engine, servers) in engines.iter().zip(OVERRIDES) {
        // A request that is new each time: its server is looked up among all.
        let mut random = Random(servers as u64);
        let inputs: Vec<(String, Vec<u8>)> =
            results.iter().map(|result| (format!("server-{}", random.below(servers)), result.clone())).collect();
        let mut selection = Selection::new();
        let call = move |(server, result): &(String, Vec<u8>)| {
            let request = Request::new(server, "tool", "model");
            black_box(engine.select(&request, result, &mut selection).unwrap());
        };
        runs.push((name("cold", servers), Box::new(Each::new(inputs, call))));
    }
    by_turns(runs, BYTES, wanted.effort(), report);
    look_ups(engines.remove(1), wanted, report);
    drop(engines);
    // In a process of its own, whose allocator keeps nothing of all this.
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).arg("--resident").output().unwrap();
    let bytes: f64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    report.add(Row::of("route, memory a server of 100,000", 0, OURS, bytes, "bytes"));
}

/// What finding the table of a warm request costs: of a selection that is given the same request again, and of one that is
/// given two by turns and so asks each for its table.
fn look_ups(engine: Engine, wanted: &Wanted, report: &mut Report) {
    let mut runs: Vec<Named<'_>> = Vec::new();
    for (name, servers) in [
        ("route, warm look-up", ["server-1", "server-1"]),
        ("route, warm look-up, two by turns", ["server-1", "server-2"]),
    ] {
        let first = std::sync::Arc::new(Request::new(servers[0], "tool", "model"));
        let second = if servers[0] == servers[1] {
            std::sync::Arc::clone(&first)
        } else {
            std::sync::Arc::new(Request::new(servers[1], "tool", "model"))
        };
        let engine = &engine;
        let mut selection = Selection::new();
        let call = move |request: &std::sync::Arc<Request>| {
            engine.look_up(request, &mut selection).unwrap();
            black_box(&mut selection);
        };
        runs.push((name.into(), Box::new(Each::new(vec![first, second], call))));
    }
    by_turns(runs, 0, wanted.effort(), report);
}

/// Prints how many bytes of memory a server's section costs in a policy that is ready; `--resident`.
pub fn print_resident() {
    let servers = OVERRIDES[2];
    let small = Engine::from_toml(overriding(10).as_bytes()).unwrap();
    let before = resident();
    let large = Engine::from_toml(overriding(servers).as_bytes()).unwrap();
    let after = resident();
    black_box((&small, &large));
    println!("{:.1}", (after as f64 - before as f64) / servers as f64);
}

/// Bytes of memory that are in use, without what the allocator merely holds on to.
fn resident() -> usize {
    #[cfg(target_env = "gnu")]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // SAFETY: glibc has this function, and it touches no memory that is in use.
        unsafe { malloc_trim(0) };
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.trim().trim_end_matches("kB").trim().parse::<usize>().unwrap() * 1024
}

// ---- threads -----------------------------------------------------------------------------------------------

/// How much two threads that share an engine and a request get done, where one gets 1 done.
fn threads(wanted: &Wanted, report: &mut Report) {
    for (shape, bytes, count) in [("text", 200, 4096), ("dual", 2048, 1024)] {
        let name = format!("two threads, {shape}");
        if !wanted.bytes(bytes) || !wanted.shape(&name) {
            continue;
        }
        let results = shapes::results(shape, bytes, count);
        let ours = Rust::new();
        let call = {
            let mut one = ours.on_a_thread();
            let started = Instant::now();
            one.select_many(&results, 0, count * 4);
            started.elapsed().as_secs_f64() / (count * 4) as f64
        };
        let calls = ((if wanted.quick { 5e-3 } else { 20e-3 }) / call) as usize;
        let (mut alone, mut together) = (Vec::new(), Vec::new());
        for _ in 0..wanted.effort().rounds {
            alone.push(times_of(&ours, &results, 1, calls));
            together.push(times_of(&ours, &results, 2, calls));
        }
        let median = |times: &[[f64; 2]], which: usize| turns::median(times.iter().map(|times| times[which]).collect());
        let ratio = 2.0 * median(&alone, 0) / median(&together, 0);
        report.add(Row::of(&name, bytes, OURS, ratio, "x"));
        // Where others use the second processor this alone tells whether the threads stand in each other's way.
        let ratio = 2.0 * median(&alone, 1) / median(&together, 1);
        report.add(Row::of(&format!("{name}, by processor time"), bytes, OURS, ratio, "x"));
    }
}

/// Until each of the threads has made all its calls: seconds, and seconds of the processor that one of them worked.
fn times_of(ours: &Rust, results: &[Vec<u8>], threads: usize, calls: usize) -> [f64; 2] {
    let barrier = Barrier::new(threads + 1);
    let work = |thread: usize| {
        let mut one = ours.on_a_thread();
        one.select_many(results, thread * 7, calls / 10);
        barrier.wait();
        let started = turns::processor_time();
        one.select_many(results, thread * 7, calls);
        let worked = turns::processor_time() - started;
        barrier.wait();
        worked.as_secs_f64()
    };
    let work = &work;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        barrier.wait();
        let started = Instant::now();
        barrier.wait();
        let time = started.elapsed().as_secs_f64();
        let worked: f64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
        [time, worked / threads as f64]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_mirror_and_prose_does_not() {
        let mut random = Random(1);
        for spelling in SPELLINGS {
            let input = mirrored(spelling, 2048, &mut random);
            assert_eq!(is_mirrored(&input, &mut MirrorScratch::default()), spelling != "prose", "{input:?}");
            let size = input.0.len() + input.1.len() + 80;
            assert!((1500..3000).contains(&size), "{spelling}: {size}");
        }
        let compact = r#"{"a:,":[1,"x\"{"],"b":{}}"#;
        assert_eq!(spaced(compact, ", ", ": ", false), r#"{"a:,": [1, "x\"{"], "b": {}}"#);
    }

    #[test]
    fn coverage_is_what_was_made() {
        let mut random = Random(1);
        for input in [
            Covered::new(2048, 20, 4, 0, &mut random),
            Covered::new(2048, 20, 4, 10, &mut random),
            Covered::nested(&mut random),
        ] {
            let found =
                Coverage::new().measure(input.structured.as_bytes(), [input.block.as_bytes()].into_iter()).unwrap();
            assert_eq!((found.covered, found.total), (input.covered, input.total), "{}", input.block.len());
        }
    }

    #[test]
    fn an_override_of_a_policy_is_in_force() {
        let engine = Engine::from_toml(overriding(10).as_bytes()).unwrap();
        let result = br#"{"content":[{"type":"text","text":"a"}],"structuredContent":{"b":1}}"#;
        for (server, seen) in [("server-9", r#"{"b":1}"#), ("server-10", "a")] {
            let mut selection = Selection::new();
            engine.select(&Request::new(server, "tool", "model"), result, &mut selection).unwrap();
            assert_eq!(selection.text(result, "\n"), seen, "{server}");
        }
    }
}
