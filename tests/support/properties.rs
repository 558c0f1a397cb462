//! What must always hold, whatever a server writes and whatever a policy says, each with choices to make a case of. The
//! numbers are those of the documentation; property 9 stands in `table`.

use super::choices::Choices;
use super::interpreter::{allowed, holding, on_route, said, speaking};
use super::judge;
use super::policies::{self, Files, Known};
use super::results::{self, marks_of};
use super::scan::{self, Verdict};
use super::tree::Tree;
use mcp_select::policy::pattern::MetaPattern;
use mcp_select::policy::rule::{MetaBlocks, Reserved, Setting, Value};
use mcp_select::policy::{BUILTINS, Policy};
use mcp_select::result::text::is_blank_char;
use mcp_select::{Engine, Fate, Input, Lane, Selection, Status};
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;

/// Whether a property holds; else why not, with the case.
pub type Holds = Result<(), String>;

macro_rules! holds {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            return Err(format!("{}: {}", stringify!($condition), format_args!($($why)+)));
        }
    };
    ($condition:expr) => {
        holds!($condition, "it does not hold")
    };
}

macro_rules! same {
    ($left:expr, $right:expr) => {
        same!($left, $right, "not the same")
    };
    ($left:expr, $right:expr, $($why:tt)+) => {{
        let (left, right) = ($left, $right);
        if left != right {
            return Err(format!("{}\n  left: {left:?}\n right: {right:?}", format_args!($($why)+)));
        }
    }};
}

// ---- one case ---------------------------------------------------------------------------------------------------

/// A policy, a request and a result.
pub struct Case {
    policy: String,
    known: Known,
    input: Input,
    result: Vec<u8>,
}

/// What came out.
pub struct Out {
    pub status: Status,
    pub lane: Lane,
    /// The reader's bytes: the output, or the input when it is unchanged.
    pub json: Vec<u8>,
    pub record: Vec<u8>,
    pub text: String,
    pub blocks: Vec<mcp_select::OutputBlock>,
}

impl Case {
    pub fn new(choices: &mut Choices, policy: policies::Wanted, result: results::Wanted) -> Case {
        let input = if choices.one_in(8) { Input::Sampling } else { Input::Result };
        let known = policies::known(choices);
        let result = results::result(choices, results::Wanted { sampling: input == Input::Sampling, ..result });
        Case { policy: policies::policy(choices, policy), known, input, result }
    }

    /// A case with this result. `None` when it is refused, as everything malformed is, or not for readers, or so deep that
    /// the judge cannot read it.
    pub fn of_result(choices: &mut Choices, result: &[u8]) -> Option<Case> {
        let case = Case { result: result.to_vec(), ..Case::new(choices, ANY, results()) };
        let answer = case.engine().select(&case.known.request(case.input), result, &mut Selection::new());
        let json = scan::expected(result, 100);
        assert!(json == Verdict::TooDeep || json == Verdict::Json || answer.is_err(), "{json:?} is accepted\n{case}");
        (json == Verdict::Json && matches!(answer, Ok(Status::Unchanged | Status::Changed))).then_some(case)
    }

    /// A fuzzer comes with one policy again and again.
    fn engine(&self) -> Rc<Engine> {
        LAST_ENGINES.with_borrow_mut(|last| {
            if let Some((_, engine)) = last.iter().find(|(policy, _)| *policy == self.policy) {
                return Rc::clone(engine);
            }
            let engine = Engine::from_toml(self.policy.as_bytes());
            let engine = Rc::new(engine.unwrap_or_else(|error| panic!("{error}\n{}", self.policy)));
            last.push_front((self.policy.clone(), Rc::clone(&engine)));
            last.truncate(32);
            engine
        })
    }

    fn run(&self) -> Out {
        run(&self.engine(), &self.known, self.input, &self.result)
    }

    fn tree(&self) -> Tree {
        Tree::read(&self.result).unwrap()
    }

