//! From the text of a path to its types.
//!
//! `jsonpath-rust` knows the grammar. Before it, the text is looked over for what that crate takes and RFC 9535 does
//! not (blanks inside names, functions of its own) and for what would cost it too much; after it, the types of
//! functions are checked (RFC 9535, 2.4.3), regular expressions are compiled and numbers get their spelling back.

use super::query::{Comparison, Filter, Operand, Query, Segment, Selector, Slice, Start};
use super::regexp::Regexp;
use super::{JsonPath, PathError, number};
use jsonpath_rust::parser::errors::JsonPathError;
use jsonpath_rust::parser::model::{self as parsed, FilterAtom, FnArg, Literal, SingularQuerySegment, TestFunction};
use jsonpath_rust::parser::parse_json_path;

/// The longest path, in bytes.
const MAX_LENGTH: usize = 16 * 1024;
/// How deep brackets and parentheses may nest. The parser recurses as deep, and so does following the path: 32 filters
/// in each other overflow a stack of 128 KiB, 16 take half of it.
const MAX_NESTING: usize = 16;
/// How deep functions may nest: the parser goes back over them, and each level costs several times the one inside.
const MAX_FUNCTIONS: usize = 4;

const FUNCTIONS: [&str; 5] = ["length", "count", "value", "match", "search"];

pub(super) fn path(source: &str) -> Result<JsonPath, PathError> {
    look_over(source)?;
    let query = parse_json_path(source).map_err(|error| grammar_error(source, &error))?;
    let mut reader = Reader { queries: 0 };
    let segments = reader.segments(&query.segments)?;
    Ok(JsonPath { source: source.into(), segments, queries: reader.queries })
}

fn wrong<T>(message: impl Into<Box<str>>) -> Result<T, PathError> {
    Err(PathError { message: message.into(), at: None })
}

fn wrong_at<T>(at: usize, message: impl Into<Box<str>>) -> Result<T, PathError> {
    Err(PathError { message: message.into(), at: Some(at) })
}

/// The crate's messages name the rules of its own grammar: only the place is taken from them.
fn grammar_error(source: &str, error: &JsonPathError) -> PathError {
    let at = match error {
        JsonPathError::PestError(error) => {
            let message = error.to_string();
            // The parser stops when less than 64 KiB of stack are left.
            if message.contains("stack limit reached") {
                let message = "the stack of this thread is too small to read the path".into();
                return PathError { message, at: None };
            }
            place_in(source, &message)
        }
        _ => None,
    };
    let message = match at {
        Some(at) if at >= source.len() => "the path ends too early".to_owned(),
        Some(at) => {
            let found = source.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
            format!("`{}` cannot stand here in a JSONPath (RFC 9535)", found.escape_debug())
        }
        None => "this is no JSONPath (RFC 9535): a blank, a number or an escape is not as it must be".to_owned(),
    };
    PathError { message: message.into(), at }
}

/// The byte that ` --> LINE:COLUMN` in a message stands for, both from 1, columns in characters.
fn place_in(source: &str, message: &str) -> Option<usize> {
    let (_, rest) = message.split_once("--> ")?;
    let (line, column) = rest.lines().next()?.trim().split_once(':')?;
    let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
    let before: usize = source.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let rest = source.get(before..)?;
    let inside = rest.char_indices().nth(column.checked_sub(1)?).map_or(rest.len(), |(at, _)| at);
    Some(before + inside)
}

// ---- before the parser ----------------------------------------------------------------------------------

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a byte can stand in a name without quotes, in a number or in a keyword.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn look_over(source: &str) -> Result<(), PathError> {
    let bytes = source.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    if byte(0) != Some(b'$') {
        return wrong_at(0, "a JSONPath starts with `$`");
    }
    if bytes.len() > MAX_LENGTH {
        return wrong_at(MAX_LENGTH, format!("the path is longer than {MAX_LENGTH} bytes"));
    }
    if bytes.last().copied().is_some_and(is_blank) {
        return wrong_at(source.trim_end().len(), "a blank after the path");
    }
    // What is open; whether it is the parenthesis of a function.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 1;
    while let Some(b) = byte(at) {
        match b {
            b'"' | b'\'' => at = end_of_string(bytes, at)?,
            b'(' | b'[' => {
                open.push(b == b'(' && at.checked_sub(1).and_then(byte).is_some_and(is_word));
                if open.len() > MAX_NESTING {
                    return wrong_at(at, format!("brackets nest deeper than {MAX_NESTING}"));
                }
                if open.iter().filter(|&&function| function).count() > MAX_FUNCTIONS {
                    return wrong_at(at, format!("functions nest deeper than {MAX_FUNCTIONS}"));
                }
                at += 1;
            }
            b')' | b']' => {
                open.pop();
                at += 1;
            }
            b'.' if byte(at + 1).is_some_and(is_blank) => return wrong_at(at + 1, "a blank after a dot"),
            b'0'..=b'9' => at = end_of_number(source, at)?,
            _ if is_blank(b) => {
                let start = at;
                while byte(at).is_some_and(is_blank) {
                    at += 1;
                }
                if byte(start - 1).is_some_and(is_word) && byte(at).is_some_and(is_word) {
                    return wrong_at(start, "a blank inside a name or a number");
                }
            }
            _ if is_word(b) => {
                let start = at;
                while byte(at).is_some_and(is_word) {
                    at += 1;
                }
                let word = source.get(start..at).unwrap_or_default();
                // Such a character may stand in a name, but the parser would trim it.
                if let Some((inside, blank)) = word.char_indices().find(|(_, c)| c.is_whitespace()) {
                    let blank = blank.escape_unicode();
                    return wrong_at(start + inside, format!("a name with a blank like `{blank}` needs quotes"));
                }
                if byte(at) == Some(b'(') && !FUNCTIONS.contains(&word) {
                    let known = FUNCTIONS.join("`, `");
                    return wrong_at(start, format!("`{word}` is no function of RFC 9535; there are `{known}`"));
                }
            }
            _ => at += 1,
        }
    }
    Ok(())
}

