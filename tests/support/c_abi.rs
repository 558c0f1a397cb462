//! Sequences of calls of the C ABI: in any order, with NULL where it is allowed and where it is not, with no bytes, bytes
//! that are no UTF-8, and lengths that cannot be.
//!
//! Every input is a block of memory of its exact length that is gone when the call returns; every output is read to its
//! end. What the header promises is checked: a status below zero and nothing else makes an error, an out-parameter is
//! written on success alone, a selection is empty after a failure, an accessor's bytes stay as long as they should. That
//! nothing else is read, written or leaked is seen by whoever watches: a sanitizer, or Miri.

use super::choices::Choices;
use super::results::{self, Wanted};
use mcp_select::ffi::engine::*;
use mcp_select::ffi::error::*;
use mcp_select::ffi::request::*;
use mcp_select::ffi::selection::*;
use mcp_select::ffi::text::*;
use mcp_select::ffi::version::*;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

const ERR_ARGUMENT: i32 = -1;
const ERR_INTERNAL: i32 = -2;

/// One sequence. Up to the first 0xFF the bytes are choices; behind it stands a result, byte for byte.
pub fn run(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == 0xFF).unwrap_or(input.len());
    let mut program = Program {
        choices: Choices::bytes(&input[..end]),
        given: input.get(end + 1..).unwrap_or_default().to_vec(),
        ..Program::default()
    };
    if !program.choices.one_in(4) {
        program.set_up();
    }
    for _ in 0..4 + program.choices.below(40) {
        program.step();
    }
    program.end();
}

/// A policy file that some engines were opened from.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("mcp-select-ffi-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join("policy.toml")
});

/// Takes the file away.
pub fn clean_up() {
    let _ = std::fs::remove_dir_all(FILE.parent().unwrap());
}

const POLICIES: &[&[u8]] = &[
    b"version = 1\nextends = \"sep-2200\"\n",
    b"version = 1\nextends = \"lossless\"\n[audience.model]\nmeta.allow = [\"*\"]\nlimit = { chars = 80 }\nsanitize = [\"ansi\"]\n",
    b"version = 1\nextends = \"sep-2200\"\n[audience.reviewer]\nlike = \"model\"\norder = [\"raw\"]\n",
    b"version = 1\n[[rules]]\naudience = \"*\"\nwhen = { label.ring = \"x*\", mirror = true }\norder = [\"both\"]\n",
    b"version = 1\n[[overrides]]\nwhen = { server = \"s\" }\nhide = true\n",
    // Not one of these loads.
    b"version = 1\n",
    b"version = 2\n",
    b"version = 1\norder = \"content\"\n",
    b"# nothing\n",
    b"version = 1\n\xFF",
    b"",
];
const NAMES: &[&[u8]] = &[b"s", b"t", b"model", b"code", b"reviewer", b"nobody", b"", b"\xC3", "é".as_bytes(), b"a\0b"];
const BUILTINS: &[&[u8]] = &[b"sep-2200", b"lossless", b"raw", b"mcp-apps", b"none", b"", b"\xFF"];
const DATES: &[&[u8]] = &[b"2025-06-18", b"2026-07-28", b"2025-6-18", b"", b"9999-99-99", b"\xFF"];
const TOOLS: &[&[u8]] = &[
    br#"{"outputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}"#,
    b"{}",
    b"[]",
    b"{\"a\":",
    b"",
    b"\xFF",
];
const RESULTS: &[&[u8]] = &[
    br#"{"content":[{"type":"text","text":"a"}]}"#,
    br#"{"content":[],"structuredContent":{"a":[1,"b"]}}"#,
    br#"{"content":[{"type":"text","text":"\u001b[1mb","_meta":{"k":1}}],"isError":true,"_meta":{"a/b":1}}"#,
    br#"{"resultType":"input_required","inputRequests":{}}"#,
    br#"{"resultType":"task","task":{"taskId":"1"}}"#,
    br#"{"type":"tool_result","toolUseId":"1","content":[]}"#,
    b"{\"content\":[",
    b"{\"content\":[\"\xFF\"]}",
    b"",
];

