//! What must always hold, whatever a server writes and whatever a policy says. What the properties are stands in
//! `support/properties.rs`, which `fuzz/` uses too; the numbers are those of the documentation.
//!
//! 256 cases each; `PROPTEST_CASES` says another number, `MCP_SELECT_SEED` another seed. Property 9 stands in `interpreter.rs`.

mod support;

use mcp_select::Input;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::choices::{Choices, seed};
use support::policies::{self, Known};
use support::properties::{self, ENGINES, run, unstable};

/// Choices that are shrunk as a list.
fn choices() -> impl Strategy<Value = Choices> {
    proptest::collection::vec(any::<u32>(), 0..400).prop_map(Choices::given)
}

fn holds(answer: properties::Holds) -> Result<(), TestCaseError> {
    answer.map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(ProptestConfig {
        // A failure prints what it was, and the same seed repeats it: nothing is written to files.
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed()),
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    })]

    /// 1. The output is a valid result, or a valid `tool_result` block of a sampling message.
    #[test]
    fn property_1_the_output_is_valid(mut choices in choices()) {
        holds(properties::property_1_the_output_is_valid(&mut choices))?;
    }

    /// 2. Twice is once, byte for byte, for every built-in but the exceptions.
    #[test]
    fn property_2_twice_is_once(mut choices in choices()) {
        holds(properties::property_2_twice_is_once(&mut choices))?;
    }

    /// 3. No member that is not of a result, no `_meta` key that was not allowed, nothing of a lane that was not chosen.
    #[test]
    fn property_3_nothing_that_was_not_chosen(mut choices in choices()) {
        holds(properties::property_3_nothing_that_was_not_chosen(&mut choices))?;
    }

    /// 4. A model gets the texts or the structured value; both only in lanes that say so, and the record says it too.
    #[test]
    fn property_4_not_both_unless_said(mut choices in choices()) {
        holds(properties::property_4_not_both_unless_said(&mut choices))?;
    }

    /// 5. A block that is hidden from an audience is in no output for it, by no fallback. When all are hidden, the structured
    /// value is hidden too.
    #[test]
    fn property_5_hidden_is_hidden(mut choices in choices()) {
        holds(properties::property_5_hidden_is_hidden(&mut choices))?;
    }

    /// 6. Text stays within `limit`, the marker included.
    #[test]
    fn property_6_text_stays_within_the_limit(mut choices in choices()) {
        holds(properties::property_6_text_stays_within_the_limit(&mut choices))?;
    }

    /// 7. What is kept keeps the spelling of its numbers, the value of its strings and the order of its members.
    #[test]
    fn property_7_kept_as_spelled(mut choices in choices()) {
        holds(properties::property_7_kept_as_spelled(&mut choices))?;
    }

    /// 8. The same input gives the same bytes and the same record, whatever was selected before and on whatever thread.
    #[test]
    fn property_8_same_again(mut choices in choices()) {
        holds(properties::property_8_same_again(&mut choices))?;
    }

    /// 10. Malformed input is refused and nothing of it is shown; no input panics, be it a result, a policy or a tool.
    #[test]
    fn property_10_malformed_is_refused(mut choices in choices(), noise in proptest::collection::vec(any::<u8>(), 0..8)) {
        holds(properties::property_10_malformed_is_refused(&mut choices, &noise))?;
    }
}

/// The exceptions are real, or they would hide something.
#[test]
fn exceptions_are_needed() {
    let note = r#"{"content":[{"type":"video"}],"structuredContent":7}"#;
    for (policy, audience, result) in [
        ("raw", "model", r#"{"content":[{"type":"text","text":"a"}]}"#),
        ("raw", "user", r#"{"content":[{"type":"text","text":"a"}]}"#),
        ("raw", "code", r#"{"content":[{"type":"text","text":"a"}],"isError":true}"#),
        ("sep-2200", "code", note),
        ("sep-3279-preview", "code", r#"{"content":[{"type":"video"}]}"#),
    ] {
        let known = Known { audience, ..policies::known(&mut Choices::random(0)) };
        let (_, engine) = ENGINES.iter().find(|(name, _)| *name == policy).unwrap();
        let once = run(engine, &known, Input::Result, result.as_bytes());
        let twice = run(engine, &known, Input::Result, &once.json);
        assert!(unstable(policy, audience, &once).is_some(), "{policy} {audience}");
        assert_ne!(once.json, twice.json, "{policy} {audience}");
    }
}
