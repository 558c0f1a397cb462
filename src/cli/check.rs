//! `check`: what is wrong with policies: errors, and lints.

use crate::style::one_line;
use crate::{Done, Stop, policy};
use clap::ValueEnum;
use mcp_select::policy::lint::{self, LINTS, Lint};
use mcp_select::policy::{Diagnostic, Fix, Level, SourceFile, load_builtin, load_file};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mcp-select check policy.toml
  mcp-select check --deny warnings policies/
  mcp-select check --explain MS001

A comment `# mcp-select: allow MS001` on the line of a finding, or above it, silences it there; at the top of the file, everywhere.

Exit status: 0 nothing at level error, 1 something, 2 wrong usage.")]
pub struct Args {
    /// Policy files, folders of them (all *.toml but *.test.toml), or names of built-ins
    #[arg(required_unless_present_any = ["list", "explain"], value_name = "POLICY")]
    policies: Vec<String>,
    /// Make a lint an error, by code or name; `warnings`: all warnings (may be repeated)
    #[arg(long, value_name = "LINT")]
    deny: Vec<String>,
    /// Switch a lint off, by code or name (may be repeated)
    #[arg(long, value_name = "LINT")]
    allow: Vec<String>,
    /// Mend what can be mended without altering anything else
    #[arg(long)]
    fix: bool,
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    format: CheckFormat,
    /// List the lints
    #[arg(long)]
    list: bool,
    /// Print the page of a lint
    #[arg(long, value_name = "LINT")]
    explain: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    Human,
    Json,
    /// For code scanning: SARIF 2.1.0
    Sarif,
}

/// A finding and the texts that it can speak of.
type Finding = (Diagnostic, std::rc::Rc<Vec<SourceFile>>);

pub fn run(args: &Args) -> Done {
    let mut out = std::io::stdout().lock();
    if let Some(word) = &args.explain {
        write!(out, "{}", known(word)?.page)?;
        return Ok(());
    }
    if args.list {
        for lint in LINTS {
            writeln!(out, "{}  {:<8} {:<28} {}", lint.code, lint.level.name(), lint.name, lint.summary)?;
        }
        return Ok(());
    }
    let denied: Vec<&str> = args
        .deny
        .iter()
        .filter(|word| *word != "warnings")
        .map(|word| known(word).map(|lint| lint.code))
        .collect::<Result<_, _>>()?;
    let allowed: Vec<&str> =
        args.allow.iter().map(|word| known(word).map(|lint| lint.code)).collect::<Result<_, _>>()?;
    let all_warnings = args.deny.iter().any(|word| word == "warnings");

    let policies = policies(&args.policies)?;
    if args.fix {
        let mended = policies.iter().map(|name| mend(name, &allowed)).sum::<Result<usize, Stop>>()?;
        eprintln!("{}", plural(mended, "change"));
    }
    let mut findings: Vec<Finding> = Vec::new();
    for name in &policies {
        let (diagnostics, files) = look(name);
        let files = std::rc::Rc::new(files);
        for mut diagnostic in diagnostics.into_iter().filter(|diagnostic| !allowed.contains(&diagnostic.code)) {
            let is_denied = denied.contains(&diagnostic.code) || (all_warnings && diagnostic.level == Level::Warning);
            if is_denied {
                diagnostic.level = Level::Error;
            }
            findings.push((diagnostic, std::rc::Rc::clone(&files)));
        }
    }
    match args.format {
        CheckFormat::Human => {
            let terminal = out.is_terminal();
            for (diagnostic, files) in &findings {
                writeln!(out, "{}\n", policy::render(std::slice::from_ref(diagnostic), files, terminal))?;
            }
        }
        CheckFormat::Json => {
            let all: Vec<Value> = findings.iter().map(|(diagnostic, _)| as_json(diagnostic)).collect();
            writeln!(out, "{}", Value::Array(all))?;
        }
        CheckFormat::Sarif => writeln!(out, "{}", sarif(&findings))?,
    }
    let count = |level: Level| findings.iter().filter(|(diagnostic, _)| diagnostic.level == level).count();
    let (errors, warnings, notes) = (count(Level::Error), count(Level::Warning), count(Level::Note));
    let policies = match policies.len() {
        1 => "1 policy".to_owned(),
        count => format!("{count} policies"),
    };
    let mut summary = format!("{policies}: {}, {}", plural(errors, "error"), plural(warnings, "warning"));
    if notes > 0 {
        summary.push_str(&format!(", {}", plural(notes, "note")));
    }
    if errors > 0 {
        return Err(Stop::No(summary));
    }
    eprintln!("{summary}");
    Ok(())
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn known(word: &str) -> Result<&'static Lint, Stop> {
    lint::find(word).ok_or_else(|| {
        Stop::Usage(format!("error: no lint is called {}; see `mcp-select check --list`", one_line(word)))
    })
}

/// The names given, folders replaced by the policies in them.
fn policies(names: &[String]) -> Result<Vec<String>, Stop> {
    let mut policies = Vec::new();
    for name in names {
        if !Path::new(name).is_dir() {
            policies.push(name.clone());
            continue;
        }
        let unreadable = |error: std::io::Error| crate::input::unreadable(name, &error);
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(name).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let file = path.to_string_lossy();
            if file.ends_with(".toml") && !file.ends_with(".test.toml") {
                files.push(path);
            }
        }
        files.sort();
        if files.is_empty() {
            return Err(Stop::Usage(format!("error: there is no policy in {name}")));
        }
        policies.extend(files.into_iter().map(|file| file.display().to_string()));
    }
    Ok(policies)
}

