//! Reload, as file systems do it: an engine that was opened from a file follows it, and the last good policy stays in force
//! whatever stands there in between.

use mcp_select::{Engine, Request, Selection, Status};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const RESULT: &[u8] = br#"{"content":[],"isError":false}"#;

/// A policy whose placeholder tells which one decided.
fn policy(says: &str) -> String {
    format!("version = 1\nextends = \"sep-2200\"\n[audience.model]\nplaceholder = \"{says}\"\n")
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("mcp-select-reload-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes beside it and renames over it, as editors and deployers do.
    fn replace(&self, name: &str, text: &str) {
        self.write("new", text);
        std::fs::rename(self.path("new"), self.path(name)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path) -> Engine {
    let engine = Engine::open(path).unwrap();
    engine.set_auto_reload(1);
    engine
}

fn says(engine: &Engine) -> String {
    let mut selection = Selection::new();
    engine.select(&Request::new("s", "t", "model"), RESULT, &mut selection).unwrap();
    selection.text(RESULT, "\n").to_owned()
}

/// Selects until the engine says this; a selection is what looks at the files.
fn comes_to_say(engine: &Engine, expected: &str) {
    for _ in 0..5000 {
        if says(engine) == expected {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("it still says {:?}, not {expected:?}: {}", says(engine), engine.diagnostics());
}

/// Selects for a while, in which nothing may change.
fn keeps_saying(engine: &Engine, expected: &str) {
    for _ in 0..40 {
        assert_eq!(says(engine), expected, "{}", engine.diagnostics());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn error_of(engine: &Engine) -> Option<String> {
    let diagnostics: serde_json::Value = serde_json::from_str(&engine.diagnostics()).unwrap();
    diagnostics["error"]["message"].as_str().map(str::to_owned)
}

#[test]
fn renamed_over_and_written_in_place() {
    let folder = Folder::new("rename");
    let engine = open(&folder.write("policy.toml", &policy("one")));
    assert_eq!(says(&engine), "one");
    folder.replace("policy.toml", &policy("two"));
    comes_to_say(&engine, "two");
    folder.write("policy.toml", &policy("three"));
    comes_to_say(&engine, "three");
    assert_eq!(engine.generation(), 3);
}

#[test]
fn a_symlink_swap_as_kubernetes_does_it() {
    let folder = Folder::new("symlink");
    for (version, word) in [("v1", "one"), ("v2", "two")] {
        std::fs::create_dir(folder.path(version)).unwrap();
        std::fs::write(folder.path(version).join("policy.toml"), policy(word)).unwrap();
    }
    let link = |version: &str, name: &str| std::os::unix::fs::symlink(version, folder.path(name)).unwrap();
    link("v1", "..data");
    std::os::unix::fs::symlink("..data/policy.toml", folder.path("policy.toml")).unwrap();
    let engine = open(&folder.path("policy.toml"));
    assert_eq!(says(&engine), "one");
    link("v2", "..data_tmp");
    std::fs::rename(folder.path("..data_tmp"), folder.path("..data")).unwrap();
    std::fs::remove_dir_all(folder.path("v1")).unwrap();
    comes_to_say(&engine, "two");
}

#[test]
fn broken_then_mended() {
    let folder = Folder::new("broken");
    let engine = open(&folder.write("policy.toml", &policy("one")));
    folder.replace("policy.toml", "version = 1\n[audience.model]\nplaceholdr = \"two\"\n");
    keeps_saying(&engine, "one");
    let error = error_of(&engine).unwrap();
    assert!(error.contains("policy.toml:3:1: unknown key `placeholdr`"), "{error}");
    // It is not read again and again while it stays as it is.
    keeps_saying(&engine, "one");
    folder.replace("policy.toml", &policy("three"));
    comes_to_say(&engine, "three");
    assert_eq!(error_of(&engine), None);
    assert_eq!(engine.generation(), 2);
}

#[test]
fn a_half_written_file_is_not_loaded() {
    let folder = Folder::new("half");
    let path = folder.write("policy.toml", &policy("one"));
    let engine = open(&path);
    // Each state of the file loads, but it never stays the same for two looks: written on, between any two of them.
    let mut text = policy("two");
    for line in 0..60 {
        text.push_str(&format!("# line {line}\n"));
        std::fs::write(&path, &text).unwrap();
        assert_eq!(says(&engine), "one", "after {line} lines");
        std::thread::sleep(Duration::from_millis(2));
    }
    comes_to_say(&engine, "two");
}

#[test]
fn deleted_and_back() {
    let folder = Folder::new("deleted");
    let path = folder.write("policy.toml", &policy("one"));
    let engine = open(&path);
    std::fs::remove_file(&path).unwrap();
    keeps_saying(&engine, "one");
    assert!(error_of(&engine).is_some_and(|error| error.starts_with("policy-file")), "{}", engine.diagnostics());
    folder.write("policy.toml", &policy("two"));
    comes_to_say(&engine, "two");
}

#[test]
fn an_extended_file_counts() {
    let folder = Folder::new("extended");
    folder.write("base.toml", &policy("one"));
    let path =
        folder.write("policy.toml", "version = 1\nextends = \"./base.toml\"\n[audience.model]\nusable = \"any\"\n");
    let engine = open(&path);
    assert_eq!(says(&engine), "one");
    folder.replace("base.toml", &policy("two"));
    comes_to_say(&engine, "two");
    // An extended file that vanishes and comes back.
    std::fs::remove_file(folder.path("base.toml")).unwrap();
    keeps_saying(&engine, "two");
    folder.write("base.toml", &policy("three"));
    comes_to_say(&engine, "three");
}

#[test]
fn an_audience_must_not_vanish() {
    let folder = Folder::new("audience");
    let with = format!("{}[audience.reviewer]\nlike = \"model\"\n", policy("one"));
    let engine = open(&folder.write("policy.toml", &with));
    folder.replace("policy.toml", &policy("two"));
    keeps_saying(&engine, "one");
    assert!(
        error_of(&engine).unwrap().contains("the audience \"reviewer\" of the policy in force is no longer defined")
    );
    let error = engine.reload().unwrap_err();
    assert_eq!(error.status(), Status::ErrPolicy);
    folder.replace("policy.toml", &with.replace("one", "three"));
    comes_to_say(&engine, "three");
}

#[test]
fn by_hand_and_not_at_all() {
    let folder = Folder::new("hand");
    let engine = Engine::open(folder.write("policy.toml", &policy("one"))).unwrap();
    engine.set_auto_reload(0);
    folder.replace("policy.toml", &policy("two"));
    keeps_saying(&engine, "one");
    assert_eq!(engine.reload().unwrap(), Status::Changed);
    assert_eq!(says(&engine), "two");
    assert_eq!(engine.reload().unwrap(), Status::Unchanged);
    engine.replace(policy("three").as_bytes()).unwrap();
    assert_eq!((says(&engine).as_str(), engine.generation()), ("three", 3));
    assert_eq!(engine.reload().unwrap_err().status(), Status::ErrNoFile);
    assert_eq!(engine.replace(b"").unwrap_err().status(), Status::ErrPolicyEmpty);
    assert_eq!(says(&engine), "three");
    assert_eq!(Engine::builtin("raw").unwrap().reload().unwrap_err().status(), Status::ErrNoFile);
}

#[test]
fn a_thousand_reloads_under_load() {
    let folder = Folder::new("load");
    let texts = ["one", "two"].map(policy);
    let path = folder.write("policy.toml", &texts[0]);
    let engine = Engine::open(&path).unwrap();
    engine.set_auto_reload(0);
    let request = Request::new("s", "t", "model");
    let done = AtomicBool::new(false);
    let selections: u64 = std::thread::scope(|scope| {
        let worker = || {
            let mut selection = Selection::new();
            let mut count = 0u64;
            while !done.load(Ordering::Relaxed) {
                engine.select(&request, RESULT, &mut selection).unwrap();
                // Odd generations say one, even ones two: never a mixture.
                let generation = selection.generation();
                let expected = if generation % 2 == 1 { "one" } else { "two" };
                assert_eq!(selection.text(RESULT, ""), expected, "generation {generation}");
                count += 1;
            }
            count
        };
        let workers: Vec<_> = (0..8).map(|_| scope.spawn(worker)).collect();
        for turn in 1..=1000 {
            folder.replace("policy.toml", &texts[turn % 2]);
            assert_eq!(engine.reload().unwrap(), Status::Changed);
        }
        done.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(engine.generation(), 1001);
    assert!(selections > 0);
}

/// A selection remembers which policy it was last used with: it must neither stay with that one nor take that of another
/// engine for it.
#[test]
fn a_selection_goes_from_engine_to_engine() {
    let engines = ["a", "b"].map(|name| Engine::from_toml(policy(name).as_bytes()).unwrap());
    let requests = ["t", "u"].map(|tool| Request::new("s", tool, "model"));
    let mut selection = Selection::new();
    for round in 0..20 {
        let (engine, name) = (&engines[round % 2], ["a", "b"][round % 2]);
        if round % 3 == 0 {
            engine.replace(policy(&format!("{name} {round}")).as_bytes()).unwrap();
        }
        let expected = says(engine);
        for request in [&requests[0], &requests[0], &requests[round % 2]] {
            engine.select(request, RESULT, &mut selection).unwrap();
            assert_eq!(selection.text(RESULT, "\n"), expected, "round {round}");
            assert_eq!(selection.generation(), engine.generation());
        }
    }
}

/// Of swaps at the same time the one that stays in force is the one that selections see, also those with a memory.
#[test]
fn swaps_at_the_same_time() {
    let engine = Engine::from_toml(policy("first").as_bytes()).unwrap();
    let request = Request::new("s", "t", "model");
    let mut selection = Selection::new();
    for round in 0..50 {
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let engine = &engine;
                scope.spawn(move || engine.replace(policy(&format!("{round} {thread}")).as_bytes()).unwrap());
            }
        });
        engine.select(&request, RESULT, &mut selection).unwrap();
        assert_eq!(selection.text(RESULT, "\n"), says(&engine), "round {round}");
        assert_eq!(selection.generation(), engine.generation());
        assert_eq!(engine.generation(), 1 + (round + 1) * 3);
    }
}
