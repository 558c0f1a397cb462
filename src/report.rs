//! Writing small JSON reports: the decision record, diagnostics, a table. Members in the order they are written.

use crate::result::json::escape_into;

/// Appends JSON to a buffer, commas and all. The caller closes what it opens.
pub struct Json<'o> {
    out: &'o mut Vec<u8>,
    /// Whether the next value or name needs a comma before it.
    comma: bool,
}

impl<'o> Json<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Json<'o> {
        Json { out, comma: false }
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.comma, true) {
            self.out.push(b',');
        }
    }

    fn open(&mut self, bracket: u8) {
        self.separate();
        self.out.push(bracket);
        self.comma = false;
    }

    fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.comma = true;
    }

    /// An object with what `members` writes in it.
    pub fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.open(b'{');
        members(self);
        self.close(b'}');
    }

    pub fn array(&mut self, elements: impl FnOnce(&mut Self)) {
        self.open(b'[');
        elements(self);
        self.close(b']');
    }

    /// A member's name; its value must follow.
    pub fn name(&mut self, name: &str) -> &mut Self {
        self.string(name);
        self.out.push(b':');
        self.comma = false;
        self
    }

    pub fn string(&mut self, text: &str) {
        self.separate();
        self.out.push(b'"');
        escape_into(text.as_bytes(), self.out);
        self.out.push(b'"');
    }

    pub fn number(&mut self, number: u64) {
        self.raw(number.to_string().as_bytes());
    }

    /// A number with at most `places` decimals, trailing zeros left out.
    pub fn decimal(&mut self, number: f64, places: usize) {
        if !number.is_finite() {
            return self.null();
        }
        let text = format!("{number:.places$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        self.raw(text.as_bytes());
    }

    pub fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    pub fn null(&mut self) {
        self.raw(b"null");
    }

    /// JSON that is already written.
    pub fn raw(&mut self, json: &[u8]) {
        self.separate();
        self.out.extend_from_slice(json);
    }

    pub fn optional_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.null(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_json() {
        let mut out = Vec::new();
        Json::new(&mut out).object(|json| {
            json.name("a").array(|json| {
                json.number(1);
                json.string("\"");
                json.null();
            });
            json.name("b").object(|_| {});
            json.name("c").decimal(0.5, 4);
            json.name("d").decimal(1.0, 4);
        });
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":[1,"\"",null],"b":{},"c":0.5,"d":1}"#);
    }
}