    /// The policy and the settings that it makes, for a policy that needs no facts.
    fn decided(&self) -> Decided {
        let policy = Files(vec![("policy".into(), self.policy.clone())]).load();
        Decided { policy, known: self.known.clone() }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{:?} {:?}\n{}", self.policy, self.known, self.input, String::from_utf8_lossy(&self.result))
    }
}

pub fn run(engine: &Engine, known: &Known, input: Input, result: &[u8]) -> Out {
    let mut selection = Selection::new();
    let status = engine.select(&known.request(input), result, &mut selection);
    let status = status.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(result)));
    Out {
        status,
        lane: selection.lane(),
        json: selection.json().unwrap_or(result).to_vec(),
        record: selection.decision().to_vec(),
        text: selection.text(result, "\n").to_owned(),
        blocks: selection.blocks().collect(),
    }
}

/// What a policy without conditions on results decides, by the plain interpreter.
struct Decided {
    policy: Policy,
    known: Known,
}

impl Decided {
    fn rules(&self) -> Vec<&mcp_select::policy::rule::Rule> {
        let route = self.known.route();
        holding(&speaking(&self.policy, &route), |condition| on_route(condition, &route).unwrap_or(false))
    }

    fn value(&self, setting: Setting) -> &Value {
        said(&self.rules(), setting)[0].1
    }

    /// Whether `meta.allow` and `meta.deny` let a key out.
    fn allows(&self, key: &str) -> bool {
        let Value::Reserved(reserved) = self.value(Setting::MetaReserved) else { unreachable!() };
        let patterns = |values: Vec<&Value>| -> Vec<MetaPattern> {
            let of = |value: &Value| if let Value::Meta(patterns) = value { patterns.to_vec() } else { Vec::new() };
            values.into_iter().flat_map(of).collect()
        };
        let rules = self.rules();
        let allow = patterns(allowed(&rules));
        let deny = patterns(said(&rules, Setting::MetaDeny).into_iter().map(|(_, value)| value).collect());
        let names = |pattern: &MetaPattern, is_open: bool| match pattern {
            MetaPattern::Inherit => false,
            MetaPattern::Any => is_open,
            MetaPattern::Prefix(prefix) => is_open && key.starts_with(&**prefix),
            MetaPattern::Key(name) => **name == *key,
        };
        allow.iter().any(|pattern| names(pattern, is_open(key, *reserved))) && !deny.iter().any(|p| names(p, true))
    }
}

/// Whether a pattern may name a key of `results`: neither reserved nor malformed.
fn is_open(key: &str, reserved: Reserved) -> bool {
    match key {
        "com..bad/x" | "progressToken" => false,
        "io.modelcontextprotocol/x" => reserved == Reserved::Revision20250618,
        "mcp.dev/x" => reserved == Reserved::Revision20251125,
        "traceparent" => reserved != Reserved::Union,
        _ => true,
    }
}

pub const ANY: policies::Wanted = policies::Wanted { facts: true, whole: true, focus: &[] };

fn results() -> results::Wanted {
    results::Wanted::default()
}

thread_local! {
    static LAST_ENGINES: RefCell<VecDeque<(String, Rc<Engine>)>> = RefCell::default();
}

/// The built-in policies, loaded once.
pub static ENGINES: LazyLock<Vec<(&str, Engine)>> =
    LazyLock::new(|| BUILTINS.iter().map(|(name, _)| (*name, Engine::builtin(name).unwrap())).collect());

// ---- marks ------------------------------------------------------------------------------------------------------

type Marks = BTreeSet<String>;

fn blocks_of(result: &Tree) -> &[Tree] {
    result.get("content").map(Tree::elements).unwrap_or_default()
}

/// The marks in these values and nowhere else in the result.
fn only_in<'t>(result: &Tree, values: impl Iterator<Item = &'t Tree>) -> Marks {
    let values: Vec<*const Tree> = values.map(std::ptr::from_ref).collect();
    let (mut inside, mut outside) = (Marks::new(), Marks::new());
    split(None, result, &values, false, &mut inside, &mut outside);
    inside.retain(|mark| !outside.contains(mark));
    inside
}

