//! What a JSON Schema can cost: its subschemas as a graph, and how much work a value is before it is checked.
//!
//! The validator bounds neither its work nor its stack. Twenty-four levels of `allOf` with the same `$ref` twice are
//! sixteen million visits of one number, and the same doubling can go through `properties` of a nested value. A server
//! writes both the schema and the value, so both are measured here first and refused when they multiply (C-99).
//!
//! Subschemas that look at the same value (`allOf`, `$ref` …) are *in place*; others look at a part of it. References
//! that the graph cannot follow inside the document are faults: nothing else may find out where they lead (C-97, C-98).

use super::SchemaFault;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The most visits that one value can cost in place, and the longest chain of them.
const MAX_COST: u64 = 10_000;
const MAX_CHAIN: u32 = 64;
/// The most subschemas: the validator takes longer than linear to build chains of references.
const MAX_SUBSCHEMAS: usize = 8192;
/// The longest pattern in bytes, and the most patterns.
const MAX_PATTERN: usize = 1024;
const MAX_PATTERNS: u32 = 256;
/// The most work for one value; a unit is some 10 to 50 ns.
const MAX_WORK: u64 = 8_000_000;
/// The most values that errors may copy, some 100 bytes each.
const MAX_COPIES: u64 = 500_000;
/// How many bytes of a text weigh as much as a visit.
const TEXT_UNIT: usize = 16;
/// No pattern counts for more states than this: `size_limit` would have refused it.
const MAX_STATES: u64 = 4096;

/// One subschema: what it costs by itself, and where it leads.
#[derive(Debug, Default)]
struct Node {
    /// Keywords, and the values that they compare with.
    own: u64,
    /// States of `pattern`, and of the keys of `patternProperties`.
    pattern: u64,
    key_patterns: u64,
    unique: bool,
    in_place: Vec<u32>,
    /// In place too, under `anyOf` or `oneOf`.
    branches: Vec<u32>,
    properties: HashMap<Box<str>, u32>,
    /// Below every member, as far as is known: `patternProperties`, `additionalProperties`, `unevaluatedProperties`.
    members: Vec<u32>,
    names: Option<u32>,
    /// Below the element of this index, and below every element.
    prefix: Vec<u32>,
    elements: Vec<u32>,
}

/// The subschemas of one schema; 0 is the root.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Ids so that a subschema stands before those that it applies in place; and the place of each id.
    order: Vec<u32>,
    rank: Vec<u32>,
    /// What a subschema and all it applies in place cost.
    weight: Vec<u64>,
    /// What the whole schema costs on one path of a value; `None`: it is recursive.
    total: Option<u64>,
    /// The longest chain in place.
    pub chain: u32,
    has_branches: bool,
    unique: bool,
    /// How often what is in place is visited: twice where `unevaluated…` looks at it again.
    again: u64,
}

/// The nodes of a value in order of appearance, each with the size of what it holds.
#[derive(Debug, Default)]
pub struct Sizes {
    pub sizes: Vec<u64>,
    pub depth: u32,
}

impl Graph {
    pub fn read(schema: &Value, legacy_id: bool) -> Result<Graph, SchemaFault> {
        let mut reader = Reader { legacy_id, ..Reader::new(schema) };
        reader.node(schema);
        reader.walk()?;
        // A reference may lead to a place where no subschema was expected, with more references in it.
        while let Some((from, reference)) = reader.references.pop() {
            let target = reader.resolve(&reference)?;
            let target = reader.node(target);
            if let Some(node) = reader.nodes.get_mut(from as usize) {
                node.in_place.push(target);
            }
            reader.walk()?;
        }
        Graph::bounded(reader)
    }

