//! Examples: a route and a result that satisfy a conjunction of conditions.
//!
//! A [`Cell`] says what each fact can be; candidates are put together from few building blocks accordingly, and each is
//! held against the engine's own facts before anybody sees it. When none of them will do, there is no example, and what
//! it was wanted for stays `possible`.

use super::analyse::{Cell, Names, Number, Part};
use super::route::{Definition, Route};
use crate::policy::pattern::{MetaPattern, Pattern};
use crate::policy::rule::{BlockRule, Condition, ContentState, Kind, StructuredState, Value};
use crate::request::Request;
use crate::result::json::escape_into;
use crate::result::meta_key::{is_reserved, is_well_formed};
use crate::result::path::{JsonPath, Plant, Step};
use crate::select::probe;

/// A route and a result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Witness {
    pub server: String,
    pub tool: String,
    pub audience: String,
    pub labels: Vec<(String, String)>,
    pub revision: Option<String>,
    /// The tool's object out of `tools/list`.
    pub definition: Option<String>,
    /// JSON.
    pub result: String,
}

/// No example is larger than this.
const MOST_BYTES: f64 = 4e6;

/// So many candidates are built before nobody hopes any more.
const MOST_CANDIDATES: usize = 4000;

impl Witness {
    /// The request that it is about.
    pub fn request(&self) -> Request {
        let mut request = Request::new(&self.server, &self.tool, &self.audience);
        if let Some(revision) = &self.revision {
            // What is built here is a date.
            let _ = request.set_revision(revision);
        }
        let _ = request.set_tool_definition(self.definition.as_ref().map(String::as_bytes));
        for (name, value) in &self.labels {
            request.set_label(name, value);
        }
        request
    }

    /// `server "a", tool "b", label ring "canary"`: what of the route matters.
    pub fn route(&self) -> String {
        let mut text = format!("server {:?}, tool {:?}", self.server, self.tool);
        if self.audience != "model" {
            text.push_str(&format!(", audience {:?}", self.audience));
        }
        for (name, value) in &self.labels {
            text.push_str(&format!(", label {name} {value:?}"));
        }
        if let Some(revision) = &self.revision {
            text.push_str(&format!(", revision {revision}"));
        }
        if let Some(definition) = &self.definition {
            text.push_str(&format!(", tool definition {definition}"));
        }
        text
    }

    /// The result, cut to what fits a message.
    pub fn shown(&self) -> String {
        const MOST: usize = 400;
        match self.result.char_indices().nth(MOST) {
            Some((end, _)) => {
                format!("{}… ({} bytes)", self.result.get(..end).unwrap_or_default(), self.result.len())
            }
            None => self.result.clone(),
        }
    }
}

/// The first example in a cell.
pub fn example(cell: &Cell<'_>, audience: &str, avoid: &dyn Fn(&str) -> bool) -> Option<Witness> {
    find(cell, audience, avoid, &[], &mut |_| true)
}

/// The first example in a cell that is accepted. `avoid` names servers that are not meant; `more` are further results to
/// try.
pub fn find(
    cell: &Cell<'_>,
    audience: &str,
    avoid: &dyn Fn(&str) -> bool,
    more: &[String],
    accept: &mut dyn FnMut(&Witness) -> bool,
) -> Option<Witness> {
    if cell.is_empty() {
        return None;
    }
    let mut witness = route(cell, audience, avoid)?;
    let facts: Vec<(&Condition, bool)> = cell
        .trail
        .iter()
        .filter_map(|(part, truth)| match part {
            Part::When(condition) if !condition.is_route_condition() => Some((*condition, *truth)),
            _ => None,
        })
        .collect();
    let errors: Vec<bool> = cell
        .trail
        .iter()
        .filter_map(|(part, truth)| if let Part::Error(error) = part { Some(*error == *truth) } else { None })
        .collect();
    let mut tried = 0;
    let mut built = 0.0;
    let mut try_one = |result: String| {
        tried += 1;
        built += count(result.len());
        let is_it = errors.iter().all(|error| *error == result.starts_with("{\"isError\":true"))
            && probe::all_are(result.as_bytes(), facts.iter().copied());
        witness.result = result;
        if is_it && accept(&witness) {
            return Tried::Found;
        }
        if tried > MOST_CANDIDATES || built > 50.0 * MOST_BYTES { Tried::Enough } else { Tried::No }
    };
    let found = each_candidate(cell, &mut try_one) || more.iter().any(|result| try_one(result.clone()) == Tried::Found);
    found.then_some(witness)
}