/// What was made and not yet freed, and what is known of it.
#[derive(Default)]
struct Program {
    choices: Choices,
    given: Vec<u8>,
    engines: Vec<*mut mcp_select_engine>,
    requests: Vec<*mut mcp_select_request>,
    selections: Vec<Held>,
    texts: Vec<*mut mcp_select_text>,
    errors: Vec<(*mut mcp_select_error, i32)>,
}

/// A selection, with the status and the bytes of the last call that went well.
struct Held {
    object: *mut mcp_select_selection,
    last: Option<(i32, Vec<u8>)>,
}

/// Bytes for one call, as a C program might hand them over.
struct Given {
    bytes: Option<Box<[u8]>>,
    len: usize,
}

impl Given {
    fn at(&self) -> *const u8 {
        self.bytes.as_ref().map_or(null(), |bytes| bytes.as_ptr())
    }

    /// Whether a call has to refuse it.
    fn is_wrong(&self, text: bool) -> bool {
        match &self.bytes {
            None => self.len > 0,
            Some(bytes) => self.len != bytes.len() || text && std::str::from_utf8(bytes).is_err(),
        }
    }
}

/// Where a call may write; what stood there before must stay unless the call succeeds.
struct Out<T>(*mut T);

fn mark<T>() -> *mut T {
    std::ptr::without_provenance_mut(0xDEAD_BEE8)
}

impl<T> Out<T> {
    fn new() -> Out<T> {
        Out(mark())
    }

    /// What was written, if it had to be.
    fn check(self, written: bool) -> Option<*mut T> {
        assert_eq!(!std::ptr::eq(self.0, mark()), written, "written although it should not be, or not written");
        assert!(!self.0.is_null());
        written.then_some(self.0)
    }
}

/// What threads may share by the header's conventions.
struct Shared<T>(*const T);

// SAFETY: an object given as `const T *` may be in use by many threads at once.
unsafe impl<T> Send for Shared<T> {}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

impl<T> Shared<T> {
    fn get(self) -> *const T {
        self.0
    }
}

/// Reads every byte that was lent.
fn read(at: *const u8, len: usize) -> Option<Vec<u8>> {
    assert!(!at.is_null() || len == 0, "NULL with a length");
    // SAFETY: the header says that so many bytes may be read; the sanitizer watches.
    (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts(at, len) }.to_vec())
}

fn is_json(bytes: &[u8]) {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(bytes)));
}

impl Program {
    // ---- inputs -----------------------------------------------------------------------------------------------

    fn give(&mut self, from: &[&[u8]]) -> Given {
        let bytes = from[self.choices.below(from.len())];
        self.give_bytes(bytes)
    }

    fn give_bytes(&mut self, bytes: &[u8]) -> Given {
        match self.choices.below(16) {
            15 => Given { bytes: None, len: 0 },
            14 => Given { bytes: None, len: 1 + self.choices.below(9) },
            13 => Given { bytes: Some(bytes.into()), len: usize::MAX - self.choices.below(3) },
            12 => Given { bytes: Some(bytes.into()), len: isize::MAX as usize + 1 },
            _ => Given { len: bytes.len(), bytes: Some(bytes.into()) },
        }
    }

    fn result(&mut self) -> Vec<u8> {
        match self.choices.below(4) {
            0 => self.given.clone(),
            1 => {
                let wanted = Wanted { sampling: self.choices.one_in(4), ..Wanted::default() };
                results::result(&mut self.choices, wanted)
            }
            _ => RESULTS[self.choices.below(RESULTS.len())].to_vec(),
        }
    }

    fn policy(&mut self) -> Given {
        self.give(POLICIES)
    }

    fn engine(&mut self) -> *mut mcp_select_engine {
        let at = self.choices.below(8);
        self.engines.get(at).or(self.engines.last()).copied().filter(|_| at < 7).unwrap_or(null_mut())
    }

