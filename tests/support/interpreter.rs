//! The rules of precedence, said plainly: no table, no masks, nothing remembered. Slow, and short enough to read.

use mcp_select::policy::Policy;
use mcp_select::policy::pattern::{MetaPattern, Pattern};
use mcp_select::policy::rule::{App, Audiences, Condition, Layer, Rule, Setting, Value};
use mcp_select::table::route::Route;
use std::cmp::Reverse;

/// The rules that speak for a route's audience, server and tool, the strongest first. Their conditions are not looked at.
pub fn speaking<'p>(policy: &'p Policy, route: &Route) -> Vec<&'p Rule> {
    let chain = likes(policy, &route.audience);
    let mut speaking: Vec<(_, &Rule)> = Vec::new();
    for rule in &policy.rules {
        let fits = |pattern: &Option<Pattern>, name| pattern.as_ref().is_none_or(|p| glob(p.as_str(), name));
        if !fits(&rule.server, &*route.server) || !fits(&rule.tool, &*route.tool) {
            continue;
        }
        // Only an audience's own section is handed on to those that are like it.
        let reach = if rule.layer == Layer::Audience { &chain[..] } else { &chain[..1] };
        let distance = match &rule.audiences {
            Audiences::All => Some(0),
            Audiences::Named(names) => reach.iter().position(|audience| names.iter().any(|name| **name == **audience)),
        };
        if let Some(distance) = distance {
            let layer = match rule.layer {
                Layer::Override => 1,
                Layer::ToolRule => 2,
                Layer::ToolSection => 3,
                Layer::ServerRule => 4,
                Layer::ServerSection => 5,
                Layer::Rule => 6,
                Layer::Audience => 7,
            };
            let place = (rule.place.file, rule.place.line, rule.place.column);
            speaking.push(((layer, goodness(&rule.server), goodness(&rule.tool), distance, place), rule));
        }
    }
    speaking.sort_by_key(|(precedence, _)| *precedence);
    speaking.into_iter().map(|(_, rule)| rule).collect()
}

/// An audience and what it is like, in turn.
fn likes<'p>(policy: &'p Policy, audience: &'p str) -> Vec<&'p str> {
    let mut chain = vec![audience];
    while let Some(like) = policy.audience(chain[chain.len() - 1]).and_then(|audience| audience.like.as_deref()) {
        chain.push(like);
    }
    chain
}

/// An exact name before a pattern, then more literal characters before fewer.
fn goodness(pattern: &Option<Pattern>) -> Reverse<(bool, usize)> {
    let text = pattern.as_ref().map_or("", Pattern::as_str);
    let literal = text.chars().filter(|c| !"*?".contains(*c)).count();
    Reverse((literal == text.chars().count(), literal))
}

fn glob(pattern: &str, name: &str) -> bool {
    let mut rest = name.chars();
    match pattern.chars().next() {
        None => name.is_empty(),
        Some('*') => glob(&pattern[1..], name) || (rest.next().is_some() && glob(pattern, rest.as_str())),
        Some('?') => rest.next().is_some() && glob(&pattern[1..], rest.as_str()),
        Some(c) => rest.next() == Some(c) && glob(&pattern[c.len_utf8()..], rest.as_str()),
    }
}

/// Whether a condition that needs no result holds; `None` for one that needs a result.
pub fn on_route(condition: &Condition, route: &Route) -> Option<bool> {
    let any = |patterns: &[Pattern], name: &str| patterns.iter().any(|pattern| glob(pattern.as_str(), name));
    let definition = route.definition.as_ref();
    Some(match condition {
        Condition::Server(patterns) => any(patterns, &route.server),
        Condition::Tool(patterns) => any(patterns, &route.tool),
        Condition::Revision(ranges) => route.revision.is_some_and(|date| ranges.iter().any(|range| range.holds(date))),
        Condition::App(App::Yes) => definition.is_some_and(|definition| definition.ui),
        Condition::App(App::No) => !definition.is_some_and(|definition| definition.ui),
        Condition::App(App::Only) => definition.is_some_and(|definition| definition.app_only),
        Condition::OutputSchema(expected) => definition.is_some_and(|d| d.output_schema.is_some() == *expected),
        Condition::Label(name, patterns) => route.labels.iter().any(|(label, v)| label == name && any(patterns, v)),
        _ => return None,
    })
}

/// The rules whose conditions all hold, the strongest first.
pub fn holding<'p>(speaking: &[&'p Rule], mut holds: impl FnMut(&Condition) -> bool) -> Vec<&'p Rule> {
    speaking.iter().copied().filter(|rule| rule.when.iter().all(&mut holds)).collect()
}

/// What they say of a setting: the first of them wins.
pub fn said<'p>(holding: &[&'p Rule], setting: Setting) -> Vec<(&'p Rule, &'p Value)> {
    let of = |rule: &'p Rule| rule.settings.iter().find(|(known, _)| *known == setting).map(|(_, value)| (rule, value));
    holding.iter().filter_map(|rule| of(rule)).collect()
}

/// `meta.allow`: what the first one says, and what the next one says as long as the last has `"inherit"` in it.
pub fn allowed<'p>(holding: &[&'p Rule]) -> Vec<&'p Value> {
    let said = said(holding, Setting::MetaAllow).into_iter().map(|(_, value)| value);
    let inherits = |value: &Value| matches!(value, Value::Meta(patterns) if patterns.contains(&MetaPattern::Inherit));
    let mut allowed = Vec::new();
    for value in said {
        allowed.push(value);
        if !inherits(value) {
            break;
        }
    }
    allowed
}
