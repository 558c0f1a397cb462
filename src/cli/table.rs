//! `table`: the decision table of a route.

use crate::route::RouteArgs;
use crate::style::{Style, one_line};
use crate::{Done, Stop, policy};
use clap::ValueEnum;
use serde_json::Value;
use std::io::Write;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    route: RouteArgs,
    #[arg(long, value_enum, default_value_t = TableFormat::Human)]
    format: TableFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    Human,
    Json,
    Markdown,
}

pub fn run(args: &Args) -> Done {
    let engine = policy::engine(&args.route.policy)?;
    let request = args.route.request()?;
    let json = engine.table(&request).map_err(|error| Stop::Usage(format!("error: {error}")))?;
    let mut out = std::io::stdout().lock();
    if args.format == TableFormat::Json {
        writeln!(out, "{json}")?;
        return Ok(());
    }
    let table: Value = serde_json::from_str(&json).map_err(|error| Stop::Usage(format!("error: {error}")))?;
    let rows = rows_of(&table);
    match args.format {
        TableFormat::Markdown => {
            writeln!(out, "| # | rule | when | settings |\n|---|---|---|---|")?;
            for (number, row) in (1..).zip(&rows) {
                let cell = |text: &str| text.replace('|', "\\|");
                let settings: Vec<String> = row.settings.iter().map(|setting| format!("`{}`", cell(setting))).collect();
                let when: Vec<String> = row.when.iter().map(|condition| format!("`{}`", cell(condition))).collect();
                let when = if when.is_empty() { "always".to_owned() } else { when.join("<br>") };
                writeln!(
                    out,
                    "| {number} | {} ({}) | {when} | {} |",
                    cell(&row.rule),
                    row.place,
                    settings.join("<br>")
                )?;
            }
        }
        _ => {
            let style = Style::of_stdout();
            writeln!(out, "For each setting the first row that holds and sets it wins.")?;
            for (number, row) in (1..).zip(&rows) {
                let when =
                    if row.when.is_empty() { "always".to_owned() } else { format!("when {}", row.when.join(" and ")) };
                writeln!(out, "\n{number}  {}  {}", style.heading(&row.rule), style.quiet(&row.place))?;
                writeln!(out, "   {}", style.strong(&when))?;
                for setting in &row.settings {
                    writeln!(out, "   {setting}")?;
                }
            }
        }
    }
    Ok(())
}

struct Row {
    rule: String,
    place: String,
    when: Vec<String>,
    settings: Vec<String>,
}

fn rows_of(table: &Value) -> Vec<Row> {
    let text = |value: &Value| one_line(value.as_str().unwrap_or_default());
    let rows = table["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |row: &Value| Row {
        rule: text(&row["rule"]),
        place: text(&row["place"]),
        when: row["when"].as_array().into_iter().flatten().map(text).collect(),
        settings: row["settings"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name} = {}", text(value)))
            .collect(),
    };
    rows.iter().map(row).collect()
}