    fn request(&mut self) -> *mut mcp_select_request {
        let at = self.choices.below(8);
        self.requests.get(at).or(self.requests.last()).copied().filter(|_| at < 7).unwrap_or(null_mut())
    }

    /// The index of a selection; `None` for NULL.
    fn selection(&mut self) -> Option<usize> {
        let at = self.choices.below(8);
        (at < 7 && !self.selections.is_empty()).then(|| at % self.selections.len())
    }

    // ---- calls ------------------------------------------------------------------------------------------------

    /// Makes a call that may fail with an error object, and checks that there is one exactly when it failed.
    fn call(&mut self, body: impl FnOnce(*mut *mut mcp_select_error) -> i32) -> i32 {
        if self.choices.one_in(4) {
            let status = body(null_mut());
            assert_ne!(status, ERR_INTERNAL, "a panic was caught");
            return status;
        }
        let mut err = Out::new();
        let status = body(&mut err.0);
        let error = err.check(status < 0);
        assert!(status <= 2);
        if let Some(error) = error {
            self.errors.push((error, status));
            Program::look_at_error(error, status);
        }
        assert_ne!(status, ERR_INTERNAL, "a panic was caught");
        status
    }

    fn look_at_error(error: *const mcp_select_error, status: i32) {
        let mut len = usize::MAX;
        // SAFETY: the error is alive, `len` may be written.
        unsafe {
            assert_eq!(mcp_select_error_status(error), status);
            let message = read(mcp_select_error_message(error, &mut len), len).expect("a message");
            let message = String::from_utf8(message).expect("a message is UTF-8");
            assert!(!message.is_empty(), "an error without a message");
            let json = mcp_select_error_json(error, &mut len);
            is_json(&read(json, len).expect("an error is JSON too"));
            assert!(mcp_select_error_offset(error) >= -1);
            assert!(mcp_select_error_message(error, null_mut()).is_null());
        }
    }

    fn step(&mut self) {
        match self.choices.below(24) {
            0 | 1 => self.new_engine(),
            2 | 3 => self.new_request(),
            4 | 5 => self.edit_request(),
            6 => self.clone_request(),
            7 => self.new_selection(),
            8..=13 => self.select(),
            14 | 15 => self.look(),
            16 => self.ask_text(),
            17 => self.ask_engine(),
            18 => self.change_engine(),
            19 => self.share_with_threads(),
            20 => self.with_nothing(),
            _ => self.free_one(),
        }
    }

    /// What every host does first, so that most sequences come to selecting.
    fn set_up(&mut self) {
        let (mut engine, mut request) = (Out::new(), Out::new());
        let policy = POLICIES[self.choices.below(5)];
        let audience = NAMES[2 + self.choices.below(2)];
        // SAFETY: as the header asks.
        let made = unsafe {
            let engine = mcp_select_engine_new(policy.as_ptr(), policy.len(), &mut engine.0, null_mut());
            let (at, len) = (audience.as_ptr(), audience.len());
            let request =
                mcp_select_request_new(b"s".as_ptr(), 1, b"t".as_ptr(), 1, at, len, &mut request.0, null_mut());
            (engine, request)
        };
        assert_eq!(made, (0, 0));
        self.engines.extend(engine.check(true));
        self.requests.extend(request.check(true));
        self.new_selection();
    }

    fn new_engine(&mut self) {
        let mut out = Out::new();
        let no_place = self.choices.one_in(16);
        let place = if no_place { null_mut() } else { &raw mut out.0 };
        let which = self.choices.below(4);
        let from = match which {
            0 => self.give(BUILTINS),
            1 if self.choices.one_in(2) => {
                std::fs::write(&*FILE, POLICIES[self.choices.below(POLICIES.len())]).unwrap();
                self.give_bytes(FILE.to_str().unwrap().as_bytes())
            }
            1 => self.give(&[b"/nowhere/policy.toml", b"", b"\0", b"/"]),
            _ => self.policy(),
        };
        // SAFETY: as the header asks, or wrong in a way that it says is refused.
        let status = self.call(|err| unsafe {
            match which {
                0 => mcp_select_engine_builtin(from.at(), from.len, place, err),
                1 => mcp_select_engine_open(from.at(), from.len, place, err),
                _ => mcp_select_engine_new(from.at(), from.len, place, err),
            }
        });
        assert!(status <= 0);
        if no_place || from.is_wrong(which < 2) {
            assert_eq!(status, ERR_ARGUMENT);
        }
        self.engines.extend(out.check(status == 0));
    }