fn end_of_string(bytes: &[u8], start: usize) -> Result<usize, PathError> {
    let quote = bytes.get(start).copied();
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(&b) if Some(b) == quote => return Ok(at + 1),
            Some(_) => at += 1,
            None => return wrong_at(start, "a string is not closed"),
        }
    }
}

/// The parser keeps a number with a fraction or an exponent as `f64`: refused if that is another number.
fn end_of_number(source: &str, start: usize) -> Result<usize, PathError> {
    let bytes = source.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(start);
    let whole = end;
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign);
    }
    let spelled = source.get(start..end).unwrap_or_default();
    if whole == end {
        // 2^53-1 (RFC 9535, 2.1; I-JSON).
        if number::order(spelled.as_bytes(), b"9007199254740991").is_gt() {
            return wrong_at(start, "an integer beyond 9007199254740991");
        }
    } else if let Ok(value) = spelled.parse::<f64>()
        && number::order(spelled.as_bytes(), spelling(value).as_bytes()).is_ne()
    {
        return wrong_at(start, "a number with more than 15 digits, or out of range");
    }
    Ok(end)
}

fn spelling(value: f64) -> String {
    format!("{value:e}")
}

// ---- after the parser -----------------------------------------------------------------------------------

struct Reader {
    queries: usize,
}

impl Reader {
    fn segments(&mut self, segments: &[parsed::Segment]) -> Result<Box<[Segment]>, PathError> {
        segments.iter().map(|segment| self.segment(segment, false)).collect()
    }

    fn segment(&mut self, segment: &parsed::Segment, descendant: bool) -> Result<Segment, PathError> {
        let selectors = match segment {
            parsed::Segment::Descendant(inside) => return self.segment(inside, true),
            parsed::Segment::Selector(selector) => std::slice::from_ref(selector),
            parsed::Segment::Selectors(selectors) => selectors,
        };
        let selectors = selectors.iter().map(|selector| self.selector(selector)).collect::<Result<_, _>>()?;
        Ok(Segment { descendant, selectors })
    }

    fn selector(&mut self, selector: &parsed::Selector) -> Result<Selector, PathError> {
        Ok(match selector {
            parsed::Selector::Name(name) => Selector::Name(name.as_str().into()),
            parsed::Selector::Wildcard => Selector::Wildcard,
            parsed::Selector::Index(index) => Selector::Index(*index),
            parsed::Selector::Slice(start, end, step) => {
                Selector::Slice(Slice { start: *start, end: *end, step: step.unwrap_or(1) })
            }
            parsed::Selector::Filter(filter) => Selector::Filter(Box::new(self.filter(filter)?)),
        })
    }

    fn filter(&mut self, filter: &parsed::Filter) -> Result<Filter, PathError> {
        Ok(match filter {
            parsed::Filter::Or(filters) => Filter::Or(self.filters(filters)?),
            parsed::Filter::And(filters) => Filter::And(self.filters(filters)?),
            parsed::Filter::Atom(FilterAtom::Filter { expr, not }) => negated(*not, self.filter(expr)?),
            parsed::Filter::Atom(FilterAtom::Test { expr, not }) => negated(*not, self.test(expr)?),
            parsed::Filter::Atom(FilterAtom::Comparison(comparison)) => self.comparison(comparison)?,
        })
    }

    fn filters(&mut self, filters: &[parsed::Filter]) -> Result<Box<[Filter]>, PathError> {
        filters.iter().map(|filter| self.filter(filter)).collect()
    }

    fn test(&mut self, test: &parsed::Test) -> Result<Filter, PathError> {
        let parsed::Test::Function(function) = test else { return Ok(Filter::Exists(self.query(test)?)) };
        match &**function {
            TestFunction::Match(text, regexp) => self.matches("match", text, regexp),
            TestFunction::Search(text, regexp) => self.matches("search", text, regexp),
            TestFunction::Length(_) => wrong("`length` gives a number: compare it with something"),
            TestFunction::Count(_) => wrong("`count` gives a number: compare it with something"),
            TestFunction::Value(_) => wrong("`value` gives a value: compare it with something"),
            TestFunction::Custom(name, _) => wrong(format!("`{name}` is no function of RFC 9535")),
        }
    }

