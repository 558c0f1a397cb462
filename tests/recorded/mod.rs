//! Finds the recorded results and outputs, which stand outside the project.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of recorded results. The recorded outputs of hosts stand beside it, in `goldens`.
pub struct Recorded {
    corpus: PathBuf,
}

/// One recorded call.
#[allow(dead_code, reason = "not every test reads every member")]
pub struct Call {
    /// `FOLDER/FILE`
    pub case: String,
    pub server: String,
    pub tool: String,
    pub bytes: Vec<u8>,
}

#[allow(dead_code, reason = "every test has its own half")]
impl Recorded {
    /// `MCP_SELECT_CORPUS`, or `../shared/corpus`. Without it: `None`, and a line that says so.
    pub fn find() -> Option<Recorded> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
        let corpus = std::env::var_os("MCP_SELECT_CORPUS").map_or(beside, PathBuf::from);
        if corpus.is_dir() {
            return Some(Recorded { corpus });
        }
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "no recorded results in {}", corpus.display());
        eprintln!("skipped: no recorded results in {}; MCP_SELECT_CORPUS names their folder", corpus.display());
        None
    }

    /// Every recorded result, those of protocol errors left out.
    pub fn calls(&self) -> Vec<Call> {
        let mut folders: Vec<PathBuf> = self.corpus.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.retain(|folder| folder.join("calls.jsonl").is_file());
        folders.sort();
        let mut calls = Vec::new();
        for folder in folders {
            let name = folder.file_name().unwrap().to_str().unwrap();
            for line in json_lines(&folder.join("calls.jsonl")) {
                if line["is_protocol_error"] == true {
                    continue;
                }
                let text = |member: &str| line[member].as_str().unwrap().to_owned();
                let bytes = std::fs::read(folder.join(text("file"))).unwrap();
                let case = format!("{name}/{}", text("file"));
                calls.push(Call { case, server: text("server"), tool: text("tool"), bytes });
            }
        }
        calls
    }

    /// The bytes of one recorded result.
    pub fn result(&self, case: &str) -> Vec<u8> {
        std::fs::read(self.corpus.join(case)).unwrap_or_else(|error| panic!("{case}: {error}"))
    }

    /// The lines of a file of recorded outputs.
    pub fn goldens(&self, file: &str) -> Vec<Value> {
        json_lines(&self.corpus.parent().unwrap().join("goldens").join(file))
    }
}

fn json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // Lines end in a line feed and in nothing else: strings may hold U+2028.
    text.split('\n').filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}