/// Sorts the marks of a tree: those in one of `values`, and all others.
fn split(name: Option<&str>, tree: &Tree, values: &[*const Tree], inside: bool, found: &mut Marks, others: &mut Marks) {
    let inside = inside || values.contains(&std::ptr::from_ref(tree));
    let to = if inside { &mut *found } else { &mut *others };
    to.extend(name.into_iter().flat_map(results::marks).map(str::to_owned));
    if tree.text().is_some() {
        to.extend(marks_of(tree));
    }
    tree.elements().iter().for_each(|element| split(None, element, values, inside, found, others));
    tree.members().iter().for_each(|(name, value)| split(Some(name), value, values, inside, found, others));
}

fn seen(out: &Out) -> Marks {
    let mut seen = marks_of(&Tree::read(&out.json).unwrap());
    seen.extend(results::marks(&out.text).into_iter().map(str::to_owned));
    seen
}

/// The marks of the texts of text blocks, and of the structured value.
fn fields(result: &Tree) -> (Marks, Marks) {
    let texts = blocks_of(result).iter().filter(|block| judge::kind(block) == "text").filter_map(|b| b.get("text"));
    (only_in(result, texts), only_in(result, result.get("structuredContent").into_iter()))
}

fn both<'m>(one: &'m Marks, other: &'m Marks) -> Vec<&'m String> {
    one.intersection(other).collect()
}

// ---- the properties ---------------------------------------------------------------------------------------------

/// Property 1: The output is a valid result, or a valid `tool_result` block of a sampling message.
pub fn property_1_the_output_is_valid(choices: &mut Choices) -> Holds {
    output_is_valid(&Case::new(choices, ANY, results()))
}

pub fn output_is_valid(case: &Case) -> Holds {
    let out = case.run();
    if out.lane == Lane::Whole {
        same!(out.status, Status::Unchanged);
        return Ok(());
    }
    let Some(tree) = Tree::read_strictly(&out.json) else {
        holds!(false, "no JSON: {}\n{case}", String::from_utf8_lossy(&out.json));
        unreachable!()
    };
    let keeps_unknown = case.policy.contains("blocks.unknown = \"keep\"");
    let fault = judge::fault(&tree, case.input == Input::Sampling, keeps_unknown);
    holds!(fault.is_none(), "{}\n{}\n{case}", fault.unwrap(), String::from_utf8_lossy(&out.json));
    // What the selection says of the blocks is so.
    let source = case.tree();
    same!(out.blocks.len(), blocks_of(&tree).len(), "{}", case);
    for (block, of) in blocks_of(&tree).iter().zip(&out.blocks) {
        let source = of.source.map(|index| &blocks_of(&source)[index]);
        same!(of.fate == Fate::Added, source.is_none(), "{}", case);
        if of.fate == Fate::Kept {
            same!(Some(block), source, "{}", case);
        }
    }
    Ok(())
}

/// Property 2: Twice is once, byte for byte, for every built-in but the exceptions.
pub fn property_2_twice_is_once(choices: &mut Choices) -> Holds {
    twice_is_once(Case::new(choices, ANY, results()), 0..ENGINES.len())
}

/// Twice is once for these of the built-ins.
pub fn twice_is_once(mut case: Case, which: Range<usize>) -> Holds {
    for (name, engine) in &ENGINES[which] {
        for audience in ["model", "code", "user", "app"] {
            case.known.audience = audience;
            let once = run(engine, &case.known, case.input, &case.result);
            if unstable(name, audience, &once).is_some() {
                continue;
            }
            let twice = run(engine, &case.known, case.input, &once.json);
            same!(
                String::from_utf8_lossy(&once.json),
                String::from_utf8_lossy(&twice.json),
                "{} {}\n{}",
                name,
                audience,
                case
            );
        }
    }
    Ok(())
}

