//! A call that its selection has been warmed up for allocates nothing; where it may after all stands in [`MAY`], each with
//! its reason and the most it may, so that it cannot grow unnoticed.
//!
//! The same for the memory of a policy. Counted in one thread, whatever the others do. A count that is too high comes with the places that allocated.

#![allow(unsafe_code)]

use mcp_select::policy::BUILTINS;
use mcp_select::{Engine, Request, Selection, Status};
use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::fmt::Write;

// ---- counting ----------------------------------------------------------------------------------------------

thread_local! {
    /// `None`: nobody counts in this thread now.
    static COUNT: Cell<Option<usize>> = const { Cell::new(None) };
    /// Bytes that were allocated and not freed while counting, now and at most.
    static LIVE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
    /// Where the allocations come from, when that is asked for too.
    static PLACES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    // A thread that ends has no counter any more.
    let Ok(Some(so_far)) = COUNT.try_with(Cell::get) else { return };
    // What the note itself allocates is not counted.
    COUNT.set(None);
    PLACES.with_borrow_mut(|places| {
        if let Some(places) = places {
            places.push(place(&Backtrace::force_capture().to_string()));
        }
    });
    COUNT.set(Some(so_far + 1));
}

fn live(more: usize, less: usize) {
    if let Ok(Some(_)) = COUNT.try_with(Cell::get) {
        let (now, most) = LIVE.get();
        let now = now + more.cast_signed() - less.cast_signed();
        LIVE.set((now, most.max(now)));
    }
}

// SAFETY: each function hands its arguments to the system's allocator as they are; counting touches no memory of theirs.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        live(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        live(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        live(size, layout.size());
        // SAFETY: the caller keeps the contract of `realloc`, and the block came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        live(0, layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`, and the block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The functions of this library on the way to an allocation, the innermost first.
fn place(backtrace: &str) -> String {
    let names = backtrace.lines().filter_map(|line| line.split_once(": ").map(|(_, name)| name.trim()));
    let ours = names.filter(|name| name.starts_with("mcp_select::") || name.starts_with("<mcp_select::"));
    ours.take(4).collect::<Vec<_>>().join(" < ")
}

/// How often `call` allocates.
fn allocations(call: impl FnOnce()) -> usize {
    COUNT.set(Some(0));
    call();
    COUNT.take().unwrap()
}

/// The same, and where.
fn places(call: impl FnOnce()) -> Vec<String> {
    PLACES.set(Some(Vec::new()));
    allocations(call);
    PLACES.take().unwrap()
}

// ---- results -----------------------------------------------------------------------------------------------

/// The `n`-th result of a kind.
type Make = fn(n: usize) -> String;