    fn bounded(reader: Reader<'_>) -> Result<Graph, SchemaFault> {
        let Reader { nodes, unevaluated, .. } = reader;
        let has_branches = nodes.iter().any(|node| !node.branches.is_empty());
        let unique = nodes.iter().any(|node| node.unique);
        let again = if unevaluated { 2 } else { 1 };
        let in_place: Vec<Vec<u32>> = nodes.iter().map(|node| node.all_in_place().collect()).collect();
        let Some(mut order) = post_order(&in_place) else {
            return Err(SchemaFault::Limit("a `$ref` leads back to itself without going into the value".into()));
        };
        let mut cost = vec![1u64; nodes.len()];
        let mut chains = vec![1u32; nodes.len()];
        let mut weight: Vec<u64> = nodes.iter().map(Node::weight).collect();
        for &id in &order {
            for &target in in_place.get(id as usize).into_iter().flatten() {
                let (more, longer) = (at(&cost, target), at(&chains, target).saturating_add(1));
                let heavier = at(&weight, target).saturating_mul(again);
                add(&mut cost, id, more);
                add(&mut weight, id, heavier);
                if let Some(chain) = chains.get_mut(id as usize) {
                    *chain = longer.max(*chain);
                }
            }
        }
        let chain = chains.into_iter().max().unwrap_or_default();
        if chain > MAX_CHAIN {
            return Err(SchemaFault::Limit(format!(
                "subschemas apply {chain} deep to one value, more than {MAX_CHAIN}"
            )));
        }
        let most = cost.into_iter().max().unwrap_or_default();
        if most > MAX_COST {
            return Err(SchemaFault::Limit(format!(
                "subschemas multiply: one value would be looked at {most} times, more than {MAX_COST}"
            )));
        }
        let total = total(&nodes, again);
        order.reverse();
        let mut rank = vec![0u32; nodes.len()];
        for (place, &id) in (0u32..).zip(&order) {
            if let Some(rank) = rank.get_mut(id as usize) {
                *rank = place;
            }
        }
        Ok(Graph { nodes, order, rank, weight, total, chain, has_branches, unique, again })
    }

    /// Whether checking `value` costs no more than [`MAX_WORK`].
    pub fn is_affordable(&self, value: &Value, sizes: &Sizes) -> bool {
        let size = sizes.sizes.first().copied().unwrap_or_default();
        let times = if self.unique { u64::from(sizes.depth) } else { 1 };
        let at_most = self.total.map(|total| total.saturating_mul(size).saturating_mul(times));
        at_most.is_some_and(|units| units <= MAX_WORK) || self.walk(value, sizes).is_some()
    }

    /// Whether an error may tell what is wrong: with `anyOf` and `oneOf` it tells what each branch said, with copies of
    /// the values that it speaks of.
    pub fn may_explain(&self, value: &Value, sizes: &Sizes) -> bool {
        !self.has_branches || self.walk(value, sizes).is_some_and(|copies| copies <= MAX_COPIES)
    }

