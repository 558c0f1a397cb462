//! Templates: text with `{name}` and `{name|default}`; `{{` and `}}` are braces.

use super::super::diagnostic::{Problem, Problems};
use super::super::rule::{Field, Limit, Piece, Template, Unit};
use super::super::suggest;
use super::node::{Node, show, string};

pub(super) fn template(p: &mut Problems, what: &str, fields: &[Field], node: &Node<'_>) -> Option<Template> {
    let text = string(p, what, node)?;
    match parse(text, fields) {
        Ok(template) => Some(template),
        Err((message, help)) => {
            p.add(Problem::error("bad-template", node.span(), format!("`{what}`: {message}")).help(help));
            None
        }
    }
}

const BRACES: &str = "write {{ or }} for a brace that is text";

/// The template, or what is wrong with it and the way out.
fn parse(text: &str, fields: &[Field]) -> Result<Template, (String, String)> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        literal.push_str(before);
        if let Some(after) = from.strip_prefix("{{") {
            literal.push('{');
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            literal.push('}');
            rest = after;
        } else if let Some(inside) = from.strip_prefix('{') {
            let Some(end) = inside.find(['{', '}']).filter(|&end| inside.as_bytes().get(end) == Some(&b'}')) else {
                return Err(("a `{` is not closed".to_string(), BRACES.to_string()));
            };
            let (inside, after) = inside.split_at(end);
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal).into()));
            }
            pieces.push(place(inside, fields)?);
            rest = after.strip_prefix('}').unwrap_or_default();
        } else {
            return Err(("a `}` closes nothing".to_string(), BRACES.to_string()));
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal.into()));
    }
    Ok(Template(pieces.into()))
}

fn place(inside: &str, fields: &[Field]) -> Result<Piece, (String, String)> {
    let (name, default) = inside.split_once('|').unwrap_or((inside, ""));
    match fields.iter().find(|field| field.name() == name) {
        Some(field) => Ok(Piece::Field(*field, default.into())),
        None => {
            let known: Vec<&str> = fields.iter().map(|field| field.name()).collect();
            let quote = |name: &str| format!("{{{name}}}");
            Err((format!("no value is called {}", show(name)), suggest::help(name, &known, quote)))
        }
    }
}

/// What a marker can measure at most, with 20 digits for each number.
pub fn template_size(template: &Template, unit: Unit) -> u64 {
    let sizes = template.0.iter().map(|piece| match piece {
        Piece::Literal(text) => size(text, unit),
        Piece::Field(Field::Unit, _) => size(unit.name(), unit),
        Piece::Field(..) => 20,
    });
    sizes.fold(0, u64::saturating_add)
}

fn size(text: &str, unit: Unit) -> u64 {
    let size = match unit {
        Unit::Bytes => text.len(),
        Unit::Chars => text.chars().count(),
        Unit::Utf16 => text.encode_utf16().count(),
    };
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// `\n[{omitted} of {total} {unit} left out]`
pub(super) fn default_marker() -> Template {
    Template(Box::new([
        Piece::Literal("\n[".into()),
        Piece::Field(Field::Omitted, "".into()),
        Piece::Literal(" of ".into()),
        Piece::Field(Field::Total, "".into()),
        Piece::Literal(" ".into()),
        Piece::Field(Field::Unit, "".into()),
        Piece::Literal(" left out]".into()),
    ]))
}

/// Whether a limit has room for its marker; else how much the marker needs.
pub(super) fn room_for_marker(limit: &Limit) -> Result<(), u64> {
    let needed = template_size(&limit.marker, limit.unit);
    if limit.most < needed { Err(needed) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::super::words::template_text;
    use super::*;

    #[test]
    fn prints_what_it_reads() {
        for text in
            ["", "plain", "[{type}: {mime|application/octet-stream}, {bytes} bytes]", "{{}}{name}{{{uri}}}", "}}"]
        {
            let template = parse(text, Field::OF_NOTES).unwrap();
            assert_eq!(template_text(&template), text);
        }
        assert_eq!(template_text(&parse("{name|}", Field::OF_NOTES).unwrap()), "{name}");
        assert_eq!(template_text(&default_marker()), "\n[{omitted} of {total} {unit} left out]");
    }

    #[test]
    fn refuses_what_is_no_template() {
        for text in ["{", "{name", "{name|{title}}", "}", "{nam}", "{tool}", "{ name }", "{}"] {
            assert!(parse(text, Field::OF_NOTES).is_err(), "{text}");
        }
    }

    #[test]
    fn measures_the_widest_marker() {
        assert_eq!(template_size(&default_marker(), Unit::Bytes), 2 + 20 + 4 + 20 + 1 + 5 + 10);
        let accents = Template(Box::new([Piece::Literal("é𝄞".into())]));
        assert_eq!([Unit::Bytes, Unit::Chars, Unit::Utf16].map(|unit| template_size(&accents, unit)), [6, 2, 3]);
    }
}
