//! Finding the files of a policy and bringing them together: `extends`, replaced rules, complete chains.

use super::builtin::{BUILTINS, builtin};
use super::diagnostic::{Diagnostic, Level, MOST_SHOWN, Problem};
use super::read::{self, AudienceSection, FileContent, Like, Reference};
use super::rule::{Audiences, Layer, Rule, Setting};
use super::source::{Lines, SourceFile};
use super::suggest;
use super::words::{quoted, show};
use super::{
    Audience, DEFAULT, InputLimits, MAX_CONDITIONAL_RULES, MAX_SERVERS, Policy, PolicyError, PolicyErrorKind,
    resolve_alias,
};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// At most so many files make one policy.
const MAX_FILES: usize = 64;

/// At most so many bytes are read from one file.
const MAX_FILE_BYTES: usize = 64 << 20;

// ---- where files come from ----------------------------------------------------------------------------------

/// How the files that `extends` names are found. Built-ins are always there.
pub trait Resolve {
    /// The file called `name` by the file at `from` (`None`: by bytes or a built-in).
    fn resolve(&self, from: Option<&Path>, name: &str) -> Result<Resolved, Unresolved>;
}

/// A file that was found.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The path it was read from.
    pub path: PathBuf,
    /// The same for two paths that lead to the same file.
    pub identity: PathBuf,
    pub bytes: Vec<u8>,
}

/// A file that was not found.
#[derive(Clone, Debug)]
pub struct Unresolved {
    /// The path that was tried.
    pub path: Option<PathBuf>,
    /// Why, in a few words.
    pub reason: String,
}

/// For policies from bytes: no file has a place from which a relative path could lead.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinsOnly;

impl Resolve for BuiltinsOnly {
    fn resolve(&self, _from: Option<&Path>, _name: &str) -> Result<Resolved, Unresolved> {
        Err(Unresolved { path: None, reason: "only built-in policies can be extended here".to_string() })
    }
}

/// Reads files, relative to the file that names them.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Resolve for FileSystem {
    fn resolve(&self, from: Option<&Path>, name: &str) -> Result<Resolved, Unresolved> {
        let path = from.and_then(Path::parent).map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
        let identity = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        match read_file(&path) {
            Ok(bytes) => Ok(Resolved { path, identity, bytes }),
            Err(reason) => Err(Unresolved { path: Some(path), reason }),
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX);
    let read = std::fs::File::open(path).and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err("there is no such file".to_string()),
        Err(error) => Err(error.to_string().to_lowercase()),
    }
}

// ---- loading ----------------------------------------------------------------------------------------------

/// A policy from bytes; `name` is what messages call them.
pub fn load_bytes(name: &str, text: &[u8], resolver: &dyn Resolve) -> Result<Policy, PolicyError> {
    Loader::new(resolver).load(name, None, text)
}

/// A policy from a file and the files it extends.
pub fn load_file(path: &Path) -> Result<Policy, PolicyError> {
    let name = path.display().to_string();
    match read_file(path) {
        Ok(bytes) => Loader::new(&FileSystem).load(&name, Some(path), &bytes),
        Err(reason) => Err(PolicyError {
            kind: PolicyErrorKind::File,
            diagnostics: vec![Diagnostic::of_file(
                "unreadable",
                &name,
                format!("cannot read the policy: {reason}"),
                None,
            )],
            files: Vec::new(),
            paths: vec![path.to_path_buf()],
        }),
    }
}

/// A built-in policy.
pub fn load_builtin(name: &str) -> Result<Policy, PolicyError> {
    match builtin(name) {
        Some(text) => Loader::new(&BuiltinsOnly).load_as(name, None, Identity::Builtin(name.into()), text.as_bytes()),
        None => Err(PolicyError {
            kind: PolicyErrorKind::NoBuiltin,
            diagnostics: vec![Diagnostic::of_file(
                "no-builtin",
                name,
                format!("no built-in policy is called {}", quoted(name)),
                Some(suggest::help(name, &builtin_names(), quoted)),
            )],
            files: Vec::new(),
            paths: Vec::new(),
        }),
    }
}