    /// Follows every subschema through the value, each as often as it could be applied. What errors could copy; `None`:
    /// over [`MAX_WORK`].
    fn walk(&self, value: &Value, sizes: &Sizes) -> Option<u64> {
        // How often each subschema, by rank, looks at a value that is still to come; and how often under a branch.
        type Load = BTreeMap<u32, (u64, u64)>;
        let mut spent = 0u64;
        let mut copies = 0u64;
        let spend = |spent: &mut u64, units: u64| {
            *spent = spent.saturating_add(units);
            (*spent <= MAX_WORK).then_some(())
        };
        let load = |load: &mut Load, target: u32, (all, under): (u64, u64)| {
            let entry = load.entry(at(&self.rank, target)).or_default();
            *entry = (entry.0.saturating_add(all), entry.1.saturating_add(under));
        };
        let mut sizes = sizes.sizes.iter();
        let mut ahead: Vec<(&Value, Load)> = vec![(value, Load::from([(at(&self.rank, 0), (1, 0))]))];
        while let Some((value, mut waiting)) = ahead.pop() {
            let size = sizes.next().copied().unwrap_or_default();
            let text = value.as_str().map_or(0, text_units);
            let mut here: Vec<(&Node, (u64, u64))> = Vec::new();
            while let Some((rank, (all, under))) = waiting.pop_first() {
                let Some(node) = self.nodes.get(at(&self.order, rank) as usize) else { continue };
                let mut each = node.own.saturating_add(text.saturating_mul(node.pattern + 1));
                if node.unique {
                    each = each.saturating_add(size);
                }
                if let Value::Object(members) = value {
                    for name in members.keys() {
                        let text = text_units(name) + 1;
                        let names = node.names.map_or(0, |names| at(&self.weight, names));
                        each = each.saturating_add(text.saturating_mul(names + node.key_patterns) + 1);
                    }
                }
                spend(&mut spent, all.saturating_mul(each))?;
                copies = copies.saturating_add(under.saturating_mul(node.own).saturating_mul(size));
                let twice = (all.saturating_mul(self.again), under.saturating_mul(self.again));
                for &target in &node.in_place {
                    spend(&mut spent, 1)?;
                    load(&mut waiting, target, twice);
                }
                for &target in &node.branches {
                    spend(&mut spent, 1)?;
                    load(&mut waiting, target, (twice.0, twice.0));
                }
                here.push((node, (all, under)));
            }
            let first = ahead.len();
            match value {
                Value::Object(members) => {
                    for (name, member) in members {
                        let mut below = Load::new();
                        for (node, times) in &here {
                            spend(&mut spent, 1 + node.members.len() as u64)?;
                            let own = node.properties.get(name.as_str());
                            own.into_iter().chain(&node.members).for_each(|&id| load(&mut below, id, *times));
                        }
                        ahead.push((member, below));
                    }
                }
                Value::Array(elements) => {
                    for (index, element) in elements.iter().enumerate() {
                        let mut below = Load::new();
                        for (node, times) in &here {
                            spend(&mut spent, 1 + node.elements.len() as u64)?;
                            let own = node.prefix.get(index);
                            own.into_iter().chain(&node.elements).for_each(|&id| load(&mut below, id, *times));
                        }
                        ahead.push((element, below));
                    }
                }
                _ => {}
            }
            // The first one is taken next, as `Sizes` counts them.
            if let Some(new) = ahead.get_mut(first..) {
                new.reverse();
            }
        }
        Some(copies)
    }
}

impl Node {
    fn all_in_place(&self) -> impl Iterator<Item = u32> {
        self.in_place.iter().chain(&self.branches).copied()
    }

    /// What it costs by itself on a short value.
    fn weight(&self) -> u64 {
        self.own.saturating_add(self.pattern).saturating_add(self.key_patterns)
    }
}

impl Sizes {
    pub fn of(value: &Value) -> Sizes {
        let mut sizes: Vec<u64> = Vec::new();
        let mut parents: Vec<u32> = Vec::new();
        let mut deepest = 0;
        let mut ahead: Vec<(&Value, u32, u32)> = vec![(value, u32::MAX, 1)];
        while let Some((value, parent, depth)) = ahead.pop() {
            let own = u32::try_from(sizes.len()).unwrap_or(u32::MAX);
            deepest = deepest.max(depth);
            parents.push(parent);
            sizes.push(1 + value.as_str().map_or(0, text_units));
            match value {
                Value::Array(elements) => ahead.extend(elements.iter().rev().map(|below| (below, own, depth + 1))),
                Value::Object(members) => {
                    if let Some(size) = sizes.last_mut() {
                        *size += members.keys().map(|name| text_units(name)).sum::<u64>();
                    }
                    ahead.extend(members.values().rev().map(|below| (below, own, depth + 1)));
                }
                _ => {}
            }
        }
        for (index, parent) in parents.iter().enumerate().rev() {
            let size = sizes.get(index).copied().unwrap_or_default();
            add(&mut sizes, *parent, size);
        }
        Sizes { sizes, depth: deepest }
    }
}