/// Property 3: No member that is not of a result, no `_meta` key that was not allowed, nothing of a lane that was not chosen.
pub fn property_3_nothing_that_was_not_chosen(choices: &mut Choices) -> Holds {
    let policy = policies::Wanted { facts: false, whole: false, focus: &["meta", "order"] };
    let case = Case::new(choices, policy, results::Wanted { meta: true, ..results() });
    let (out, source, decided) = (case.run(), case.tree(), case.decided());
    if out.lane == Lane::Whole {
        return Ok(());
    }
    let tree = Tree::read(&out.json).unwrap();
    let sampling = case.input == Input::Sampling;
    for (name, _) in tree.members() {
        let known = ["content", "structuredContent", "isError", "_meta", "resultType"].contains(&&**name);
        holds!(known || sampling && ["type", "toolUseId"].contains(&&**name), "{name}\n{case}");
    }

    // Of `_meta`: by key where it is a member, by mark wherever it went.
    let seen = seen(&out);
    let hidden = decided.value(Setting::Hide) == &Value::Flag(true);
    let blocks_may = decided.value(Setting::MetaBlocks) == &Value::MetaBlocks(MetaBlocks::Allow);
    if !sampling {
        for (key, value) in source.get("_meta").map(Tree::members).unwrap_or_default() {
            let marks = only_in(&source, [value].into_iter());
            let is_last =
                source.get("_meta").and_then(|meta| meta.get(key)).is_some_and(|last| std::ptr::eq(last, value));
            if hidden || !decided.allows(key) || !is_last {
                same!(both(&marks, &seen), Vec::<&String>::new(), "{}\n{}", key, case);
            } else if decided.value(Setting::Limit) == &Value::Limit(None) {
                // Written anew, a repeated member inside is there once; what a limit cuts may be gone.
                let kept: Marks = marks.intersection(&marks_of(&value.last_of_each())).cloned().collect();
                same!(both(&kept, &seen).len(), kept.len(), "{} is gone\n{}", key, case);
            }
        }
        for (key, _) in tree.get("_meta").map(Tree::members).unwrap_or_default() {
            holds!(decided.allows(key) && !hidden, "{key}\n{case}");
        }
    }
    let metas = |blocks: &[Tree]| -> Vec<(String, Tree)> {
        let inner = blocks.iter().filter_map(|block| block.get("resource"));
        let metas = blocks.iter().chain(inner).filter_map(|of| of.get("_meta"));
        metas.flat_map(|meta| meta.members().to_vec()).collect()
    };
    for (key, _) in metas(blocks_of(&tree)) {
        holds!(blocks_may && decided.allows(&key), "{key} in a block\n{case}");
    }
    let source_metas = blocks_of(&source).iter().flat_map(|block| [Some(block), block.get("resource")]).flatten();
    for (key, value) in source_metas.filter_map(|of| of.get("_meta")).flat_map(Tree::members) {
        if !(blocks_may && decided.allows(key)) {
            let marks = only_in(&source, [value].into_iter());
            same!(both(&marks, &seen), Vec::<&String>::new(), "{} in a block\n{}", key, case);
        }
    }

    // Of the lanes.
    let (texts, structured) = fields(&source);
    if !matches!(out.lane, Lane::Content | Lane::Both | Lane::Raw) {
        same!(both(&texts, &seen), Vec::<&String>::new(), "a text in {:?}\n{}", out.lane, case);
    }
    if !matches!(out.lane, Lane::Structured | Lane::StructuredOnly | Lane::Both | Lane::Raw) {
        same!(both(&structured, &seen), Vec::<&String>::new(), "structured in {:?}\n{}", out.lane, case);
    }
    if out.lane == Lane::StructuredOnly {
        let blocks = only_in(&source, source.get("content").into_iter());
        same!(both(&blocks, &seen), Vec::<&String>::new(), "a block beside the value\n{}", case);
    }
    let unknown = only_in(
        &source,
        source
            .members()
            .iter()
            .filter(|(name, _)| {
                let known = ["content", "structuredContent", "isError", "_meta", "resultType"].contains(&&**name);
                !(known || sampling && ["type", "toolUseId"].contains(&&**name))
            })
            .map(|(_, value)| value),
    );
    same!(both(&unknown, &seen), Vec::<&String>::new(), "an unknown member\n{}", case);

    // The record tells no value out of `_meta` (the five missing leaves are of the structured value).
    let metas = only_in(&source, source.get("_meta").into_iter());
    let record = String::from_utf8_lossy(&out.record);
    holds!(results::marks(&record).iter().all(|mark| !metas.contains(*mark)), "{record}\n{case}");
    Ok(())
}

