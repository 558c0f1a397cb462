//! By hand with serde_json, as a host would write it: once with a tree of values, once with raw ones.

use crate::decision::Candidate;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// With a tree of values.
#[derive(Default)]
pub struct Tree {
    out: Vec<u8>,
}

impl Candidate for Tree {
    fn name(&self) -> &str {
        "serde_json Value"
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        self.out.clear();
        let mut result: Value = serde_json::from_slice(result).unwrap();
        let object = result.as_object_mut().unwrap();
        let content = object.remove("content").unwrap_or_else(|| json!([]));
        let structured = object.remove("structuredContent").filter(|value| !value.is_null());
        let visible = content.as_array().is_some_and(|blocks| {
            blocks.iter().any(|block| {
                block["type"] != "text" || block["text"].as_str().is_some_and(|text| !text.trim().is_empty())
            })
        });
        let mut out = Map::new();
        match structured {
            Some(value) if !visible => {
                let text = serde_json::to_string(&value).unwrap();
                out.insert("content".into(), json!([{ "type": "text", "text": text }]));
            }
            _ => {
                out.insert("content".into(), content);
            }
        }
        if let Some(is_error) = object.remove("isError") {
            out.insert("isError".into(), is_error);
        }
        if let Some(value) = object.get_mut("_meta").and_then(|meta| meta.get_mut("durationMs")) {
            out.insert("_meta".into(), json!({ "durationMs": value.take() }));
        }
        serde_json::to_writer(&mut self.out, &out).unwrap();
        &self.out
    }
}

/// With raw values: what a careful Rust user writes. Nothing is decoded but what the decision asks for: the blocks are parsed
/// only when there is a structured value to show instead, and a text is looked at as far as its first visible character.
///
/// It checks less than mcp-select: neither blocks that it forwards nor annotations nor media types nor reserved keys are
/// looked at.
#[derive(Default)]
pub struct Raw {
    out: Vec<u8>,
}

/// The members that count, as they stand in the input.
#[derive(Deserialize)]
pub struct Parts<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(borrow, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(borrow, rename = "isError")]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "durationMs")]
    duration: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

impl Block<'_> {
    fn is_visible(&self) -> bool {
        self.kind != "text"
            || self.text.is_some_and(|text| {
                // Most texts begin with something visible; else the text has to be decoded.
                match text.get().as_bytes() {
                    [b'"', first, ..] if first.is_ascii_graphic() && !matches!(first, b'"' | b'\\') => true,
                    _ => serde_json::from_str::<String>(text.get()).is_ok_and(|text| !text.trim().is_empty()),
                }
            })
    }
}

impl<'a> Parts<'a> {
    pub fn read(result: &'a [u8]) -> Parts<'a> {
        let parts: Parts<'_> = serde_json::from_slice(result).unwrap();
        assert!(parts.content.get().starts_with('['), "content is no array");
        parts
    }

    /// The decision: whether it is `content` that is seen.
    fn shows_content(&self) -> bool {
        self.structured.is_none() || {
            let blocks: Vec<Block<'_>> = serde_json::from_str(self.content.get()).unwrap();
            blocks.iter().any(Block::is_visible)
        }
    }

    /// Writes what was decided.
    pub fn write(&self, shows_content: bool, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(b"{\"content\":");
        match self.structured {
            Some(value) if !shows_content => {
                out.extend_from_slice(b"[{\"type\":\"text\",\"text\":");
                serde_json::to_writer(&mut *out, value.get()).unwrap();
                out.extend_from_slice(b"}]");
            }
            _ => out.extend_from_slice(self.content.get().as_bytes()),
        }
        if let Some(is_error) = self.is_error {
            out.extend_from_slice(b",\"isError\":");
            out.extend_from_slice(is_error.get().as_bytes());
        }
        if let Some(duration) = self.meta.as_ref().and_then(|meta| meta.duration) {
            out.extend_from_slice(b",\"_meta\":{\"durationMs\":");
            out.extend_from_slice(duration.get().as_bytes());
            out.push(b'}');
        }
        out.push(b'}');
    }
}

impl Candidate for Raw {
    fn name(&self) -> &str {
        "serde_json RawValue"
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        let parts = Parts::read(result);
        parts.write(parts.shows_content(), &mut self.out);
        &self.out
    }
}