/// Reads a schema's subschemas one after the other.
struct Reader<'s> {
    root: &'s Value,
    /// Draft 4 writes `id`.
    legacy_id: bool,
    nodes: Vec<Node>,
    values: Vec<&'s Value>,
    /// The subschema at an address.
    known: HashMap<*const Value, u32>,
    ahead: Vec<(u32, &'s Value)>,
    references: Vec<(u32, String)>,
    anchors: HashMap<String, &'s Value>,
    /// `$id` of the root, without fragment.
    base: &'s str,
    patterns: u32,
    unevaluated: bool,
}

impl<'s> Reader<'s> {
    fn new(root: &'s Value) -> Reader<'s> {
        Reader {
            root,
            legacy_id: false,
            nodes: Vec::new(),
            values: Vec::new(),
            known: HashMap::new(),
            ahead: Vec::new(),
            references: Vec::new(),
            anchors: HashMap::new(),
            base: "",
            patterns: 0,
            unevaluated: false,
        }
    }

    /// The id of the subschema at a place; it is read later.
    fn node(&mut self, value: &'s Value) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let id = *self.known.entry(std::ptr::from_ref(value)).or_insert(next);
        if id == next {
            self.nodes.push(Node::default());
            self.values.push(value);
            self.ahead.push((id, value));
        }
        id
    }

    fn walk(&mut self) -> Result<(), SchemaFault> {
        while let Some((id, value)) = self.ahead.pop() {
            let mut node = Node { own: 1, ..Node::default() };
            if let Value::Object(keywords) = value {
                for (keyword, value) in keywords {
                    self.keyword(id, &mut node, keyword, value)?;
                }
            }
            if let Some(place) = self.nodes.get_mut(id as usize) {
                *place = node;
            }
            if self.nodes.len() > MAX_SUBSCHEMAS {
                return Err(SchemaFault::Limit(format!("more than {MAX_SUBSCHEMAS} subschemas")));
            }
        }
        Ok(())
    }

    /// Keywords of every draft at once: one that a draft does not know costs a little too much, and nothing else.
    fn keyword(&mut self, id: u32, node: &mut Node, keyword: &'s str, value: &'s Value) -> Result<(), SchemaFault> {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                if let Some(reference) = value.as_str() {
                    self.references.push((id, reference.to_owned()));
                }
            }
            "$id" => self.id(id, value)?,
            "id" if self.legacy_id => self.id(id, value)?,
            "$anchor" | "$dynamicAnchor" => {
                if let Some(name) = value.as_str() {
                    self.anchor(name, id);
                }
            }
            "$defs" | "definitions" => {
                self.all(value);
            }
            "allOf" => node.in_place.extend(self.all(value)),
            "anyOf" | "oneOf" => node.branches.extend(self.all(value)),
            "not" | "if" | "then" | "else" => node.in_place.push(self.node(value)),
            "dependentSchemas" | "dependencies" => {
                node.own += count(value);
                node.in_place.extend(self.all(value));
            }
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    node.own += 1;
                    node.properties.insert(name.as_str().into(), self.node(value));
                }
            }
            "patternProperties" => {
                for (pattern, value) in value.as_object().into_iter().flatten() {
                    node.key_patterns += self.pattern(pattern)?;
                    node.members.push(self.node(value));
                }
            }
            "additionalProperties" => node.members.push(self.node(value)),
            "unevaluatedProperties" => {
                self.unevaluated = true;
                node.members.push(self.node(value));
            }
            "propertyNames" => node.names = Some(self.node(value)),
            "items" if value.is_array() => node.prefix.extend(self.all(value)),
            "prefixItems" => node.prefix.extend(self.all(value)),
            "items" | "additionalItems" | "contains" => node.elements.push(self.node(value)),
            "unevaluatedItems" => {
                self.unevaluated = true;
                node.elements.push(self.node(value));
            }
            "pattern" => {
                if let Some(pattern) = value.as_str() {
                    node.pattern += self.pattern(pattern)?;
                }
            }
            "uniqueItems" => node.unique = *value == Value::Bool(true),
            "enum" | "const" | "required" | "type" | "dependentRequired" => node.own += count(value),
            _ => node.own += 1,
        }
        Ok(())
    }

    /// The ids of all subschemas in an array or an object.
    fn all(&mut self, value: &'s Value) -> Vec<u32> {
        match value {
            Value::Array(all) => all.iter().map(|one| self.node(one)).collect(),
            // `dependencies` has lists of names among its subschemas.
            Value::Object(all) => all.values().filter(|one| !one.is_array()).map(|one| self.node(one)).collect(),
            _ => Vec::new(),
        }
    }

    fn id(&mut self, id: u32, value: &'s Value) -> Result<(), SchemaFault> {
        let Some(text) = value.as_str() else { return Ok(()) };
        let (base, anchor) = text.split_once('#').unwrap_or((text, ""));
        if !anchor.is_empty() {
            self.anchor(anchor, id);
        }
        if id == 0 {
            self.base = base;
        } else if !base.is_empty() {
            return Err(SchemaFault::Reference(format!(
                "a subschema has an `$id` of its own, {}; only the root may have one here",
                shown(text)
            )));
        }
        Ok(())
    }

    fn anchor(&mut self, name: &str, id: u32) {
        if let Some(value) = self.values.get(id as usize) {
            self.anchors.insert(name.to_owned(), value);
        }
    }

    /// What a reference leads to, inside this document.
    fn resolve(&self, reference: &str) -> Result<&'s Value, SchemaFault> {
        let local = match reference.strip_prefix(self.base) {
            Some(rest) if rest.is_empty() || rest.starts_with('#') => rest.strip_prefix('#').unwrap_or_default(),
            _ => reference.strip_prefix('#').ok_or_else(|| {
                SchemaFault::Reference(format!(
                    "`$ref` {} leads out of the schema, and nothing is ever fetched",
                    shown(reference)
                ))
            })?,
        };
        let nowhere = || SchemaFault::Reference(format!("`$ref` {} leads nowhere", shown(reference)));
        if local.is_empty() {
            return Ok(self.root);
        }
        let local = percent_decoded(local).ok_or_else(nowhere)?;
        let Some(pointer) = local.strip_prefix('/') else {
            return self.anchors.get(&local).copied().ok_or_else(nowhere);
        };
        let mut here = self.root;
        for step in pointer.split('/') {
            let step = step.replace("~1", "/").replace("~0", "~");
            here = match here {
                Value::Object(members) => members.get(&step),
                Value::Array(elements) => step.parse::<usize>().ok().and_then(|index| elements.get(index)),
                _ => None,
            }
            .ok_or_else(nowhere)?;
            // An `$id` on the way would change what the references below it mean.
            let id = here.get("$id").or_else(|| here.get("id").filter(|_| self.legacy_id));
            if id.and_then(Value::as_str).is_some_and(|id| !id.starts_with('#')) {
                return Err(SchemaFault::Reference(format!(
                    "`$ref` {} leads past an `$id`; only the root may have one here",
                    shown(reference)
                )));
            }
        }
        Ok(here)
    }

    /// Refuses a pattern that is too long; else how many states it may have.
    fn pattern(&mut self, pattern: &str) -> Result<u64, SchemaFault> {
        self.patterns += 1;
        if pattern.len() > MAX_PATTERN {
            let length = pattern.len();
            return Err(SchemaFault::Limit(format!("a pattern has {length} bytes, more than {MAX_PATTERN}")));
        }
        if self.patterns > MAX_PATTERNS {
            return Err(SchemaFault::Limit(format!("more than {MAX_PATTERNS} patterns")));
        }
        Ok(states(pattern))
    }
}

