//! jq, run by jaq. The filter makes the whole decision and the output.

use crate::decision::Candidate;
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, unwrap_valr};
use jaq_json::write::Pp;
use jaq_json::{Val, read, write};

const FILTER: &str = r#"
def for_model: .annotations.audience | . == null or length == 0 or any(.[]; . == "assistant");
(.content | map(select(for_model))) as $content
| {
    content: (
        if .structuredContent == null or any($content[]; .type != "text" or (.text | ltrim) != "")
        then $content
        else [{type: "text", text: (.structuredContent | tojson)}]
        end
    )
}
+ if has("isError") then {isError} else {} end
+ if ._meta | type == "object" and has("durationMs") then {_meta: {durationMs: ._meta.durationMs}} else {} end
"#;

pub struct Jaq {
    filter: Filter<JustLut<Val>>,
    out: Vec<u8>,
}

impl Jaq {
    pub fn new() -> Jaq {
        let arena = Arena::default();
        let loader = Loader::new(jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()));
        let modules =
            loader.load(&arena, File { code: FILTER, path: () }).unwrap_or_else(|_| panic!("the filter does not load"));
        let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let filter = Compiler::default().with_funs(functions).compile(modules);
        Jaq { filter: filter.unwrap_or_else(|_| panic!("the filter does not compile")), out: Vec::new() }
    }
}

impl Candidate for Jaq {
    fn name(&self) -> &str {
        "jaq"
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        let input = read::parse_single(result).unwrap();
        let context = Ctx::<JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        let selected = self.filter.id.run((context, input)).map(unwrap_valr).next().unwrap().unwrap();
        self.out.clear();
        write::write(&mut self.out, &Pp::default(), 0, &selected).unwrap();
        &self.out
    }
}