    fn new_request(&mut self) {
        let mut out = Out::new();
        let no_place = self.choices.one_in(16);
        let place = if no_place { null_mut() } else { &raw mut out.0 };
        let (server, tool, audience) = (self.give(NAMES), self.give(NAMES), self.give(NAMES));
        // SAFETY: as the header asks, or wrong in a way that it says is refused.
        let status = self.call(|err| unsafe {
            mcp_select_request_new(
                server.at(),
                server.len,
                tool.at(),
                tool.len,
                audience.at(),
                audience.len,
                place,
                err,
            )
        });
        let wrong = no_place || [&server, &tool, &audience].iter().any(|name| name.is_wrong(true));
        assert_eq!(status, if wrong { ERR_ARGUMENT } else { 0 });
        self.requests.extend(out.check(status == 0));
    }

    fn edit_request(&mut self) {
        let request = self.request();
        let which = self.choices.below(5);
        let (one, other) = match which {
            0 => (self.give(DATES), self.give(NAMES)),
            1 => (self.give(TOOLS), self.give(NAMES)),
            2 => (self.give(&[b"io.modelcontextprotocol/tasks", b"x", b"\xFF"]), self.give(NAMES)),
            _ => (self.give(&[b"ring", b"tenant", b"\xFF", b""]), self.give(&[b"x", b"xy", b"", b"\xFF"])),
        };
        let number = i32::try_from(self.choices.below(5)).unwrap() - 1;
        // SAFETY: as the header asks, or wrong in a way that it says is refused.
        let status = if which == 4 {
            let status = unsafe { mcp_select_request_set_input(request, number) };
            assert_eq!(status == 0, !request.is_null() && (0..=1).contains(&number));
            status
        } else {
            self.call(|err| unsafe {
                match which {
                    0 => mcp_select_request_set_revision(request, one.at(), one.len, err),
                    1 => mcp_select_request_set_tool_definition(request, one.at(), one.len, err),
                    2 => mcp_select_request_add_extension(request, one.at(), one.len, err),
                    _ => mcp_select_request_set_label(request, one.at(), one.len, other.at(), other.len, err),
                }
            })
        };
        let wrong = which < 4 && one.is_wrong(which != 1) || which == 3 && other.is_wrong(true);
        if request.is_null() || wrong {
            assert_eq!(status, ERR_ARGUMENT);
        }
    }

    fn clone_request(&mut self) {
        let (request, audience) = (self.request(), self.give(NAMES));
        let mut out = Out::new();
        let place = &raw mut out.0;
        // SAFETY: as the header asks, or wrong in a way that it says is refused.
        let status =
            self.call(|err| unsafe { mcp_select_request_clone(request, audience.at(), audience.len, place, err) });
        assert_eq!(status, if request.is_null() || audience.is_wrong(true) { ERR_ARGUMENT } else { 0 });
        self.requests.extend(out.check(status == 0));
    }

    fn new_selection(&mut self) {
        let mut out = Out::new();
        // SAFETY: as the header asks; NULL is refused.
        unsafe {
            assert_eq!(mcp_select_selection_new(null_mut()), ERR_ARGUMENT);
            assert_eq!(mcp_select_selection_new(&mut out.0), 0);
        }
        let object = out.check(true).unwrap();
        self.selections.push(Held { object, last: None });
    }

