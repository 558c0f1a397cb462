//! Results of tool calls of every shape, from choices: well-formed JSON always, well-behaved not at all.
//!
//! Every text carries a mark of its own (`MARK7Q`), spelled plainly, so that a test can tell where it comes out.

use super::choices::Choices;
use super::tree::Tree;
use std::collections::BTreeSet;

/// What kind of result is wanted.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    /// A `tool_result` block of a sampling message.
    pub sampling: bool,
    /// No member stands twice.
    pub without_repeats: bool,
    /// `_meta` is there more often than not.
    pub meta: bool,
    /// Most blocks have annotations.
    pub annotated: bool,
}

/// A result as JSON.
pub fn result(choices: &mut Choices, wanted: Wanted) -> Vec<u8> {
    let loose = choices.one_in(4);
    let mut writer = Writer { choices, wanted, marks: 0, loose };
    writer.result().into_bytes()
}

/// The marks in a text.
pub fn marks(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("MARK") {
        let digits = text[at + 4..].bytes().take_while(u8::is_ascii_digit).count();
        if text[at + 4 + digits..].starts_with('Q') {
            found.insert(&text[at..at + 5 + digits]);
        }
    }
    found
}

/// The marks in all strings and names of a tree, those inside base64 and inside JSON in a string too.
pub fn marks_of(tree: &Tree) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    tree.walk(&mut |name, value| {
        let text = value.text().unwrap_or_default();
        found.extend(name.into_iter().flat_map(marks).map(str::to_owned));
        found.extend(marks(text).into_iter().map(str::to_owned));
        found.extend(marks(&base64_decoded(text)).into_iter().map(str::to_owned));
        if text.starts_with(['{', '[']) {
            found.extend(Tree::read(text.as_bytes()).iter().flat_map(marks_of));
        }
    });
    found
}

pub fn base64(bytes: &[u8]) -> String {
    const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0u32, |bits, (i, &b)| bits | u32::from(b) << (16 - 8 * i));
        for i in 0..4 {
            let symbol = char::from(SYMBOLS[(bits >> (18 - 6 * i) & 63) as usize]);
            out.push(if i > group.len() { '=' } else { symbol });
        }
    }
    out
}

fn base64_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return String::new(),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// A string between its quotes, the shortest way.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-0",
    "1.0",
    "1.50",
    "0.1e1",
    "1E+2",
    "1e-7",
    "12345678901234567890123",
    "1e400",
    "-1.0E-0",
    "100",
    "22.5",
    "9007199254740993",
];
/// What stands around marks in a string: as JSON spells it.
const ODD: &[&str] = &[
    "",
    " ",
    "\\n",
    "é",
    "🦊",
    "\\u00e9",
    "\\ud83e\\udd8a",
    "\\ud800",
    "\\udc00x",
    "\\/",
    "\\\"",
    "\\\\",
    "\\u0000",
    "\\u003c",
    "<b>",
    "\u{200b}",
    "{",
    "[1]",
    "0123456789012345678901234567890123456789012345678901234567890123456789",
];
const MIMES: &[&str] =
    &["image/png", "text/plain", "application/json", "IMAGE/PNG; q=1", "text/html;profile=mcp-app", "x"];
const META_KEYS: &[&str] = &[
    "com.example/a",
    "com.example/b",
    "io.modelcontextprotocol/x",
    "mcp.dev/x",
    "progressToken",
    "traceparent",
    "plain",
    "ui",
    "com..bad/x",
    "",
];

struct Writer<'c> {
    choices: &'c mut Choices,
    wanted: Wanted,
    marks: usize,
    /// White space between tokens, escapes in names.
    loose: bool,
}