fn builtin_names() -> Vec<&'static str> {
    BUILTINS.iter().map(|(name, _)| *name).collect()
}

/// What makes two mentions the same file.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Identity {
    Bytes,
    Builtin(Box<str>),
    File(PathBuf),
}

struct Loaded {
    source: SourceFile,
    lines: Lines,
    content: FileContent,
    /// Found out while walking along `extends`.
    is_done: bool,
}

struct Loader<'r> {
    resolver: &'r dyn Resolve,
    files: Vec<Loaded>,
    known: HashMap<Identity, usize>,
    paths: Vec<PathBuf>,
    /// Something that `extends` names could not be had, so nothing can be said about all files together.
    is_broken: bool,
}

impl<'r> Loader<'r> {
    fn new(resolver: &'r dyn Resolve) -> Self {
        Loader { resolver, files: Vec::new(), known: HashMap::new(), paths: Vec::new(), is_broken: false }
    }

    fn load(self, name: &str, path: Option<&Path>, bytes: &[u8]) -> Result<Policy, PolicyError> {
        let identity = match path {
            Some(path) => Identity::File(std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())),
            None => Identity::Bytes,
        };
        self.load_as(name, path, identity, bytes)
    }

    fn load_as(
        mut self,
        name: &str,
        path: Option<&Path>,
        identity: Identity,
        bytes: &[u8],
    ) -> Result<Policy, PolicyError> {
        self.paths.extend(path.map(Path::to_path_buf));
        self.open(name, path.map(Path::to_path_buf), identity, bytes);
        let order = self.follow_extends();
        self.check_together(&order);
        if self.files.iter().any(|file| file.content.problems.has_errors() || file.content.is_empty) {
            return Err(self.into_error());
        }
        Ok(self.into_policy(name, &order))
    }

    /// Reads a file that is not known yet, and gives its index.
    fn open(&mut self, name: &str, path: Option<PathBuf>, identity: Identity, bytes: &[u8]) -> usize {
        let (text, refused) = text_of(bytes);
        let lines = Lines::new(text);
        let content = match refused {
            None => read::read(text, &lines),
            Some(problem) => {
                let mut content = FileContent::default();
                content.problems.add(problem);
                content
            }
        };
        self.is_broken |= !content.is_whole;
        let source = SourceFile { name: name.into(), path, text: text.into() };
        self.files.push(Loaded { source, lines, content, is_done: false });
        self.known.insert(identity, self.files.len() - 1);
        self.files.len() - 1
    }

    /// Walks along `extends`. A file that comes twice counts where it comes last, so this is the order in which
    /// files are done, turned round: a file is done when all that it extends is done.
    fn follow_extends(&mut self) -> Vec<usize> {
        let mut done = Vec::new();
        // The way from the first file to this one, each with the number of entries that were followed.
        let mut way: Vec<(usize, usize)> = vec![(0, 0)];
        while let Some((file, followed)) = way.last_mut() {
            let (file, entry) = (*file, *followed);
            *followed += 1;
            let Some(content) = self.files.get(file).map(|file| &file.content) else { break };
            let reference = match &content.extends {
                Some(references) => {
                    references.get(entry).map(|Reference { name, span }| (name.clone(), Some(span.clone())))
                }
                None => (entry == 0 && content.is_whole).then(|| (DEFAULT.into(), None)),
            };
            let Some((name, span)) = reference else {
                if let Some(file) = self.files.get_mut(file) {
                    file.is_done = true;
                }
                done.push(file);
                way.pop();
                continue;
            };
            let span = span.unwrap_or(0..0);
            match self.find(file, &name) {
                Ok((found, _)) if self.files.get(found).is_some_and(|found| found.is_done) => {}
                Ok((found, false)) => {
                    let problem = self.cycle(&way, found, span);
                    self.report(file, problem);
                }
                Ok((found, true)) => way.push((found, 0)),
                Err(problem) => self.report(file, Problem { span, ..*problem }),
            }
        }
        done.reverse();
        done
    }

    fn report(&mut self, file: usize, problem: Problem) {
        self.is_broken = true;
        if let Some(file) = self.files.get_mut(file) {
            file.content.problems.add(problem);
        }
    }

    /// The file that `from` calls `name`, and whether it was opened just now.
    fn find(&mut self, from: usize, name: &str) -> Result<(usize, bool), Box<Problem>> {
        let missing = |message: String| Problem::error("extends-missing", 0..0, message);
        if self.files.len() >= MAX_FILES {
            return Err(Box::new(Problem::error(
                "too-many",
                0..0,
                format!("more than {MAX_FILES} files make this policy"),
            )));
        }
        if !is_path(name) {
            let identity = Identity::Builtin(name.into());
            if let Some(found) = self.known.get(&identity) {
                return Ok((*found, false));
            }
            let Some(text) = builtin(name) else {
                let problem = missing(format!("no built-in policy is called {}", show(name)));
                let help = match suggest::nearest(name, builtin_names().into_iter()) {
                    Some(near) => format!("did you mean {}?", quoted(near)),
                    None => "a path ends in .toml or contains a /".to_string(),
                };
                return Err(Box::new(problem.help(help)));
            };
            return Ok((self.open(name, None, identity, text.as_bytes()), true));
        }
        let from = self.files.get(from).and_then(|file| file.source.path.clone());
        match self.resolver.resolve(from.as_deref(), name) {
            Ok(Resolved { path, identity, bytes }) => {
                if !self.paths.contains(&path) {
                    self.paths.push(path.clone());
                }
                let identity = Identity::File(identity);
                if let Some(found) = self.known.get(&identity) {
                    return Ok((*found, false));
                }
                Ok((self.open(&path.display().to_string(), Some(path), identity, &bytes), true))
            }
            Err(Unresolved { path, reason }) => {
                let shown = path.as_ref().map_or_else(|| name.to_string(), |path| path.display().to_string());
                self.paths.extend(path);
                Err(Box::new(missing(format!("cannot extend {}: {reason}", show(&shown)))))
            }
        }
    }

    fn cycle(&self, way: &[(usize, usize)], found: usize, span: std::ops::Range<usize>) -> Problem {
        let circle = way.iter().map(|(file, _)| *file).skip_while(|file| *file != found).chain([found]);
        let names: Vec<&str> = circle.filter_map(|file| self.files.get(file)).map(|file| &*file.source.name).collect();
        Problem::error("extends-cycle", span, format!("`extends` goes round in a circle: {}", names.join(" -> ")))
            .help("take one of these `extends` out")
    }

    fn into_error(self) -> PolicyError {
        let mut diagnostics = Vec::new();
        let mut files = Vec::new();
        for Loaded { source, lines, content, .. } in self.files {
            if content.is_empty {
                let help = format!("to mean the default, write `version = 1` and `extends = {}`", quoted(DEFAULT));
                diagnostics.push(Diagnostic::of_file(
                    "empty",
                    &source.name,
                    "the policy is empty".to_string(),
                    Some(help),
                ));
            }
            diagnostics.extend(content.problems.into_diagnostics(&source, &lines));
            files.push(source);
        }
        let first = diagnostics.iter().find(|diagnostic| diagnostic.level == Level::Error);
        let kind = match first.map(|diagnostic| diagnostic.code) {
            Some("empty") => PolicyErrorKind::Empty,
            Some("extends-missing" | "extends-cycle" | "unreadable") => PolicyErrorKind::File,
            _ => PolicyErrorKind::Invalid,
        };
        PolicyError { kind, diagnostics, files, paths: self.paths }
    }
}

