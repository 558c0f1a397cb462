//! What a server or a policy can do with size and shape alone: each attack is accepted or refused as it is said here, and
//! twice the input does not allocate more than about twice as much.
//!
//! The test runs small sizes. The figures of `docs/security.md` come from the big ones, each in a process of its own:
//!
//! ```text
//! cargo test --release --test hostile -- --ignored --nocapture
//! ```
//!
//! `MCP_SELECT_HOSTILE=WORD` runs only the rows whose name contains the word. Time is printed, never asserted.

use mcp_select::{Engine, Error, Request, Selection};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::PathBuf;
use std::time::Instant;

// ---- counting allocations ---------------------------------------------------------------------------------

/// Counts the bytes that each thread asks for.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    let _ = ALLOCATED.try_with(|allocated| allocated.set(allocated.get().wrapping_add(bytes)));
}

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// ---- attacks ----------------------------------------------------------------------------------------------

struct Attack {
    name: &'static str,
    /// How many of what the attack is made of: for the test (0: too slow for it), and for the figures.
    small: usize,
    big: usize,
    /// What comes of it: a status and a lane, or the code of the refusal.
    outcome: &'static str,
    make: Box<dyn Fn(usize) -> Trial>,
}

enum Trial {
    Result {
        policy: String,
        server: String,
        definition: Option<String>,
        input: Vec<u8>,
    },
    Policy(Vec<u8>),
    /// Files that extend each other; the first one is opened.
    Files(Vec<(String, String)>),
}

impl Trial {
    fn bytes(&self) -> usize {
        match self {
            Trial::Result { policy, server, definition, input } => {
                // Whichever of them is large.
                let definition = definition.as_ref().map_or(0, String::len);
                input.len().max(server.len()).max(definition).max(policy.len())
            }
            Trial::Policy(policy) => policy.len(),
            Trial::Files(files) => files.iter().map(|(_, text)| text.len()).sum(),
        }
    }
}

/// What a trial came to, and what it cost.
struct Cost {
    outcome: String,
    allocated: usize,
    milliseconds: f64,
    /// How far the peak of resident memory was above what was resident before, in KiB.
    peak: u64,
}

fn refusal(error: &Error) -> String {
    // A message is for a log: it must not grow with the input, nor the list of what is wrong. A circle of files names them.
    assert!(error.message().len() < 10_000, "a message of {} bytes", error.message().len());
    assert!(error.to_json().len() < 400_000, "a report of {} bytes", error.to_json().len());
    error.status().code().to_owned()
}

