//! Recorded results: a folder, JSON lines, or gzip or zstd of them. Read as a stream, handed to as many workers as there are cores.
//!
//! In a folder every `*.json` is a result, but for `server.json`, `initialize.json` and `tools.json`. A `calls.jsonl` beside
//! them says whose they are (`server`, `tool`, `file`, `protocol_version`; lines with `is_protocol_error` are passed over), and a
//! `tools.json` (the result of tools/list) gives the tools' definitions, for those who ask for them. A line of `*.jsonl` is a
//! result, or an object with `result` and perhaps `server`, `tool`, `revision`.

use crate::Stop;
use indicatif::{ProgressBar, ProgressStyle};
use mcp_select::Request;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

/// Where recorded results come from.
#[derive(clap::Args)]
pub struct CorpusArgs {
    /// Give each request the tool's definition out of the tools.json beside the results, so that `app`, `output_schema` and
    /// `schema_valid` are known
    #[arg(long)]
    pub definitions: bool,
}

/// One recorded result and what is known of where it came from.
pub struct Recorded {
    /// `folder/file`, or `file:line`.
    pub name: String,
    pub server: String,
    pub tool: String,
    pub revision: Option<String>,
    pub definition: Option<Arc<str>>,
    pub bytes: Vec<u8>,
}

impl Recorded {
    /// The request for it. What a recorder wrote wrongly (a revision that is no date) is left out.
    pub fn request(&self, audience: &str) -> Request {
        let mut request = Request::new(&self.server, &self.tool, audience);
        if let Some(revision) = &self.revision {
            let _ = request.set_revision(revision);
        }
        if let Some(definition) = &self.definition {
            let _ = request.set_tool_definition(Some(definition.as_bytes()));
        }
        request
    }
}

/// Runs `work` on every result with one worker for each core; each worker has a state of its own, which it gives back.
pub fn each<S: Send>(
    corpus: &Path,
    args: &CorpusArgs,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Recorded) + Sync,
) -> Result<Vec<S>, Stop> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = sync_channel::<Recorded>(cores * 4);
    let receiver = Mutex::new(receiver);
    let bar = progress_bar();
    std::thread::scope(|scope| {
        let worker = || {
            let mut state = start();
            while let Some(recorded) = next(&receiver) {
                bar.inc(1);
                work(&mut state, recorded);
            }
            state
        };
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let walked = walk(corpus, &mut |mut recorded| {
            recorded.definition = recorded.definition.filter(|_| args.definitions);
            sender.send(recorded).map_err(|_| Stop::Closed)
        });
        drop(sender);
        let states = workers.into_iter().filter_map(|worker| worker.join().ok()).collect();
        bar.finish_and_clear();
        walked.map(|()| states)
    })
}

fn next(receiver: &Mutex<Receiver<Recorded>>) -> Option<Recorded> {
    receiver.lock().ok()?.recv().ok()
}

/// Shown on a terminal when the work takes over a second.
fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::no_length().with_style(
        ProgressStyle::with_template("{spinner} {human_pos} results, {per_sec}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    bar.enable_steady_tick(std::time::Duration::from_secs(1));
    bar
}

type Take<'t> = &'t mut dyn FnMut(Recorded) -> Result<(), Stop>;

fn unreadable(path: &Path, error: &std::io::Error) -> Stop {
    crate::input::unreadable(&path.display().to_string(), error)
}

fn walk(path: &Path, take: Take<'_>) -> Result<(), Stop> {
    let data = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if data.is_dir() { folder(path, take) } else { file(path, None, take) }
}

fn folder(path: &Path, take: Take<'_>) -> Result<(), Stop> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|error| unreadable(path, &error))?;
    entries.sort();
    let calls = Calls::read(path);
    for entry in entries {
        let name = entry.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if entry.is_dir() {
            folder(&entry, take)?;
        } else if !matches!(&*name, "server.json" | "initialize.json" | "tools.json" | "calls.jsonl")
            && is_recorded(&name)
        {
            file(&entry, Some(&calls), take)?;
        }
    }
    Ok(())
}

/// The name without the ending of its compression.
fn uncompressed(name: &str) -> &str {
    name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name)
}

