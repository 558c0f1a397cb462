//! The decision that all candidates make, bytes in and bytes out: `content`, without blocks whose `annotations.audience` names
//! others, when it has something visible (a block that is no text, or a text with more than white space), else the
//! structured value as one text block; `isError` as it is; of `_meta` the key `durationMs` alone; nothing else.

use crate::{ours, peers, turns::Run};
use serde_json::Value;
use std::hint::black_box;

/// Someone who makes the decision.
pub trait Candidate {
    fn name(&self) -> &str;

    /// The bytes of the selected result: the candidate's own, or those that it was given.
    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8];

    /// Selects from `calls` results in turn, beginning with number `first`. Here so that the loop is compiled for each
    /// candidate and costs all the same.
    fn select_many(&mut self, results: &[Vec<u8>], first: usize, calls: usize) {
        let mut number = first % results.len();
        for _ in 0..calls {
            black_box(self.select(black_box(&results[number])).len());
            number += 1;
            if number == results.len() {
                number = 0;
            }
        }
    }
}

/// A candidate and its place in the results.
pub struct Rotating<'a> {
    candidate: &'a mut dyn Candidate,
    results: &'a [Vec<u8>],
    next: usize,
}

impl<'a> Rotating<'a> {
    pub fn new(candidate: &'a mut dyn Candidate, results: &'a [Vec<u8>]) -> Rotating<'a> {
        Rotating { candidate, results, next: 0 }
    }
}

impl Run for Rotating<'_> {
    fn run(&mut self, calls: usize) {
        self.candidate.select_many(self.results, self.next, calls);
        self.next = (self.next + calls) % self.results.len();
    }
}

/// mcp-select, through Rust and through the C ABI.
pub fn ours() -> Vec<Box<dyn Candidate>> {
    vec![Box::new(ours::Rust::new()), Box::new(ours::C::new())]
}

/// All of them; mcp-select comes first.
pub fn candidates() -> Vec<Box<dyn Candidate>> {
    let mut all = ours();
    all.extend(peers::all());
    all
}

/// Panics unless all candidates decide alike on all results: else the figures mean nothing.
pub fn agree(candidates: &mut [Box<dyn Candidate>], results: &[Vec<u8>]) {
    let mut ours = ours::Rust::new();
    for result in results {
        let expected = normal(ours.select(result));
        for candidate in &mut *candidates {
            let selected = candidate.select(result).to_vec();
            if normal(&selected) != expected {
                let text = |json: &[u8]| String::from_utf8_lossy(json).chars().take(400).collect::<String>();
                panic!(
                    "{} makes of {}
this: {}",
                    candidate.name(),
                    text(result),
                    text(&selected)
                );
            }
        }
    }
}

/// A result by meaning: an engine may order the members of the JSON text that it writes otherwise, and spell 0.0 as 0.
fn normal(json: &[u8]) -> Value {
    let mut value: Value = serde_json::from_slice(json).unwrap();
    for block in value["content"].as_array_mut().into_iter().flatten() {
        if let Some(inside) = block["text"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            block["text"] = inside;
        }
    }
    doubles(&mut value);
    value
}

fn doubles(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().into(),
        Value::Array(items) => items.iter_mut().for_each(doubles),
        Value::Object(members) => members.values_mut().for_each(doubles),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn all_candidates_agree_on_every_shape() {
        let mut candidates = candidates();
        for shape in shapes::SHAPES {
            agree(&mut candidates, &shapes::results(shape, 200, 50));
        }
    }

    /// What the shapes do not show.
    #[test]
    fn all_candidates_agree_on_corners() {
        let results = [
            r#"{"content":[{"type":"text","text":" \n\t "}],"structuredContent":{"a":1},"isError":true,"x":1}"#,
            r#"{"content":[{"type":"text","text":"a","annotations":{"audience":["user"]}},{"type":"text","text":"b"}]}"#,
            r#"{"content":[{"type":"text","text":"a","annotations":{"audience":["user"]}},{"type":"text","text":" "}],"structuredContent":{"a":1}}"#,
            r#"{"content":[{"type":"text","text":"a","annotations":{"audience":["user","assistant"]}},{"type":"text","text":"b","annotations":{"audience":[]}}],"structuredContent":[1]}"#,
            r#"{"content":[{"type":"text","text":"\u0041"}],"structuredContent":{"a":1},"isError":false}"#,
            r#"{"content":[{"type":"text","text":"\n b"}],"structuredContent":{"a":1},"_meta":{"other":1}}"#,
            r#"{"content":[{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":{"a":[1,"\"\\"]}}"#,
        ];
        agree(&mut candidates(), &results.map(|result| result.as_bytes().to_vec()));
    }

    #[test]
    fn a_candidate_that_decides_otherwise_is_found_out() {
        struct Echo;
        impl Candidate for Echo {
            fn name(&self) -> &str {
                "echo"
            }
            fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
                result
            }
        }
        let results = shapes::results("dual", 200, 1);
        assert!(std::panic::catch_unwind(|| agree(&mut [Box::new(Echo)], &results)).is_err());
    }
}
