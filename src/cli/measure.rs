//! What one selection costs and loses: bytes of text, data and words.

use mcp_select::policy::InputLimits;
use mcp_select::result::coverage::Coverage;
use mcp_select::result::json::{self, MAX_DEPTH, Span};
use mcp_select::result::scan::{Scan, Terms};
use mcp_select::select::Selection;
use mcp_select::{Engine, Error, Input, Lane, Request, Status};
use std::collections::HashSet;

/// Below this share of found leaves or words something counts as lost.
const FOUND: f64 = 0.9;

/// Buffers that a worker keeps.
#[derive(Default)]
pub struct Measurer {
    pub selection: Selection,
    coverage: Coverage,
    scan: Scan,
}

/// What became of one result.
pub struct Measured {
    pub lane: Lane,
    pub bytes_in: usize,
    pub bytes_out: usize,
    /// UTF-8 of all text that the reader gets.
    pub text_bytes: usize,
    pub is_error: bool,
    /// Fewer than 90 % of the strings and numbers of `structuredContent` can be found in what goes out. Not asked of errors.
    pub loses_data: bool,
    /// Fewer than 90 % of the distinct words of the text blocks can be found in what goes out. Not asked of errors.
    pub loses_words: bool,
    /// It carries content and a structured value that is not null.
    pub has_both: bool,
    pub rules: Vec<usize>,
}

impl Measurer {
    pub fn measure(&mut self, engine: &Engine, request: &Request, bytes: &[u8]) -> Result<Option<Measured>, Error> {
        let status = engine.select(request, bytes, &mut self.selection)?;
        if status == Status::NotForReaders {
            return Ok(None);
        }
        let text = self.selection.text(bytes, "\n").to_owned();
        let output = self.selection.json().unwrap_or(bytes);
        let terms = Terms {
            input: Input::Result,
            max_bytes: InputLimits::ENGINE.max_bytes as usize,
            max_depth: MAX_DEPTH,
            tasks: false,
            shows_structured: false,
        };
        let mut measured = Measured {
            lane: self.selection.lane(),
            bytes_in: bytes.len(),
            bytes_out: output.len(),
            text_bytes: text.len(),
            is_error: self.selection.is_error(),
            loses_data: false,
            loses_words: false,
            has_both: false,
            rules: self.selection.deciding_rules(),
        };
        if self.scan.read(bytes, &terms).is_err() {
            return Ok(Some(measured));
        }
        let structured = self.scan.structured.of(bytes);
        let has_structured = !structured.is_empty() && structured != b"null";
        measured.has_both = has_structured && !self.scan.content.is_absent();
        if measured.is_error {
            return Ok(Some(measured));
        }
        if has_structured {
            let mut pieces = output_pieces(output);
            // What goes out as a field is there, whatever the blocks say.
            let field = json::member(output, whole(output), "structuredContent");
            pieces.extend(field.filter(|_| output.as_ptr() != bytes.as_ptr() || measured.lane == Lane::Whole));
            let pieces = pieces.iter().map(|span| span.of(output));
            let found = self.coverage.measure(structured, pieces);
            measured.loses_data = found.is_some_and(|found| found.share() < FOUND);
        }
        let mut words = HashSet::new();
        for block in self.scan.blocks.iter().filter(|block| !block.text.is_absent()) {
            let inside = json::string_inside(bytes, block.text).unwrap_or_default();
            words.extend(words_of(&json::text_of(inside.of(bytes))));
        }
        if !words.is_empty() {
            let seen: HashSet<String> = words_of(&text).collect();
            let found = words.iter().filter(|word| seen.contains(*word)).count();
            #[expect(clippy::cast_precision_loss, reason = "counts of words")]
            let share = found as f64 / words.len() as f64;
            measured.loses_words = share < FOUND;
        }
        Ok(Some(measured))
    }
}

fn whole(json: &[u8]) -> Span {
    Span::new(json::skip_space(json, 0), json.len())
}

/// The blocks of a result as JSON.
fn output_pieces(output: &[u8]) -> Vec<Span> {
    let content =
        json::member(output, whole(output), "content").filter(|content| content.of(output).first() == Some(&b'['));
    content.map(|content| json::elements(output, content).collect()).unwrap_or_default()
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
