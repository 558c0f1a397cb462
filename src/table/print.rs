//! The decision table of a route, as JSON.

use super::route::Route;
use super::{Row, Table};
use crate::policy::Policy;
use crate::policy::rule::Setting;
use crate::report::Json;

/// `{route, predicates, rows: [{rule, place, when, settings}]}`. A row holds the settings that it could still win.
pub fn to_json(policy: &Policy, table: &Table, route: &Route) -> String {
    let mut out = Vec::new();
    Json::new(&mut out).object(|json| {
        json.name("policy").string(&policy.name);
        json.name("server").string(&route.server);
        json.name("tool").string(&route.tool);
        json.name("audience").string(&route.audience);
        json.name("predicates").array(|json| {
            for predicate in &table.predicates {
                json.string(&predicate.to_string());
            }
        });
        json.name("rows").array(|json| {
            for (number, row) in (0u32..).zip(&table.rows) {
                let settings = settings_of(policy, table, number);
                if settings.is_empty() {
                    continue;
                }
                json.object(|json| {
                    if let Some(rule) = policy.rules.get(row.rule as usize) {
                        json.name("rule").string(&rule.title());
                        json.name("place").string(&policy.place(rule.place));
                    }
                    json.name("when").array(|json| conditions_of(table, row).iter().for_each(|c| json.string(c)));
                    json.name("settings").object(|json| {
                        for (setting, value) in &settings {
                            json.name(setting.name()).string(value);
                        }
                    });
                });
            }
        });
    });
    String::from_utf8_lossy(&out).into_owned()
}

/// The predicates of a row, as policies write them.
pub fn conditions_of(table: &Table, row: &Row) -> Vec<String> {
    let numbered = table.predicates.iter().enumerate();
    numbered.filter(|(number, _)| row.mask.has(*number)).map(|(_, predicate)| predicate.to_string()).collect()
}

/// What a row sets and could still win.
pub fn settings_of(policy: &Policy, table: &Table, row: u32) -> Vec<(Setting, String)> {
    let cells = Setting::ALL.into_iter().filter_map(|(setting, _)| {
        let cell = table.column(setting).iter().find(|cell| cell.row == row)?;
        let (_, value) = table.cell(&policy.rules, *cell)?;
        Some((setting, value.to_string()))
    });
    cells.collect()
}
