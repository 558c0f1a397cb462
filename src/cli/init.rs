//! `init`: a commented starter policy.

use crate::{Done, Stop};
use std::io::Write;
use std::path::PathBuf;

/// What a new policy starts from. A test loads it and runs its tests.
pub const STARTER: &str = include_str!("../../rules/examples/starter.toml");

#[derive(clap::Args)]
pub struct Args {
    /// The file to write; none or `-`: standard output. A file that is there is left alone.
    file: Option<PathBuf>,
}

pub fn run(args: &Args) -> Done {
    let Some(path) = args.file.as_deref().filter(|path| path.as_os_str() != "-") else {
        std::io::stdout().lock().write_all(STARTER.as_bytes())?;
        return Ok(());
    };
    let mut file = std::fs::File::create_new(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Stop::No(format!("error: {} is there already; it was left as it is", path.display()))
        }
        _ => Stop::Usage(format!("error: cannot write {}: {error}", path.display())),
    })?;
    file.write_all(STARTER.as_bytes())?;
    eprintln!("wrote {}; next: mcp-select check {0}, mcp-select test {0}", path.display());
    Ok(())
}
