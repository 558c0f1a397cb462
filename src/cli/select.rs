//! `select`: what an audience sees of a result.

use crate::route::RouteArgs;
use crate::{Done, Stop, input, policy};
use mcp_select::result::json::without_space_into;
use mcp_select::{Engine, Error, Request, Selection, Status};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mcp-select select result.json
  mcp-select select --policy lossless --server github --tool list_issues < result.json
  mcp-select select --policy policy.toml --audience user --lines < results.jsonl

Exit status: 0 selected (also when it is for the protocol driver), 1 refused, 2 wrong usage.")]
pub struct Args {
    #[command(flatten)]
    route: RouteArgs,
    /// One result a line; a policy file is reloaded while it runs
    #[arg(long)]
    lines: bool,
    /// The result, a JSON file; none or `-`: standard input
    result: Option<PathBuf>,
}

pub fn run(args: &Args) -> Done {
    let engine = policy::engine(&args.route.policy)?;
    let request = args.route.request()?;
    let mut selection = Selection::new();
    let mut out = std::io::stdout().lock();
    if args.lines {
        return lines(args, &engine, &request, &mut selection, &mut out);
    }
    let result = input::read(args.result.as_deref())?;
    let line = selected(&engine, &request, &result, &mut selection).map_err(refused)?;
    out.write_all(&line)?;
    Ok(())
}

fn refused(error: Error) -> Stop {
    // A request that no result could satisfy is wrong usage.
    if error.status() == Status::ErrAudience {
        return Stop::Usage(format!("error: {error}"));
    }
    Stop::No(format!("error: {error}"))
}

/// One JSON line.
fn selected(engine: &Engine, request: &Request, result: &[u8], selection: &mut Selection) -> Result<Vec<u8>, Error> {
    let status = engine.select(request, result, selection)?;
    if status == Status::NotForReaders {
        eprintln!("note: {}: for the protocol driver, show it to nobody", selection.outcome().name());
    }
    let mut line = Vec::with_capacity(result.len() + 1);
    without_space_into(selection.json().unwrap_or(result), &mut line);
    line.push(b'\n');
    Ok(line)
}

fn lines(args: &Args, engine: &Engine, request: &Request, selection: &mut Selection, out: &mut impl Write) -> Done {
    let mut reader: Box<dyn BufRead> = match args.result.as_deref().filter(|path| path.as_os_str() != "-") {
        None => Box::new(std::io::stdin().lock()),
        Some(path) => {
            let file =
                std::fs::File::open(path).map_err(|error| input::unreadable(&path.display().to_string(), &error))?;
            Box::new(BufReader::new(file))
        }
    };
    let (mut line, mut number, mut refusals) = (Vec::new(), 0u64, 0u64);
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match selected(engine, request, &line, selection) {
            Ok(selected) => {
                out.write_all(&selected)?;
                out.flush()?;
            }
            Err(error) => {
                refusals += 1;
                eprintln!("error: line {number}: {error}");
            }
        }
    }
    if refusals == 0 { Ok(()) } else { Err(Stop::No(format!("error: {refusals} of {number} lines were refused"))) }
}