    fn select(&mut self) {
        let (engine, request, at) = (self.engine(), self.request(), self.selection());
        let bytes = self.result();
        let result = self.give_bytes(&bytes);
        let selection = at.map_or(null_mut(), |at| self.selections[at].object);
        // SAFETY: as the header asks, or wrong in a way that it says is refused.
        let status =
            self.call(|err| unsafe { mcp_select_result(engine, request, result.at(), result.len, selection, err) });
        if engine.is_null() || request.is_null() || selection.is_null() || result.is_wrong(false) {
            assert_eq!(status, ERR_ARGUMENT);
        }
        if (0..2).contains(&status) {
            is_json(result.bytes.as_deref().unwrap_or_default());
        }
        // The result is not needed after the call.
        let bytes = result.bytes.as_deref().unwrap_or_default().to_vec();
        drop(result);
        if let Some(at) = at {
            self.selections[at].last = (status >= 0).then_some((status, bytes));
            self.look_at(at);
        }
    }

    fn look(&mut self) {
        if let Some(at) = self.selection() {
            self.look_at(at);
        }
    }

    /// Everything that can be read of a selection.
    fn look_at(&mut self, at: usize) {
        let Held { object, last } = &self.selections[at];
        let (object, status) = (*object, last.as_ref().map(|(status, _)| *status));
        let (mut len, mut other) = (usize::MAX, usize::MAX);
        // SAFETY: the selection is alive and used by nobody else, the lengths may be written.
        unsafe {
            let lent = mcp_select_selection_json(object, &mut len);
            let json = read(lent, len);
            assert_eq!(json.is_some(), status == Some(1));
            json.iter().for_each(|json| is_json(json));
            let (lane, outcome) = (mcp_select_selection_lane(object), mcp_select_selection_outcome(object));
            assert!((0..=6).contains(&lane) && (0..=2).contains(&outcome));
            assert!((0..=1).contains(&mcp_select_selection_is_error(object)));
            let blocks = mcp_select_selection_block_count(object);
            for block in 0..blocks {
                let (source, kind) =
                    (mcp_select_selection_block_source(object, block), mcp_select_selection_block_kind(object, block));
                assert!(source >= -1 && (0..=3).contains(&kind) && (kind == 3) == (source == -1));
            }
            for beyond in [blocks, usize::MAX] {
                assert_eq!(mcp_select_selection_block_source(object, beyond), -1);
                assert_eq!(mcp_select_selection_block_kind(object, beyond), -1);
            }
            // None of these calls was allowed to touch what was lent.
            assert_eq!(read(lent, len), json);
            assert_eq!(mcp_select_selection_json(object, &mut other), lent);
            assert_eq!(mcp_select_selection_generation(object) > 0, matches!(status, Some(0..=2)));
            let record = read(mcp_select_selection_decision(object, &mut len), len);
            assert_eq!(record.is_some(), status.is_some());
            record.iter().for_each(|record| is_json(record));
            assert_eq!(read(mcp_select_selection_json(object, &mut len), len), json, "the record changed the JSON");
            if status.is_none() {
                assert_eq!((lane, outcome, blocks, mcp_select_selection_is_error(object)), (0, 0, 0, 0));
            }
            if self.choices.one_in(6) {
                mcp_select_selection_trim(object, self.choices.below(3) * 64);
                assert_eq!(read(mcp_select_selection_json(object, &mut len), len), json, "trimming changed the JSON");
            }
        }
    }

