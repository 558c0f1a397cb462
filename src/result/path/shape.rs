//! What a path says about the values in which it finds something: for those who compare paths or build an example.

use super::JsonPath;
use super::query::{Comparison, Filter, Operand, Query, Segment, Selector, Start};

/// What the whole value must be for a path to find something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    Anything,
    ObjectOrArray,
    Object,
    Array,
}

/// One step down into a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    Name(Box<str>),
    Index(usize),
}

/// Something that must stand somewhere in a value: the way to it, and its JSON when that matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plant {
    pub steps: Vec<Step>,
    pub json: Option<Box<str>>,
}

/// Examples have no longer arrays.
const MOST_INDEX: i64 = 64;

impl JsonPath {
    /// Whether this path finds something wherever `other` does, because `other` only goes on from it.
    pub fn is_start_of(&self, other: &JsonPath) -> bool {
        other.segments.starts_with(&self.segments)
    }

    /// What the whole value must be at least.
    pub fn root(&self) -> Root {
        match self.segments.first() {
            None => Root::Anything,
            Some(segment) if !segment.descendant && !segment.reads_arrays() => Root::Object,
            Some(segment) if !segment.descendant && !segment.reads_objects() => Root::Array,
            Some(_) => Root::ObjectOrArray,
        }
    }

    /// What to put into a value so that the path finds something; `None` for paths that ask too much.
    pub fn plants(&self) -> Option<Vec<Plant>> {
        let mut plants = Vec::new();
        let mut way = Vec::new();
        for segment in &self.segments {
            let (step, asked) = simplest(segment)?;
            way.push(step);
            for Plant { steps, json } in asked {
                plants.push(Plant { steps: way.iter().cloned().chain(steps).collect(), json });
            }
        }
        plants.push(Plant { steps: way, json: None });
        Some(plants)
    }
}

/// The simplest child that a segment selects, and what must stand in it.
fn simplest(segment: &Segment) -> Option<(Step, Vec<Plant>)> {
    segment.selectors.iter().find_map(|selector| {
        let index = |index: i64| usize::try_from(index).ok().filter(|_| index <= MOST_INDEX).map(Step::Index);
        Some(match selector {
            Selector::Name(name) => (Step::Name(name.clone()), Vec::new()),
            Selector::Wildcard => (Step::Index(0), Vec::new()),
            Selector::Index(-1) => (Step::Index(0), Vec::new()),
            Selector::Index(number) => (index(*number)?, Vec::new()),
            Selector::Slice(slice) if slice.step > 0 => {
                let start = slice.start.unwrap_or_default();
                if slice.end.is_some_and(|end| end <= start) {
                    return None;
                }
                (index(start)?, Vec::new())
            }
            Selector::Slice(_) => return None,
            Selector::Filter(filter) => (Step::Index(0), asked(filter)?),
        })
    })
}

/// What a filter asks of a child, for those that only name members.
fn asked(filter: &Filter) -> Option<Vec<Plant>> {
    match filter {
        Filter::Exists(query) => Some(vec![Plant { steps: steps(query)?, json: None }]),
        Filter::Compare(Comparison::Equal, Operand::Value(query), literal)
        | Filter::Compare(Comparison::Equal, literal, Operand::Value(query)) => {
            let json = match literal {
                Operand::Null => "null".into(),
                Operand::Bool(flag) => if *flag { "true" } else { "false" }.into(),
                Operand::Number(number) => number.clone(),
                Operand::Text(text) => {
                    let mut json = vec![b'"'];
                    super::json::escape_into(text.as_bytes(), &mut json);
                    json.push(b'"');
                    String::from_utf8(json).ok()?.into()
                }
                _ => return None,
            };
            Some(vec![Plant { steps: steps(query)?, json: Some(json) }])
        }
        Filter::And(filters) if filters.iter().all(|f| matches!(f, Filter::Exists(_) | Filter::Compare(..))) => {
            let mut all = Vec::new();
            for filter in filters {
                match filter {
                    Filter::Exists(query) => all.push(Plant { steps: steps(query)?, json: None }),
                    _ => return None,
                }
            }
            Some(all)
        }
        _ => None,
    }
}

/// The steps of a query that starts at the child.
fn steps(query: &Query) -> Option<Vec<Step>> {
    if query.start != Start::Current {
        return None;
    }
    query
        .segments
        .iter()
        .map(|segment| match segment.single()? {
            Selector::Name(name) => Some(Step::Name(name.clone())),
            Selector::Index(index @ 0..=MOST_INDEX) => usize::try_from(*index).ok().map(Step::Index),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_a_path_asks_of_the_whole() {
        for (path, root) in [
            ("$", Root::Anything),
            ("$.a", Root::Object),
            ("$['a','b']", Root::Object),
            ("$[0]", Root::Array),
            ("$[1:]", Root::Array),
            ("$.*", Root::ObjectOrArray),
            ("$..a", Root::ObjectOrArray),
            ("$[?@.a]", Root::ObjectOrArray),
        ] {
            assert_eq!(JsonPath::parse(path).unwrap().root(), root, "{path}");
        }
    }

    #[test]
    fn knows_paths_that_go_on_from_others() {
        let path = |path| JsonPath::parse(path).unwrap();
        assert!(path("$").is_start_of(&path("$.a")));
        assert!(path("$.a").is_start_of(&path("$.a[*].b")));
        assert!(!path("$.a.b").is_start_of(&path("$.a")));
        assert!(!path("$..a").is_start_of(&path("$.a")));
    }
}
