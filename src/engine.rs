//! The engine: a policy in force, swapped atomically, reloaded from its files when they change.
//!
//! No thread, no lock: a look at the files is claimed by moving the next due time with one compare-and-swap, what is
//! known of the files is replaced as a whole, and a new policy is compiled aside and swapped in at once. So an engine stays
//! usable after `fork`, whatever other threads did at that moment.

use crate::error::{Error, Status, write_diagnostics};
use crate::policy::{self, BuiltinsOnly, Policy, PolicyError};
use crate::report::Json;
use crate::request::{Request, specialise};
use crate::select::Selection;
use crate::table::Index;
use arc_swap::ArcSwap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

/// How often an engine opened from a file may look at its files, in milliseconds.
const DEFAULT_INTERVAL_MS: u32 = 1000;

/// A policy that is ready to decide.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub policy: Arc<Policy>,
    pub index: Arc<Index>,
    /// 1 for the first policy of an engine, one more with each swap.
    pub generation: u64,
    /// No other snapshot of this process has it, and one that is swapped in has a larger one than that before it.
    number: u64,
    loaded_at: Instant,
}

/// The number of a snapshot that is made now.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Snapshot {
    fn new(policy: Policy, generation: u64) -> Snapshot {
        let index = Arc::new(Index::new(&policy.rules));
        Snapshot { policy: Arc::new(policy), index, generation, number: next_number(), loaded_at: Instant::now() }
    }
}

/// A policy in force. Share it; every method takes `&self`.
///
/// ```
/// use mcp_select::{Engine, Request, Selection, Status};
///
/// let engine = Engine::builtin("sep-2200")?;
/// let request = Request::new("weather", "now", "model");
/// let mut selection = Selection::new();
///
/// let result = br#"{"content":[{"type":"text","text":"7 C"}],"structuredContent":{"c":7}}"#;
/// assert_eq!(engine.select(&request, result, &mut selection)?, Status::Changed);
/// assert_eq!(selection.json(), Some(&br#"{"content":[{"type":"text","text":"7 C"}]}"#[..]));
/// # Ok::<(), mcp_select::Error>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    current: ArcSwap<Snapshot>,
    /// The number of `current`: whoever holds a snapshot sees by it that it is still the one in force.
    number: AtomicU64,
    files: ArcSwap<Files>,
    /// How many readings of a policy have begun, and the latest beginning of those that came to an end.
    begun: AtomicU64,
    ended: AtomicU64,
    interval_ms: AtomicU32,
    /// When the next look is due, in milliseconds since `started`.
    due_ms: AtomicU64,
    started: Instant,
}

/// What is known of a policy's files. Replaced as a whole, never edited.
#[derive(Clone, Debug, Default)]
struct Files {
    /// The file that was opened; `None`: there is nothing to reload.
    path: Option<PathBuf>,
    /// The stamps of the files when they were last read, whether that gave a policy or an error.
    read: Vec<(PathBuf, Stamp)>,
    /// Other stamps, seen at one look: when the next look sees them again, the files are read.
    seen: Option<Vec<Stamp>>,
    last_look: Option<Instant>,
    /// Why the last reload failed.
    error: Option<Error>,
}

/// What tells that a file has changed, without reading it. `None`: it is not there.
type Stamp = Option<(Option<SystemTime>, u64, u64)>;

fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let inode = 0;
    Some((data.modified().ok(), data.len(), inode))
}

fn stamps(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, Stamp)> {
    paths.into_iter().map(|path| (path.clone(), stamp(&path))).collect()
}

fn paths_of(policy: &Policy) -> impl Iterator<Item = PathBuf> {
    policy.files.iter().filter_map(|file| file.path.clone())
}

impl Engine {
    fn new(policy: Policy, files: Files, interval_ms: u32) -> Engine {
        let snapshot = Snapshot::new(policy, 1);
        Engine {
            number: AtomicU64::new(snapshot.number),
            current: ArcSwap::from_pointee(snapshot),
            files: ArcSwap::from_pointee(files),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            interval_ms: AtomicU32::new(interval_ms),
            due_ms: AtomicU64::new(u64::from(interval_ms)),
            started: Instant::now(),
        }
    }

    /// An engine with a policy that was read already.
    pub(crate) fn of_policy(policy: Policy) -> Engine {
        Engine::new(policy, Files::default(), 0)
    }

    /// An engine with the policy in these bytes (TOML, UTF-8). `extends` may name built-ins only.
    ///
    /// # Errors
    /// [`Status::ErrPolicy`] with all that is wrong, [`Status::ErrPolicyEmpty`] when there is nothing in it.
    pub fn from_toml(policy: &[u8]) -> Result<Engine, Error> {
        Ok(Engine::new(policy::load_bytes("policy", policy, &BuiltinsOnly)?, Files::default(), 0))
    }

    /// An engine with a built-in policy, e.g. `sep-2200`.
    ///
    /// # Errors
    /// [`Status::ErrNoBuiltin`] when there is none of this name.
    pub fn builtin(name: &str) -> Result<Engine, Error> {
        Ok(Engine::new(policy::load_builtin(name)?, Files::default(), 0))
    }

