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
        let mut content = content;
        if let Some(blocks) = content.as_array_mut() {
            blocks.retain(|block| {
                let audience = block["annotations"]["audience"].as_array();
                audience.is_none_or(|names| names.is_empty() || names.iter().any(|name| name == "assistant"))
            });
        }
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

/// With raw values: what a careful Rust user writes. Nothing is decoded but what the decision asks for: of a block its type,
/// the first visible character of its text, and its audience; `content` is copied whole when no block is hidden.
///
/// It checks less than mcp-select: it passes over the `_meta` of blocks, repeated members, media types and reserved keys.
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
pub struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    annotations: Option<Annotations<'a>>,
}

#[derive(Deserialize)]
struct Annotations<'a> {
    #[serde(borrow)]
    audience: Option<Vec<std::borrow::Cow<'a, str>>>,
}

impl Block<'_> {
    /// Whether it is for the model, among others.
    fn is_for_model(&self) -> bool {
        let audience = self.annotations.as_ref().and_then(|annotations| annotations.audience.as_ref());
        audience.is_none_or(|names| names.is_empty() || names.iter().any(|name| name == "assistant"))
    }

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

    fn blocks(&self) -> Vec<Block<'a>> {
        serde_json::from_str(self.content.get()).unwrap()
    }

    /// Writes what was decided; `shows_content` decides whether it is `content` that is seen.
    pub fn write(&self, shows_content: impl FnOnce(&[Block<'_>]) -> bool, out: &mut Vec<u8>) {
        out.clear();
        let blocks = self.blocks();
        let shows_content = self.structured.is_none() || shows_content(&blocks);
        out.extend_from_slice(b"{\"content\":");
        match self.structured {
            Some(value) if !shows_content => {
                out.extend_from_slice(b"[{\"type\":\"text\",\"text\":");
                serde_json::to_writer(&mut *out, value.get()).unwrap();
                out.extend_from_slice(b"}]");
            }
            _ if blocks.iter().all(Block::is_for_model) => out.extend_from_slice(self.content.get().as_bytes()),
            _ => {
                let spans: Vec<&RawValue> = serde_json::from_str(self.content.get()).unwrap();
                out.push(b'[');
                let start = out.len();
                for (_, span) in blocks.iter().zip(spans).filter(|(block, _)| block.is_for_model()) {
                    out.extend_from_slice(if out.len() > start { b"," } else { b"" });
                    out.extend_from_slice(span.get().as_bytes());
                }
                out.push(b']');
            }
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
        let is_seen = |block: &Block<'_>| block.is_for_model() && block.is_visible();
        Parts::read(result).write(|blocks| blocks.iter().any(is_seen), &mut self.out);
        &self.out
    }
}
