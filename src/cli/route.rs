//! The flags that say what a host knows before a result comes.

use crate::{Stop, input};
use clap::ValueEnum;
use mcp_select::{Input, Request};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct RouteArgs {
    /// A policy file, or the name of a built-in (see `mcp-select presets`)
    #[arg(long, short, default_value = mcp_select::policy::DEFAULT, value_name = "POLICY")]
    pub policy: String,
    /// The host's own id of the server's connection
    #[arg(long, short, default_value = "", value_name = "SERVER")]
    pub server: String,
    /// The tool's name
    #[arg(long, short, default_value = "", value_name = "TOOL")]
    pub tool: String,
    /// Who will read: model, code, app, user, or what the policy defines
    #[arg(long, short, default_value = "model", value_name = "AUDIENCE")]
    pub audience: String,
    /// The protocol revision that was agreed, YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    revision: Option<String>,
    /// The tool's object out of tools/list, a JSON file
    #[arg(long, value_name = "FILE")]
    tool_definition: Option<PathBuf>,
    /// A label of the request, for conditions `label.NAME` (may be repeated)
    #[arg(long = "label", value_name = "NAME=VALUE")]
    labels: Vec<String>,
    /// An extension that was negotiated (may be repeated)
    #[arg(long = "extension", value_name = "ID")]
    extensions: Vec<String>,
    /// What the bytes are
    #[arg(long, value_enum, default_value_t = InputKind::Result)]
    input: InputKind,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InputKind {
    /// The `result` of tools/call
    Result,
    /// A tool_result block of a sampling message
    Sampling,
}

impl RouteArgs {
    pub fn request(&self) -> Result<Request, Stop> {
        let usage = |error: mcp_select::Error| Stop::Usage(format!("error: {error}"));
        let mut request = Request::new(&self.server, &self.tool, &self.audience);
        if let Some(revision) = &self.revision {
            request.set_revision(revision).map_err(usage)?;
        }
        if let Some(path) = &self.tool_definition {
            let tool = std::fs::read(path).map_err(|error| input::unreadable(&path.display().to_string(), &error))?;
            request.set_tool_definition(Some(&tool)).map_err(usage)?;
        }
        for label in &self.labels {
            let Some((name, value)) = label.split_once('=') else {
                return Err(Stop::Usage(format!("error: --label {label}: write NAME=VALUE")));
            };
            request.set_label(name, value);
        }
        for extension in &self.extensions {
            request.add_extension(extension);
        }
        request.set_input(match self.input {
            InputKind::Result => Input::Result,
            InputKind::Sampling => Input::Sampling,
        });
        Ok(request)
    }
}