/// A guess at the states of a pattern: its length, and what counted repetitions add.
fn states(pattern: &str) -> u64 {
    let mut states = pattern.len() as u64;
    for (at, _) in pattern.match_indices('{') {
        let rest = pattern.get(at + 1..).unwrap_or_default();
        let inside = rest.split('}').next().unwrap_or_default();
        let Some(most) = inside.split(',').filter_map(|bound| bound.parse::<u64>().ok()).max() else { continue };
        states = if pattern.get(..at).is_some_and(|before| before.ends_with(')')) {
            states.saturating_mul(most.max(1))
        } else {
            states.saturating_add(most.saturating_mul(8))
        };
    }
    states.min(MAX_STATES)
}

/// What the whole schema costs on one path of a value, from the root to a leaf; `None`: it is recursive.
fn total(nodes: &[Node], again: u64) -> Option<u64> {
    let edges: Vec<Vec<u32>> = nodes
        .iter()
        .map(|node| {
            let below = node.properties.values().chain(&node.members).chain(&node.names);
            node.all_in_place().chain(below.chain(&node.prefix).chain(&node.elements).copied()).collect()
        })
        .collect();
    let order = post_order(&edges)?;
    let mut totals: Vec<u64> = nodes.iter().map(Node::weight).collect();
    for &id in &order {
        let Some(node) = nodes.get(id as usize) else { continue };
        let sum = |ids: &[u32], times: u64| {
            ids.iter().fold(0u64, |sum, &id| sum.saturating_add(at(&totals, id).saturating_mul(times)))
        };
        // A member has one name and an element one index: of those, the dearest counts.
        let property = node.properties.values().map(|&id| at(&totals, id)).max().unwrap_or_default();
        let element = node.prefix.iter().map(|&id| at(&totals, id)).max().unwrap_or_default();
        let names = node.names.map_or(0, |id| at(&totals, id));
        let below = [sum(&node.members, 1), sum(&node.elements, 1), property, element, names];
        let in_place = sum(&node.in_place, again).saturating_add(sum(&node.branches, again));
        let more = below.into_iter().fold(in_place, u64::saturating_add);
        add(&mut totals, id, more);
    }
    Some(at(&totals, 0))
}

