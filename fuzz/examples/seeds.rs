//! Writes what the fuzz targets start from: `seeds FOLDER` makes FOLDER/TARGET/ for each of them, out of the test cases, the
//! policies of the repository and, when `MCP_SELECT_CORPUS` names a folder, recorded results.
//!
//! To be run in the root of the repository. The form of each target's input is told in the head of its file.

use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What is longer says nothing new, and is slow.
const LONGEST: usize = 4096;

#[derive(Deserialize)]
struct Cases {
    policy_toml: Option<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    policy_toml: Option<String>,
    result: Option<String>,
    result_hex: Option<String>,
}

fn main() {
    let folder = std::env::args_os().nth(1).expect("usage: seeds FOLDER");
    let mut seeds = Seeds { folder: folder.into(), written: 0 };
    for file in files(Path::new("tests/cases"), "toml") {
        let cases: Cases = toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let policies = cases.cases.iter().filter_map(|case| case.policy_toml.as_ref()).chain(&cases.policy_toml);
        policies.for_each(|policy| seeds.write("policy", policy.as_bytes()));
        cases.cases.iter().filter_map(Case::bytes).for_each(|result| seeds.of_result(&result));
    }
    for folder in ["rules", "tests/lints"] {
        for file in files(Path::new(folder), "toml") {
            seeds.write("policy", &std::fs::read(file).unwrap());
        }
    }
    if let Some(corpus) = std::env::var_os("MCP_SELECT_CORPUS") {
        let recorded = files(Path::new(&corpus), "json");
        assert!(!recorded.is_empty(), "MCP_SELECT_CORPUS holds no results");
        recorded.iter().for_each(|file| seeds.of_result(&std::fs::read(file).unwrap()));
    }
    for key in KEYS {
        seeds.write("meta_key", key.as_bytes());
    }
    for path in PATHS {
        seeds.write("path", format!("{path}\n{VALUE}").as_bytes());
    }
    for list in LISTS {
        seeds.write("mirror", list.as_bytes());
    }
    for number in 0..200 {
        let choices = seeds.choices(number, 60 + usize::from(number) * 2);
        seeds.write("table", &choices);
        seeds.write("coverage", &[b"a", &choices[..]].concat());
        seeds.write("select", &[&[number % 128], &choices[..]].concat());
        seeds.write("ffi", &choices);
    }
    println!("{} seeds", seeds.written);
}

const KEYS: [&str; 8] = [
    "progressToken\nprogressToken",
    "io.modelcontextprotocol/related-task\nio.modelcontextprotocol/",
    "com.example.mcp.tools/x\ncom.example",
    "MCP.dev/a",
    "a-b.c1/n.a_m-e",
    "traceparent",
    "com..example/x",
    "/",
];

const PATHS: [&str; 14] = [
    "$",
    "$.items[*]['id','name']",
    "$..name",
    "$.items[-1]",
    "$.items[0:2:1, 1]",
    "$.items[::-1].tags[1:]",
    "$..*",
    "$.*[*]..['a b', \"id\"]",
    "$.items[?@.id == 2 && !@.tags[1]].name",
    "$.items[?length(@.name) > 1 || count(@.*) == 3]",
    "$.items[?match(@.name, '[a-z]+')]",
    "$.items[?search(@['name'], $.wanted)]",
    "$[?value(@[0].id) >= 1e0]",
    "$.items[",
];
const VALUE: &str = r#"{"items":[{"id":1,"name":"x","tags":["a","b"]},{"id":2.0,"name":"yz","tags":[]}],"a b":{"id":null},"wanted":"y"}"#;

const LISTS: [&str; 4] = [
    "[1,1.0,10e-1,0.1E+1,-0,0,1e400,10e399,1e99999999999999999999,0.000001,1e-7,1e+21,123456789012345678901234567890]",
    r#"[{"a":1,"b":{"c":2,"d":[]}},{"b":{"d":[],"c":2},"a":1},{"a":0,"b":{"c":2,"d":[]},"\u0061":1.0}]"#,
    r#"[{"type":"text","text":"x","annotations":null},{"text":"x","type":"text"},[null],[],{"a":null},{}]"#,
    r#"["\u00e9\/\ud83e\udd8a\n","é/🦊\u000a","\ud800","\ufffd"]"#,
];

impl Case {
    fn bytes(&self) -> Option<Vec<u8>> {
        let digits = |hex: &String| {
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
        };
        self.result.clone().map(String::into_bytes).or(self.result_hex.as_ref().map(digits))
    }
}

/// All files below `folder` whose name ends so.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

struct Seeds {
    folder: PathBuf,
    written: usize,
}

impl Seeds {
    fn write(&mut self, target: &str, seed: &[u8]) {
        if seed.len() > LONGEST {
            return;
        }
        let folder = self.folder.join(target);
        std::fs::create_dir_all(&folder).unwrap();
        // Named by what it holds, so that a second run writes nothing new.
        std::fs::write(folder.join(format!("seed-{:016x}", hash(seed))), seed).unwrap();
        self.written += 1;
    }

    /// Choices by lot, none of them 0xFF, which ends a list of them.
    fn choices(&self, seed: u8, length: usize) -> Vec<u8> {
        let mut state = u64::from(seed) + 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u8::try_from((state >> 33) % 255).unwrap()
        };
        (0..length).map(|_| next()).collect()
    }

    fn of_result(&mut self, result: &[u8]) {
        let number = u8::try_from(hash(result) % 128).unwrap();
        for target in ["scan", "mirror", "coverage"] {
            self.write(target, result);
        }
        let choices = self.choices(number, 100);
        self.write("select", &[&[128 + number % 100], &choices[..], &[0xFF], result].concat());
        self.write("ffi", &[&choices[..], &[0xFF], result].concat());

        let Ok(value) = serde_json::from_slice::<Value>(result) else { return };
        let blocks = value["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let structured = value.get("structuredContent").map(Value::to_string);
        if let Some(value) = &structured {
            self.write("path", format!("{}\n{value}", PATHS[usize::from(number) % PATHS.len()]).as_bytes());
        }
        let mut pieces: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        pieces.extend(structured.iter().map(|value| format!("F{value}")));
        let limit = [number, number / 5, number / 15, 190, number % 4, number.wrapping_mul(37)];
        let mut joined = limit.to_vec();
        for (at, piece) in pieces.iter().enumerate() {
            joined.extend((at > 0).then_some(0xFF));
            joined.extend(piece.bytes());
        }
        self.write("limit", &joined);
        for text in &texts {
            self.write("sanitize", &[&[number | 16], text.as_bytes()].concat());
        }
        // The structured value beside the texts that are JSON, as values to compare.
        let json =
            texts.iter().filter(|text| serde_json::from_str::<Value>(text).is_ok()).map(|text| (*text).to_owned());
        let all: Vec<String> = structured.into_iter().chain(json).collect();
        if all.len() > 1 {
            self.write("mirror", format!("[{}]", all.join(",")).as_bytes());
        }
    }
}

/// FNV-1a: the same on every run.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}
