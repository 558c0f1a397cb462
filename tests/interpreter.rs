//! The compiled table against a plain interpreter of the rules (`support/interpreter.rs`), on random policies, routes and
//! facts: both decide alike, and the table asks for no fact that it does not need.
//!
//! `MCP_SELECT_SEED` is the seed of the first policy, `MCP_SELECT_FUZZ_INPUTS` the number of (policy, facts) pairs (100,000
//! unless said).

mod support;

use mcp_select::table::{Index, Table};
use support::choices::{Choices, inputs, seed};
use support::interpreter::speaking;
use support::policies::{self, Wanted};
use support::table::{World, decide};

/// Routes, each with facts of its own, for each policy.
const ROUTES: u64 = 100;

#[test]
fn table_and_interpreter_decide_alike() {
    let first = seed();
    let policies = inputs(100_000).div_ceil(ROUTES);
    println!("policies {first} to {}", first.wrapping_add(policies - 1));
    let mut asked = 0;
    for seed in (0..policies).map(|number| first.wrapping_add(number)) {
        let mut choices = Choices::random(seed);
        let files = policies::files(&mut choices, Wanted { facts: true, whole: true, focus: &[] });
        let policy = files.load();
        let index = Index::new(&policy.rules);
        for _ in 0..ROUTES {
            let route = policies::known(&mut choices).route();
            let chain = &policy.audience(&route.audience).unwrap().chain;
            let table = Table::specialise(&policy.rules, &index, chain, &route).unwrap();
            let mut world = World::new(&policy.rules, &mut choices);
            let speaking = speaking(&policy, &route);
            let decide = || decide(&policy.rules, &table, &speaking, &route, &mut world, &mut choices);
            if let Err(why) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(decide)) {
                println!("{files}\n{route:#?}\nrepeat: MCP_SELECT_SEED={seed} MCP_SELECT_FUZZ_INPUTS={ROUTES}");
                std::panic::resume_unwind(why);
            }
            asked += world.asked.len();
        }
    }
    assert!(asked as u64 > policies * ROUTES / 2, "facts mattered {asked} times only");
}

// ---- files --------------------------------------------------------------------------------------------------------

/// A rule of a stronger file takes the place of its namesakes in weaker ones; switched off, it leaves the place empty.
#[test]
fn the_strongest_file_says_what_a_name_stands_for() {
    for seed in 0..200 {
        let files = policies::files(&mut Choices::random(seed), Wanted { facts: true, whole: true, focus: &[] });
        let policy = files.load();
        for name in (0..12).map(|number| format!("rule {number}")) {
            let header = format!("name = {name:?}");
            let strongest = (0u16..).zip(&policy.files).find(|(_, file)| file.text.contains(&header));
            let enabled = strongest.filter(|(_, file)| !file.text.contains(&format!("{header}\nenabled = false")));
            let live: Vec<u16> = policy
                .rules
                .iter()
                .filter(|rule| rule.name.as_deref() == Some(&name))
                .map(|rule| rule.place.file)
                .collect();
            assert_eq!(live, Vec::from_iter(enabled.map(|(file, _)| file)), "{name}\n{files}");
        }
    }
}