fn run(trial: &Trial) -> Cost {
    match trial {
        Trial::Result { policy, server, definition, input } => {
            let engine = Engine::from_toml(policy.as_bytes()).unwrap_or_else(|error| panic!("{}", error.message()));
            let mut request = Request::new(server, "tool", "model");
            request.set_tool_definition(definition.as_ref().map(String::as_bytes)).unwrap();
            measure(|| {
                let mut selection = Selection::new();
                let selected = engine.select(&request, input, &mut selection);
                let status = match selected {
                    Ok(status) => status,
                    Err(error) => return refusal(&error),
                };
                // What a host does with it: read it, ask for each block, log the record.
                selection.text(input, "\n");
                let blocks = selection.blocks().len();
                assert!((0..blocks).all(|index| selection.block(index).is_some()));
                selection.decision();
                format!("{} {}", status.code(), format!("{:?}", selection.lane()).to_lowercase())
            })
        }
        Trial::Policy(policy) => measure(|| match Engine::from_toml(policy) {
            Ok(_) => "loaded".to_owned(),
            Err(error) => refusal(&error),
        }),
        Trial::Files(files) => {
            let folder = std::env::temp_dir().join(format!("mcp-select-hostile-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            for (name, text) in files {
                std::fs::write(folder.join(name), text).unwrap();
            }
            let first: PathBuf = folder.join(&files[0].0);
            let cost = measure(|| match Engine::open(&first) {
                Ok(_) => "loaded".to_owned(),
                Err(error) => refusal(&error),
            });
            std::fs::remove_dir_all(&folder).unwrap();
            cost
        }
    }
}

fn measure(work: impl FnOnce() -> String) -> Cost {
    // Linux: the peak starts again from what is resident now.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (resident, allocated) = (memory("VmRSS:"), ALLOCATED.get());
    let start = Instant::now();
    let outcome = work();
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    let allocated = ALLOCATED.get().wrapping_sub(allocated);
    Cost { outcome, allocated, milliseconds, peak: memory("VmHWM:").saturating_sub(resident) }
}

fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

// ---- what they are made of --------------------------------------------------------------------------------

/// `count` times what `each` writes, with `separator` between.
/// Files `p0.toml`, `p1.toml` and so on, with what each extends, in TOML.
fn extending(count: usize, what: impl Fn(usize) -> String) -> Trial {
    let file = |i| (format!("p{i}.toml"), format!("version = 1\nextends = {}\n", what(i)));
    Trial::Files((0..count).map(file).collect())
}

fn repeat(count: usize, separator: &str, each: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for index in 0..count {
        if index > 0 {
            out += separator;
        }
        out += &each(index);
    }
    out
}

fn result(policy: &str, input: String) -> Trial {
    let extends = if policy.starts_with("extends") { "" } else { "extends = \"sep-2200\"\n" };
    let policy = format!("version = 1\n{extends}{policy}");
    Trial::Result { policy, server: "server".into(), definition: None, input: input.into_bytes() }
}

fn policy(text: String) -> Trial {
    Trial::Policy(format!("version = 1\nextends = \"sep-2200\"\n{text}").into_bytes())
}

fn structured(value: &str) -> String {
    format!(r#"{{"content":[],"structuredContent":{value}}}"#)
}

fn text(inside: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{inside}"}}]}}"#)
}

fn both(inside: &str, value: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{inside}"}}],"structuredContent":{value}}}"#)
}

fn escaped(json: &str) -> String {
    json.replace('"', "\\\"")
}

const LOSSLESS: &str = "extends = \"lossless\"\n";
const MIRROR: &str = "[[rules]]\nname = \"m\"\nwhen.mirror = true\norder = [\"both\"]\n";
const WRAPPED: &str = "[[rules]]\nname = \"m\"\nwhen.mirror = [\"wrapped\"]\norder = [\"both\"]\n";
const TEXT_JSON: &str = "[[rules]]\nname = \"j\"\nwhen.text_json = true\norder = [\"both\"]\n";
const SANITIZE: &str = "[audience.model]\nsanitize = [\"ansi\", \"bidi\", \"invisible\", \"tags\", \"control\"]\n";

fn path(path: &str) -> String {
    format!("[[rules]]\nname = \"p\"\nwhen.path = '{path}'\norder = [\"both\"]\n")
}

fn pick(path: &str) -> String {
    format!("[audience.model]\norder = [\"structured\"]\nstructured.pick = ['{path}']\n")
}

fn attacks() -> Vec<Attack> {
    let mut attacks = Vec::new();
    let mut add = |name, (small, big): (usize, usize), outcome, make: Box<dyn Fn(usize) -> Trial>| {
        attacks.push(Attack { name, small, big, outcome, make });
    };
    const MILLION: (usize, usize) = (2000, 1_000_000);
    /// Bytes of one string or the like.
    const LONG: (usize, usize) = (60_000, 60_000_000);

    // Nesting. The result is level 1, `structuredContent` level 2.
    let towers = |n| repeat(n / 256, ",", |_| format!("{}{}", "[".repeat(126 - 1), "]".repeat(126 - 1)));
    add(
        "arrays 128 deep, side by side",
        LONG,
        "changed structured",
        Box::new(move |n| result("", structured(&format!("[{}]", towers(n))))),
    );
    add(
        "arrays 128 deep, coverage and mirror",
        LONG,
        "changed content",
        Box::new(move |n| result(&format!("{LOSSLESS}{MIRROR}"), both("1", &format!("[1,{}]", towers(n))))),
    );
    add("nested a million deep", MILLION, "too-deep", Box::new(|n| result("", structured(&"[".repeat(n)))));
    add(
        "objects nested a million deep in `_meta`",
        MILLION,
        "too-deep",
        Box::new(|n| result("", format!(r#"{{"content":[],"_meta":{}}}"#, r#"{"a":"#.repeat(n)))),
    );
    add(
        "JSON a million deep in a text, `text_json` and `mirror`",
        MILLION,
        "unchanged content",
        Box::new(|n| {
            let deep = "[".repeat(n) + &"]".repeat(n);
            result(&format!("{TEXT_JSON}{}", MIRROR.replace("\"m\"", "\"n\"")), text(&deep))
        }),
    );

    // Blocks.
    let blocks = |blocks: String| format!(r#"{{"content":[{blocks}]}}"#);
    add(
        "10^6 text blocks",
        MILLION,
        "unchanged content",
        Box::new(move |n| result("", blocks(repeat(n, ",", |_| r#"{"type":"text","text":"a"}"#.to_owned())))),
    );
    add(
        "10^6 blocks with annotations, every other one hidden",
        (2000, 960_000),
        "changed content",
        Box::new(move |n| {
            let block = |i| {
                let who = if i % 2 == 0 { "user" } else { "assistant" };
                format!(r#"{{"type":"text","text":"a","annotations":{{"audience":["{who}"]}}}}"#)
            };
            result("", blocks(repeat(n, ",", block)))
        }),
    );
    add(
        "10^6 blocks, each with another unknown member",
        MILLION,
        "unchanged content",
        Box::new(move |n| result("", blocks(repeat(n, ",", |i| format!(r#"{{"type":"text","text":"a","x{i}":1}}"#))))),
    );
    add(
        "one block with 10^6 unknown members",
        MILLION,
        "unchanged content",
        Box::new(move |n| {
            let members = repeat(n, ",", |i| format!(r#""x{i}":1"#));
            result("", blocks(format!(r#"{{"type":"text","text":"a",{members}}}"#)))
        }),
    );
    add(
        "10^6 blocks of another unknown type each",
        MILLION,
        "changed nothing",
        Box::new(move |n| result("", blocks(repeat(n, ",", |i| format!(r#"{{"type":"t{i}"}}"#))))),
    );
    add(
        "10^6 texts that are the value, joined, but for one byte",
        MILLION,
        "changed content",
        Box::new(move |n| {
            let value = format!("[{}]", repeat(n, ",", |_| "1".to_owned()));
            let texts = repeat(n, ",", |_| r#"{"type":"text","text":"1,"}"#.to_owned());
            result(
                MIRROR,
                format!(
                    r#"{{"content":[{{"type":"text","text":"["}},{texts},{{"type":"text","text":"2]"}}],"structuredContent":{value}}}"#
                ),
            )
        }),
    );
    add(
        "10^6 blocks, wrapped in the value but for the last",
        (2000, 700_000),
        "changed content",
        Box::new(move |n| {
            let block = r#"{"type":"text","text":"a"}"#;
            let list = repeat(n, ",", |_| block.to_owned());
            result(WRAPPED, format!(r#"{{"content":[{list}],"structuredContent":{{"result":[{list},"b"]}}}}"#))
        }),
    );
    add(
        "10^6 text blocks under a limit",
        MILLION,
        "changed content",
        Box::new(move |n| {
            let policy = "[audience.model]\nlimit = { chars = 1000, cut = \"middle\" }\n";
            result(policy, blocks(repeat(n, ",", |_| r#"{"type":"text","text":"abc"}"#.to_owned())))
        }),
    );

    // `_meta`.
    let meta = |members: String| format!(r#"{{"content":[],"_meta":{{{members}}}}}"#);
    for (name, allow) in [
        ("10^6 distinct `_meta` keys, none allowed", ""),
        ("10^6 distinct `_meta` keys, allow `*`", "\"*\""),
        ("10^6 distinct `_meta` keys, allow a prefix", "\"com.example/*\""),
        ("10^6 distinct `_meta` keys, allow one", "\"com.example/k1\""),
    ] {
        add(
            name,
            MILLION,
            "changed nothing",
            Box::new(move |n| {
                let policy = format!("[audience.model]\nmeta.allow = [{allow}]\n");
                result(&policy, meta(repeat(n, ",", |i| format!(r#""com.example/k{i}":1"#))))
            }),
        );
    }
    add(
        "the same `_meta` key 10^6 times, allow `*`",
        MILLION,
        "changed nothing",
        Box::new(move |n| {
            result("[audience.model]\nmeta.allow = [\"*\"]\n", meta(repeat(n, ",", |i| format!(r#""a/b":{i}"#))))
        }),
    );
    add(
        "the same `_meta` key 10^6 times, spelled with escapes",
        MILLION,
        "changed nothing",
        Box::new(move |n| {
            result(
                "[audience.model]\nmeta.allow = [\"*\"]\n",
                meta(repeat(n, ",", |i| format!(r#""\u0061/\u0062":{i}"#))),
            )
        }),
    );
    add(
        "10^6 `_meta` keys that begin alike, 1,000 of them allowed by name",
        (2000, 500_000),
        "changed nothing",
        Box::new(move |n| {
            let allow = repeat(1000, ",", |i| format!("\"com.example/{}{i:07}\"", "a".repeat(60)));
            let policy = format!("[audience.model]\nmeta.allow = [{allow}]\n");
            result(&policy, meta(repeat(n, ",", |i| format!(r#""com.example/{}{i:07}":1"#, "a".repeat(60)))))
        }),
    );
    add(
        "10^6 `_meta` keys of characters that no key may have",
        MILLION,
        "changed nothing",
        Box::new(move |n| {
            let key = |i| format!("\"a/b{}\":{i}", "\u{200B}".repeat(1 + i % 7));
            result(&format!("{SANITIZE}meta.allow = [\"*\"]\n"), meta(repeat(n, ",", key)))
        }),
    );
    add(
        "one `_meta` key of 60 MB against a pattern `*a*a*a*b`",
        LONG,
        "changed nothing",
        Box::new(move |n| {
            let policy = "[[rules]]\nname = \"k\"\nwhen.meta = \"*a*a*a*b\"\norder = [\"raw\"]\n";
            result(policy, meta(format!(r#""{}":1"#, "a".repeat(n))))
        }),
    );
    add(
        "10^6 `_meta` keys against a `meta_path`",
        MILLION,
        "changed nothing",
        Box::new(move |n| {
            let policy = "[[rules]]\nname = \"k\"\nwhen.meta_path = '$..[?@.a==1]'\norder = [\"both\"]\n";
            result(policy, meta(repeat(n, ",", |i| format!(r#""k{i}":1"#))))
        }),
    );

    // One long string.
    for (name, unit) in [("plain", "a"), ("all `\\n`", "\\n"), ("all `\\u00e9`", "\\u00e9"), ("emoji", "\u{1F600}")] {
        let named = |what: &str| -> &'static str { format!("a 60 MB string, {name}{what}").leak() };
        let inside = move |n: usize| unit.repeat(n / unit.len());
        add(
            named(""),
            LONG,
            if unit == "\\n" { "changed nothing" } else { "unchanged content" },
            Box::new(move |n| result("", text(&inside(n)))),
        );
        add(
            named(", as the value"),
            LONG,
            if unit == "\\n" { "changed nothing" } else { "changed structured" },
            Box::new(move |n| result("", structured(&format!("\"{}\"", inside(n))))),
        );
        add(
            named(", sanitised"),
            LONG,
            if unit == "\\n" { "changed nothing" } else { "unchanged content" },
            Box::new(move |n| result(SANITIZE, text(&inside(n)))),
        );
        for cut in ["head", "tail", "middle", "elements"] {
            add(
                named(&format!(", cut to 1,000 characters, `{cut}`")),
                LONG,
                "changed structured",
                Box::new(move |n| {
                    let policy = format!("[audience.model]\nlimit = {{ chars = 1000, cut = \"{cut}\" }}\n");
                    result(&policy, structured(&format!("[\"{}\"]", inside(n))))
                }),
            );
        }
        add(
            named(", in a text and nearly in the value, `mirror`"),
            LONG,
            if unit == "\\n" { "changed structured" } else { "changed content" },
            Box::new(move |n| result(MIRROR, both(&inside(n / 2), &format!("{{\"a\":\"{}b\"}}", inside(n / 2))))),
        );
        add(
            named(", in a text and in the value, `coverage`"),
            LONG,
            if unit == "\\n" { "changed structured" } else { "changed content" },
            Box::new(move |n| result(LOSSLESS, both(&inside(n / 2), &format!("{{\"a\":\"{}\"}}", inside(n / 2))))),
        );
    }
    add(
        "10^6 keys of the value that sanitising makes the same",
        MILLION,
        "changed structured",
        Box::new(|n| {
            let members = repeat(n, ",", |i| format!("\"k{}\":{i}", "\u{200B}".repeat(i % 7)));
            result(SANITIZE, structured(&format!("{{{members}}}")))
        }),
    );
    add(
        "60 MB of characters to sanitise",
        LONG,
        "changed content",
        Box::new(|n| result(SANITIZE, text(&("a".to_owned() + &"\u{200B}".repeat(n / 3))))),
    );
    add(
        "60 MB that only comes to light as it is sanitised",
        LONG,
        "changed content",
        Box::new(|n| result(SANITIZE, text(&("a".to_owned() + &r"\u001b\u001b[".repeat(n / 13))))),
    );
    add(
        "60 MB of an escape sequence that never ends",
        LONG,
        "changed content",
        Box::new(|n| result(SANITIZE, text(&format!("a\\u001b]{}", "1;".repeat(n / 2))))),
    );
    add(
        "60 MB of escape sequences that never end",
        LONG,
        "changed content",
        Box::new(|n| result(SANITIZE, text(&("a".to_owned() + &r"\u001b]1".repeat(n / 8))))),
    );
    add(
        "10^6 elements cut to 1,000 characters, `elements`",
        MILLION,
        "changed structured",
        Box::new(|n| {
            let policy = "[audience.model]\nlimit = { chars = 1000, cut = \"elements\" }\n";
            result(policy, structured(&format!("[{}]", repeat(n, ",", |i| format!("{{\"k{i}\":[\"{i}\"]}}")))))
        }),
    );
    add(
        "arrays 126 deep cut to 1,000 characters, `elements`",
        LONG,
        "changed structured",
        Box::new(move |n| {
            let policy = "[audience.model]\nlimit = { chars = 1000, cut = \"elements\" }\n";
            result(policy, structured(&format!("[{}]", towers(n))))
        }),
    );

    // Members of the value.
    for (name, policy) in [
        ("as it is", "[audience.model]\norder = [\"structured\"]\n".to_owned()),
        ("sorted", "[audience.model]\norder = [\"structured\"]\nstructured.render = \"sorted\"\n".to_owned()),
        ("pretty", "[audience.model]\norder = [\"structured\"]\nstructured.render = \"pretty\"\n".to_owned()),
        ("raw", "[audience.model]\norder = [\"raw\"]\n".to_owned()),
        ("picked", pick("$[*]")),
        ("coverage", LOSSLESS.to_owned()),
        ("mirror", MIRROR.to_owned()),
    ] {
        let lane = match name {
            "raw" => "changed raw",
            // Unknown when there are too many leaves.
            "coverage" => "changed *",
            _ => "changed structured",
        };
        let (distinct, same) = (policy.clone(), policy);
        let named = |what: &str| -> &'static str { format!("{what}, {name}").leak() };
        add(
            named("a value of 10^6 distinct keys"),
            MILLION,
            lane,
            Box::new(move |n| {
                result(&distinct, structured(&format!("{{{}}}", repeat(n, ",", |i| format!("\"k{i}\":{i}")))))
            }),
        );
        add(
            named("a value with the same key 10^6 times"),
            MILLION,
            lane,
            Box::new(move |n| result(&same, structured(&format!("{{{}}}", repeat(n, ",", |i| format!("\"k\":{i}")))))),
        );
    }
    add(
        "10^6 unknown members of the result",
        MILLION,
        "changed nothing",
        Box::new(|n| result("", format!(r#"{{"content":[],{}}}"#, repeat(n, ",", |i| format!("\"k{i}\":{i}"))))),
    );
    add(
        "`content` 10^6 times",
        MILLION,
        "changed nothing",
        Box::new(|n| result("", format!("{{{}}}", repeat(n, ",", |_| "\"content\":[]".to_owned())))),
    );

    // Coverage.
    add(
        "16,000 leaves that begin alike, in a text of as much",
        (1000, 16_000),
        "changed content",
        Box::new(|n| {
            let leaves = repeat(n, ",", |i| format!("\"{}{i:06}\"", "a".repeat(50)));
            result(LOSSLESS, both(&escaped(&leaves), &format!("[{leaves}]")))
        }),
    );
    add(
        "1,400 leaves a, aa, aaa …, in a text of 60 MB of `a`",
        (24, 1400),
        "changed content",
        Box::new(|n| {
            let leaves = repeat(n, ",", |i| format!("\"{}\"", "a".repeat(i + 4)));
            result(LOSSLESS, both(&"a".repeat(60_000_000 / 1400 * n), &format!("[{leaves}]")))
        }),
    );
    add(
        "700 leaves of 1,400 bytes that nearly stand in a text of 60 MB",
        (10, 700),
        "changed both",
        Box::new(|n| {
            let leaves = repeat(n, ",", |i| format!("\"{}b{i:03}\"", "a".repeat(1400)));
            result(LOSSLESS, both(&"a".repeat(60_000_000 / 700 * n), &format!("[{leaves}]")))
        }),
    );
    add(
        "10^5 distinct leaves that begin alike: over the budget",
        (20_000, 100_000),
        "changed content",
        Box::new(|n| {
            let leaves = repeat(n, ",", |i| format!("\"{}{i:06}\"", "a".repeat(50)));
            result(LOSSLESS, both("nothing", &format!("[{leaves}]")))
        }),
    );
    add(
        "10^6 numbers of another spelling each",
        MILLION,
        "changed content",
        Box::new(|n| {
            let leaves = repeat(n, ",", |i| format!("1e{i}"));
            result(
                LOSSLESS,
                both(&leaves, &format!("[{}]", repeat(n, ",", |i| format!("1{}e{}", "0".repeat(i % 9), i - i % 9)))),
            )
        }),
    );

    // A text that is the value, but for the end.
    add(
        "a text that mirrors a value of 28 MB but for the last byte",
        (30_000, 28_000_000),
        "changed content",
        Box::new(|n| {
            let value = repeat(n / 8, ",", |i| format!("{}", 1_000_000 + i % 9_000_000));
            result(MIRROR, both(&format!("[{value},1]"), &format!("[{value},2]")))
        }),
    );
    add(
        "the same, of objects with 10^5 keys in another order",
        (1000, 100_000),
        "changed content",
        Box::new(|n| {
            let text = repeat(n, ",", |i| format!("\"k{i}\":{i}"));
            let value = repeat(n, ",", |i| format!("\"k{0}\":{0}", n - 1 - i));
            let list = |inside: &str, last: &str| format!("[{{{inside}}},{{{inside}}},{{{inside}}},{last}]");
            result(MIRROR, both(&escaped(&list(&text, "1")), &list(&value, "2")))
        }),
    );

    // Patterns and paths.
    let stars = |pattern: &str, n: usize| {
        let policy = format!("version = 1\n[servers.\"{pattern}\"]\norder = [\"both\"]\n");
        let input = structured("{}").into_bytes();
        Trial::Result { policy, server: "a".repeat(n), definition: None, input }
    };
    add(
        "a pattern `*a*a*a*b`, a server's name of 10^5 letters",
        (1000, 100_000),
        "changed structured",
        Box::new(move |n| stars("*a*a*a*b", n)),
    );
    add(
        "1,000 patterns of another kind `*a?a*a*b`, a name of 10^5 letters",
        (50, 1000),
        "changed structured",
        Box::new(|n| {
            let policy = repeat(n, "", |i| format!("[servers.\"*a?a*a*b{i}\"]\norder = [\"both\"]\n"));
            let policy = format!("version = 1\n{policy}");
            let input = structured("{}").into_bytes();
            Trial::Result { policy, server: "a".repeat(100 * n), definition: None, input }
        }),
    );
    // Each finds nothing, or gives up: then the condition is false.
    let nested = |n| format!("[{}]", repeat(n / 128, ",", |_| format!("{}1{}", "[".repeat(60), "]".repeat(60))));
    for (name, query) in [
        ("`$..*..*..*..[?@.x]`", "$..*..*..*..[?@.x]"),
        ("`$..[?@..[?@..[?@..[?@.x]]]]`", "$..[?@..[?@..[?@..[?@.x]]]]"),
        ("`$[?count($..*)==count(@..*)]`", "$[?count($..*)==count(@..*)]"),
        ("`$..[?@==$]`", "$..[?@==$[0]]"),
        ("a regular expression", "$..[?search(@,\"(a|aa)*b\")]"),
        ("`$..[0:9:2]..[-1:0:-1]..x`", "$..[0:9:2]..[-1:0:-1]..x"),
    ] {
        let named = |what: &str| -> &'static str { format!("{name} as a {what}, a value of 30 MB").leak() };
        let value =
            move |n: usize| if name.starts_with("a reg") { format!("[\"{}\"]", "a".repeat(n)) } else { nested(n) };
        add(
            named("condition"),
            (20_000, 30_000_000),
            if name.starts_with("`$..[?@==$") { "changed *" } else { "changed structured" },
            Box::new(move |n| result(&path(query), structured(&value(n)))),
        );
        add(
            named("projection"),
            (20_000, 30_000_000),
            "changed *",
            Box::new(move |n| result(&pick(query), structured(&value(n)))),
        );
    }
    add(
        "a JSONPath nested 10^6 deep",
        (2000, 1_000_000),
        "bad-policy",
        Box::new(|n| policy(path(&format!("${}", "[?@".repeat(n))))),
    );
    add("a JSONPath of 60 MB", LONG, "bad-policy", Box::new(|n| policy(path(&format!("${}", "..*".repeat(n / 3))))));
    add(
        "a regular expression that would compile to gigabytes",
        (1, 1),
        "bad-policy",
        Box::new(|_| policy(path("$[?match(@,\"((a{1000}){1000}){1000}\")]"))),
    );

    // Policies.
    add("a policy of 60 MB of comments", LONG, "loaded", Box::new(|n| policy("# a\n".repeat(n / 4))));
    add(
        "a policy of 60 MB of one string",
        LONG,
        "loaded",
        Box::new(|n| policy(format!("[audience.model]\nplaceholder = \"{}\"\n", "a".repeat(n)))),
    );
    add("a policy over 64 MiB", (64 << 20, 128 << 20), "bad-policy", Box::new(|n| policy("#".repeat(n))));
    add(
        "10^5 servers",
        (1000, 100_000),
        "loaded",
        Box::new(|n| policy(repeat(n, "", |i| format!("[servers.s{i}]\norder = [\"both\"]\n")))),
    );
    add(
        "10^5 servers by patterns",
        (1000, 100_000),
        "loaded",
        Box::new(|n| policy(repeat(n, "", |i| format!("[servers.\"s*{i}\"]\norder = [\"both\"]\n")))),
    );
    add(
        "over 10^5 servers",
        (0, 400_000),
        "bad-policy",
        Box::new(|n| policy(repeat(n, "", |i| format!("[servers.s{i}]\nhide=true\n")))),
    );
    add(
        "one server, 10^5 tools",
        (1000, 100_000),
        "loaded",
        Box::new(|n| policy(repeat(n, "", |i| format!("[servers.s.tools.t{i}]\norder = [\"both\"]\n")))),
    );
    let rules =
        |n| repeat(n, "", |i| format!("[[rules]]\nname = \"r{i}\"\nwhen.text_bytes = {i}\norder = [\"both\"]\n"));
    add("rules with a condition, up to 4,096", (128, 4096), "loaded", Box::new(move |n| policy(rules(n))));
    add("rules with a condition, 4,097 and more", (4097, 100_000), "bad-policy", Box::new(move |n| policy(rules(n))));
    add(
        "rules on one route, 257 conditions and more",
        (257, 4000),
        "bad-policy",
        Box::new(move |n| result(&rules(n), text("a"))),
    );
    add(
        "arrays in TOML, a million deep",
        MILLION,
        "bad-policy",
        Box::new(|n| policy(format!("a = {}", "[".repeat(n)))),
    );
    add(
        "inline tables in TOML, a million deep",
        MILLION,
        "bad-policy",
        Box::new(|n| policy(format!("a = {}", "{a=".repeat(n)))),
    );
    add(
        "dotted keys in TOML, a million deep",
        MILLION,
        "bad-policy",
        Box::new(|n| policy(format!("a{} = 1", ".a".repeat(n)))),
    );
    add(
        "a million unknown keys",
        MILLION,
        "bad-policy",
        Box::new(|n| policy(repeat(n, "", |i| format!("k{i} = 1\n")))),
    );
    add("the same key a million times", MILLION, "bad-policy", Box::new(|n| policy("a = 1\n".repeat(n))));
    add("a million lines that are no TOML", MILLION, "bad-policy", Box::new(|n| policy("= ]\n".repeat(n))));
    add(
        "a million values of the wrong type",
        (2000, 500_000),
        "bad-policy",
        Box::new(|n| policy(format!("[audience.model]\n{}", repeat(n, "", |i| format!("notes.k{i} = 1\n"))))),
    );
    add(
        "files that extend each other, up to 62",
        (10, 62),
        "loaded",
        Box::new(|n| {
            extending(n, |i| if i + 1 < n { format!("\"./p{}.toml\"", i + 1) } else { "\"sep-2200\"".to_owned() })
        }),
    );
    add(
        "files that extend each other, over 64",
        (70, 1000),
        "bad-policy",
        Box::new(|n| extending(n, |i| format!("\"./p{}.toml\"", i + 1))),
    );
    add(
        "files that extend each other in a circle",
        (10, 60),
        "policy-file",
        Box::new(|n| extending(n, |i| format!("\"./p{}.toml\"", (i + 1) % n))),
    );
    add(
        "files that all extend each other, 2^n ways",
        (10, 32),
        "loaded",
        Box::new(|n| {
            extending(n, |i| {
                let next = repeat(n - 1 - i, ",", |k| format!("\"./p{}.toml\"", i + 1 + k));
                if i + 1 < n { format!("[{next}]") } else { "[\"sep-2200\"]".to_owned() }
            })
        }),
    );
    add(
        "a file that extends another 10^5 times",
        (100, 100_000),
        "bad-policy",
        Box::new(|n| {
            let extends = repeat(n, ",", |_| "\"./b.toml\"".to_owned());
            Trial::Files(vec![
                ("a.toml".into(), format!("version = 1\nextends = [{extends}]\n")),
                ("b.toml".into(), "version = 1\nextends = \"sep-2200\"\n".into()),
            ])
        }),
    );
    if cfg!(feature = "schema") {
        schemas(&mut add);
    }
    attacks
}

type Make = Box<dyn Fn(usize) -> Trial>;

/// JSON Schemas that a server declares. What is not checked counts as not conforming.
fn schemas(add: &mut impl FnMut(&'static str, (usize, usize), &'static str, Make)) {
    let declared = |schema: &str, value: &str| Trial::Result {
        policy: "version = 1\n[[rules]]\nname = \"s\"\nwhen.schema_valid = true\norder = [\"both\"]\n".into(),
        server: "server".into(),
        definition: Some(format!(r#"{{"name":"tool","outputSchema":{schema}}}"#)),
        input: both("a", value).into_bytes(),
    };
    add(
        "a schema of 1,000 levels, each of which refers to the next twice",
        (20, 1000),
        "changed content",
        Box::new(move |n| {
            let level =
                |i| format!(r##""l{i}":{{"allOf":[{{"$ref":"#/$defs/l{0}"}},{{"$ref":"#/$defs/l{0}"}}]}}"##, i + 1);
            let levels = repeat(n, ",", level);
            declared(&format!(r##"{{"$ref":"#/$defs/l0","$defs":{{{levels},"l{n}":{{}}}}}}"##), "{}")
        }),
    );
    add(
        "a schema that refers to itself, a value 120 deep",
        (60, 120),
        "changed content",
        Box::new(move |n| {
            let schema = r##"{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["c"]}]}"##;
            declared(schema, &format!("{}1{}", r#"{"a":"#.repeat(n), "}".repeat(n)))
        }),
    );
    add(
        "a schema of 10^5 properties",
        (1000, 100_000),
        "changed content",
        Box::new(move |n| {
            let properties = repeat(n, ",", |i| format!(r#""p{i}":{{"type":"string","pattern":"(a|b){{1,50}}"}}"#));
            declared(&format!(r#"{{"properties":{{{properties}}},"required":["x"]}}"#), "{}")
        }),
    );
}

// ---- running them -----------------------------------------------------------------------------------------

/// `changed *` leaves the lane open.
fn is_as_said(said: &str, outcome: &str) -> bool {
    said.strip_suffix('*').map_or(said == outcome, |start| outcome.starts_with(start))
}

#[test]
fn hostile_input_is_refused_or_costs_what_it_weighs() {
    let mut wrong = String::new();
    for Attack { name, small, outcome, make, .. } in attacks().into_iter().filter(|attack| attack.small > 0) {
        let [once, twice] = [small, 2 * small].map(|size| run(&make(size)));
        for cost in [&once, &twice] {
            if !is_as_said(outcome, &cost.outcome) {
                wrong += &format!("{name}: {outcome}, but it is {}\n", cost.outcome);
            }
        }
        // Buffers that grow by doubling may come to twice more by chance.
        if twice.allocated > 4 * once.allocated + (64 << 10) {
            wrong += &format!("{name}: {} bytes allocated, {} for twice the size\n", once.allocated, twice.allocated);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Says in a child which attack to run: its index and size.
const CHILD: &str = "MCP_SELECT_HOSTILE_CHILD";

#[test]
#[ignore = "minutes; prints the figures of docs/security.md"]
fn figures() {
    if let Ok(child) = std::env::var(CHILD) {
        let (index, size) = child.split_once(' ').unwrap();
        let attack = &attacks()[index.parse::<usize>().unwrap()];
        let trial = (attack.make)(size.parse().unwrap());
        let cost = run(&trial);
        println!("\nCHILD|{}|{}|{}|{}", trial.bytes(), cost.milliseconds, cost.peak, cost.outcome);
        return;
    }
    let wanted = std::env::var("MCP_SELECT_HOSTILE").unwrap_or_default();
    println!("| what | outcome | MB | ms | memory above, MB | half of it: ms |\n|---|---|--:|--:|--:|--:|");
    for (index, Attack { name, big, outcome, .. }) in attacks().into_iter().enumerate() {
        if !name.contains(&wanted) {
            continue;
        }
        let [half, whole] = [(big / 2).max(1), big].map(|size| in_a_child(index, size));
        let mega = |bytes: &str, unit: f64| bytes.parse::<f64>().unwrap() / unit;
        let (Some(half), Some(whole)) = (half, whole) else {
            println!("| {name} | DIED | | | | |");
            continue;
        };
        let said = if is_as_said(outcome, &whole[3]) { "" } else { " (UNEXPECTED)" };
        println!(
            "| {name} | {}{said} | {:.1} | {:.1} | {:.1} | {:.1} |",
            whole[3],
            mega(&whole[0], 1e6),
            mega(&whole[1], 1.0),
            mega(&whole[2], 1e3),
            mega(&half[1], 1.0),
        );
    }
}

fn in_a_child(index: usize, size: usize) -> Option<Vec<String>> {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["figures", "--exact", "--ignored", "--nocapture"])
        .env(CHILD, format!("{index} {size}"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("CHILD|"))?;
    Some(line.split('|').map(str::to_owned).collect())
}