    /// An engine with the policy of a file and of the files that it extends. They are looked at again at most once a
    /// second while results are selected; see [`set_auto_reload`](Engine::set_auto_reload).
    ///
    /// # Errors
    /// [`Status::ErrPolicyFile`] when a file cannot be read, else as [`from_toml`](Engine::from_toml).
    pub fn open(path: impl AsRef<Path>) -> Result<Engine, Error> {
        let path = path.as_ref();
        // The stamps are older than what is read: a change in between is seen at the next look.
        let first = stamps([path.to_owned()]);
        let policy = policy::load_file(path)?;
        let mut read = stamps(paths_of(&policy));
        if let (Some(own), Some(first)) = (read.first_mut(), first.into_iter().next()) {
            *own = first;
        }
        let files = Files { path: Some(path.to_owned()), read, ..Files::default() };
        Ok(Engine::new(policy, files, DEFAULT_INTERVAL_MS))
    }

    /// How often a selection may look at the files, in milliseconds; 0: never. With an event loop, choose 0 and call
    /// [`reload`](Engine::reload) from a worker.
    pub fn set_auto_reload(&self, interval_ms: u32) {
        self.interval_ms.store(interval_ms, Ordering::Relaxed);
        self.due_ms.store(self.now_ms() + u64::from(interval_ms), Ordering::Relaxed);
    }

    /// Selects what the request's audience sees of a result.
    ///
    /// [`Status::Unchanged`]: the input as it is. [`Status::Changed`]: read [`Selection::json`].
    /// [`Status::NotForReaders`]: hand the input to the protocol driver.
    ///
    /// # Errors
    /// One of the statuses from [`Status::ErrAudience`] on; the selection is empty then, never a part of a result.
    pub fn select(&self, request: &Request, result: &[u8], selection: &mut Selection) -> Result<Status, Error> {
        self.look_when_due();
        selection.run(self, request, result)
    }