fn is_recorded(name: &str) -> bool {
    let name = uncompressed(name);
    name.ends_with(".json") || name.ends_with(".jsonl")
}

fn reader(path: &Path) -> Result<Box<dyn BufRead>, Stop> {
    let open = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    let name = path.to_string_lossy();
    if name.ends_with(".gz") {
        return Ok(Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(open))));
    }
    if name.ends_with(".zst") {
        let decoder = ruzstd::decoding::StreamingDecoder::new(open)
            .map_err(|error| unreadable(path, &std::io::Error::other(error.to_string())))?;
        return Ok(Box::new(BufReader::new(decoder)));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 16, open)))
}

fn file(path: &Path, calls: Option<&Calls>, take: Take<'_>) -> Result<(), Stop> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parent =
        path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let shown = if parent.is_empty() { name.clone() } else { format!("{parent}/{name}") };
    let mut reader = reader(path)?;
    if uncompressed(&name).ends_with(".jsonl") {
        return lines(path, &shown, &mut reader, take);
    }
    let call = calls.and_then(|calls| calls.of.get(uncompressed(&name)));
    if call.is_some_and(|call| call.is_protocol_error) {
        return Ok(());
    }
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    let definition = call.and_then(|call| calls.and_then(|calls| calls.definitions.get(&call.tool).cloned()));
    take(match call {
        Some(call) => Recorded {
            name: shown,
            server: call.server.clone(),
            tool: call.tool.clone(),
            revision: call.revision.clone(),
            definition,
            bytes,
        },
        None => Recorded { name: shown, server: parent, tool: String::new(), revision: None, definition: None, bytes },
    })
}

fn lines(path: &Path, shown: &str, reader: &mut dyn BufRead, take: Take<'_>) -> Result<(), Stop> {
    #[derive(serde::Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
        #[serde(default)]
        server: String,
        #[serde(default)]
        tool: String,
        revision: Option<String>,
    }
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(|error| unreadable(path, &error))? == 0 {
            return Ok(());
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let name = format!("{shown}:{number}");
        let recorded = match serde_json::from_slice::<Envelope<'_>>(&line) {
            Ok(envelope) => Recorded {
                name,
                server: envelope.server,
                tool: envelope.tool,
                revision: envelope.revision,
                definition: None,
                bytes: envelope.result.get().as_bytes().to_vec(),
            },
            Err(_) => Recorded {
                name,
                server: String::new(),
                tool: String::new(),
                revision: None,
                definition: None,
                bytes: line.clone(),
            },
        };
        take(recorded)?;
    }
    Ok(())
}

/// What `calls.jsonl` and `tools.json` of a folder say.
#[derive(Default)]
struct Calls {
    of: HashMap<String, Call>,
    definitions: HashMap<String, Arc<str>>,
}

struct Call {
    server: String,
    tool: String,
    revision: Option<String>,
    is_protocol_error: bool,
}

impl Calls {
    fn read(folder: &Path) -> Calls {
        let mut calls = Calls::default();
        let text = std::fs::read_to_string(folder.join("calls.jsonl")).unwrap_or_default();
        for line in text.split('\n').filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let text = |name: &str| line[name].as_str().map(str::to_owned);
            let Some(file) = text("file") else { continue };
            calls.of.insert(
                file,
                Call {
                    server: text("server").unwrap_or_default(),
                    tool: text("tool").unwrap_or_default(),
                    revision: text("protocol_version"),
                    is_protocol_error: line["is_protocol_error"] == true,
                },
            );
        }
        #[derive(serde::Deserialize)]
        struct Tools<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
        }
        #[derive(serde::Deserialize)]
        struct Named {
            name: String,
        }
        let text = std::fs::read_to_string(folder.join("tools.json")).unwrap_or_default();
        if let Ok(list) = serde_json::from_str::<Tools<'_>>(&text) {
            for tool in list.tools {
                if let Ok(Named { name }) = serde_json::from_str(tool.get()) {
                    calls.definitions.insert(name, tool.get().into());
                }
            }
        }
        calls
    }
}