#[derive(PartialEq)]
enum Tried {
    Found,
    No,
    Enough,
}

// ---- the route --------------------------------------------------------------------------------------------

fn route(cell: &Cell<'_>, audience: &str, avoid: &dyn Fn(&str) -> bool) -> Option<Witness> {
    let server = name(&cell.server, &["example", "another", "any-server", "x"], avoid)?;
    let tool = name(&cell.tool, &["example", "another", "any_tool", "x"], &|_| false)?;
    let mut labels = Vec::new();
    for (label, names) in &cell.labels {
        if !names.one_of.is_empty() {
            labels.push(((*label).to_owned(), name(names, &[], &|_| false)?));
        }
    }
    let revision = if cell.number(Number::Revision).may_be_unknown() { None } else { Some(revision(cell)?) };
    let definition = definition(cell)?;
    let witness =
        Witness { server, tool, audience: audience.to_owned(), labels, revision, definition, result: String::new() };
    holds_for(cell, &witness).then_some(witness)
}

/// A name that a cell allows.
fn name(names: &Names<'_>, usual: &[&str], avoid: &dyn Fn(&str) -> bool) -> Option<String> {
    let fits = |name: &String| !name.is_empty() && names.holds(name) && !avoid(name);
    if names.one_of.is_empty() {
        let numbered = (1..200).map(|number| format!("example-{number}"));
        return usual.iter().map(|name| (*name).to_owned()).chain(numbered).find(fits);
    }
    let examples = names.alive().flat_map(variants);
    let mixed = names.one_of.iter().flat_map(|list| list.iter()).flat_map(variants);
    let mixed = mixed.chain(names.one_of.iter().flat_map(|list| list.iter()).flat_map(|first| {
        names.one_of.iter().flat_map(|list| list.iter()).filter_map(move |second| woven(first, second))
    }));
    let label_may_be_empty = |name: &String| usual.is_empty() && names.holds(name);
    examples.chain(mixed).find(|name| fits(name) || label_may_be_empty(name))
}

fn variants(pattern: &Pattern) -> Vec<String> {
    let text = pattern.as_str();
    if pattern.is_exact() {
        return vec![text.to_owned()];
    }
    [("x", "x"), ("", "x"), ("example", "y"), ("1", "1"), ("-zz-", "z")]
        .iter()
        .map(|(star, one)| text.replace('*', star).replace('?', one))
        .collect()
}

/// `git*` and `*hub`: `github`'s kind.
fn woven(first: &Pattern, second: &Pattern) -> Option<String> {
    let start = first.as_str().strip_suffix('*')?;
    let end = second.as_str().strip_prefix('*')?;
    Some(format!("{start}{end}").replace(['*', '?'], "x"))
}

fn revision(cell: &Cell<'_>) -> Option<String> {
    const KNOWN: [u32; 5] = [20_251_125, 20_260_728, 20_250_618, 20_250_326, 20_241_105];
    let numbers = cell.number(Number::Revision);
    let date = KNOWN
        .into_iter()
        .map(f64::from)
        .find(|date| numbers.holds(Number::Revision, *date))
        .or_else(|| numbers.pick(Number::Revision, 20_251_125.0))?;
    let digits = format!("{date:08}");
    let text = format!("{}-{}-{}", digits.get(..4)?, digits.get(4..6)?, digits.get(6..8)?);
    super::route::revision(&text).map(|_| text)
}

