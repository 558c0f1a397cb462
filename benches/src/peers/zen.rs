//! The expression language of GoRules Zen, compiled. The expression decides, Rust writes the output from raw
//! values and leaves hidden blocks out.
//!
//! `zen-expression` alone: `zen-engine` runs such expressions in the nodes of a graph, asynchronously, which costs more; and it
//! brings a JSON Schema validator that has serde_json read numbers the slow way in the whole program, the others' too.

use super::serde::Parts;
use crate::decision::Candidate;
use std::sync::Arc;
use zen_expression::compiler::Opcode;
use zen_expression::{Isolate, Variable};

const EXPRESSION: &str = r#"
    structuredContent == null
    or some(content, (#.type != "text" or trim(#.text) != "")
        and (#.annotations.audience == null or len(#.annotations.audience) == 0
            or "assistant" in #.annotations.audience))
"#;

pub struct Zen {
    isolate: Isolate,
    program: Arc<[Opcode]>,
    out: Vec<u8>,
}

impl Zen {
    pub fn new() -> Zen {
        let mut isolate = Isolate::new();
        let program = Arc::clone(isolate.compile_standard(EXPRESSION).unwrap().bytecode());
        Zen { isolate, program, out: Vec::new() }
    }
}

impl Candidate for Zen {
    fn name(&self) -> &str {
        "zen-expression"
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        let environment: Variable = serde_json::from_slice(result).unwrap();
        self.isolate.set_environment(environment);
        let shows_content = self.isolate.run_compiled(&self.program).unwrap().as_bool().unwrap();
        Parts::read(result).write(|_| shows_content, &mut self.out);
        &self.out
    }
}