/// A name that ends in `.toml` or contains `/` is a path, everything else a built-in.
fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains('/')
}

/// The bytes as text, as far as they are text, and why not further.
fn text_of(bytes: &[u8]) -> (&str, Option<Problem>) {
    if bytes.len() > MAX_FILE_BYTES {
        return (
            "",
            Some(Problem::error("too-many", 0..0, format!("a policy file has at most {MAX_FILE_BYTES} bytes"))),
        );
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = error.valid_up_to();
            let text = bytes.get(..valid).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
            let byte = bytes.get(valid).copied().unwrap_or_default();
            let message = format!("byte 0x{byte:02X} at offset {valid} is no UTF-8");
            (text, Some(Problem::error("not-utf-8", valid..valid, message).help("save the file as UTF-8")))
        }
    }
}

// ---- all files together -----------------------------------------------------------------------------------

impl Loader<'_> {
    fn check_together(&mut self, order: &[usize]) {
        if self.is_broken {
            return;
        }
        self.check_sizes(order);
        self.check_names(order);
        let is_well = !self.files.iter().any(|file| file.content.problems.has_errors());
        let sections = self.sections(order);
        self.check_like(order, &sections);
        if is_well && !self.files.iter().any(|file| file.content.problems.has_errors()) {
            self.check_chains(order, &sections);
        }
        self.drop_replaced(order);
    }

    fn check_sizes(&mut self, order: &[usize]) {
        let count = |count: fn(&FileContent) -> usize| -> usize {
            order.iter().filter_map(|file| self.files.get(*file)).map(|file| count(&file.content)).sum()
        };
        let conditional = count(|content| content.rules.iter().filter(|rule| !rule.when.is_empty()).count());
        let servers = count(|content| content.servers);
        if conditional > MAX_CONDITIONAL_RULES {
            let message = format!("{conditional} rules have conditions; at most {MAX_CONDITIONAL_RULES} can");
            self.report(0, Problem::error("too-many", 0..0, message));
        }
        if servers > MAX_SERVERS {
            let message = format!("{servers} servers have a section; at most {MAX_SERVERS} can");
            self.report(0, Problem::error("too-many", 0..0, message));
        }
    }

    /// The audiences that rules speak of have a section somewhere.
    fn check_names(&mut self, order: &[usize]) {
        let mut defined: HashSet<Box<str>> = HashSet::new();
        for file in order.iter().filter_map(|file| self.files.get(*file)) {
            defined.extend(file.content.audiences.iter().map(|audience| audience.name.clone()));
        }
        let mut names: Vec<&str> = defined.iter().map(|name| &**name).collect();
        names.sort_unstable();
        for file in &mut self.files {
            let content = &mut file.content;
            for (name, span) in &content.spoken_of {
                if !defined.contains(name) {
                    content.problems.add_with(|| undefined(name, span.clone(), &names));
                }
            }
        }
    }

    /// For each audience the files with a section of it, the strongest first, with the section's index.
    fn sections(&self, order: &[usize]) -> Sections {
        let mut sections = Sections::default();
        for file in order {
            let Some(content) = self.files.get(*file).map(|file| &file.content) else { continue };
            for (index, audience) in content.audiences.iter().enumerate() {
                sections.0.entry(audience.name.clone()).or_default().push((*file, index));
            }
        }
        sections
    }

    fn section(&self, (file, index): (usize, usize)) -> Option<&AudienceSection> {
        self.files.get(file)?.content.audiences.get(index)
    }

    /// What an audience is like: the strongest section that says it.
    fn like(&self, sections: &Sections, audience: &str) -> Option<(usize, &Like)> {
        let places = sections.0.get(audience)?;
        places.iter().find_map(|place| Some((place.0, self.section(*place)?.like.as_ref()?)))
    }

    /// Itself, what it is like, and so on; ends where it would go round.
    fn chain(&self, sections: &Sections, audience: &str) -> Vec<Box<str>> {
        let mut chain: Vec<Box<str>> = vec![audience.into()];
        let mut seen: HashSet<Box<str>> = chain.iter().cloned().collect();
        let mut last = audience;
        while let Some((_, Like { name: like, .. })) = self.like(sections, last) {
            if !seen.insert(like.clone()) {
                break;
            }
            chain.push(like.clone());
            last = like;
        }
        chain
    }

    fn check_like(&mut self, order: &[usize], sections: &Sections) {
        let mut problems = Vec::new();
        let mut names: Vec<&str> = sections.0.keys().map(|name| &**name).collect();
        names.sort_unstable();
        // Audiences whose chain is known to end; each is walked once.
        let mut ends: HashSet<Box<str>> = HashSet::new();
        for name in self.audience_names(order) {
            if problems.len() >= MOST_SHOWN {
                break;
            }
            let mut chain: Vec<Box<str>> = vec![name.clone()];
            let mut seen: HashSet<Box<str>> = chain.iter().cloned().collect();
            let mut last = name;
            while !ends.contains(&last) {
                let Some((file, Like { name: like, span })) = self.like(sections, &last) else { break };
                if !sections.0.contains_key(like) {
                    problems.push((file, undefined(like, span.clone(), &names)));
                    break;
                }
                if !seen.insert(like.clone()) {
                    let circle = chain.iter().skip_while(|name| *name != like).chain([like]);
                    let circle: Vec<&str> = circle.map(|name| &**name).collect();
                    let message = format!("`like` goes round in a circle: {}", circle.join(" -> "));
                    problems.push((file, Problem::error("like-cycle", span.clone(), message)));
                    break;
                }
                chain.push(like.clone());
                last = like.clone();
            }
            ends.extend(chain);
        }
        for (file, problem) in problems.into_iter().take(MOST_SHOWN) {
            self.report(file, problem);
        }
    }

    /// Every chain must set every setting, so that a decision is never guessed.
    fn check_chains(&mut self, order: &[usize], sections: &Sections) {
        let mut set: HashMap<Box<str>, u64> = HashMap::new();
        for rule in order.iter().filter_map(|file| self.files.get(*file)).flat_map(|file| &file.content.rules) {
            if let (Layer::Audience, Audiences::Named(names)) = (rule.layer, &rule.audiences) {
                let bits = rule.settings.iter().fold(0, |bits, (setting, _)| bits | 1 << setting.index());
                for name in names {
                    *set.entry(name.clone()).or_default() |= bits;
                }
            }
        }
        let mut problems = Vec::new();
        for name in self.audience_names(order) {
            let chain = self.chain(sections, &name);
            let bits = chain.iter().filter_map(|name| set.get(name)).fold(0, |all, bits| all | bits);
            let missing: Vec<String> = Setting::ALL
                .iter()
                .filter(|(setting, _)| bits & 1 << setting.index() == 0)
                .map(|(_, name)| format!("`{name}`"))
                .collect();
            let place = sections.0.get(&name).and_then(|places| places.first());
            if let (false, Some(place)) = (missing.is_empty(), place) {
                let span = self.section(*place).map_or(0..0, |section| section.span.clone());
                problems.push((place.0, incomplete(&name, &missing, span)));
            }
        }
        for (file, problem) in problems.into_iter().take(MOST_SHOWN) {
            self.report(file, problem);
        }
    }

    /// Those of the weakest file first: the usual ones before those that were added.
    fn audience_names(&self, order: &[usize]) -> Vec<Box<str>> {
        let mut seen = HashSet::new();
        let files = order.iter().rev().filter_map(|file| self.files.get(*file));
        let names = files.flat_map(|file| file.content.audiences.iter().map(|audience| &audience.name));
        names.filter(|name| seen.insert(&***name)).cloned().collect()
    }

    /// A rule takes the place of those of the same name in weaker files.
    fn drop_replaced(&mut self, order: &[usize]) {
        let mut taken: HashSet<Box<str>> = HashSet::new();
        let mut unused: HashMap<Box<str>, (usize, std::ops::Range<usize>)> = HashMap::new();
        let mut names: Vec<Box<str>> = Vec::new();
        for index in order {
            let Some(file) = self.files.get_mut(*index) else { continue };
            let content = &mut file.content;
            let named: Vec<Box<str>> = content.rules.iter().filter_map(|rule| rule.name.clone()).collect();
            for name in named.iter().chain(content.disabled.iter().map(|(name, _)| name)) {
                unused.remove(name);
            }
            content.rules.retain(|rule| rule.name.as_ref().is_none_or(|name| !taken.contains(name)));
            for (name, span) in &content.disabled {
                if !taken.contains(name) {
                    unused.insert(name.clone(), (*index, span.clone()));
                }
            }
            taken.extend(named.iter().cloned().chain(content.disabled.iter().map(|(name, _)| name.clone())));
            names.extend(named);
        }
        // As many as are shown; a look for a name that is near is not free.
        let mut unused: Vec<_> =
            unused.into_iter().map(|(name, (file, span))| (file, span.start, span, name)).collect();
        unused.sort_unstable_by_key(|(file, start, ..)| (*file, *start));
        for (index, _, span, name) in unused.into_iter().take(MOST_SHOWN) {
            let near = suggest::nearest(&name, names.iter().map(|name| &**name).take(MAX_CONDITIONAL_RULES));
            let message = format!("no extended rule is called {}, so nothing is taken away", show(&name));
            let problem = Problem::warning("disables-nothing", span, message);
            let problem = match near {
                Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
                None => problem,
            };
            if let Some(file) = self.files.get_mut(index) {
                file.content.problems.add(problem);
            }
        }
    }

    fn into_policy(mut self, name: &str, order: &[usize]) -> Policy {
        let sections = self.sections(order);
        let audiences = self.audience_names(order).into_iter().map(|name| {
            let like = self.like(&sections, &name).map(|(_, like)| like.name.clone());
            let chain = self.chain(&sections, &name);
            Audience { name, like, chain }
        });
        let audiences: Vec<Audience> = audiences.collect();
        let tests = self.files.first_mut().map(|file| std::mem::take(&mut file.content.tests)).unwrap_or_default();

        let mut loaded: Vec<Option<Loaded>> = self.files.into_iter().map(Some).collect();
        let mut policy = Policy {
            name: name.into(),
            files: Vec::with_capacity(order.len()),
            rules: Vec::new(),
            audiences,
            input: InputLimits::ENGINE,
            tests,
            warnings: Vec::new(),
            hash: FNV_OFFSET,
        };
        for index in order {
            let Some(Loaded { source, lines, content, .. }) = loaded.get_mut(*index).and_then(Option::take) else {
                continue;
            };
            let file = u16::try_from(policy.files.len()).unwrap_or(u16::MAX);
            policy.rules.reserve_exact(content.rules.len());
            policy.rules.extend(content.rules.into_iter().map(|mut rule: Rule| {
                rule.place.file = file;
                rule
            }));
            let input = &mut policy.input;
            input.max_bytes = input.max_bytes.min(content.max_bytes.unwrap_or(u32::MAX));
            input.max_depth = input.max_depth.min(content.max_depth.unwrap_or(u32::MAX));
            policy.warnings.extend(content.problems.into_diagnostics(&source, &lines));
            // The length keeps two files from being one.
            policy.hash = fnv(policy.hash, &u64::try_from(source.text.len()).unwrap_or_default().to_le_bytes());
            policy.hash = fnv(policy.hash, source.text.as_bytes());
            policy.files.push(source);
        }
        policy
    }
}