/// A definition that the cell allows; `Some(None)`: none is needed.
fn definition(cell: &Cell<'_>) -> Option<Option<String>> {
    const UNKNOWN: u8 = 4;
    if cell.app & 1 != 0 && cell.output_schema & UNKNOWN != 0 {
        return Some(None);
    }
    let schema = if cell.output_schema & 1 != 0 { "" } else { ",\"outputSchema\":{\"type\":\"object\"}" };
    let ui = if cell.app & 1 != 0 {
        ""
    } else if cell.app & 2 != 0 {
        ",\"_meta\":{\"ui\":{\"resourceUri\":\"ui://example/view\"}}"
    } else {
        ",\"_meta\":{\"ui\":{\"resourceUri\":\"ui://example/view\",\"visibility\":[\"app\"]}}"
    };
    Some(Some(format!("{{\"name\":\"example\",\"inputSchema\":{{\"type\":\"object\"}}{schema}{ui}}}")))
}

/// Whether the route of a witness is as a cell says.
fn holds_for(cell: &Cell<'_>, witness: &Witness) -> bool {
    let route = Route {
        server: witness.server.as_str().into(),
        tool: witness.tool.as_str().into(),
        revision: witness.revision.as_deref().and_then(super::route::revision),
        definition: witness.definition.as_deref().and_then(|json| Definition::read(json.as_bytes())),
        labels: witness.labels.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect(),
        ..Route::default()
    };
    let any = |patterns: &[Pattern], name: &str| patterns.iter().any(|pattern| pattern.matches(name));
    cell.trail.iter().all(|(part, truth)| match part {
        Part::Server(patterns) => any(patterns, &route.server) == *truth,
        Part::Tool(patterns) => any(patterns, &route.tool) == *truth,
        Part::When(condition) if condition.is_route_condition() => route.holds(condition) == *truth,
        _ => true,
    })
}

// ---- the result -------------------------------------------------------------------------------------------

/// How the text of a candidate relates to its structured value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wording {
    Words,
    /// JSON that is not the structured value.
    Json,
    /// The structured value as JSON.
    Same,
    /// The same in two blocks.
    Halves,
    /// The structured value holds the text.
    Wrapped,
}

/// What a candidate is made of.
struct Recipe<'c, 'p> {
    cell: &'c Cell<'p>,
    error: bool,
    content: u8,
    structured: u8,
    kinds: usize,
    wording: Wording,
    /// Leaves that the text says, of how many.
    covered: usize,
    leaves: usize,
}

/// Hands candidates to `try_one`, the plainest first; whether one was accepted.
fn each_candidate(cell: &Cell<'_>, try_one: &mut dyn FnMut(String) -> Tried) -> bool {
    use ContentState::{Blank, Empty, Missing, Visible};
    use StructuredState::{Absent, Array, Null, Object, Scalar};
    let errors = [(1, false), (2, true)].into_iter().filter(|(bit, _)| cell.error & bit != 0).map(|(_, error)| error);
    let contents = [Visible as u8, Empty as u8, Blank as u8, Missing as u8];
    let states = [Object as u8, Absent as u8, Array as u8, StructuredState::Empty as u8, Scalar as u8, Null as u8];
    let wordings = [Wording::Words, Wording::Same, Wording::Json, Wording::Wrapped, Wording::Halves];
    let mut sets: Vec<usize> = cell.kind_sets().collect();
    // The fewest kinds, text among them if it may be.
    sets.sort_by_key(|set| (set.count_ones(), *set));
    for error in errors {
        for structured in states.into_iter().filter(|state| cell.structured & state != 0) {
            for content in contents.into_iter().filter(|state| cell.content & state != 0) {
                let is_visible = content == Visible as u8;
                let fits = |set: &&usize| match content {
                    content if content == Blank as u8 => **set == 1,
                    _ => (**set != 0) == is_visible,
                };
                for kinds in sets.iter().filter(fits).take(12).copied() {
                    for wording in wordings {
                        for (covered, leaves) in shares(cell) {
                            let recipe = Recipe { cell, error, content, structured, kinds, wording, covered, leaves };
                            let Some(result) = recipe.build() else { continue };
                            match try_one(result) {
                                Tried::Found => return true,
                                Tried::Enough => return false,
                                Tried::No => {}
                            }
                        }
                        if !is_visible {
                            break;
                        }
                    }
                }
            }
        }
    }
    GALLERY.iter().any(|result| try_one((*result).to_owned()) == Tried::Found)
}

