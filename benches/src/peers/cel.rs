//! CEL, run by the crate `cel`, compiled. The expression decides, Rust writes the output from raw values
//! and leaves hidden blocks out.
//!
//! The engine's values are made straight from the JSON and borrow its strings, which only a host that writes its own
//! conversion has: the crate's own would copy every string twice.

use super::serde::Parts;
use crate::decision::Candidate;
use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt};
use cel::common::value::Val;
use cel::{Context, Env, Program, Value, extensions};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

const EXPRESSION: &str = r#"
    !has(result.structuredContent) || result.structuredContent == null
    || result.content.exists(block,
        (block.type != "text" || block.text.trim() != "")
        && (!has(block.annotations) || !has(block.annotations.audience) || size(block.annotations.audience) == 0
            || "assistant" in block.annotations.audience))
"#;

pub struct Cel {
    context: Context<'static, 'static>,
    program: Program,
    out: Vec<u8>,
}

impl Cel {
    pub fn new() -> Cel {
        let mut env = Env::stdlib();
        env.add_extension(extensions::strings).unwrap();
        let program = env.compile(EXPRESSION).unwrap();
        Cel { context: Context::with_env(Arc::new(env)), program, out: Vec::new() }
    }
}

impl Candidate for Cel {
    fn name(&self) -> &str {
        "cel"
    }

    fn select<'a>(&'a mut self, result: &'a [u8]) -> &'a [u8] {
        let value: Json<'_> = serde_json::from_slice(result).unwrap();
        let shows_content = decide(&self.context, &self.program, value);
        Parts::read(result).write(|_| shows_content, &mut self.out);
        &self.out
    }
}

fn decide<'v>(context: &Context<'_, 'v>, program: &Program, value: Json<'v>) -> bool {
    let mut context = context.new_inner_scope();
    context.add_variable_as_val("result", value.0);
    program.execute(&context) == Ok(Value::Bool(true))
}

/// A JSON value as the engine has it.
struct Json<'v>(Box<dyn Val + 'v>);

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json(Box::new(CelNull)))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json(Box::new(CelBool::from(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json(Box::new(CelInt::from(value))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json(match i64::try_from(value) {
            Ok(value) => Box::new(CelInt::from(value)),
            Err(_) => Box::new(CelUInt::from(value)),
        }))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Json(Box::new(CelDouble::from(value))))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json(Box::new(CelString::from(value))))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json(Box::new(CelString::from(value.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(Json(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Json(Box::new(CelList::from(list))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json<'de>, A::Error> {
        let mut map = HashMap::new();
        while let Some((Name(name), Json(value))) = members.next_entry()? {
            map.insert(CelMapKey::String(CelString::from(name)), value);
        }
        Ok(Json(Box::new(CelMap::from(map))))
    }
}

/// The name of a member, borrowed when it has no escapes.
struct Name<'v>(Cow<'v, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}
