//! The command line. One file for each verb; data on standard output, talk on standard error.
//!
//! Exit status: 0 done; 1 the answer is "no" (a result refused, a finding); 2 wrong usage, or a policy that does not load.

mod check;
mod compare;
mod completions;
mod corpus;
mod diff;
mod explain;
mod init;
mod input;
mod measure;
mod policy;
mod presets;
mod replay;
mod route;
mod schema;
mod select;
mod style;
mod table;
mod test;

use clap::{Parser, Subcommand, ValueEnum};
use std::process::ExitCode;

/// Decides, by a policy file, what each audience sees of an MCP tool result
#[derive(Parser)]
#[command(name = "mcp-select", version, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Print what an audience sees of a result, as one JSON line
    Select(select::Args),
    /// Say what came, which lane was chosen, which rule decided what, and what was left out
    Explain(explain::Args),
    /// Print the decision table of a route
    Table(table::Args),
    /// Find what is wrong with policies
    Check(check::Args),
    /// Find where two policies decide differently, with an example for each difference
    Diff(diff::Args),
    /// Run the [[tests]] of policies
    Test(test::Args),
    /// Run a policy over recorded results: lanes, rules hit, bytes, what was lost
    Replay(replay::Args),
    /// One result, or many, under every built-in policy side by side
    Compare(compare::Args),
    /// List the built-in policies, or print one
    Presets(presets::Args),
    /// Print the JSON Schema of the policy file, for editors
    Schema,
    /// Write a commented starter policy
    Init(init::Args),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Write manual pages
    #[command(hide = true)]
    Man(completions::ManArgs),
}

/// How a report is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
}

/// What stopped a verb: already told, or still to be told on standard error.
enum Stop {
    /// The answer is "no".
    No(String),
    /// Wrong usage, or a policy that does not load.
    Usage(String),
    /// Standard output was closed by its reader.
    Closed,
}

type Done = Result<(), Stop>;

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Stop {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Stop::Closed,
            _ => Stop::Usage(error.to_string()),
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.verb {
        Verb::Select(args) => select::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Table(args) => table::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Diff(args) => diff::run(&args),
        Verb::Test(args) => test::run(&args),
        Verb::Replay(args) => replay::run(&args),
        Verb::Compare(args) => compare::run(&args),
        Verb::Presets(args) => presets::run(&args),
        Verb::Schema => schema::run(),
        Verb::Init(args) => init::run(&args),
        Verb::Completions(args) => completions::completions(&args),
        Verb::Man(args) => completions::man(&args),
    };
    let (message, code) = match done {
        Ok(()) | Err(Stop::Closed) => return ExitCode::SUCCESS,
        Err(Stop::No(message)) => (message, 1),
        Err(Stop::Usage(message)) => (message, 2),
    };
    if !message.is_empty() {
        eprintln!("{message}");
    }
    ExitCode::from(code)
}