    /// What comes before the result is looked at: the policy in force and the decision table of the request. For measuring.
    ///
    /// # Errors
    /// [`Status::ErrAudience`], as [`select`](Engine::select).
    #[doc(hidden)]
    pub fn look_up(&self, request: &Request, selection: &mut Selection) -> Result<(), Error> {
        self.look_when_due();
        selection.look_up(self, request)
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Whether a snapshot is the policy in force. Costs no more than a load, so a selection asks it of the one it has.
    #[inline]
    pub(crate) fn is_in_force(&self, snapshot: &Snapshot) -> bool {
        self.number.load(Ordering::Acquire) == snapshot.number
    }

    /// Reads the files now: [`Status::Changed`] when a new policy is in force, else [`Status::Unchanged`].
    ///
    /// # Errors
    /// [`Status::ErrNoFile`] when the engine was not opened from a file. On any error, also when an audience of the policy
    /// in force would vanish, the last good policy stays.
    pub fn reload(&self) -> Result<Status, Error> {
        let files = self.files.load_full();
        let Some(path) = &files.path else {
            let message = "no-file: this engine was not opened from a file; open one, or use replace";
            return Err(Error::new(Status::ErrNoFile, message.into()));
        };
        let reading = self.begin();
        let before = stamps([path.clone()].into_iter().chain(files.read.iter().map(|(path, _)| path.clone())));
        let loaded = policy::load_file(path);
        // A slow thread must not bring back what another has found replaced.
        if self.ended.fetch_max(reading, Ordering::AcqRel) > reading {
            return Ok(Status::Unchanged);
        }
        let mut paths: Vec<PathBuf> = vec![path.clone()];
        match &loaded {
            Ok(policy) => paths.extend(paths_of(policy)),
            Err(error) => paths.extend(error.paths.iter().cloned().chain(files.read.iter().map(|(p, _)| p.clone()))),
        }
        paths.sort();
        paths.dedup();
        // Where a stamp from before the reading is known, it is the one to compare with.
        let read = paths.into_iter().map(|path| {
            let known = before.iter().find(|(other, _)| *other == path).map(|(_, stamp)| *stamp);
            let stamp = known.unwrap_or_else(|| stamp(&path));
            (path, stamp)
        });
        let read = read.collect();
        let hash = loaded.as_ref().ok().map(|policy| policy.hash);
        let outcome = self.adopt(loaded, reading);
        let error = outcome.as_ref().err().cloned();
        let files = Files { path: files.path.clone(), read, seen: None, last_look: Some(Instant::now()), error };
        self.files.store(Arc::new(files.clone()));
        // Another thread came in between: look at the files again.
        let is_another = hash.is_some_and(|hash| self.current.load().policy.hash != hash);
        if outcome.is_ok() && (is_another || self.ended.load(Ordering::Acquire) > reading) {
            let read = files.read.iter().map(|(path, _)| (path.clone(), None)).collect();
            self.files.store(Arc::new(Files { read, ..files }));
        }
        outcome
    }

    /// Swaps in a policy from the files, unless it says the same as the one in force.
    fn adopt(&self, loaded: Result<Policy, PolicyError>, reading: u64) -> Result<Status, Error> {
        let policy = loaded?;
        let current = self.current.load();
        if policy.hash == current.policy.hash {
            return Ok(Status::Unchanged);
        }
        let gone = current.policy.audiences.iter().find(|audience| policy.audience(&audience.name).is_none());
        if let Some(gone) = gone {
            let message = format!(
                "bad-policy: {}: the audience {:?} of the policy in force is no longer defined; keep a section [audience.{}], or open the file anew",
                policy.name, gone.name, gone.name
            );
            return Err(Error::new(Status::ErrPolicy, message));
        }
        self.swap(policy, reading);
        Ok(Status::Changed)
    }

    /// The number of a reading that begins now.
    fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    fn swap(&self, policy: Policy, reading: u64) {
        let fresh = Snapshot::new(policy, 0);
        self.current.rcu(|current| {
            // Another thread that saw the same change was faster, or one that saw a later change.
            if current.policy.hash == fresh.policy.hash || self.ended.load(Ordering::Acquire) > reading {
                return Arc::clone(current);
            }
            Arc::new(Snapshot {
                policy: Arc::clone(&fresh.policy),
                index: Arc::clone(&fresh.index),
                generation: current.generation + 1,
                // Drawn after that of `current`, so that it is larger.
                number: next_number(),
                loaded_at: fresh.loaded_at,
            })
        });
        // Of two that swap at once the later number stays, whoever comes here first.
        self.number.fetch_max(self.current.load().number, Ordering::AcqRel);
    }

    /// Swaps in the policy in these bytes. The files, if there were any, are forgotten: auto reload stops.
    ///
    /// # Errors
    /// As [`from_toml`](Engine::from_toml); the last good policy stays.
    pub fn replace(&self, policy: &[u8]) -> Result<(), Error> {
        let policy = policy::load_bytes("policy", policy, &BuiltinsOnly)?;
        self.ended.fetch_max(self.begin(), Ordering::AcqRel);
        self.files.store(Arc::new(Files::default()));
        // Whatever is being read of the files counts no more.
        self.swap(policy, u64::MAX);
        Ok(())
    }

    /// 1 for the first policy, one more with each swap.
    pub fn generation(&self) -> u64 {
        self.current.load().generation
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn look_when_due(&self) {
        let interval = self.interval_ms.load(Ordering::Relaxed);
        if interval == 0 {
            return;
        }
        let now = self.now_ms();
        let due = self.due_ms.load(Ordering::Relaxed);
        if now < due {
            return;
        }
        let next = now + u64::from(interval);
        if self.due_ms.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.look();
        }
    }

    /// Looks at the stamps; reads the files when they changed and then were the same at two looks in a row, so that a
    /// half-written file is not loaded.
    fn look(&self) {
        let files = self.files.load_full();
        if files.path.is_none() {
            return;
        }
        let now: Vec<Stamp> = files.read.iter().map(|(path, _)| stamp(path)).collect();
        let same = files.read.iter().map(|(_, stamp)| stamp).eq(&now);
        if !same && files.seen.as_ref() == Some(&now) {
            // The error, if there is one, is kept for the diagnostics.
            let _ = self.reload();
            return;
        }
        let seen = (!same).then_some(now);
        let looked = Arc::new(Files { seen, last_look: Some(Instant::now()), ..(*files).clone() });
        // What another thread has read in the meantime is newer than what was seen here.
        self.files.compare_and_swap(&files, looked);
    }

    /// The decision table of one route as JSON.
    ///
    /// # Errors
    /// [`Status::ErrAudience`] when the policy does not define the request's audience.
    pub fn table(&self, request: &Request) -> Result<String, Error> {
        let snapshot = self.current.load();
        let table = specialise(&snapshot, &request.route)?;
        Ok(crate::table::print::to_json(&snapshot.policy, &table, &request.route))
    }

    /// Policy name, hash, generation, files, warnings, how old the policy and the last look are (milliseconds), and the error
    /// of the last reload, as one JSON object.
    pub fn diagnostics(&self) -> String {
        let snapshot = self.current.load_full();
        let files = self.files.load_full();
        let age = |instant: Instant| u64::try_from(instant.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut out = Vec::new();
        Json::new(&mut out).object(|json| {
            json.name("policy").string(&snapshot.policy.name);
            json.name("hash").string(&format!("{:016x}", snapshot.policy.hash));
            json.name("generation").number(snapshot.generation);
            json.name("loaded_ms_ago").number(age(snapshot.loaded_at));
            json.name("last_look_ms_ago");
            match files.last_look {
                Some(look) => json.number(age(look)),
                None => json.null(),
            }
            json.name("auto_reload_ms").number(self.interval_ms.load(Ordering::Relaxed).into());
            json.name("files").array(|json| {
                for file in &snapshot.policy.files {
                    json.string(&file.name);
                }
            });
            json.name("warnings").array(|json| write_diagnostics(&snapshot.policy.warnings, json));
            json.name("error");
            match &files.error {
                Some(error) => json.raw(&error.to_json()),
                None => json.null(),
            }
        });
        String::from_utf8_lossy(&out).into_owned()
    }
}