#[derive(Default)]
struct Sections(HashMap<Box<str>, Vec<(usize, usize)>>);

fn undefined(name: &str, span: std::ops::Range<usize>, defined: &[&str]) -> Problem {
    const ALIASES: [&str; 2] = ["assistant", "programmatic"];
    let known: Vec<&str> = defined
        .iter()
        .copied()
        .chain(ALIASES.into_iter().filter(|alias| defined.contains(&resolve_alias(alias))))
        .collect();
    let help = match suggest::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!(
            "add a section `[audience.{}]` with `like = \"model\"`, or use one of {}",
            super::words::key(name),
            defined.iter().take(10).map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
        ),
    };
    Problem::error("undefined-audience", span, format!("no audience is called {}", show(name))).help(help)
}

fn incomplete(audience: &str, missing: &[String], span: std::ops::Range<usize>) -> Problem {
    const MOST: usize = 8;
    let mut list = missing.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = missing.len().checked_sub(MOST).filter(|more| *more > 0) {
        list.push_str(&format!(" and {more} more"));
    }
    Problem::error("incomplete-chain", span, format!("the audience {} has no value for {list}", quoted(audience)))
        .help("set them in its section, or extend a policy or name an audience with `like` that sets them")
}

/// FNV-1a, 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>).
const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;

fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}
