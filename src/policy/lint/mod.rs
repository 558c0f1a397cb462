//! Lints: what loads, and is probably not what was meant.
//!
//! [`lint`] looks at the rules of a policy's own file; a policy that it extends is not its fault. Each lint has a code that
//! stays, a level, and a page `docs/lints/CODE.md`. What a lint claims is shown: `masked` by inclusion
//! ([`analyse`](crate::table::analyse)), an overlap by a result that was built and run; else it says `possible`.
//!
//! A comment `# mcp-select: allow MS001` on the line of a finding, or among the comments right above it, silences it there;
//! in the comments at the top of the file, everywhere.

mod lanes;
mod masked;
mod meta;
mod names;
mod outline;
mod overlap;
mod reach;
mod stable;

use super::diagnostic::{Also, Diagnostic, Fix, Level};
use super::rule::{Place, Rule, Setting};
use super::source::SourceFile;
use super::{Policy, PolicyError};
use crate::Engine;
use crate::table::columns::Columns;
use outline::Outline;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

/// One lint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lint {
    /// `MS001`
    pub code: &'static str,
    /// A word or two: `masked`.
    pub name: &'static str,
    pub level: Level,
    /// One line.
    pub summary: &'static str,
    /// What it finds, why that matters, an example and how it is mended: Markdown.
    pub page: &'static str,
}

macro_rules! lints {
    ($($constant:ident $code:literal $name:literal $level:ident $summary:literal)+) => {
        $(
            pub(crate) const $constant: &Lint = &Lint {
                code: $code,
                name: $name,
                level: Level::$level,
                summary: $summary,
                page: include_str!(concat!("../../../docs/lints/", $code, ".md")),
            };
        )+

        /// Every lint, by code.
        pub const LINTS: &[&Lint] = &[$($constant),+];
    };
}

lints! {
    MASKED "MS001" "masked" Warning "a rule never decides anything: stronger rules hold wherever it does"
    NEVER_HOLDS "MS002" "never-holds" Error "the conditions of a rule contradict each other"
    ALWAYS_HOLDS "MS003" "always-holds" Note "a condition holds for every result"
    OVERLAP "MS004" "overlap" Warning "two rules can both hold and want different things, and only their order in the file decides"
    DEFEATED "MS005" "section-defeats-rule" Warning "a server's section sets what a conditional rule for every server sets, so that the rule has no say there"
    NO_CONTENT "MS006" "order-without-content" Warning "an order has `structured` and no lane for results that carry none"
    UNREACHABLE_LANE "MS007" "unreachable-lane" Warning "a lane stands behind one that is usable whenever it is"
    BOTH "MS008" "both-for-model" Warning "the model gets text and structured value whether or not they say the same"
    ALLOW_ALL "MS009" "meta-allow-all" Warning "every key of `_meta` is shown to a reader"
    META_NOTHING "MS010" "meta-pattern-matches-nothing" Warning "a pattern of `meta.allow` can let nothing through"
    EXTENDS_NOTHING "MS011" "extends-adds-nothing" Warning "an entry of `extends` is extended by another one already"
    DOTTED_NAME "MS012" "dotted-name" Error "a name with dots stands in a header without quotes"
    NAMELESS "MS013" "nameless-rule" Note "a rule has no name"
    UNUSED_AUDIENCE "MS014" "unused-audience" Warning "an audience is defined and nothing is said about it"
    LIMIT_WITHOUT_TEXT "MS015" "limit-without-text" Warning "a limit is set where there is never text to cut"
    NOT_STABLE "MS016" "not-stable" Warning "selecting from a selected result gives another one"
    HIDES_ALL "MS017" "override-hides-all" Warning "an override without conditions hides every result of every server"
    CHANGES_NOTHING "MS018" "changes-nothing" Note "without this rule the same would be decided"
    COMES_BACK "MS019" "omitted-comes-back" Warning "what a projection leaves out comes back as the text that repeats it"
    TEST_OF_NO_RULE "MS020" "test-of-no-rule" Warning "a test expects a rule that is not there"
    PARTLY_MASKED "MS021" "partly-masked" Warning "a setting of a rule never counts: stronger rules set it wherever the rule holds"
    ALLOWS_NOTHING "MS022" "allows-nothing" Note "a comment silences a lint that finds nothing there"
}

/// The lint of this code or name.
pub fn find(word: &str) -> Option<&'static Lint> {
    LINTS.iter().copied().find(|lint| lint.code.eq_ignore_ascii_case(word) || lint.name == word)
}

/// More of one code nobody reads.
const MOST_OF_A_CODE: usize = 50;