    fn matches(&mut self, name: &str, text: &FnArg, regexp: &FnArg) -> Result<Filter, PathError> {
        let text = self.argument(name, text)?;
        let FnArg::Literal(Literal::String(source)) = regexp else {
            return wrong(format!("the regular expression of `{name}` must be a string that stands in the path"));
        };
        match Regexp::new(source, name == "match") {
            Ok(regexp) => Ok(Filter::Matches(text, regexp)),
            Err(message) => wrong(message),
        }
    }

    fn comparison(&mut self, comparison: &parsed::Comparison) -> Result<Filter, PathError> {
        let kind = match comparison {
            parsed::Comparison::Eq(..) => Comparison::Equal,
            parsed::Comparison::Ne(..) => Comparison::NotEqual,
            parsed::Comparison::Gt(..) => Comparison::Greater,
            parsed::Comparison::Gte(..) => Comparison::GreaterOrEqual,
            parsed::Comparison::Lt(..) => Comparison::Less,
            parsed::Comparison::Lte(..) => Comparison::LessOrEqual,
        };
        let (left, right) = comparison.vals();
        Ok(Filter::Compare(kind, self.comparable(left)?, self.comparable(right)?))
    }

    fn comparable(&mut self, comparable: &parsed::Comparable) -> Result<Operand, PathError> {
        match comparable {
            parsed::Comparable::Literal(value) => Ok(literal(value)),
            parsed::Comparable::Function(function) => self.function(function),
            parsed::Comparable::SingularQuery(query) => {
                let (start, segments) = match query {
                    parsed::SingularQuery::Current(segments) => (Start::Current, segments),
                    parsed::SingularQuery::Root(segments) => (self.root(), segments),
                };
                let single = |segment: &SingularQuerySegment| Segment {
                    descendant: false,
                    selectors: Box::new([match segment {
                        SingularQuerySegment::Name(name) => Selector::Name(name.as_str().into()),
                        SingularQuerySegment::Index(index) => Selector::Index(*index),
                    }]),
                };
                Ok(Operand::Value(Query { start, segments: segments.iter().map(single).collect() }))
            }
        }
    }

    /// A function that gives a value.
    fn function(&mut self, function: &TestFunction) -> Result<Operand, PathError> {
        match function {
            TestFunction::Length(argument) => Ok(Operand::Length(Box::new(self.argument("length", argument)?))),
            TestFunction::Count(argument) => Ok(Operand::Count(self.nodes("count", argument)?)),
            TestFunction::Value(argument) => Ok(Operand::Value(self.nodes("value", argument)?)),
            TestFunction::Match(..) => wrong("`match` is true or false, no value"),
            TestFunction::Search(..) => wrong("`search` is true or false, no value"),
            TestFunction::Custom(name, _) => wrong(format!("`{name}` is no function of RFC 9535")),
        }
    }

    /// An argument that must be a value.
    fn argument(&mut self, function: &str, argument: &FnArg) -> Result<Operand, PathError> {
        let test = match argument {
            FnArg::Literal(value) => return Ok(literal(value)),
            FnArg::Test(test) => &**test,
            FnArg::Filter(_) => return wrong(format!("`{function}` takes a value, no condition")),
        };
        if let parsed::Test::Function(inside) = test {
            return self.function(inside);
        }
        let query = self.query(test)?;
        if query.segments.iter().any(|segment| segment.single().is_none()) {
            return wrong(format!("`{function}` takes a path of names and indexes; use `value(...)` around others"));
        }
        Ok(Operand::Value(query))
    }

    /// An argument that must be a query.
    fn nodes(&mut self, function: &str, argument: &FnArg) -> Result<Query, PathError> {
        match argument {
            FnArg::Test(test) if !matches!(**test, parsed::Test::Function(_)) => self.query(test),
            _ => wrong(format!("`{function}` takes a path")),
        }
    }

    fn query(&mut self, test: &parsed::Test) -> Result<Query, PathError> {
        match test {
            parsed::Test::RelQuery(segments) => Ok(Query { start: Start::Current, segments: self.segments(segments)? }),
            parsed::Test::AbsQuery(query) => {
                Ok(Query { start: self.root(), segments: self.segments(&query.segments)? })
            }
            parsed::Test::Function(_) => wrong("a function stands where a path must"),
        }
    }

    fn root(&mut self) -> Start {
        let number = self.queries;
        self.queries += 1;
        Start::Root(number)
    }
}

fn negated(not: bool, filter: Filter) -> Filter {
    if not { Filter::Not(Box::new(filter)) } else { filter }
}

fn literal(literal: &Literal) -> Operand {
    match literal {
        Literal::Int(value) => Operand::Number(value.to_string().into()),
        Literal::Float(value) => Operand::Number(spelling(*value).into()),
        Literal::String(text) => Operand::Text(text.as_str().into()),
        Literal::Bool(truth) => Operand::Bool(*truth),
        Literal::Null => Operand::Null,
    }
}