impl Writer<'_> {
    // ---- tokens ---------------------------------------------------------------------------------------------

    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("MARK{}Q", self.marks)
    }

    fn space(&mut self) -> &'static str {
        if self.loose { self.choices.pick(&["", " ", "\n", "\t \r\n", ""]) } else { "" }
    }

    fn name(&mut self, name: &str) -> String {
        let first = name.chars().next().filter(|c| self.loose && c.is_ascii() && self.choices.one_in(6));
        match first {
            Some(first) => format!("\"\\u{:04x}{}\"", u32::from(first), &name[1..]),
            None => format!("\"{name}\""),
        }
    }

    /// A string with a mark.
    fn string(&mut self) -> String {
        let mark = self.mark();
        let (before, after) = (*self.odd(), *self.odd());
        format!("\"{before}{mark}{after}\"")
    }

    fn odd(&mut self) -> &'static &'static str {
        if self.choices.one_in(3) { &ODD[self.choices.below(ODD.len())] } else { &"" }
    }

    fn blank(&mut self) -> String {
        format!("\"{}\"", self.choices.pick(&["", " ", "\\n", "\\u00a0", "\u{200b}", "\\ufeff \\t"]))
    }

    fn number(&mut self) -> String {
        self.choices.pick(NUMBERS).to_owned()
    }

    fn join(&mut self, open: char, parts: Vec<String>, close: char) -> String {
        let mut out = String::from(open);
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(self.space());
            out.push_str(&part);
            out.push_str(self.space());
        }
        if out.len() == 1 {
            out.push_str(self.space());
        }
        out.push(close);
        out
    }

    fn object(&mut self, members: Vec<(String, String)>) -> String {
        let parts = members.into_iter().map(|(name, value)| {
            let (before, after) = (self.space(), self.space());
            format!("{}{before}:{after}{value}", self.name(&name))
        });
        let parts = parts.collect();
        self.join('{', parts, '}')
    }

    /// Once in a while a member stands a second time, before or after the one that was meant.
    fn repeat(&mut self, members: &mut Vec<(String, String)>, other: impl Fn(&mut Self, &str) -> String) {
        if members.is_empty() || self.wanted.without_repeats || !self.choices.one_in(12) {
            return;
        }
        let name = members[self.choices.below(members.len())].0.clone();
        let value = other(self, &name);
        let at = self.choices.below(members.len() + 1);
        members.insert(at, (name, value));
    }

    // ---- values ---------------------------------------------------------------------------------------------

    fn scalar(&mut self) -> String {
        match self.choices.below(8) {
            0..4 => self.string(),
            4 | 5 => self.number(),
            6 => self.choices.pick(&["true", "false", "null"]).to_owned(),
            _ => self.blank(),
        }
    }

    fn value(&mut self, depth: usize) -> String {
        match self.choices.below(if depth < 4 { 6 } else { 4 }) {
            4 => self.list(depth),
            5 => self.some_object(depth),
            _ => self.scalar(),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let elements = (0..self.choices.below(4)).map(|_| self.value(depth + 1)).collect();
        self.join('[', elements, ']')
    }

    fn some_object(&mut self, depth: usize) -> String {
        let names = ["a".to_owned(), "items".into(), "result".into(), self.mark(), "é".into(), "b".into()];
        let mut members = Vec::new();
        for name in &names[..self.choices.below(names.len() + 1)] {
            members.push((name.clone(), self.value(depth + 1)));
        }
        self.repeat(&mut members, |writer, _| writer.value(depth + 1));
        self.object(members)
    }

    /// Something that a well-typed member is not.
    fn wrong(&mut self) -> String {
        match self.choices.below(6) {
            0 => "null".into(),
            1 => self.number(),
            2 => "true".into(),
            3 => self.string(),
            4 => self.list(2),
            _ => self.some_object(2),
        }
    }

    // ---- blocks ---------------------------------------------------------------------------------------------

    fn has_meta(&mut self) -> bool {
        self.choices.one_in(4) || self.wanted.meta && !self.choices.one_in(4)
    }

    fn meta(&mut self) -> String {
        let mut members = Vec::new();
        for _ in 0..self.choices.below(4) {
            let key = self.choices.pick(META_KEYS).to_owned();
            if !members.iter().any(|(known, _)| *known == key) {
                members.push((key, self.value(2)));
            }
        }
        self.repeat(&mut members, |writer, _| writer.value(3));
        self.object(members)
    }

    fn annotations(&mut self) -> String {
        let audience = match self.choices.below(12) {
            0..3 => "[\"user\"]",
            3..5 => "[\"assistant\"]",
            5 => "[\"user\",\"assistant\"]",
            6 => "[]",
            7 => "[\"robot\"]",
            8 => "null",
            9 => "\"user\"",
            10 => "[\"us\\u0065r\",\"robot\"]",
            _ => "[7]",
        };
        let mut members = vec![("audience".to_owned(), audience.to_owned())];
        if self.choices.one_in(3) {
            members.push(("priority".into(), self.choices.pick(&["0.5", "1", "null"]).to_owned()));
        }
        if self.choices.one_in(4) {
            members.push(("lastModified".into(), "\"2026-01-01T00:00:00Z\"".into()));
        }
        self.choices.shuffle(&mut members);
        self.repeat(&mut members, |_, _| "[\"assistant\"]".into());
        self.object(members)
    }

    fn mime(&mut self) -> String {
        format!("\"{}\"", self.choices.pick(MIMES))
    }

    fn data(&mut self) -> String {
        let mark = self.mark();
        let text = format!("{mark}{}", self.choices.pick(&["", "é\n", "\"}"]));
        let mut data = base64(text.as_bytes());
        if self.loose && self.choices.one_in(4) {
            data.insert_str(4, "\\n");
        }
        format!("\"{data}\"")
    }

    fn text(&mut self) -> String {
        match self.choices.below(8) {
            7 => self.blank(),
            6 => {
                let json = self.value(1);
                format!("\"{}\"", escaped(&json))
            }
            _ => self.string(),
        }
    }

    fn uri(&mut self) -> String {
        let mark = self.mark();
        format!("\"{}{mark}\"", self.choices.pick(&["file:///", "https://e.example/", "ui://", "UI://", ""]))
    }

    fn block(&mut self) -> String {
        let mut members = vec![("type".to_owned(), String::new())];
        let add = |members: &mut Vec<(String, String)>, name: &str, value: String| members.push((name.into(), value));
        let kind = match self.choices.below(10) {
            0..4 => {
                add(&mut members, "text", self.text());
                "text"
            }
            4 | 5 => {
                add(&mut members, "data", self.data());
                add(&mut members, "mimeType", self.mime());
                self.choices.pick(&["image", "audio"])
            }
            6 => {
                add(&mut members, "uri", self.uri());
                add(&mut members, "name", self.string());
                for name in ["title", "description", "mimeType", "size", "icons"] {
                    if self.choices.one_in(3) {
                        let value = match name {
                            "mimeType" => self.mime(),
                            "size" => self.number(),
                            "icons" => self.choices.pick(&["[]", "null"]).to_owned(),
                            _ => self.string(),
                        };
                        add(&mut members, name, value);
                    }
                }
                "resource_link"
            }
            7 | 8 => {
                add(&mut members, "resource", self.resource());
                "resource"
            }
            _ => {
                if self.choices.one_in(3) {
                    return self.wrong();
                }
                add(&mut members, "text", self.text());
                add(&mut members, "payload", self.value(2));
                self.choices.pick(&["video", "Text", ""])
            }
        };
        members[0].1 = format!("\"{kind}\"");
        if self.choices.one_in(4) || self.wanted.annotated && !self.choices.one_in(4) {
            add(&mut members, "annotations", self.annotations());
        }
        if self.has_meta() {
            add(&mut members, "_meta", self.meta());
        }
        if self.choices.one_in(8) {
            let name = self.choices.pick(&["extra", "name", "data", "uri", "title"]);
            if !members.iter().any(|(known, _)| known == name) {
                add(&mut members, name, self.value(2));
            }
        }
        self.spoil(&mut members);
        self.choices.shuffle(&mut members);
        self.repeat(&mut members, |writer, name| match name {
            "type" => "\"text\"".into(),
            "annotations" => writer.annotations(),
            "_meta" => writer.meta(),
            "resource" => writer.resource(),
            _ => writer.wrong(),
        });
        self.object(members)
    }

    fn resource(&mut self) -> String {
        let mut members = vec![("uri".to_owned(), self.uri())];
        match self.choices.below(6) {
            0..3 => members.push(("text".into(), self.text())),
            3 | 4 => members.push(("blob".into(), self.data())),
            _ => {
                let text = if self.choices.one_in(2) { self.string() } else { "null".into() };
                members.push(("text".into(), text));
                members.push(("blob".into(), self.data()));
            }
        }
        if self.choices.one_in(2) {
            members.push(("mimeType".into(), self.mime()));
        }
        if self.choices.one_in(6) {
            members.push(("annotations".into(), self.annotations()));
        }
        if self.has_meta() {
            members.push(("_meta".into(), self.meta()));
        }
        self.spoil(&mut members);
        self.choices.shuffle(&mut members);
        self.repeat(&mut members, |writer, name| match name {
            "_meta" => writer.meta(),
            _ => writer.wrong(),
        });
        self.object(members)
    }

    /// Once in a while a member has a type that it must not have, is null, or is gone.
    fn spoil(&mut self, members: &mut Vec<(String, String)>) {
        if !self.choices.one_in(8) {
            return;
        }
        let at = self.choices.below(members.len());
        match self.choices.below(3) {
            0 => members[at].1 = "null".into(),
            1 => members[at].1 = self.wrong(),
            _ => {
                members.remove(at);
            }
        }
    }

    // ---- the result -----------------------------------------------------------------------------------------

    fn result(&mut self) -> String {
        let (structured, blocks) = self.fields();
        let blocks = if self.choices.one_in(16) { "null".into() } else { self.join('[', blocks, ']') };
        let mut members = vec![("content".to_owned(), blocks)];
        if let Some(structured) = structured {
            members.push(("structuredContent".into(), structured));
        } else if members[0].1 == "null" {
            members[0].1 = "[]".into();
        }
        if self.choices.one_in(3) {
            members.push(("isError".into(), self.choices.pick(&["false", "true", "null", "true"]).to_owned()));
        }
        if self.has_meta() {
            let meta = if self.choices.one_in(8) { "null".into() } else { self.meta() };
            members.push(("_meta".into(), meta));
        }
        if self.choices.one_in(6) {
            members.push(("resultType".into(), self.choices.pick(&["\"complete\"", "null"]).to_owned()));
        }
        if self.choices.one_in(6) {
            let name = self.choices.pick(&["extra", "outputs", "task", "requestState", "type"]);
            if !(self.wanted.sampling && name == "type") {
                members.push((name.to_owned(), self.value(1)));
            }
        }
        if self.wanted.sampling {
            members.push(("type".into(), "\"tool_result\"".into()));
            members.push(("toolUseId".into(), self.string()));
        }
        self.choices.shuffle(&mut members);
        self.repeat(&mut members, |writer, name| match name {
            "content" => {
                let blocks = vec![writer.block()];
                writer.join('[', blocks, ']')
            }
            "structuredContent" => writer.value(1),
            "isError" => "true".into(),
            "_meta" => writer.meta(),
            "type" if writer.wanted.sampling => "\"tool_result\"".into(),
            "toolUseId" => writer.string(),
            "resultType" => "\"complete\"".into(),
            _ => writer.value(1),
        });
        let object = self.object(members);
        format!("{}{object}{}", self.space(), self.space())
    }

    /// `structuredContent` and the blocks of `content`, alike or not.
    fn fields(&mut self) -> (Option<String>, Vec<String>) {
        let text_block = |text: &str| format!("{{\"type\":\"text\",\"text\":\"{}\"}}", escaped(text));
        let (structured, mut blocks) = match self.choices.below(12) {
            0..3 => (None, Vec::new()),
            3 => (Some(self.choices.pick(&["null", "{}", "[]", "[ ]"]).to_owned()), Vec::new()),
            4 => (Some(self.scalar()), Vec::new()),
            5 => (Some(self.list(1)), Vec::new()),
            6 | 7 => (Some(self.some_object(1)), Vec::new()),
            8 => {
                let value = self.some_object(1);
                let block = text_block(&value);
                (Some(value), vec![block])
            }
            9 => {
                let text = self.text();
                let block = format!("{{\"type\":\"text\",\"text\":{text}}}");
                (Some(format!("{{\"result\":{text}}}")), vec![block])
            }
            10 => {
                let values: Vec<String> = (0..2).map(|_| self.value(2)).collect();
                let blocks = values.iter().map(|value| text_block(value)).collect();
                (Some(format!("{{\"result\":{}}}", self.join('[', values, ']'))), blocks)
            }
            _ => (Some(self.list(1)), vec![text_block("3 items found.")]),
        };
        for _ in 0..self.choices.below(4) {
            blocks.push(self.block());
        }
        self.choices.shuffle(&mut blocks);
        (structured, blocks)
    }
}