/// Property 4: A model gets the texts or the structured value; both only in lanes that say so, and the record says it too.
pub fn property_4_not_both_unless_said(choices: &mut Choices) -> Holds {
    let mut case = Case::new(choices, ANY, results());
    case.known.audience = "model";
    let (out, source) = (case.run(), case.tree());
    let (seen, (texts, structured)) = (seen(&out), fields(&source));
    let may = matches!(out.lane, Lane::Both | Lane::Raw | Lane::Whole);
    holds!(
        may || both(&texts, &seen).is_empty() || both(&structured, &seen).is_empty(),
        "{:?}: {}\n{case}",
        out.lane,
        String::from_utf8_lossy(&out.json)
    );
    let record: serde_json::Value = serde_json::from_slice(&out.record).unwrap();
    let deviates = record["deviates"].as_array().unwrap().iter().any(|what| what == "sep-2200");
    same!(deviates, may, "{}", case);
    Ok(())
}

/// Property 5: A block that is hidden from an audience is in no output for it, by no fallback. When all are hidden, the structured
/// value is hidden too.
pub fn property_5_hidden_is_hidden(choices: &mut Choices) -> Holds {
    let policy = policies::Wanted { whole: false, focus: &["order", "error_order", "role", "annotations"], ..ANY };
    let case = Case::new(choices, policy, results::Wanted { annotated: true, ..results() });
    let (out, source, decided) = (case.run(), case.tree(), case.decided());
    if out.lane == Lane::Whole {
        return Ok(());
    }
    // Route settings, so no fact can change them.
    let (Value::Role(role), Value::Annotations(annotations)) =
        (decided.value(Setting::Role), decided.value(Setting::Annotations))
    else {
        unreachable!()
    };
    let is_hidden = |block: &&Tree| judge::is_hidden(block, role.name(), annotations.name());
    let hidden: Vec<&Tree> = blocks_of(&source).iter().filter(is_hidden).collect();
    let seen = seen(&out);
    let marks = only_in(&source, hidden.iter().copied());
    same!(both(&marks, &seen), Vec::<&String>::new(), "{}\n{}", String::from_utf8_lossy(&out.json), case);
    if !hidden.is_empty() && hidden.len() == blocks_of(&source).len() {
        let (_, structured) = fields(&source);
        same!(both(&structured, &seen), Vec::<&String>::new(), "{}", case);
    }
    Ok(())
}

/// Property 6: Text stays within `limit`, the marker included.
pub fn property_6_text_stays_within_the_limit(choices: &mut Choices) -> Holds {
    within_the_limit(Case::new(choices, ANY, results()), choices)
}

pub fn within_the_limit(mut case: Case, choices: &mut Choices) -> Holds {
    case.known.audience = choices.pick(&["model", "code", "user", "app"]);
    let most = 80 + choices.below(300);
    let (unit, cut) =
        (choices.pick(&["bytes", "chars", "utf16"]), choices.pick(&["head", "tail", "middle", "elements"]));
    case.policy = format!(
        "version = 1\nextends = \"{}\"\n[[overrides]]\nlimit = {{ {unit} = {most}, cut = \"{cut}\" }}\n",
        choices.pick(&["sep-2200", "lossless", "openai-apps", "text-only", "raw"]),
    );
    let out = case.run();
    if out.lane != Lane::Whole {
        let texts = out.text.split('\n').count();
        let structured = Tree::read(&out.json).unwrap().get("structuredContent").is_some();
        let length = match unit {
            "bytes" => out.text.len(),
            "chars" => out.text.chars().count(),
            _ => out.text.encode_utf16().count(),
        };
        // The separators between texts are not part of them.
        holds!(length <= most + texts, "{length} of {most} (structured: {structured})\n{}\n{case}", out.text);
    }
    Ok(())
}

