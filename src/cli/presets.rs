//! `presets`: the built-in policies.

use crate::{Done, Stop};
use mcp_select::policy::{BUILTINS, builtin};
use std::io::Write;

#[derive(clap::Args)]
pub struct Args {
    /// Print this one; without it all names are listed
    name: Option<String>,
}

pub fn run(args: &Args) -> Done {
    let mut out = std::io::stdout().lock();
    match &args.name {
        Some(name) => match builtin(name) {
            Some(text) => out.write_all(text.as_bytes())?,
            None => {
                let names: Vec<&str> = BUILTINS.iter().map(|(name, _)| *name).collect();
                return Err(Stop::Usage(format!("error: no built-in policy {name:?}; there are {}", names.join(", "))));
            }
        },
        None => {
            let width = BUILTINS.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
            for (name, text) in BUILTINS {
                // The first line of each says what it is.
                let about = text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
                writeln!(out, "{name:width$}  {about}")?;
            }
        }
    }
    Ok(())
}