/// All that is found in one policy, and its texts.
fn look(name: &str) -> (Vec<Diagnostic>, Vec<SourceFile>) {
    let loaded = if policy::is_file(name) { load_file(Path::new(name)) } else { load_builtin(name) };
    match loaded {
        Ok(policy) => {
            let mut diagnostics = policy.warnings.clone();
            diagnostics.extend(lint::lint(&policy));
            (diagnostics, policy.files)
        }
        Err(error) => (lint::lint_broken(&error), error.files),
    }
}

// ---- mending --------------------------------------------------------------------------------------------------

/// One change may bring up the next one, but not for ever.
const MOST_ROUNDS: usize = 100;

/// Mends a policy file; how many changes that took.
fn mend(name: &str, allowed: &[&str]) -> Result<usize, Stop> {
    if !policy::is_file(name) {
        return Ok(0);
    }
    let mut changes = 0;
    for _ in 0..MOST_ROUNDS {
        let (diagnostics, files) = look(name);
        let Some(source) = files.first().filter(|source| source.path.is_some()) else { break };
        let own = diagnostics.iter().filter(|d| d.file == source.name && !allowed.contains(&d.code));
        let mut fixes: Vec<&Fix> = own.filter_map(|diagnostic| diagnostic.fix.as_ref()).collect();
        fixes.sort_by_key(|fix| fix.span.start);
        fixes.dedup_by(|next, before| next.span.start < before.span.end);
        if fixes.is_empty() {
            break;
        }
        let mut text = source.text.to_string();
        for fix in fixes.iter().rev() {
            text.replace_range(fix.span.clone(), &fix.text);
        }
        write_whole(Path::new(name), &source.text, &text)?;
        changes += fixes.len();
    }
    Ok(changes)
}

/// Replaces a file as a whole: a reader sees the old one or the new one. A file that changed meanwhile is left alone.
fn write_whole(path: &Path, before: &str, text: &str) -> Done {
    let failed = |error: std::io::Error| Stop::Usage(format!("error: cannot write {}: {error}", path.display()));
    // What a symbolic link leads to is replaced, not the link.
    let path = std::fs::canonicalize(path).map_err(failed)?;
    let beside = path.with_extension(format!("toml.{}.tmp", std::process::id()));
    let permissions = std::fs::metadata(&path).map_err(failed)?.permissions();
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create_new(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions)?;
        file.sync_all()?;
        if std::fs::read(&path)? != before.as_bytes() {
            return Err(std::io::Error::other("it was changed meanwhile"));
        }
        std::fs::rename(&beside, &path)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        failed(error)
    })
}

// ---- for programs ---------------------------------------------------------------------------------------------

fn as_json(diagnostic: &Diagnostic) -> Value {
    json!({
        "code": diagnostic.code,
        "level": diagnostic.level.name(),
        "message": diagnostic.message,
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "offset": diagnostic.span.start,
        "length": diagnostic.span.len(),
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "fix": diagnostic.fix.as_ref().map(|fix| json!({
            "offset": fix.span.start, "length": fix.span.len(), "text": fix.text,
        })),
    })
}

/// SARIF 2.1.0 (OASIS). Columns of it are in UTF-16 code units unless said: `unicodeCodePoints` is said.
fn sarif(findings: &[Finding]) -> Value {
    let level = |level: Level| match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let rules: Vec<Value> = LINTS
        .iter()
        .map(|lint| {
            json!({
                "id": lint.code,
                "name": lint.name,
                "shortDescription": { "text": lint.summary },
                "help": { "text": lint.page, "markdown": lint.page },
                "defaultConfiguration": { "level": level(lint.level) },
            })
        })
        .collect();
    let results: Vec<Value> = findings
        .iter()
        .map(|(diagnostic, files)| {
            let mut text = diagnostic.message.clone();
            for note in &diagnostic.notes {
                text.push_str(&format!("\n{note}"));
            }
            if let Some(help) = &diagnostic.help {
                text.push_str(&format!("\nhelp: {help}"));
            }
            let mut location = json!({ "artifactLocation": { "uri": uri(&diagnostic.file) } });
            if diagnostic.line > 0 {
                let marked = files
                    .iter()
                    .find(|file| file.name == diagnostic.file)
                    .and_then(|file| file.text.get(diagnostic.span.clone()))
                    .unwrap_or_default();
                let mut region = json!({ "startLine": diagnostic.line, "startColumn": diagnostic.column });
                if !marked.contains('\n') {
                    region["endColumn"] = json!(u64::from(diagnostic.column) + marked.chars().count() as u64);
                }
                location["region"] = region;
            }
            json!({
                "ruleId": diagnostic.code,
                "level": level(diagnostic.level),
                "message": { "text": text },
                "locations": [{ "physicalLocation": location }],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "mcp-select", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A file's name as a URI reference (RFC 3986): what it cannot hold as percent signs.
fn uri(name: &str) -> String {
    let mut uri = String::new();
    for byte in name.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