/// Property 7: What is kept keeps the spelling of its numbers, the value of its strings and the order of its members.
pub fn property_7_kept_as_spelled(choices: &mut Choices) -> Holds {
    kept_as_spelled(Case::new(choices, ANY, results()), choices)
}

pub fn kept_as_spelled(mut case: Case, choices: &mut Choices) -> Holds {
    case.known.audience = choices.pick(&["model", "code", "user", "app"]);
    let render = choices.pick(&["compact", "verbatim"]);
    let as_what = choices.pick(&["field", "text"]);
    let order = choices.pick(&["structured", "structured-only", "both", "raw"]);
    case.policy = format!(
        "version = 1\n[[overrides]]\norder = [\"{order}\", \"content\"]\nerror_order = [\"{order}\"]\nannotations = \"ignore\"\n\
         structured = {{ as = \"{as_what}\", render = \"{render}\", media = \"keep\", at = \"last\" }}\n"
    );
    let (out, source) = (case.run(), case.tree());
    let tree = Tree::read_strictly(&out.json).unwrap();
    for (block, of) in blocks_of(&tree).iter().zip(&out.blocks) {
        let Some(source) = of.source.map(|index| &blocks_of(&source)[index]) else { continue };
        if of.fate == Fate::Kept {
            same!(block, source, "{}", case);
            continue;
        }
        for (name, value) in block.members().iter().filter(|(name, _)| of.fate != Fate::Note && *name != "_meta") {
            let same = value == source.get(name).unwrap() || name == "resource" || name == "annotations";
            holds!(same, "{name} of {block:?}\n{case}");
        }
        let names = |tree: &Tree| -> Vec<String> { tree.members().iter().map(|(name, _)| name.clone()).collect() };
        let (kept, all) = (names(block), names(&source.last_of_each()));
        let in_order: Vec<String> = all.into_iter().filter(|name| kept.contains(name)).collect();
        holds!(of.fate == Fate::Note || kept == in_order, "{block:?}\n{case}");
    }
    let Some(structured) = source.given("structuredContent") else { return Ok(()) };
    let shows = |text: &str| !text.chars().all(is_blank_char);
    if as_what == "text" && !structured.text().is_none_or(shows) {
        // No text to show: it is left out beside blocks.
        return Ok(());
    }
    let last_block = blocks_of(&tree).last().and_then(|block| block.get("text")).and_then(Tree::text);
    let (shown, expected) = match out.lane {
        Lane::Raw => {
            let raw = Tree::read_strictly(last_block.unwrap().as_bytes()).unwrap();
            (raw.get("structuredContent").cloned(), structured.last_of_each())
        }
        Lane::Structured | Lane::StructuredOnly | Lane::Both => {
            let expected = if render == "verbatim" { structured.clone() } else { structured.last_of_each() };
            let shown = match (as_what, structured) {
                ("field", _) => tree.get("structuredContent").cloned(),
                // A string becomes that text.
                (_, Tree::Text(_)) => last_block.map(|text| Tree::Text(text.to_owned())),
                _ => last_block.and_then(|text| Tree::read(text.as_bytes())),
            };
            (shown, expected)
        }
        _ => return Ok(()),
    };
    same!(shown, Some(expected), "{:?}\n{}", out.lane, case);
    Ok(())
}

/// Property 8: The same input gives the same bytes and the same record, whatever was selected before and on whatever thread.
pub fn property_8_same_again(choices: &mut Choices) -> Holds {
    same_again(&Case::new(choices, ANY, results()), choices)
}