/// What the lints find in a policy's own file, in file order.
pub fn lint(policy: &Policy) -> Vec<Diagnostic> {
    let Some(source) = policy.files.first() else { return Vec::new() };
    let root = toml::de::DeTable::parse_recoverable(&source.text).0;
    let mut lints = Lints {
        policy,
        source,
        outline: Outline::new(&source.text, root.get_ref()),
        columns: policy.audiences.iter().map(|audience| Columns::new(policy, audience)).collect(),
        engine: OnceCell::new(),
        dead: HashSet::new(),
        found: Vec::new(),
    };
    masked::look(&mut lints);
    overlap::look(&mut lints);
    reach::look(&mut lints);
    lanes::look(&mut lints);
    meta::look(&mut lints);
    names::look(&mut lints);
    stable::look(&mut lints);
    let found = lints.found;
    silence(source, found)
}

/// The findings in a policy that does not load: where a lint knows better what is wrong, it takes the place of the error.
pub fn lint_broken(error: &PolicyError) -> Vec<Diagnostic> {
    let mut diagnostics = error.diagnostics.clone();
    for source in &error.files {
        let (root, errors) = toml::de::DeTable::parse_recoverable(&source.text);
        if !errors.is_empty() {
            continue;
        }
        for found in names::dotted(source, root.get_ref()) {
            let is_same = |diagnostic: &Diagnostic| {
                diagnostic.code == "unknown-key"
                    && diagnostic.file == source.name
                    && found.span.start <= diagnostic.span.start
                    && diagnostic.span.start <= found.span.end
            };
            if let Some(place) = diagnostics.iter_mut().find(|diagnostic| is_same(diagnostic)) {
                *place = found.diagnostic(source);
            }
        }
    }
    diagnostics
}

/// What all lints look at.
struct Lints<'p, 't> {
    policy: &'p Policy,
    source: &'p SourceFile,
    outline: Outline<'t>,
    /// One for each audience.
    columns: Vec<Columns<'p>>,
    engine: OnceCell<Engine>,
    /// Rules that never decide anything, found out by `masked`: others need not speak of them.
    dead: HashSet<u32>,
    found: Vec<Found>,
}

/// A finding, before it is known whether a comment silences it.
struct Found {
    lint: &'static Lint,
    span: Range<usize>,
    /// The line of the rule that it is about: a comment there counts too.
    rule: Option<Place>,
    message: String,
    help: Option<String>,
    notes: Vec<String>,
    also: Option<Also>,
    fix: Option<Fix>,
}

impl Found {
    fn new(lint: &'static Lint, span: Range<usize>, message: impl Into<String>) -> Found {
        Found { lint, span, rule: None, message: message.into(), help: None, notes: Vec::new(), also: None, fix: None }
    }

    fn help(self, help: impl Into<String>) -> Found {
        Found { help: Some(help.into()), ..self }
    }

    fn note(mut self, note: impl Into<String>) -> Found {
        self.notes.push(note.into());
        self
    }

    fn fix(self, span: Range<usize>, text: impl Into<String>) -> Found {
        Found { fix: Some(Fix { span, text: text.into() }), ..self }
    }

    fn diagnostic(self, source: &SourceFile) -> Diagnostic {
        let mut diagnostic = Diagnostic::of_span(self.lint.code, self.lint.level, self.message, source, self.span);
        diagnostic.help = self.help;
        diagnostic.notes = self.notes;
        diagnostic.also = self.also;
        diagnostic.fix = self.fix;
        diagnostic
    }
}

impl<'p> Lints<'p, '_> {
    /// The rules of the policy's own file, with their numbers.
    fn own(&self) -> impl Iterator<Item = (u32, &'p Rule)> + use<'p> {
        (0u32..).zip(&self.policy.rules).filter(|(_, rule)| rule.place.file == 0)
    }

    fn is_full(&self, lint: &Lint) -> bool {
        self.found.iter().filter(|found| found.lint.code == lint.code).count() >= MOST_OF_A_CODE
    }

    /// About a rule as a whole.
    fn at_rule(&self, lint: &'static Lint, rule: &Rule, message: impl Into<String>) -> Found {
        let span = self.outline.header(rule.place);
        Found { rule: Some(rule.place), ..Found::new(lint, span, message) }
    }

    /// About one of a rule's settings.
    fn at_setting(&self, lint: &'static Lint, rule: &Rule, setting: Setting, message: impl Into<String>) -> Found {
        let span = self.outline.key(rule.place, setting.name()).unwrap_or_else(|| self.outline.header(rule.place));
        Found { rule: Some(rule.place), ..Found::new(lint, span, message) }
    }

    /// About one of a rule's conditions.
    fn at_condition(&self, lint: &'static Lint, rule: &Rule, condition: &str, message: impl Into<String>) -> Found {
        let path = format!("when.{}", condition.replace('"', ""));
        let span = self.outline.key(rule.place, &path).unwrap_or_else(|| self.outline.header(rule.place));
        Found { rule: Some(rule.place), ..Found::new(lint, span, message) }
    }

    fn add(&mut self, found: Found) {
        if !self.is_full(found.lint) {
            self.found.push(found);
        }
    }

    fn engine(&self) -> &Engine {
        self.engine.get_or_init(|| Engine::of_policy(self.policy.clone()))
    }

    /// Columns of the audiences that a rule speaks to.
    fn columns_of<'s>(&'s self, rule: &'s Rule) -> impl Iterator<Item = &'s Columns<'p>> {
        self.columns.iter().filter(move |columns| crate::table::distance(rule, &columns.audience.chain).is_some())
    }

    /// A rule in a message: its title and where it stands.
    fn called(&self, rule: &Rule) -> String {
        format!("{:?} ({})", rule.title(), self.policy.place(rule.place))
    }
}

