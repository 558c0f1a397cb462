//! `schema`: the JSON Schema of the policy file, for editors.

use crate::Done;
use mcp_select::policy::json_schema::policy_schema;
use std::io::Write;

pub fn run() -> Done {
    std::io::stdout().lock().write_all(policy_schema().as_bytes())?;
    Ok(())
}
