//! A policy, a request and a result: all that must always hold (`tests/support/properties.rs`).
//!
//! The first byte says which property; below 128, the others are choices that make all three. From 128 on they are choices
//! up to the first 0xFF, and the result is what stands behind it, byte for byte.
#![no_main]

#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use std::ops::Range;
use support::choices::Choices;
use support::properties::{self as of, Case, ENGINES, Holds};
use support::results::Wanted;

fuzz_target!(|input: &[u8]| {
    let Some((&which, rest)) = input.split_first() else { return };
    let answer = if which < 128 { made(which, rest) } else { given(which, rest) };
    if let Err(why) = answer {
        panic!("{why}");
    }
});

fn made(which: u8, rest: &[u8]) -> Holds {
    let (noise, rest) = rest.split_at(rest.len().min(usize::from(which >> 4)));
    let choices = &mut Choices::bytes(rest);
    match which % 9 {
        0 => of::property_1_the_output_is_valid(choices),
        1 => of::twice_is_once(Case::new(choices, of::ANY, Wanted::default()), one_built_in(rest.len())),
        2 => of::property_3_nothing_that_was_not_chosen(choices),
        3 => of::property_4_not_both_unless_said(choices),
        4 => of::property_5_hidden_is_hidden(choices),
        5 => of::property_6_text_stays_within_the_limit(choices),
        6 => of::property_7_kept_as_spelled(choices),
        7 => of::property_8_same_again(choices),
        _ => of::property_10_malformed_is_refused(choices, noise),
    }
}

fn given(which: u8, rest: &[u8]) -> Holds {
    let end = rest.iter().position(|byte| *byte == 0xFF).unwrap_or(rest.len());
    let (choices, result) = (&mut Choices::bytes(&rest[..end]), rest.get(end + 1..).unwrap_or_default());
    let Some(case) = Case::of_result(choices, result) else { return Ok(()) };
    match which % 5 {
        0 => of::output_is_valid(&case),
        1 => of::twice_is_once(case, one_built_in(which.into())),
        2 => of::kept_as_spelled(case, choices),
        3 => of::same_again(&case, choices),
        _ => of::within_the_limit(case, choices),
    }
}

/// All of them each time would be slow.
fn one_built_in(number: usize) -> Range<usize> {
    let at = number / 5 % ENGINES.len();
    at..at + 1
}
