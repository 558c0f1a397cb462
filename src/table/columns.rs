//! The rules of a policy that speak to one audience, for each setting in their order of precedence, whatever the route.
//!
//! The order does not depend on the route: the route only says which of the rules can hold.

use super::analyse::{Part, parts};
use super::{distance, goes_on, rank};
use crate::policy::rule::{Rule, Setting, Value};
use crate::policy::{Audience, Policy};
use std::cmp::Ordering;
use std::collections::HashMap;

/// A rule that sets the setting of a column.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'p> {
    /// Its number in the policy.
    pub number: u32,
    distance: usize,
    pub rule: &'p Rule,
    pub value: &'p Value,
}

impl<'p> Entry<'p> {
    /// `Less`: the stronger one.
    pub fn compare(&self, other: &Entry<'_>) -> Ordering {
        rank(self.rule, other.rule).then(self.distance.cmp(&other.distance)).then(self.number.cmp(&other.number))
    }

    /// Whether rules below it have no say where it holds.
    pub fn stops(&self, setting: Setting) -> bool {
        !goes_on(setting, self.value)
    }

    pub fn parts(&self) -> Vec<Part<'p>> {
        parts(self.rule)
    }

    fn is_of(&self, server: &str) -> bool {
        self.rule.server.as_ref().is_none_or(|pattern| pattern.matches(server))
    }
}

/// All columns of one audience.
#[derive(Debug)]
pub struct Columns<'p> {
    pub audience: &'p Audience,
    /// Of rules that stand in no section of a server, or in one with a pattern; the strongest first.
    open: Vec<Vec<Entry<'p>>>,
    /// Of rules in the section of one server by name.
    exact: HashMap<&'p str, Vec<(Setting, Entry<'p>)>>,
}

impl<'p> Columns<'p> {
    pub fn new(policy: &'p Policy, audience: &'p Audience) -> Columns<'p> {
        let mut columns = Columns { audience, open: vec![Vec::new(); Setting::COUNT], exact: HashMap::new() };
        for (number, rule) in (0u32..).zip(&policy.rules) {
            let Some(distance) = distance(rule, &audience.chain) else { continue };
            let server = rule.server.as_ref().filter(|server| server.is_exact());
            for (setting, value) in &rule.settings {
                let entry = Entry { number, distance, rule, value };
                match server {
                    Some(server) => columns.exact.entry(server.as_str()).or_default().push((*setting, entry)),
                    None => {
                        if let Some(column) = columns.open.get_mut(setting.index()) {
                            column.push(entry);
                        }
                    }
                }
            }
        }
        for column in &mut columns.open {
            column.sort_by(Entry::compare);
        }
        for entries in columns.exact.values_mut() {
            entries.sort_by(|(_, one), (_, other)| one.compare(other));
        }
        columns
    }

    /// The servers that have a section by name.
    pub fn servers(&self) -> impl Iterator<Item = &'p str> + '_ {
        self.exact.keys().copied()
    }

    pub fn has_section(&self, server: &str) -> bool {
        self.exact.contains_key(server)
    }

    /// The rules of no named server.
    pub fn open(&self, setting: Setting) -> &[Entry<'p>] {
        self.open.get(setting.index()).map(Vec::as_slice).unwrap_or_default()
    }

    /// The rules in the section of this server.
    pub fn named<'s>(&'s self, setting: Setting, server: &str) -> impl Iterator<Item = &'s Entry<'p>> {
        let entries = self.exact.get(server).map(Vec::as_slice).unwrap_or_default();
        entries.iter().filter(move |(of, _)| *of == setting).map(|(_, entry)| entry)
    }

    /// The rules in sections of servers by name, of all of them.
    pub fn all_named(&self, setting: Setting) -> impl Iterator<Item = &Entry<'p>> {
        self.exact.values().flatten().filter(move |(of, _)| *of == setting).map(|(_, entry)| entry)
    }

    /// The whole column of a server, the strongest first; `None`: of servers without a section by name.
    pub fn column(&self, setting: Setting, server: Option<&str>) -> Vec<Entry<'p>> {
        let Some(server) = server else { return self.open(setting).to_vec() };
        let mut column: Vec<Entry<'p>> = self.named(setting, server).copied().collect();
        column.extend(self.open(setting).iter().filter(|entry| entry.is_of(server)));
        column.sort_by(Entry::compare);
        column
    }

    /// The entry of a rule, and those stronger than it that can hold for the same server.
    pub fn stronger(&self, setting: Setting, number: u32, server: Option<&str>) -> Option<(Entry<'p>, Vec<Entry<'p>>)> {
        let named: Vec<Entry<'p>> =
            server.map(|server| self.named(setting, server).copied().collect()).unwrap_or_default();
        let open = self.open(setting);
        let own = *named.iter().chain(open).find(|entry| entry.number == number)?;
        let above = open.iter().take_while(|entry| entry.compare(&own).is_lt());
        let above = above.filter(|entry| server.is_none_or(|server| entry.is_of(server)));
        let mut stronger: Vec<Entry<'p>> = above.copied().collect();
        stronger.extend(named.iter().filter(|entry| entry.compare(&own).is_lt()));
        stronger.sort_by(Entry::compare);
        Some((own, stronger))
    }

    /// Those weaker than a rule, the strongest first, as far as somebody looks.
    pub fn weaker(&self, setting: Setting, own: &Entry<'p>, server: Option<&str>) -> impl Iterator<Item = Entry<'p>> {
        let named: Vec<Entry<'p>> =
            server.map(|server| self.named(setting, server).copied().collect()).unwrap_or_default();
        let open = self.open(setting);
        let below = open.partition_point(|entry| entry.compare(own).is_le());
        let mut open = open.get(below..).unwrap_or_default().iter().copied().peekable();
        let own = *own;
        let mut named = named.into_iter().filter(move |entry| entry.compare(&own).is_gt()).peekable();
        let server = server.map(str::to_owned);
        std::iter::from_fn(move || {
            loop {
                let entry = match (named.peek(), open.peek()) {
                    (Some(one), Some(other)) if one.compare(other).is_lt() => named.next(),
                    (Some(_), None) => named.next(),
                    _ => open.next(),
                }?;
                if server.as_deref().is_none_or(|server| entry.is_of(server)) {
                    return Some(entry);
                }
            }
        })
    }
}