// ---- comments that silence ----------------------------------------------------------------------------------

const COMMENT: &str = "# mcp-select: allow ";

/// A comment that silences lints.
struct Allow {
    code: String,
    span: Range<usize>,
    /// The line it stands on, from 1; 0: it speaks of the whole file.
    line: u32,
    /// It stands behind something, and speaks of its own line alone.
    trailing: bool,
    used: bool,
}

fn silence(source: &SourceFile, found: Vec<Found>) -> Vec<Diagnostic> {
    let (mut allows, comments) = allows(&source.text);
    let mut diagnostics: Vec<(Diagnostic, Option<Place>)> = found
        .into_iter()
        .map(|found| (found.rule, found))
        .map(|(rule, found)| (found.diagnostic(source), rule))
        .collect();
    diagnostics.sort_by_key(|(diagnostic, _)| (diagnostic.span.start, diagnostic.code));
    diagnostics.retain(|(diagnostic, rule)| {
        let lines = [Some(diagnostic.line), rule.map(|place| place.line)];
        let mut is_silenced = false;
        for allow in allows.iter_mut().filter(|allow| speaks_of(&allow.code, diagnostic.code)) {
            let is_meant = allow.line == 0
                || lines.into_iter().flatten().any(|line| {
                    // The comment's own line, or nothing but comments between it and the line.
                    allow.line == line
                        || (!allow.trailing
                            && allow.line < line
                            && (allow.line + 1..line).all(|between| comments.contains(&between)))
                });
            allow.used |= is_meant;
            is_silenced |= is_meant;
        }
        !is_silenced
    });
    let mut diagnostics: Vec<Diagnostic> = diagnostics.into_iter().map(|(diagnostic, _)| diagnostic).collect();
    let is_wanted = !allows.iter().any(|allow| allow.line == 0 && speaks_of(&allow.code, ALLOWS_NOTHING.code));
    for allow in allows.iter().filter(|allow| !allow.used && is_wanted).take(MOST_OF_A_CODE) {
        let message = match find(&allow.code) {
            Some(lint) => format!("{} finds nothing here", lint.code),
            None => format!("no lint is called {:?}", allow.code),
        };
        let found = Found::new(ALLOWS_NOTHING, allow.span.clone(), message).help("take the comment out");
        diagnostics.push(found.diagnostic(source));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    diagnostics
}

fn speaks_of(word: &str, code: &str) -> bool {
    find(word).is_some_and(|lint| lint.code == code)
}

/// The comments that silence, and the lines that hold a comment alone.
fn allows(text: &str) -> (Vec<Allow>, HashSet<u32>) {
    let (mut allows, mut comments) = (Vec::new(), HashSet::new());
    let (mut offset, mut at_top) = (0, true);
    for (line, number) in text.split_inclusive('\n').zip(1u32..) {
        let trimmed = line.trim_start_matches('\u{FEFF}').trim();
        let is_comment = trimmed.starts_with('#');
        if is_comment {
            comments.insert(number);
        }
        at_top &= is_comment || trimmed.is_empty();
        if let Some(at) = line.find(COMMENT) {
            let start = at + COMMENT.len();
            let words = line.get(start..).unwrap_or_default();
            let end = words.find('#').map_or(words.len(), |end| end);
            let mut from = 0;
            for word in words.get(..end).unwrap_or_default().split([',', ' ', '\t', '\r', '\n']) {
                let place = from;
                from += word.len() + 1;
                if word.is_empty() {
                    continue;
                }
                let span = offset + start + place..offset + start + place + word.len();
                let line = if at_top { 0 } else { number };
                allows.push(Allow { code: word.to_owned(), span, line, trailing: !is_comment, used: false });
                // Words behind the codes say why.
                if find(word).is_none() {
                    if allows.len() > 1 && place > 0 {
                        allows.pop();
                    }
                    break;
                }
            }
        }
        offset += line.len();
    }
    (allows, comments)
}
