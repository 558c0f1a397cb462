//! The compiled table against the plain interpreter of the rules: `tests/support/table.rs`.
#![no_main]

#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use mcp_select::table::{Index, Table};
use support::choices::Choices;
use support::interpreter::speaking;
use support::policies::{self, Wanted};
use support::table::{World, decide};

/// Routes, each with facts of its own, for each policy.
const ROUTES: usize = 8;

fuzz_target!(|input: &[u8]| {
    let choices = &mut Choices::bytes(input);
    let routes: Vec<_> = (0..ROUTES).map(|_| policies::known(choices).route()).collect();
    let files = policies::files(choices, Wanted { facts: true, whole: true, focus: &[] });
    let policy = files.load();
    let index = Index::new(&policy.rules);
    for route in &routes {
        let chain = &policy.audience(&route.audience).unwrap().chain;
        let table = Table::specialise(&policy.rules, &index, chain, route).unwrap();
        let mut world = World::new(&policy.rules, choices);
        decide(&policy.rules, &table, &speaking(&policy, route), route, &mut world, choices);
    }
});