pub fn same_again(case: &Case, choices: &mut Choices) -> Holds {
    let other = results::result(choices, results());
    let first = case.run();
    serde_json::from_slice::<serde_json::Value>(&first.record).expect("the record is JSON");
    let second = std::thread::scope(|scope| {
        let again = scope.spawn(|| {
            let (engine, request) = (case.engine(), case.known.request(case.input));
            let mut selection = Selection::new();
            // Something else first: a result, garbage, the same request for other bytes.
            let _ = engine.select(&case.known.request(Input::Result), &other, &mut selection);
            let _ = selection.decision();
            let _ = engine.select(&request, b"{\"content\":[", &mut selection);
            let _ = engine.select(&request, &other, &mut selection);
            let _ = selection.text(&other, "");
            let status = engine.select(&request, &case.result, &mut selection).unwrap();
            Out {
                status,
                lane: selection.lane(),
                text: selection.text(&case.result, "\n").to_owned(),
                record: selection.decision().to_vec(),
                json: selection.json().unwrap_or(&case.result).to_vec(),
                blocks: selection.blocks().collect(),
            }
        });
        again.join().unwrap()
    });
    same!(first.status, second.status, "{}", case);
    same!(first.lane, second.lane, "{}", case);
    same!(first.blocks, second.blocks, "{}", case);
    same!(String::from_utf8_lossy(&first.json), String::from_utf8_lossy(&second.json), "{}", case);
    same!(first.text, second.text, "{}", case);
    same!(String::from_utf8_lossy(&first.record), String::from_utf8_lossy(&second.record), "{}", case);
    Ok(())
}

/// Property 10: Malformed input is refused and nothing of it is shown; no input panics, be it a result, a policy or a tool.
pub fn property_10_malformed_is_refused(choices: &mut Choices, noise: &[u8]) -> Holds {
    let case = Case::new(choices, ANY, results());
    let mut broken = case.result.clone();
    break_it(choices, &mut broken, noise);
    let mut selection = Selection::new();
    let status = case.engine().select(&case.known.request(case.input), &broken, &mut selection);
    let is_json =
        std::str::from_utf8(&broken).is_ok() && serde_json::from_slice::<serde::de::IgnoredAny>(&broken).is_ok();
    if !is_json {
        let refused = matches!(
            status.as_ref().map_err(|error| error.status()),
            Err(Status::ErrJson | Status::ErrUtf8 | Status::ErrDepth)
        );
        holds!(refused, "{status:?}: {}", String::from_utf8_lossy(&broken));
    }
    if status.is_err() {
        same!(selection.json(), None);
        same!(selection.status(), None);
        same!(selection.lane(), Lane::Nothing);
        same!(selection.text(&broken, "\n"), "");
        holds!(selection.decision().is_empty());
    }
    let _ = selection.explain();

    let mut policy = case.policy.clone().into_bytes();
    break_it(choices, &mut policy, noise);
    let _ = Engine::from_toml(&policy);
    let mut tool = case.known.definition.unwrap_or("{}").as_bytes().to_vec();
    break_it(choices, &mut tool, noise);
    let _ = case.known.request(case.input).set_tool_definition(Some(&tool));
    Ok(())
}

/// Why twice is not once for what a built-in made.
pub fn unstable(policy: &str, audience: &str, out: &Out) -> Option<&'static str> {
    let has_note = out.blocks.iter().any(|block| block.fate == Fate::Note);
    match (policy, audience, out.lane) {
        ("raw", _, Lane::Raw | Lane::Nothing) => Some("what is there, a placeholder too, becomes JSON text each time"),
        (_, "code", Lane::Structured) if has_note => Some(
            "a note beside the field is a text block the second time, and the value takes the place of text blocks",
        ),
        ("sep-3279-preview", "code", Lane::Nothing) if has_note => {
            Some("notes that stand where nothing is usable are texts the second time, which are not for code")
        }
        ("fast-agent", _, Lane::Structured | Lane::Content) if out.text.is_empty() => Some(
            "an empty string as value, or beside what it drops, is an empty text the second time, which this host takes for nothing",
        ),
        _ => None,
    }
}

fn break_it(choices: &mut Choices, bytes: &mut Vec<u8>, noise: &[u8]) {
    for &byte in noise {
        let at = choices.below(bytes.len() + 1);
        match choices.below(4) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = byte,
            2 if at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.insert(at, byte),
        }
    }
}