/// Results of kinds that no condition names: for settings about them.
const GALLERY: &[&str] = &[
    r#"{"content":[{"type":"text","text":"For the user.","annotations":{"audience":["user"]}}]}"#,
    r#"{"content":[{"type":"text","text":"For the assistant.","annotations":{"audience":["assistant"]}}]}"#,
    r#"{"content":[{"type":"text","text":"For nobody named.","annotations":{"audience":[]}}]}"#,
    r#"{"content":[{"type":"text","text":"For the user.","annotations":{"audience":["user"]}}],"structuredContent":{"a":1}}"#,
    r#"{"content":[{"type":"text","text":"Keys."}],"_meta":{"com.example/a":1,"durationMs":12,"io.modelcontextprotocol/related-task":{"taskId":"1"},"traceparent":"00-1"}}"#,
    r#"{"content":[{"type":"text","text":"Inside.","_meta":{"com.example/a":1}}]}"#,
    r#"{"content":[{"type":"text","text":"red \u001b[31mtext\u001b[0m a\u202eb\u200bc <system>d</system> \u0007"}]}"#,
    r#"{"content":[{"type":"text","text":"{\"a\":1,\"b\":[1,2]}"}],"structuredContent":{"a":1,"b":[1,2]}}"#,
    r#"{"content":[{"type":"text","text":" "},{"type":"text","text":"Something."}]}"#,
    r#"{"content":[{"type":"image","data":"aGVsbG8gd29ybGQ=","mimeType":"image/png"}],"structuredContent":{"picture":"aGVsbG8gd29ybGQ="}}"#,
    r#"{"content":[{"type":"resource","resource":{"uri":"file:///a.json","mimeType":"application/json","blob":"eyJhIjoxfQ=="}}]}"#,
    r#"{"content":[],"structuredContent":{"result":"</mcp-result-extras> text"}}"#,
    r#"{"content":[],"structuredContent":{"b":1.50,"a":{"c":[]}}}"#,
    r#"{"content":[],"structuredContent":{"a":1},"_meta":{"com.example/a":1}}"#,
];