/// Results of every kind: what one is called, and the `n`-th of it. Of one kind all are as long, and no two the same.
const RESULTS: [(&str, Make); 28] = [
    ("text", |n| with(&[&text(&format!("{} degrees, {} hPa", word(n), word(n + 7)))], "")),
    ("two texts", |n| with(&[&text(&word(n)), &text(&word(n + 1))], "")),
    ("dual", |n| with(&[&text(&quoted(&value(n)))], &structured(&value(n)))),
    ("dual with spaces", |n| with(&[&text(&quoted(&spaced(n)))], &structured(&value(n)))),
    ("structured", |n| with(&[], &structured(&value(n)))),
    ("structured with spaces", |n| with(&[], &structured(&spaced(n)))),
    ("structured with escapes", |n| with(&[], &structured(&format!(r#"{{"a":"\u0041{}\/"}}"#, word(n))))),
    ("structured with a name twice", |n| with(&[], &structured(&format!(r#"{{"a":"{}","a":1}}"#, word(n))))),
    ("structured string", |n| with(&[], &structured(&format!("\"{}\"", word(n))))),
    ("prose and structured", |n| with(&[&text(&format!("Found {}.", word(n)))], &structured(&value(n)))),
    ("image", |n| with(&[&media("image", n)], "")),
    ("audio", |n| with(&[&media("audio", n)], "")),
    ("image and structured", |n| with(&[&media("image", n)], &structured(&value(n)))),
    ("image in the value too", |n| {
        with(&[&media("image", n)], &structured(&format!(r#"{{"image":"{}"}}"#, base64(n))))
    }),
    ("embedded text", |n| with(&[&resource(&format!(r#""mimeType":"text/plain","text":"{}""#, word(n)))], "")),
    ("embedded blob", |n| with(&[&resource(&format!(r#""blob":"{}""#, base64(n)))], "")),
    ("resource link", |n| with(&[&format!(r#"{{"type":"resource_link","uri":"a:{}","name":"b"}}"#, word(n))], "")),
    ("view", |n| with(&[r#"{"type":"resource","resource":{"uri":"ui://a","text":"<p>"}}"#, &text(&word(n))], "")),
    ("unknown block", |n| with(&[&format!(r#"{{"type":"video","x":"{}"}}"#, word(n)), &text("a")], "")),
    ("20 blocks with annotations", |n| {
        let block = |i| {
            format!(r#"{{"type":"text","text":"{}","annotations":{{"priority":0.{}}}}}"#, word(n + i), (n + i) % 10)
        };
        let blocks: Vec<String> = (0..20).map(block).collect();
        with(&blocks.iter().map(String::as_str).collect::<Vec<_>>(), "")
    }),
    ("hidden blocks", |n| {
        let block =
            |audience| format!(r#"{{"type":"text","text":"{}","annotations":{{"audience":["{audience}"]}}}}"#, word(n));
        with(&[&block("user"), &block("assistant"), &text(&word(n))], "")
    }),
    ("blank text", |n| with(&[&text(" "), &text(&word(n))], "")),
    ("30 keys of _meta", |n| {
        let keys: Vec<String> = (0..30).map(|i| format!(r#""com.example/{i}":"{}""#, word(n + i))).collect();
        with(&[&text(&word(n))], &format!(r#","_meta":{{"durationMs":1{n:03},{}}}"#, keys.join(",")))
    }),
    ("_meta of a block", |n| {
        with(&[&format!(r#"{{"type":"text","text":"{}","_meta":{{"a":{},"b":2}}}}"#, word(n), n % 10)], "")
    }),
    ("_meta inside a resource", |n| with(&[&resource(&format!(r#""text":"{}","_meta":{{"a":1}}"#, word(n)))], "")),
    ("error", |n| with(&[&text(&word(n))], r#","isError":true"#)),
    ("escapes", |n| with(&[&text(&format!(r#"a\n\"{}\"\u00e9\ud83d\ude00"#, word(n)))], "")),
    ("not ASCII", |n| with(&[&text(&format!("é {} 🦊", word(n)))], &structured(&format!("{{\"ü\":\"{}\"}}", word(n))))),
];

fn with(blocks: &[&str], more: &str) -> String {
    format!(r#"{{"content":[{}]{more}}}"#, blocks.join(","))
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn media(kind: &str, n: usize) -> String {
    format!(r#"{{"type":"{kind}","data":"{}","mimeType":"{kind}/x"}}"#, base64(n))
}

fn resource(members: &str) -> String {
    format!(r#"{{"type":"resource","resource":{{"uri":"a:b",{members}}}}}"#)
}

fn structured(value: &str) -> String {
    format!(r#","structuredContent":{value}"#)
}

fn value(n: usize) -> String {
    let row = |i| format!(r#"{{"id":1{:03},"name":"{}","tags":["{}"],"open":true}}"#, n + i, word(n + i), word(n + 9));
    format!(r#"{{"items":[{}]}}"#, (0..5).map(row).collect::<Vec<_>>().join(","))
}

/// The same value as Python writes it.
fn spaced(n: usize) -> String {
    value(n).replace(':', ": ").replace(',', ", ")
}

fn quoted(text: &str) -> String {
    text.replace('"', "\\\"")
}

/// Eight letters.
fn word(n: usize) -> String {
    let mut word = String::new();
    for i in 0..8 {
        let _ = write!(word, "{}", char::from(b'a' + u8::try_from((n * 7 + i * (n + 3)) % 26).unwrap()));
    }
    word
}

fn base64(n: usize) -> String {
    word(n).repeat(20)
}

// ---- policies ----------------------------------------------------------------------------------------------

/// Policies that ask and set more than the built-in ones.
const OTHERS: [(&str, &str); 9] = [
    ("mirror", "[[rules]]\nname = \"m\"\nwhen = { mirror = true }\norder = [\"structured\"]\n"),
    ("coverage", "[[rules]]\nname = \"c\"\nwhen = { coverage = \"< 0.9\" }\norder = [\"both\"]\n"),
    ("sizes", "[[rules]]\nname = \"s\"\nwhen = { ratio = \"> 2\", text_json = false }\norder = [\"both\"]\n"),
    ("path", "[[rules]]\nname = \"p\"\nwhen = { path = \"$.items[?@.open]\" }\norder = [\"structured\"]\n"),
    ("notes", "[audience.model]\nblocks.image = \"note\"\nblocks.audio = \"note\"\n"),
    ("pretty", "[audience.model]\norder = [\"structured\", \"content\"]\nstructured.render = \"pretty\"\n"),
    ("pick", "[audience.model]\norder = [\"structured\", \"content\"]\nstructured.pick = [\"$.items[*].id\"]\n"),
    ("limit", "[audience.model]\nlimit = { bytes = 80, cut = \"head\" }\n"),
    ("sanitize", "[audience.model]\nsanitize = [\"ansi\", \"bidi\"]\n"),
];

fn policies() -> Vec<(String, Engine)> {
    let allow = "[[overrides]]\nmeta.allow = [\"durationMs\"]\n";
    let builtin = |name: &str| format!("version = 1\nextends = \"{name}\"\n{allow}");
    let other = |rest: &str| format!("version = 1\nextends = \"sep-2200\"\n{rest}{allow}");
    let builtins = BUILTINS.iter().map(|(name, _)| ((*name).to_owned(), builtin(name)));
    let others = OTHERS.iter().map(|(name, rest)| (format!("sep-2200 and {name}"), other(rest)));
    builtins.chain(others).map(|(name, policy)| (name, Engine::from_toml(policy.as_bytes()).unwrap())).collect()
}

/// The built-in policies that write the keys of the structured value in order.
const SORTING: [&str; 2] = ["fast-agent", "open-webui"];

// ---- the rule and its exceptions ---------------------------------------------------------------------------

/// How often a call under this policy may allocate for this result.
fn may(policy: &str, kind: &str, audience: &str) -> usize {
    MAY.iter().filter(|exception| (exception.applies)(policy, kind, audience)).map(|exception| exception.most).sum()
}

struct Exception {
    applies: fn(policy: &str, kind: &str, audience: &str) -> bool,
    most: usize,
    why: &'static str,
}

const MAY: [Exception; 8] = [
    Exception {
        applies: |_, kind, audience| audience == "model" && kind == "image and structured",
        most: 1,
        why: "a value beside a medium may repeat it as base64: the list of the media that the blocks carry",
    },
    Exception {
        applies: |_, kind, audience| audience == "model" && kind == "image in the value too",
        most: 2,
        why: "and the note that stands for one",
    },
    Exception {
        applies: |policy, kind, _| {
            kind == "structured with a name twice" && ["lossless", "sep-2200 and coverage"].contains(&policy)
        },
        most: 1,
        why: "coverage looks for the last of members with one name: rare, and a list for each such name",
    },
    Exception {
        applies: |policy, _, audience| audience == "model" && SORTING.contains(&policy),
        most: 20,
        why: "structured.render = \"sorted\": a list for each object and array, the value is seldom this small",
    },
    Exception {
        applies: |policy, _, _| policy == "sep-2200 and pick",
        most: 16,
        why: "structured.pick and .omit: the projected value, its tree and a copy for each time that it is asked for",
    },
    Exception {
        applies: |policy, kind, _| policy == "sep-2200 and limit" && !IS_CUT.contains(&kind),
        most: 4,
        why: "limit: a list of the texts, and each text whose escapes must be undone to be counted",
    },
    Exception {
        applies: |policy, kind, _| policy == "sep-2200 and limit" && IS_CUT.contains(&kind),
        most: 70,
        why: "limit: what is cut is cut as JSON, and the marker is written to be measured",
    },
    Exception {
        applies: |policy, _, _| policy == "sep-2200 and sanitize",
        most: 20,
        why: "sanitize: each text is looked at with its escapes undone; here 20 blocks",
    },
];

/// What is longer than the limit.
const IS_CUT: [&str; 8] = [
    "20 blocks with annotations",
    "dual",
    "dual with spaces",
    "image and structured",
    "image in the value too",
    "prose and structured",
    "structured",
    "structured with spaces",
];

#[test]
fn a_call_that_is_warmed_up_allocates_nothing() {
    let mut wrong = String::new();
    let mut unused: Vec<&str> = MAY.iter().map(|exception| exception.why).collect();
    for (policy, engine) in policies() {
        for audience in ["model", "code"] {
            let request = Request::new("server", "tool", audience);
            // One selection for results of one kind, and one for all kinds by turns.
            let mut all = Selection::new();
            for n in 0..3 {
                RESULTS.iter().for_each(|(_, result)| drop(engine.select(&request, result(n).as_bytes(), &mut all)));
            }
            for (kind, result) in RESULTS {
                let mut one = Selection::new();
                for n in 0..3 {
                    engine.select(&request, result(n).as_bytes(), &mut one).unwrap();
                }
                for (n, selection) in [(3, &mut one), (4, &mut all)] {
                    let input = result(n);
                    let mut call = || {
                        let status = engine.select(&request, input.as_bytes(), selection).unwrap();
                        assert!(matches!(status, Status::Changed | Status::Unchanged));
                    };
                    let count = allocations(&mut call);
                    let places = if count > 0 { places(&mut call) } else { Vec::new() };
                    if count > 0 {
                        unused.retain(|why| !MAY.iter().any(|e| e.why == *why && (e.applies)(&policy, kind, audience)));
                    }
                    let may = may(&policy, kind, audience);
                    if count > may {
                        let _ = writeln!(wrong, "{policy}, {audience}, {kind}: {count}, not at most {may}");
                        places.iter().for_each(|place| wrong.push_str(&format!("    {place}\n")));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "allocations:\n{wrong}");
    assert!(unused.is_empty(), "exceptions that nothing needs any more: {unused:?}");
}

/// What a server's section takes of a policy that is ready, and at most while it is read. Without what the system's
/// allocator adds: some 30 bytes.
#[test]
fn a_section_of_a_server_is_small() {
    const SERVERS: usize = 20_000;
    let mut policy = String::from("version = 1\n");
    for server in 0..SERVERS {
        let _ = write!(policy, "[servers.server-{server:05}]\norder = [\"structured\", \"content\"]\n");
    }
    LIVE.set((0, 0));
    let mut engine = None;
    allocations(|| engine = Some(Engine::from_toml(policy.as_bytes()).unwrap()));
    let (ready, most) = LIVE.get();
    let each = |bytes: isize| bytes.cast_unsigned() / SERVERS;
    assert!((100..170).contains(&each(ready)), "{}", each(ready));
    // Nearly all of it is the TOML tree, and the tokens that it is made of.
    assert!((100..2900).contains(&each(most)), "{}", each(most));
    drop(engine);
}

/// What one large result made of a selection goes at once, all but the output, which can still be read.
#[test]
fn what_a_large_result_needed_is_given_back() {
    const KEEP: usize = 1 << 16;
    let rows: Vec<String> = (0..500).map(value).collect();
    let rows = structured(&format!(r#"{{"rows": [{}]}}"#, rows.join(", ")));
    let large = with(&[&text(&r"many words \n ".repeat(30_000))], &rows);
    let small = with(&[&text("few words")], &structured(&value(3)));
    for (name, engine) in policies() {
        let request = Request::new("server", "tool", "model");
        let mut selection = Selection::new();
        engine.select(&request, small.as_bytes(), &mut selection).unwrap();
        LIVE.set((0, 0));
        allocations(|| {
            engine.select(&request, large.as_bytes(), &mut selection).unwrap();
            selection.text(large.as_bytes(), "");
            selection.trim(KEEP);
        });
        let (left, most) = LIVE.get();
        let out = selection.json().map_or(0, <[u8]>::len);
        assert!(most > 500_000, "{name}: {most}");
        assert!(left.cast_unsigned() < out + 4 * KEEP, "{name}: {left} bytes beside an output of {out}");
        let (json, decision) = (selection.json().map(<[u8]>::to_vec), selection.decision().to_vec());
        let mut other = Selection::new();
        engine.select(&request, large.as_bytes(), &mut other).unwrap();
        assert_eq!(json.as_deref(), other.json(), "{name}");
        assert_eq!(decision, other.decision(), "{name}");
        assert_eq!(selection.text(large.as_bytes(), "|"), other.text(large.as_bytes(), "|"), "{name}");
        engine.select(&request, small.as_bytes(), &mut selection).unwrap();
        LIVE.set((0, 0));
        allocations(|| selection.trim(KEEP));
        assert!(LIVE.get().0 <= 0 && LIVE.get().0.unsigned_abs() + 4 * KEEP >= out, "{name}: {:?}", LIVE.get());
    }
}

#[test]
fn what_is_counted_is_counted() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(9)))), 1);
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![0u8; 9]))), 1);
    let mut grows = vec![1u8];
    assert_eq!(allocations(|| grows.reserve_exact(900)), 1);
    assert_eq!(allocations(|| ()), 0);
}
