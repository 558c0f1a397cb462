//! Rego, run by regorus. The policy makes the whole decision and the output; it is compiled to a program of regorus' virtual
//! machine, which is its fastest way to run a policy. The limits of the machine are off.

use crate::decision::Candidate;
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::RegoVM;
use regorus::{Engine, Value};

const POLICY: &str = r#"
package select

shows_content if {
    not has_structured
}

shows_content if {
    some block in for_model
    block.type != "text"
}

shows_content if {
    some block in for_model
    trim_space(block.text) != ""
}

for_model := [block | some block in input.content; not is_hidden(block)]

is_hidden(block) if {
    count(block.annotations.audience) > 0
    not "assistant" in block.annotations.audience
}

has_structured if {
    input.structuredContent != null
}

content := for_model if {
    shows_content
} else := [{"type": "text", "text": json.marshal(input.structuredContent)}]

selected[name] := value if {
    name := "content"
    value := content
}

selected[name] := value if {
    input.isError != null
    name := "isError"
    value := input.isError
}

selected[name] := value if {
    input._meta.durationMs != null
    name := "_meta"
    value := {"durationMs": input._meta.durationMs}
}
"#;

const ENTRY: &str = "data.select.selected";

pub struct Rego {
    machine: RegoVM,
    out: Vec<u8>,
}

impl Rego {
    pub fn new() -> Rego {
        let mut engine = Engine::new();
        engine.add_policy("select.rego".into(), POLICY.into()).unwrap();
        let policy = engine.compile_with_entrypoint(&ENTRY.into()).unwrap();
        let program = Compiler::compile_from_policy(&policy, &[ENTRY]).unwrap();
        let mut machine = RegoVM::new_with_policy(policy);
        machine.load_program(program);
        machine.set_max_instructions(usize::MAX);
        Rego { machine, out: Vec::new() }
    }
}

impl Candidate for Rego {
    fn name(&self) -> &str {
        "regorus"
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        // Interns the names of members, which pays: they come again in every row.
        let input = Value::from_json_str(std::str::from_utf8(result).unwrap()).unwrap();
        self.machine.set_input(input);
        let selected = self.machine.execute_entry_point_by_index(0).unwrap();
        self.out.clear();
        serde_json::to_writer(&mut self.out, &selected).unwrap();
        &self.out
    }
}