    fn ask_text(&mut self) {
        let at = self.selection();
        let object = at.map_or(null_mut(), |at| self.selections[at].object);
        let last = at.and_then(|at| self.selections[at].last.clone());
        let own = last.as_ref().map_or(&[][..], |(_, bytes)| bytes).to_vec();
        let result = match self.choices.below(4) {
            0 | 1 => self.give_bytes(&own),
            2 => self.give(RESULTS),
            _ => {
                // Other bytes than those of the call, but as many: what comes out means nothing, and that is all.
                let mut other = own;
                for _ in 0..1 + self.choices.below(4) {
                    let at = self.choices.below(other.len().max(1));
                    let byte = *b"\"\\{}[]:,u\xC3\xFFx".get(self.choices.below(12)).unwrap();
                    other.get_mut(at).into_iter().for_each(|old| *old = byte);
                }
                self.give_bytes(&other)
            }
        };
        let separator = self.give(&[b"\n", b"", b"\xFF", " é ".as_bytes()]);
        let (mut text, mut len) = (Out(mark::<u8>()), usize::MAX);
        // SAFETY: as the header asks, or wrong in a way that it says is refused. The text is written as a const pointer.
        let status = unsafe {
            mcp_select_selection_text(
                object,
                result.at(),
                result.len,
                separator.at(),
                separator.len,
                (&raw mut text.0).cast(),
                &mut len,
            )
        };
        assert!(status == 0 || status == ERR_ARGUMENT);
        assert_eq!(status == 0, len != usize::MAX);
        let wrong = object.is_null() || result.is_wrong(false) || separator.is_wrong(true);
        assert!(!wrong || status == ERR_ARGUMENT);
        let Some(text) = text.check(status == 0) else { return };
        let text = String::from_utf8(read(text, len).unwrap()).expect("text is UTF-8");
        assert!(matches!(last, Some((0 | 1, _))) || text.is_empty(), "an empty selection has a text: {text}");
    }

    fn ask_engine(&mut self) {
        let (engine, request) = (self.engine(), self.request());
        let mut out = Out::new();
        let place = &raw mut out.0;
        let table = self.choices.one_in(2);
        // SAFETY: as the header asks, or wrong in a way that it says is refused.
        let status = self.call(|err| unsafe {
            if table {
                mcp_select_engine_table(engine, request, place, err)
            } else {
                mcp_select_engine_diagnostics(engine, place, err)
            }
        });
        if engine.is_null() || table && request.is_null() {
            assert_eq!(status, ERR_ARGUMENT);
        }
        if let Some(text) = out.check(status == 0) {
            let mut len = usize::MAX;
            // SAFETY: the text is alive, `len` may be written.
            is_json(&read(unsafe { mcp_select_text_bytes(text, &mut len) }, len).unwrap());
            self.texts.push(text);
        }
    }

    fn change_engine(&mut self) {
        let engine = self.engine();
        let policy = self.policy();
        let which = self.choices.below(3);
        let interval = [0, 1, u32::MAX][self.choices.below(3)];
        if which == 0 && self.choices.one_in(2) {
            std::fs::write(&*FILE, POLICIES[self.choices.below(POLICIES.len())]).unwrap();
        }
        // SAFETY: as the header asks, or wrong in a way that it says is refused.
        unsafe {
            let before = mcp_select_engine_generation(engine);
            assert_eq!(before == 0, engine.is_null());
            let status = if which == 2 {
                let status = mcp_select_engine_auto_reload(engine, interval);
                assert_eq!(status, if engine.is_null() { ERR_ARGUMENT } else { 0 });
                status
            } else {
                self.call(|err| match which {
                    0 => mcp_select_engine_reload(engine, err),
                    _ => mcp_select_engine_replace(engine, policy.at(), policy.len, err),
                })
            };
            let after = mcp_select_engine_generation(engine);
            // What says the same as the policy in force is not swapped in.
            let may_stay = status == 0 && which == 1;
            let swapped = status == 1 && which == 0 || may_stay;
            assert!(
                after == before + u64::from(swapped) || may_stay && after == before,
                "{before} to {after}: {status}"
            );
        }
    }