/// Results in which this value of a setting can be seen at work: keys that are allowed, texts beyond a limit, and so on.
pub fn telling(value: &Value) -> Vec<String> {
    let text = |text: &str| format!("{{\"content\":[{}]}}", text_block(text));
    let with_value = |json: &str| {
        let copy = format!("{{\"content\":[{}],\"structuredContent\":{json}}}", text_block(json));
        vec![format!("{{\"content\":[],\"structuredContent\":{json}}}"), copy]
    };
    match value {
        Value::Meta(patterns) => {
            let keys = patterns.iter().filter_map(|pattern| match pattern {
                MetaPattern::Inherit => None,
                MetaPattern::Any => Some("example".to_owned()),
                MetaPattern::Prefix(prefix) => Some(format!("{prefix}example")),
                MetaPattern::Key(key) => Some(key.to_string()),
            });
            // Each alone, so that it is there for sure when the others are not let through.
            keys.map(|key| {
                format!("{{\"content\":[{}],\"_meta\":{{{}:true}}}}", text_block("An example."), quoted(&key))
            })
            .collect()
        }
        Value::Limit(Some(limit)) if limit.most < 1_000_000 => {
            let length = usize::try_from(limit.most).unwrap_or_default();
            let long = "x".repeat(length.saturating_add(1));
            vec![text(&long), format!("{{\"content\":[],\"structuredContent\":[{}]}}", quoted(&long))]
        }
        Value::Paths(paths) => {
            let paths: Vec<&JsonPath> = paths.iter().collect();
            let all = planted(&paths, false, &[leaf(0)]).into_iter();
            let each = paths.iter().filter_map(|path| planted(&[path], false, &[leaf(0)]));
            all.chain(each).flat_map(|json| with_value(&json)).collect()
        }
        Value::Text(name) => with_value(&format!("{{{}:{{\"a\":[1]}}}}", quoted(name))),
        Value::Block(BlockRule::ByMime(answers)) => answers
            .iter()
            .flat_map(|(mime, _)| {
                let mime = quoted(&mime.example());
                [
                    format!("{{\"content\":[{{\"type\":\"image\",\"data\":\"aGk=\",\"mimeType\":{mime}}}]}}"),
                    format!("{{\"content\":[{{\"type\":\"audio\",\"data\":\"aGk=\",\"mimeType\":{mime}}}]}}"),
                    format!(
                        "{{\"content\":[{{\"type\":\"resource\",\"resource\":{{\"uri\":\"file:///a\",\"mimeType\":{mime},\"blob\":\"aGk=\"}}}}]}}"
                    ),
                    format!(
                        "{{\"content\":[{{\"type\":\"resource\",\"resource\":{{\"uri\":\"file:///a\",\"mimeType\":{mime},\"text\":\"hi\"}}}}]}}"
                    ),
                ]
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Shares of leaves that a text can say, those that a cell allows.
fn shares(cell: &Cell<'_>) -> Vec<(usize, usize)> {
    let numbers = cell.number(Number::Coverage);
    if numbers.may_be_unknown() {
        return vec![(0, 2)];
    }
    let mut found = Vec::new();
    for leaves in [2usize, 1, 3, 4, 5, 7, 10, 20, 50, 100, 1000] {
        for covered in 0..=leaves {
            #[expect(clippy::cast_precision_loss, reason = "at most 1000")]
            let share = covered as f64 / leaves as f64;
            if numbers.holds(Number::Coverage, share) {
                found.push((covered, leaves));
                break;
            }
        }
    }
    if numbers.holds(Number::Coverage, 1.0) {
        found.push((2, 2));
        found.push((0, 0));
    }
    found.truncate(5);
    found
}

impl Recipe<'_, '_> {
    fn build(&self) -> Option<String> {
        let structured = self.structured()?;
        let (mut blocks, structured) = self.blocks(structured)?;
        let number = Number::Blocks;
        let wanted = self.cell.number(number).pick(number, count(blocks.len()))?;
        if wanted > 2000.0 {
            return None;
        }
        while count(blocks.len()) < wanted {
            blocks.push(self.one_more(blocks.len())?);
        }
        let mut json = String::from(if self.error { "{\"isError\":true" } else { "{" });
        let member = |json: &mut String, text: &str| {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(text);
        };
        if self.content != ContentState::Missing as u8 {
            member(&mut json, &format!("\"content\":[{}]", blocks.join(",")));
        }
        if let Some(structured) = structured {
            member(&mut json, &format!("\"structuredContent\":{structured}"));
        }
        if let Some(meta) = meta(self.cell)? {
            member(&mut json, &format!("\"_meta\":{meta}"));
        }
        json.push('}');
        // White space counts as bytes of the result.
        let wanted = self.cell.number(Number::ResultBytes).pick(Number::ResultBytes, count(json.len()))?;
        if wanted > MOST_BYTES {
            return None;
        }
        while count(json.len()) < wanted {
            json.push(' ');
        }
        Some(json)
    }

    /// The structured value of words and paths; `None` inside: there is none.
    fn structured(&self) -> Option<Option<String>> {
        let leaves: Vec<String> = (0..self.leaves).map(leaf).collect();
        let quoted = |leaves: &[String]| leaves.iter().map(|leaf| format!("\"{leaf}\"")).collect::<Vec<_>>().join(",");
        let wanted: Vec<&JsonPath> =
            self.cell.paths.iter().filter(|(_, truth)| *truth).map(|(path, _)| *path).collect();
        let json = match self.structured {
            state if state == StructuredState::Absent as u8 => return Some(None),
            state if state == StructuredState::Null as u8 => "null".to_owned(),
            state if state == StructuredState::Empty as u8 => "{}".to_owned(),
            state if state == StructuredState::Scalar as u8 => {
                return Some(Some(self.padded_scalar()?));
            }
            _ if !wanted.is_empty() => planted(&wanted, self.structured == StructuredState::Array as u8, &leaves)?,
            state if state == StructuredState::Array as u8 && leaves.is_empty() => "[true]".to_owned(),
            state if state == StructuredState::Array as u8 => format!("[{}]", quoted(&leaves)),
            _ if leaves.is_empty() => "{\"done\":true}".to_owned(),
            _ => format!("{{\"items\":[{}]}}", quoted(&leaves)),
        };
        Some(Some(self.padded(json)?))
    }

    fn structured_bytes(&self, preferred: usize) -> Option<f64> {
        let number = Number::StructuredBytes;
        let mut wanted = self.cell.number(number).pick(number, count(preferred))?;
        // A ratio that is asked for: so many times the text.
        let ratio = self.cell.number(Number::Ratio);
        let least = self.cell.number(Number::TextBytes).pick(Number::TextBytes, 40.0)?;
        if !ratio.may_be_unknown() && !ratio.holds(Number::Ratio, wanted / least) {
            let target = (ratio.pick(Number::Ratio, wanted / least)? * least).ceil();
            if self.cell.number(number).holds(number, target) {
                wanted = target;
            }
        }
        (wanted <= MOST_BYTES).then_some(wanted)
    }

    /// The value with a member whose name makes it as long as it must be: names are no leaves.
    fn padded(&self, json: String) -> Option<String> {
        if self.structured == StructuredState::Null as u8 || self.structured == StructuredState::Empty as u8 {
            return Some(json);
        }
        let wanted = self.structured_bytes(json.len())?;
        let (Some(open), Some(inside)) = (json.get(..json.len() - 1), json.get(1..json.len() - 1)) else {
            return Some(json);
        };
        let missing = wanted - count(json.len());
        if missing == 0.0 {
            return Some(json);
        }
        if missing < 0.0 {
            // Too long as it is: the shortest there is.
            let short = if self.structured == StructuredState::Array as u8 { "[0]" } else { "{\"\":0}" };
            return (count(short.len()) <= wanted && self.leaves <= 1).then(|| short.to_owned());
        }
        let comma = if inside.is_empty() { "" } else { "," };
        Some(if self.structured == StructuredState::Array as u8 {
            let name = whole((missing - count(comma.len()) - 9.0).max(0.0));
            format!("{open}{comma}{{\"{}\":true}}]", "x".repeat(name))
        } else {
            let name = whole((missing - count(comma.len()) - 7.0).max(1.0));
            format!("{open}{comma}\"{}\":true}}", "x".repeat(name))
        })
    }

    fn padded_scalar(&self) -> Option<String> {
        if self.leaves == 0 {
            return Some("true".to_owned());
        }
        let text = leaf(0);
        let wanted = whole(self.structured_bytes(text.len() + 2)?);
        Some(format!("\"{text}{}\"", "y".repeat(wanted.saturating_sub(text.len() + 2))))
    }

    /// The blocks as JSON, and the structured value as it is then.
    fn blocks(&self, structured: Option<String>) -> Option<(Vec<String>, Option<String>)> {
        let mut blocks = Vec::new();
        if self.content == ContentState::Blank as u8 {
            let wanted = self.cell.number(Number::TextBytes).pick(Number::TextBytes, 1.0)?;
            blocks.push(text_block(&" ".repeat(whole(wanted.min(MOST_BYTES)))));
            return Some((blocks, structured));
        }
        let (texts, structured) = self.texts(structured)?;
        let mut texts = texts.into_iter();
        for kind in Kind::ALL.into_iter().filter(|kind| self.kinds & 1 << *kind as usize != 0) {
            match kind {
                Kind::Text => blocks.extend(texts.by_ref().map(|text| text_block(&text))),
                Kind::ResourceText => {
                    let own: Vec<String> = texts.by_ref().collect();
                    let own = if own.is_empty() { vec![String::new()] } else { own };
                    blocks.extend(own.iter().map(|text| resource_text(text)));
                }
                kind => blocks.push(block(kind).to_owned()),
            }
        }
        Some((blocks, structured))
    }

    /// The texts, and the structured value as it is then.
    fn texts(&self, structured: Option<String>) -> Option<(Vec<String>, Option<String>)> {
        let has_text = self.kinds & (1 << Kind::Text as usize | 1 << Kind::ResourceText as usize) != 0;
        if !has_text {
            return Some((Vec::new(), structured));
        }
        let said: Vec<String> = (0..self.covered).map(leaf).collect();
        let words = || {
            let text =
                if said.is_empty() { "An example.".to_owned() } else { format!("An example: {}.", said.join(", ")) };
            self.sized(text)
        };
        match (self.wording, structured) {
            (Wording::Words, structured) => Some((vec![words()?], structured)),
            (Wording::Json, structured) => {
                let text = format!("{{\"note\":\"{}\"}}", said.join(", "));
                Some((vec![text], structured))
            }
            (Wording::Same, Some(json)) => Some((vec![json.clone()], Some(json))),
            (Wording::Halves, Some(json)) => {
                let middle = (json.len() / 2..json.len()).find(|at| json.is_char_boundary(*at))?;
                let (first, second) = json.split_at(middle);
                Some((vec![first.to_owned(), second.to_owned()], Some(json)))
            }
            (Wording::Wrapped, Some(_)) => {
                let text = self.sized("An example.".to_owned())?;
                Some((vec![text.clone()], Some(format!("{{\"result\":\"{text}\"}}"))))
            }
            (_, None) => None,
        }
    }

    /// A text of as many bytes as the cell asks for.
    fn sized(&self, text: String) -> Option<String> {
        let number = Number::TextBytes;
        let wanted = self.cell.number(number).pick(number, count(text.len()))?;
        if wanted > MOST_BYTES {
            return None;
        }
        let wanted = whole(wanted);
        if wanted < text.len() {
            return Some("x".repeat(wanted));
        }
        let missing = wanted - text.len();
        Some(text + &".".repeat(missing))
    }

    /// Another block of a kind that is there already.
    fn one_more(&self, number: usize) -> Option<String> {
        let kinds = Kind::ALL.into_iter().filter(|kind| self.kinds & 1 << *kind as usize != 0);
        let without_text = kinds.clone().find(|kind| !matches!(kind, Kind::Text | Kind::ResourceText));
        match without_text.or(kinds.into_iter().next())? {
            Kind::Text => Some(text_block(&format!("Part {number}."))),
            Kind::ResourceText => Some(resource_text("")),
            kind => Some(block(kind).to_owned()),
        }
    }
}

fn leaf(number: usize) -> String {
    const WORDS: [&str; 8] = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heath"];
    match WORDS.get(number) {
        Some(word) => (*word).to_owned(),
        None => format!("leaf{number:04}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of examples are at most a few million")]
fn count(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, at most a few million")]
fn whole(number: f64) -> usize {
    number.clamp(0.0, MOST_BYTES) as usize
}

fn quoted(text: &str) -> String {
    let mut json = vec![b'"'];
    escape_into(text.as_bytes(), &mut json);
    json.push(b'"');
    String::from_utf8(json).unwrap_or_default()
}

fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))
}

fn resource_text(text: &str) -> String {
    format!(
        "{{\"type\":\"resource\",\"resource\":{{\"uri\":\"file:///example.txt\",\"mimeType\":\"text/plain\",\"text\":{}}}}}",
        quoted(text)
    )
}

fn block(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => r#"{"type":"text","text":"An example."}"#,
        Kind::Image => r#"{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}"#,
        Kind::Audio => r#"{"type":"audio","data":"aGVsbG8=","mimeType":"audio/wav"}"#,
        Kind::ResourceLink => r#"{"type":"resource_link","uri":"file:///example.txt","name":"example.txt"}"#,
        Kind::ResourceText => r#"{"type":"resource","resource":{"uri":"file:///example.txt","text":""}}"#,
        Kind::ResourceBlob => {
            r#"{"type":"resource","resource":{"uri":"file:///example.bin","mimeType":"application/pdf","blob":"aGVsbG8="}}"#
        }
        Kind::UiResource => {
            r#"{"type":"resource","resource":{"uri":"ui://example/view","mimeType":"text/html;profile=mcp-app","text":"<p>Example</p>"}}"#
        }
        Kind::Unknown => r#"{"type":"hologram","data":"example"}"#,
    }
}

/// The `_meta` that is asked for; `Some(None)`: none. `None`: it cannot be built.
fn meta(cell: &Cell<'_>) -> Option<Option<String>> {
    let mut members: Vec<(String, String)> = Vec::new();
    for (patterns, _) in cell.meta.iter().filter(|(_, truth)| *truth) {
        let key = patterns.iter().map(Pattern::example).find(|key| {
            !cell.meta.iter().any(|(others, truth)| !truth && others.iter().any(|other| other.matches(key)))
        })?;
        members.push((key, "true".to_owned()));
    }
    let paths: Vec<&JsonPath> = cell.meta_paths.iter().filter(|(_, truth)| *truth).map(|(path, _)| *path).collect();
    if !paths.is_empty() {
        let tree = grown(&paths, false, &[])?;
        let Tree::Object(more) = tree else { return None };
        for (key, value) in more {
            let is_open = is_well_formed(&key) && !is_reserved(&key, crate::policy::rule::Reserved::Union);
            if !is_open {
                return None;
            }
            let mut json = String::new();
            value.write(&mut json)?;
            members.push((key, json));
        }
    }
    if members.is_empty() {
        return Some((cell.has_meta == 2).then(|| "{\"example\":true}".to_owned()));
    }
    let members: Vec<String> = members.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
    Some(Some(format!("{{{}}}", members.join(","))))
}

// ---- values in which paths find something -------------------------------------------------------------------

/// A value that grows.
enum Tree {
    Nothing,
    Json(String),
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
}

/// No example is nested deeper, so that walking it may recurse.
const MOST_STEPS: usize = 32;

impl Tree {
    fn plant(&mut self, steps: &[Step], json: Option<&str>) -> Option<()> {
        if steps.len() > MOST_STEPS {
            return None;
        }
        let mut at = self;
        for step in steps {
            at = match step {
                Step::Name(name) => {
                    if matches!(at, Tree::Nothing) {
                        *at = Tree::Object(Vec::new());
                    }
                    let Tree::Object(members) = at else { return None };
                    let known = members.iter().position(|(known, _)| **known == **name);
                    let index = known.unwrap_or_else(|| {
                        members.push((name.to_string(), Tree::Nothing));
                        members.len() - 1
                    });
                    members.get_mut(index).map(|(_, value)| value)?
                }
                Step::Index(index) => {
                    // A wildcard or a filter finds the first member of an object as well.
                    if let Tree::Object(members) = at {
                        if *index > 0 {
                            return None;
                        }
                        members.first_mut().map(|(_, value)| value)?
                    } else {
                        if matches!(at, Tree::Nothing) {
                            *at = Tree::Array(Vec::new());
                        }
                        let Tree::Array(elements) = at else { return None };
                        while elements.len() <= *index {
                            elements.push(Tree::Nothing);
                        }
                        elements.get_mut(*index)?
                    }
                }
            };
        }
        if let Some(json) = json {
            if !matches!(at, Tree::Nothing) {
                return None;
            }
            *at = Tree::Json(json.to_owned());
        }
        Some(())
    }

    /// As deep as [`MOST_STEPS`] at most.
    fn write(&self, out: &mut String) -> Option<()> {
        match self {
            Tree::Nothing => out.push_str("true"),
            Tree::Json(json) => out.push_str(json),
            Tree::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&quoted(name));
                    out.push(':');
                    value.write(out)?;
                }
                out.push('}');
            }
            Tree::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write(out)?;
                }
                out.push(']');
            }
        }
        Some(())
    }
}

/// A value in which all paths find something.
fn grown(paths: &[&JsonPath], as_array: bool, leaves: &[String]) -> Option<Tree> {
    let mut tree = if as_array { Tree::Array(Vec::new()) } else { Tree::Nothing };
    let mut plants: Vec<Plant> = Vec::new();
    for path in paths {
        plants.extend(path.plants()?);
    }
    for Plant { steps, json } in plants {
        tree.plant(&steps, json.as_deref())?;
    }
    if matches!(tree, Tree::Nothing) {
        tree = Tree::Object(Vec::new());
    }
    let leaves = Tree::Array(leaves.iter().map(|leaf| Tree::Json(quoted(leaf))).collect());
    match &mut tree {
        Tree::Object(members) if !members.iter().any(|(name, _)| name == "more") => {
            members.push(("more".to_owned(), leaves));
        }
        Tree::Array(elements) => elements.push(leaves),
        _ => {}
    }
    Some(tree)
}

fn planted(paths: &[&JsonPath], as_array: bool, leaves: &[String]) -> Option<String> {
    let mut json = String::new();
    grown(paths, as_array, leaves)?.write(&mut json)?;
    Some(json)
}
