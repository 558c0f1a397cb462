//! What messages call a rule, and where it stands.

use super::Policy;
use super::rule::{Audiences, Layer, Place, Rule};
use std::borrow::Cow;

impl Rule {
    /// Its name, or the header of its section as policies write it.
    pub fn title(&self) -> Cow<'_, str> {
        if let Some(name) = &self.name {
            return Cow::Borrowed(name);
        }
        let server = self.server.as_ref().map_or("", |server| server.as_str());
        let tool = self.tool.as_ref().map_or("", |tool| tool.as_str());
        let text = match self.layer {
            Layer::Override => return "[[overrides]]".into(),
            Layer::Rule => return "[[rules]]".into(),
            Layer::ToolRule => format!("[[servers.{}.tools.{}.rules]]", key(server), key(tool)),
            Layer::ToolSection => format!("[servers.{}.tools.{}]", key(server), key(tool)),
            Layer::ServerRule => format!("[[servers.{}.rules]]", key(server)),
            Layer::ServerSection => format!("[servers.{}]", key(server)),
            Layer::Audience => match &self.audiences {
                Audiences::All => return "[audience]".into(),
                Audiences::Named(names) => format!("[audience.{}]", key(names.first().map_or("", |name| name))),
            },
        };
        text.into()
    }
}

/// A key as TOML writes it: bare where it may be.
fn key(name: &str) -> Cow<'_, str> {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { name.into() } else { format!("{name:?}").into() }
}

impl Policy {
    /// `file:line:column`
    pub fn place(&self, place: Place) -> String {
        let file = self.files.get(usize::from(place.file)).map_or("", |file| &*file.name);
        format!("{file}:{}:{}", place.line, place.column)
    }
}
