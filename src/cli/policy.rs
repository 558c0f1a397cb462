//! A policy by file or built-in name, and its faults as a person reads them.

use crate::{Stop, style};
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use mcp_select::policy::{self, Diagnostic, Level as Severity, SourceFile};
use mcp_select::{Engine, Error};
use std::io::IsTerminal;
use std::path::Path;

/// Whether `policy` means a file: it looks like a path, or there is a file and no built-in of this name.
pub fn is_file(policy: &str) -> bool {
    policy.ends_with(".toml")
        || policy.contains(['/', '\\'])
        || (policy::builtin(policy).is_none() && Path::new(policy).is_file())
}

/// The engine of a file or a built-in.
pub fn engine(policy: &str) -> Result<Engine, Stop> {
    if is_file(policy) { Engine::open(policy) } else { Engine::builtin(policy) }.map_err(|error| failed(policy, &error))
}

/// The faults of a policy, rendered for standard error.
fn failed(policy: &str, error: &Error) -> Stop {
    let loaded = if is_file(policy) { policy::load_file(Path::new(policy)) } else { policy::load_builtin(policy) };
    match loaded {
        Err(error) => Stop::Usage(render(&error.diagnostics, &error.files, std::io::stderr().is_terminal())),
        // It was mended between the two readings.
        Ok(_) => Stop::Usage(error.to_string()),
    }
}

/// Findings with the lines they speak of, as rustc prints its own.
pub fn render(diagnostics: &[Diagnostic], files: &[SourceFile], terminal: bool) -> String {
    let renderer = if terminal && style::wanted() { Renderer::styled() } else { Renderer::plain() };
    let mut out = Vec::new();
    for diagnostic in diagnostics {
        let level = match diagnostic.level {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let message = style::one_line(&diagnostic.message);
        let file = files.iter().find(|file| file.name == diagnostic.file && diagnostic.line > 0);
        let also = diagnostic.also.as_ref().map(|also| (also.span.clone(), style::one_line(&also.label)));
        let mut group = level.primary_title(&*message).id(diagnostic.code).elements(std::iter::empty::<Origin>());
        match file {
            Some(file) => {
                let mut snippet = Snippet::source(&*file.text).path(&*file.name);
                snippet = snippet.annotation(AnnotationKind::Primary.span(diagnostic.span.clone()));
                if let Some((span, label)) = &also {
                    snippet = snippet.annotation(AnnotationKind::Context.span(span.clone()).label(label.as_str()));
                }
                group = group.element(snippet);
            }
            None => group = group.element(Origin::path(&*diagnostic.file)),
        }
        let notes: Vec<String> = diagnostic.notes.iter().map(|note| style::one_line(note)).collect();
        for note in &notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        let help = diagnostic.help.as_deref().map(style::one_line);
        if let Some(help) = &help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        out.push(renderer.render(&[group]).to_string());
    }
    out.join("\n\n")
}

/// A policy as it is read, by file or built-in name; `None` when it does not load.
pub fn load(policy: &str) -> Option<policy::Policy> {
    if is_file(policy) { policy::load_file(Path::new(policy)).ok() } else { policy::load_builtin(policy).ok() }
}
