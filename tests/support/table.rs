//! The compiled table against the plain interpreter: both decide alike, and the table asks for no fact that it does not need.

use super::choices::Choices;
use super::interpreter::{allowed, holding, on_route, said};
use mcp_select::policy::pattern::MetaPattern;
use mcp_select::policy::rule::{Condition, Rule, Setting, Value};
use mcp_select::table::route::Route;
use mcp_select::table::{Decided, Decider, Facts, Table};

/// Decides every setting in a random order, both ways.
pub fn decide(
    rules: &[Rule],
    table: &Table,
    speaking: &[&Rule],
    route: &Route,
    world: &mut World,
    choices: &mut Choices,
) {
    let mut settings: Vec<Setting> = Setting::ALL.iter().map(|(setting, _)| *setting).collect();
    choices.shuffle(&mut settings);
    let truth = |condition: &Condition| on_route(condition, route).unwrap_or_else(|| world.holds(condition));
    let holding = holding(speaking, truth);
    let mut decided = Decided::default();
    for setting in settings {
        let name = setting.name();
        let said = said(&holding, setting);
        let mut facts = Watched { world, speaking, route, setting };
        let mut decider = Decider { table, rules, decided: &mut decided };
        let value = decider.value(setting, &mut facts);
        assert_eq!(value, said.first().map(|(_, value)| *value), "{name}");
        let winner = decided.winner(setting).expect("a complete chain decides every setting");
        let (rule, _) = table.cell(rules, table.column(setting)[winner]).unwrap();
        assert!(std::ptr::eq(rule, said[0].0), "{name} comes from another rule");

        // Two settings go on after the first row that holds.
        let mut facts = Watched { world, speaking, route, setting };
        let mut decider = Decider { table, rules, decided: &mut decided };
        if setting == Setting::MetaDeny {
            let all: Vec<&Value> = said.iter().map(|(_, value)| *value).collect();
            assert_eq!(decider.all(setting, &mut facts), all, "{name}");
        }
        if setting == Setting::MetaAllow {
            assert_eq!(decider.all(setting, &mut facts), allowed(&holding), "{name}");
        }
        assert_eq!(decided.winner(setting), Some(winner), "{name}: the winner changed");
    }
}

// ---- facts ------------------------------------------------------------------------------------------------------

/// What is true of one result: an answer for each condition, drawn by lot.
pub struct World {
    truth: Vec<(Condition, bool)>,
    pub asked: Vec<Condition>,
}

impl World {
    pub fn new(rules: &[Rule], choices: &mut Choices) -> World {
        let mut truth: Vec<(Condition, bool)> = Vec::new();
        for condition in rules.iter().flat_map(|rule| &rule.when) {
            if !truth.iter().any(|(known, _)| known == condition) {
                truth.push((condition.clone(), choices.one_in(2)));
            }
        }
        World { truth, asked: Vec::new() }
    }

    fn holds(&self, condition: &Condition) -> bool {
        self.truth.iter().find(|(known, _)| known == condition).expect("a condition of the policy").1
    }
}

/// Answers, and watches what is asked for.
struct Watched<'w> {
    world: &'w mut World,
    speaking: &'w [&'w Rule],
    route: &'w Route,
    setting: Setting,
}

impl Watched<'_> {
    /// What is known of a condition at this moment.
    fn known(&self, condition: &Condition) -> Option<bool> {
        on_route(condition, self.route)
            .or_else(|| self.world.asked.contains(condition).then(|| self.world.holds(condition)))
    }

    /// The conditions that are worth asking for: unknown ones of the first row that may still speak for the setting.
    fn needed(&self) -> Vec<&Condition> {
        for rule in self.speaking {
            let Some((_, value)) = rule.settings.iter().find(|(setting, _)| *setting == self.setting) else { continue };
            if rule.when.iter().any(|condition| self.known(condition) == Some(false)) {
                continue;
            }
            let inherits = |patterns: &[MetaPattern]| patterns.contains(&MetaPattern::Inherit);
            let goes_on = self.setting == Setting::MetaDeny || matches!(value, Value::Meta(p) if inherits(p));
            let unknown: Vec<&Condition> = rule.when.iter().filter(|c| self.known(c).is_none()).collect();
            if !unknown.is_empty() || !goes_on {
                return unknown;
            }
        }
        Vec::new()
    }
}

impl Facts for Watched<'_> {
    fn holds(&mut self, condition: &Condition) -> bool {
        let name = self.setting.name();
        assert!(on_route(condition, self.route).is_none(), "{name} asks for {condition}, which the route says");
        assert!(!self.world.asked.contains(condition), "{name} asks for {condition} again");
        let needed = self.needed();
        assert!(needed.contains(&condition), "{name} asks for {condition}, but only {needed:?} would help");
        let cheapest = needed.iter().map(|condition| tier(condition)).min();
        assert_eq!(Some(tier(condition)), cheapest, "{name} asks for {condition} before something cheaper");
        self.world.asked.push(condition.clone());
        self.world.holds(condition)
    }
}

/// After the scan, after parsing something, after a search.
fn tier(condition: &Condition) -> u8 {
    match condition {
        Condition::Coverage(_) => 3,
        Condition::MetaPath(_)
        | Condition::TextJson(_)
        | Condition::Mirror(_)
        | Condition::Path(_)
        | Condition::SchemaValid(_) => 2,
        _ => 1,
    }
}