/// The server whose section a rule stands in, or that its `when` names, if it is one by name.
pub fn only_server(rule: &Rule) -> Option<&str> {
    use crate::policy::rule::Condition;
    if let Some(server) = rule.server.as_ref().filter(|server| server.is_exact()) {
        return Some(server.as_str());
    }
    rule.when.iter().find_map(|condition| match condition {
        Condition::Server(patterns) => match &**patterns {
            [only] if only.is_exact() => Some(only.as_str()),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{BuiltinsOnly, load_bytes};
    use crate::table::route::Route;
    use crate::table::{Index, Table, cost};

    #[test]
    fn columns_are_in_the_order_of_the_table() {
        let text = "version = 1
[audience.model]\nlimit = { chars = 900 }\n[audience.code]\nhide = true
[[rules]]\nname = 'all'\naudience = '*'\nwhen = { error = true }\nhide = true\nlimit = 'none'
[[rules]]\nname = 'some'\nwhen = { server = 'git*', blocks = 1 }\nlimit = 'none'
[servers.'*']\nlimit = { chars = 800 }\n[servers.'git*']\nlimit = { chars = 700 }\n[servers.github]\nlimit = { chars = 600 }
[[servers.github.rules]]\nname = 'of github'\nwhen = { has = 'text' }\nlimit = { chars = 500 }
[[servers.'git*'.rules]]\nname = 'of git'\nwhen = { has = 'image' }\nlimit = { chars = 400 }
[servers.github.tools.'list_*']\nlimit = { chars = 300 }
[[overrides]]\nname = 'o'\nwhen = { has = 'audio' }\nlimit = { chars = 200 }\nhide = false
";
        let policy = load_bytes("p", text.as_bytes(), &BuiltinsOnly).unwrap();
        let index = Index::new(&policy.rules);
        let mut compared = 0;
        for audience in &policy.audiences {
            let columns = Columns::new(&policy, audience);
            for server in ["github", "gitlab", "other"] {
                for tool in ["list_issues", "get"] {
                    let route = Route {
                        server: server.into(),
                        tool: tool.into(),
                        audience: audience.name.clone(),
                        ..Route::default()
                    };
                    let table = Table::specialise(&policy.rules, &index, &audience.chain, &route).unwrap();
                    for (setting, _) in Setting::ALL {
                        let cells = table.column(setting).iter().filter_map(|cell| table.rows.get(cell.row as usize));
                        let expected: Vec<u32> = cells.map(|row| row.rule).collect();
                        let own = columns.column(setting, Some(server)).into_iter().filter(|entry| {
                            entry.rule.tool.as_ref().is_none_or(|name| name.matches(tool))
                                && entry.rule.when.iter().filter(|c| cost(c) == 0).all(|c| route.holds(c))
                        });
                        // The table ends a column where nothing below could win.
                        let own: Vec<u32> = own.map(|entry| entry.number).take(expected.len()).collect();
                        assert_eq!(own, expected, "{server} {tool} {}", setting.name());
                        compared += expected.len();
                        for entry in columns.column(setting, Some(server)) {
                            let (found, stronger) = columns.stronger(setting, entry.number, Some(server)).unwrap();
                            let weaker = columns.weaker(setting, &found, Some(server));
                            let all: Vec<u32> = stronger
                                .iter()
                                .map(|e| e.number)
                                .chain([entry.number])
                                .chain(weaker.map(|e| e.number))
                                .collect();
                            let column: Vec<u32> =
                                columns.column(setting, Some(server)).iter().map(|e| e.number).collect();
                            assert_eq!(all, column);
                        }
                    }
                }
            }
        }
        assert!(compared > 500, "{compared}");
    }
}
