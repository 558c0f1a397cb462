//! The C ABI from Rust: random sequences of calls, with all that the header promises (`support/c_abi.rs`). The C tests say what
//! each call does; this one looks for an order and for arguments that nobody thought of, and can be run under Miri.
//!
//! `MCP_SELECT_SEED` is the seed of the first sequence, `MCP_SELECT_FUZZ_INPUTS` their number (60 unless said).

mod support;

use support::c_abi::{clean_up, run};
use support::choices::{Choices, inputs, seed};
use support::results::{self, Wanted};

#[test]
fn sequences_of_calls_keep_what_the_header_promises() {
    let first = seed();
    for seed in (0..inputs(60)).map(|number| first.wrapping_add(number)) {
        let mut choices = Choices::random(seed);
        let length = 20 + choices.below(200);
        let mut input: Vec<u8> = (0..length).map(|_| u8::try_from(choices.below(255)).unwrap()).collect();
        input.push(0xFF);
        input.extend(results::result(&mut choices, Wanted::default()));
        if let Err(why) = std::panic::catch_unwind(|| run(&input)) {
            println!("repeat: MCP_SELECT_SEED={seed} MCP_SELECT_FUZZ_INPUTS=1");
            std::panic::resume_unwind(why);
        }
    }
    clean_up();
}