/// All nodes, each behind those that its edges lead to; `None`: there is a cycle.
fn post_order(edges: &[Vec<u32>]) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; edges.len()];
    let mut order = Vec::with_capacity(edges.len());
    let mut open: Vec<(u32, usize)> = Vec::new();
    for start in 0..u32::try_from(edges.len()).ok()? {
        if marks.get(start as usize) == Some(&Mark::New) {
            open.push((start, 0));
        }
        while let Some((id, next)) = open.last_mut() {
            let id = *id;
            *marks.get_mut(id as usize)? = Mark::Open;
            match edges.get(id as usize).and_then(|edges| edges.get(*next)) {
                Some(&target) => {
                    *next += 1;
                    match marks.get(target as usize)? {
                        Mark::New => open.push((target, 0)),
                        Mark::Open => return None,
                        Mark::Done => {}
                    }
                }
                None => {
                    *marks.get_mut(id as usize)? = Mark::Done;
                    order.push(id);
                    open.pop();
                }
            }
        }
    }
    Some(order)
}

// ---- small things -----------------------------------------------------------------------------------------

fn at<T: Copy + Default>(list: &[T], id: u32) -> T {
    list.get(id as usize).copied().unwrap_or_default()
}

fn add(list: &mut [u64], id: u32, more: u64) {
    if let Some(number) = list.get_mut(id as usize) {
        *number = number.saturating_add(more);
    }
}

fn text_units(text: &str) -> u64 {
    (text.len() / TEXT_UNIT) as u64
}

/// The number of values in a value.
fn count(value: &Value) -> u64 {
    let mut count = 0;
    let mut ahead = vec![value];
    while let Some(value) = ahead.pop() {
        count += 1;
        match value {
            Value::Array(elements) => ahead.extend(elements),
            Value::Object(members) => ahead.extend(members.values()),
            _ => {}
        }
    }
    count
}

/// A text out of the schema for a message: quoted, its start alone.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(80).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{start:?}{more}")
}

/// `%41` is `A` (RFC 3986, 2.1).
fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            out.push(digit()? * 16 + digit()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}
