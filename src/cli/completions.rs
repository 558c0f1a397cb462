//! `completions` and `man`: for the shell and the manual, written when the command is installed.

use crate::{Cli, Done};
use clap::CommandFactory;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct CompletionsArgs {
    shell: clap_complete::Shell,
}

pub fn completions(args: &CompletionsArgs) -> Done {
    clap_complete::generate(args.shell, &mut Cli::command(), "mcp-select", &mut std::io::stdout().lock());
    Ok(())
}

#[derive(clap::Args)]
pub struct ManArgs {
    /// The folder to write mcp-select.1 and a page for each verb into
    folder: PathBuf,
}

pub fn man(args: &ManArgs) -> Done {
    std::fs::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(Cli::command(), &args.folder)?;
    Ok(())
}
