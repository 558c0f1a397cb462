//! `check`: what is wrong with policies.

use crate::{Done, Format, Stop, policy};
use mcp_select::policy::{Diagnostic, Level, SourceFile, load_builtin, load_file};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::Path;

#[derive(clap::Args)]
pub struct Args {
    /// Policy files or names of built-ins
    #[arg(required = true, value_name = "POLICY")]
    policies: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub fn run(args: &Args) -> Done {
    let mut findings: Vec<(Diagnostic, Vec<SourceFile>)> = Vec::new();
    for name in &args.policies {
        let loaded = if policy::is_file(name) { load_file(Path::new(name)) } else { load_builtin(name) };
        let (diagnostics, files) = match loaded {
            Ok(policy) => (policy.warnings, policy.files),
            Err(error) => (error.diagnostics, error.files),
        };
        findings.extend(diagnostics.into_iter().map(|diagnostic| (diagnostic, files.clone())));
    }
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Human => {
            let terminal = out.is_terminal();
            for (diagnostic, files) in &findings {
                writeln!(out, "{}\n", policy::render(std::slice::from_ref(diagnostic), files, terminal))?;
            }
        }
        Format::Json => {
            let all: Vec<Value> = findings.iter().map(|(diagnostic, _)| as_json(diagnostic)).collect();
            writeln!(out, "{}", Value::Array(all))?;
        }
    }
    let errors = findings.iter().filter(|(diagnostic, _)| diagnostic.level == Level::Error).count();
    let warnings = findings.len() - errors;
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let policies = match args.policies.len() {
        1 => "1 policy".to_owned(),
        count => format!("{count} policies"),
    };
    let summary = format!("{policies}: {}, {}", plural(errors, "error"), plural(warnings, "warning"));
    if errors > 0 {
        return Err(Stop::No(summary));
    }
    eprintln!("{summary}");
    Ok(())
}

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
        "help": diagnostic.help,
    })
}