    /// Shared by threads, each with a selection of its own: all get the same.
    fn share_with_threads(&mut self) {
        let (engine, request) = (self.engine(), self.request());
        if engine.is_null() || request.is_null() || !self.choices.one_in(4) {
            return;
        }
        let result = self.result();
        let shared = (Shared(engine), Shared(request));
        let run = |(engine, request): (Shared<mcp_select_engine>, Shared<mcp_select_request>)| {
            let (engine, request) = (engine.get(), request.get());
            let mut out = Out::new();
            let mut len = usize::MAX;
            // SAFETY: engine and request are alive until the threads end and given as const, the selection is its own.
            unsafe {
                mcp_select_selection_new(&mut out.0);
                let selection = out.check(true).unwrap();
                let status = mcp_select_result(engine, request, result.as_ptr(), result.len(), selection, null_mut());
                let json = read(mcp_select_selection_json(selection, &mut len), len);
                mcp_select_selection_free(selection);
                (status, json)
            }
        };
        // SAFETY: the engine is alive; nothing is reloaded, or the answers might differ.
        unsafe { mcp_select_engine_auto_reload(engine, 0) };
        let answers = std::thread::scope(|scope| {
            let threads = [0, 1].map(|_| scope.spawn(move || run(shared)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(answers[0], answers[1]);
    }

    /// Every accessor and every `*_free` with NULL.
    fn with_nothing(&mut self) {
        let mut len = 7;
        // SAFETY: the header says what NULL gives.
        unsafe {
            mcp_select_engine_free(null_mut());
            mcp_select_request_free(null_mut());
            mcp_select_selection_free(null_mut());
            mcp_select_error_free(null_mut());
            mcp_select_text_free(null_mut());
            mcp_select_selection_trim(null_mut(), 0);
            for lent in [
                mcp_select_selection_json(null(), &mut len),
                mcp_select_selection_decision(null_mut(), &mut len),
                mcp_select_error_message(null(), &mut len),
                mcp_select_error_json(null(), &mut len),
                mcp_select_text_bytes(null(), &mut len),
            ] {
                assert!(lent.is_null());
            }
            assert_eq!(len, 0);
            assert_eq!(mcp_select_selection_outcome(null()), ERR_ARGUMENT);
            assert_eq!(mcp_select_selection_lane(null()), ERR_ARGUMENT);
            assert_eq!(mcp_select_selection_is_error(null()), ERR_ARGUMENT);
            assert_eq!(mcp_select_error_status(null()), ERR_ARGUMENT);
            assert_eq!(mcp_select_error_offset(null()), -1);
            assert_eq!(mcp_select_selection_generation(null()), 0);
            assert_eq!(mcp_select_selection_block_count(null()), 0);
            assert_eq!(mcp_select_engine_generation(null()), 0);
            assert!(read(mcp_select_version(&mut len), len).is_some_and(|version| !version.is_empty()));
            assert!(mcp_select_version(null_mut()).is_null());
        }
        assert!(mcp_select_abi_min_compatible() <= mcp_select_abi_version());
    }

    // ---- the end ----------------------------------------------------------------------------------------------

    /// Objects do not depend on each other: they are freed in any order.
    fn free_one(&mut self) {
        // SAFETY: each was made by the library and is given up here.
        unsafe {
            match self.choices.below(5) {
                0 => self.engines.pop().into_iter().for_each(|engine| mcp_select_engine_free(engine)),
                1 => self.requests.pop().into_iter().for_each(|request| mcp_select_request_free(request)),
                2 => self.selections.pop().into_iter().for_each(|held| mcp_select_selection_free(held.object)),
                3 => self.texts.pop().into_iter().for_each(|text| mcp_select_text_free(text)),
                _ => self.errors.pop().into_iter().for_each(|(error, status)| {
                    Program::look_at_error(error, status);
                    mcp_select_error_free(error);
                }),
            }
        }
    }

    fn end(mut self) {
        // SAFETY: each was made by the library and is given up here.
        unsafe {
            self.engines.drain(..).for_each(|engine| mcp_select_engine_free(engine));
            self.requests.drain(..).for_each(|request| mcp_select_request_free(request));
            // What they came from is gone, and they can still be read.
            (0..self.selections.len()).for_each(|at| self.look_at(at));
            self.selections.drain(..).for_each(|held| mcp_select_selection_free(held.object));
            self.texts.drain(..).for_each(|text| mcp_select_text_free(text));
            for (error, status) in self.errors.drain(..) {
                Program::look_at_error(error, status);
                mcp_select_error_free(error);
            }
        }
    }
}
