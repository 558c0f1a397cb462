//! The same decision by hand, as a host would write it with serde_json: content when it has something visible, else the
//! structured value as a text block; of `_meta` the one key that is allowed.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The key of `_meta` that the policy of the benches allows.
pub const ALLOWED: &str = "durationMs";

/// With a tree of values.
pub fn value_code(bytes: &[u8]) -> Vec<u8> {
    let mut result: Value = serde_json::from_slice(bytes).unwrap();
    let object = result.as_object_mut().unwrap();
    let content = object.remove("content").unwrap_or_else(|| json!([]));
    let structured = object.remove("structuredContent").filter(|value| !value.is_null());
    let visible = content.as_array().is_some_and(|blocks| {
        blocks
            .iter()
            .any(|block| block["type"] != "text" || block["text"].as_str().is_some_and(|text| !text.trim().is_empty()))
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
    if let Some(value) = object.get("_meta").and_then(|meta| meta.get(ALLOWED)) {
        out.insert("_meta".into(), json!({ ALLOWED: value }));
    }
    serde_json::to_vec(&out).unwrap()
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
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
    text: Option<std::borrow::Cow<'a, str>>,
}

/// With raw values: what a careful Rust user writes.
pub fn raw_code(bytes: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let result: Raw<'_> = serde_json::from_slice(bytes).unwrap();
    let visible = result.content.iter().any(|block| {
        let block: Block<'_> = serde_json::from_str(block.get()).unwrap();
        block.kind != "text" || block.text.is_some_and(|text| !text.trim().is_empty())
    });
    out.extend_from_slice(b"{\"content\":[");
    match result.structured {
        Some(value) if !visible => {
            out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
            serde_json::to_writer(&mut *out, value.get()).unwrap();
            out.push(b'}');
        }
        _ => {
            for (index, block) in result.content.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(block.get().as_bytes());
            }
        }
    }
    out.push(b']');
    if let Some(is_error) = result.is_error {
        out.extend_from_slice(b",\"isError\":");
        out.extend_from_slice(is_error.get().as_bytes());
    }
    if let Some(duration) = result.meta.and_then(|meta| meta.duration) {
        out.extend_from_slice(b",\"_meta\":{\"durationMs\":");
        out.extend_from_slice(duration.get().as_bytes());
        out.push(b'}');
    }
    out.push(b'}');
}
