//! A JSON value as a tree that hides nothing: numbers as spelled, members in order and repeated ones too.
//!
//! serde_json does the parsing. It is handed a text in which each number and each string carries a mark (`#1.0`, `$text`),
//! so that it neither rounds a number nor mixes the two up.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// Reads JSON of at most 127 levels. A lone surrogate is U+FFFD.
    pub fn read(json: &[u8]) -> Option<Tree> {
        serde_json::from_str(&marked(std::str::from_utf8(json).ok()?, true)).ok()
    }

    /// The same for JSON without lone surrogates.
    pub fn read_strictly(json: &[u8]) -> Option<Tree> {
        serde_json::from_str(&marked(std::str::from_utf8(json).ok()?, false)).ok()
    }

    /// A member; of repeated ones the last.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        self.members().iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The same, null counting as absent.
    pub fn given(&self, name: &str) -> Option<&Tree> {
        self.get(name).filter(|value| **value != Tree::Null)
    }

    pub fn members(&self) -> &[(String, Tree)] {
        if let Tree::Object(members) = self { members } else { &[] }
    }

    pub fn elements(&self) -> &[Tree] {
        if let Tree::List(elements) = self { elements } else { &[] }
    }

    pub fn text(&self) -> Option<&str> {
        if let Tree::Text(text) = self { Some(text) } else { None }
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Tree::Object(_))
    }

    /// Every value in it with the member name before it, itself first.
    pub fn walk<'t>(&'t self, each: &mut impl FnMut(Option<&'t str>, &'t Tree)) {
        self.walk_under(None, each);
    }

    fn walk_under<'t>(&'t self, name: Option<&'t str>, each: &mut impl FnMut(Option<&'t str>, &'t Tree)) {
        each(name, self);
        self.elements().iter().for_each(|element| element.walk_under(None, each));
        self.members().iter().for_each(|(name, value)| value.walk_under(Some(name), each));
    }

    /// Of members with the same name only the last, at its place.
    pub fn last_of_each(&self) -> Tree {
        match self {
            Tree::List(elements) => Tree::List(elements.iter().map(Tree::last_of_each).collect()),
            Tree::Object(members) => {
                let is_last = |at: usize| !members[at + 1..].iter().any(|(name, _)| *name == members[at].0);
                let kept = (0..members.len()).filter(|&at| is_last(at)).map(|at| &members[at]);
                Tree::Object(kept.map(|(name, value)| (name.clone(), value.last_of_each())).collect())
            }
            other => other.clone(),
        }
    }
}

/// `json` with its numbers as strings. What is no JSON stays none.
fn marked(json: &str, mend: bool) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let inside = inside(rest);
                out.push_str("\"$");
                if mend {
                    mend_surrogates(inside, &mut out)
                } else {
                    out.push_str(inside)
                }
                out.extend(rest[1 + inside.len()..].chars().next());
                rest.len().min(inside.len() + 2)
            }
            '-' | '0'..='9' => {
                let end = rest.find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'));
                let token = &rest[..end.unwrap_or(rest.len())];
                out.push_str(&format!("\"#{token}\""));
                token.len()
            }
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// What stands between the quotes of the string that `text` starts with.
fn inside(text: &str) -> &str {
    let mut escaped = false;
    let end = text[1..].find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    &text[1..end.map_or(text.len(), |end| end + 1)]
}

fn mend_surrogates(raw: &str, out: &mut String) {
    let unit = |at: usize| {
        let escape = raw.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(escape, 16).ok()
    };
    let mut at = 0;
    while let Some(c) = raw[at..].chars().next() {
        let mut length = c.len_utf8();
        if c == '\\' {
            length = match unit(at) {
                Some(0xD800..0xDC00) if matches!(unit(at + 6), Some(0xDC00..0xE000)) => 12,
                Some(0xD800..0xE000) => {
                    out.push_str("\\ufffd");
                    at += 6;
                    continue;
                }
                Some(_) => 6,
                None => 1 + raw[at + 1..].chars().next().map_or(0, char::len_utf8),
            };
        }
        out.push_str(&raw[at..at + length]);
        at += length;
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value with marks")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_str<E: Error>(self, marked: &str) -> Result<Tree, E> {
        if let Some(text) = marked.strip_prefix('$') {
            return Ok(Tree::Text(text.to_owned()));
        }
        let number = marked.strip_prefix('#').ok_or_else(|| E::custom("no mark"))?;
        // The grammar of numbers is serde_json's too.
        serde_json::from_str::<serde::de::IgnoredAny>(number).map_err(E::custom)?;
        Ok(Tree::Number(number.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut object = Vec::new();
        while let Some((name, value)) = members.next_entry::<String, Tree>()? {
            let name = name.strip_prefix('$').ok_or_else(|| A::Error::custom("a number as a name"))?;
            object.push((name.to_owned(), value));
        }
        Ok(Tree::Object(object))
    }
}
