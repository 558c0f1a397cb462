//! The decision record: what was decided, by which rule, what was measured, what was left out.
//!
//! Never a value out of `_meta`, never `requestState` (C-08, C-163).

use super::facts::Known;
use super::plan::{Dropped, Plan, What, Why};
use super::schema::Conformity;
use crate::error::Status;
use crate::policy::Policy;
use crate::policy::rule::{Kind, Lane, Setting};
use crate::report::Json;
use crate::result::json::Seen;
use crate::result::scan::{Outcome, Scan};
use crate::table::route::Route;
use crate::table::{Decided, Table};

/// All that a record is made of. None of it needs the input any more.
pub struct Record<'a> {
    pub policy: &'a Policy,
    pub generation: u64,
    pub route: &'a Route,
    pub table: &'a Table,
    pub decided: &'a Decided,
    pub scan: &'a Scan,
    pub known: &'a Known,
    pub missing: &'a [String],
    pub plan: &'a Plan,
    pub status: Status,
    pub bytes_in: usize,
    pub bytes_out: usize,
}

impl Record<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        Json::new(out).object(|json| {
            json.name("policy").object(|json| {
                json.name("name").string(&self.policy.name);
                json.name("hash").string(&format!("{:016x}", self.policy.hash));
                json.name("generation").number(self.generation);
            });
            json.name("request").object(|json| {
                json.name("server").string(&self.route.server);
                json.name("tool").string(&self.route.tool);
                json.name("audience").string(&self.route.audience);
                json.name("revision");
                match self.route.revision {
                    Some(date) => {
                        json.string(&format!("{:04}-{:02}-{:02}", date / 10_000, date / 100 % 100, date % 100))
                    }
                    None => json.null(),
                }
            });
            json.name("outcome").string(self.scan.outcome.name());
            let lane = self.plan.lane.filter(|_| self.scan.outcome == Outcome::Selected);
            json.name("lane").optional_string(lane.map(Lane::name));
            json.name("changed").bool(self.status == Status::Changed);
            json.name("bytes_in").number(self.bytes_in as u64);
            json.name("bytes_out").number(self.bytes_out as u64);
            json.name("facts").object(|json| self.facts(json));
            json.name("settings").object(|json| self.settings(json));
            json.name("dropped")
                .array(|json| self.plan.dropped.iter().for_each(|dropped| write_dropped(dropped, json)));
            json.name("notes").array(|json| self.notes(json));
            json.name("deviates").array(|json| {
                // What SEP-2200 asks for the model: never both fields (C-33).
                if self.route.audience.as_ref() == "model" && matches!(lane, Some(Lane::Both | Lane::Raw | Lane::Whole))
                {
                    json.string("sep-2200");
                }
            });
        });
    }

    fn facts(&self, json: &mut Json<'_>) {
        let known = self.known;
        if let Some(error) = known.error {
            json.name("error").bool(error);
        }
        if let Some(content) = known.content {
            json.name("content").string(content.name());
        }
        if let Some(kinds) = known.kinds {
            json.name("has").array(|json| {
                for kind in Kind::ALL.into_iter().filter(|&kind| kinds.contains(kind)) {
                    json.string(kind.name());
                }
            });
        }
        if let Some(structured) = known.structured {
            json.name("structured").string(structured.name());
        }
        for (name, number) in [
            ("blocks", known.blocks),
            ("text_bytes", known.text_bytes),
            ("structured_bytes", known.structured_bytes),
            ("result_bytes", known.result_bytes),
        ] {
            if let Some(number) = number {
                json.name(name).number(number);
            }
        }
        if let Some(text_json) = known.text_json {
            json.name("text_json").bool(text_json);
        }
        for (name, mirror) in ["mirror", "mirror_canonical"].into_iter().zip(known.mirror) {
            if let Some((asked, found)) = mirror {
                json.name(name).object(|json| {
                    for (way, asked, found) in [
                        ("block", asked.block, found.block),
                        ("joined", asked.joined, found.joined),
                        ("wrapped", asked.wrapped, found.wrapped),
                    ] {
                        if asked {
                            json.name(way).bool(found);
                        }
                    }
                });
            }
        }
        match known.schema.as_ref().map(|found| found.as_ref().and_then(Conformity::holds)) {
            None => {}
            Some(None) => json.name("schema_valid").null(),
            Some(Some(valid)) => json.name("schema_valid").bool(valid),
        }
        match known.coverage {
            None => {}
            Some(None) => json.name("coverage").null(),
            Some(Some(measured)) => json.name("coverage").object(|json| {
                json.name("share").decimal(measured.share(), 4);
                json.name("covered").number(measured.covered.into());
                json.name("leaves").number(measured.total.into());
                json.name("missing").array(|json| self.missing.iter().for_each(|leaf| json.string(leaf)));
            }),
        }
    }

    fn settings(&self, json: &mut Json<'_>) {
        for (setting, name) in Setting::ALL {
            let Some(cell) = self.decided.winner(setting).and_then(|index| self.table.column(setting).get(index))
            else {
                continue;
            };
            let Some((rule, value)) = self.table.cell(&self.policy.rules, *cell) else { continue };
            json.name(name).object(|json| {
                json.name("value").string(&value.to_string());
                json.name("rule").string(&rule.title());
                json.name("place").string(&self.policy.place(rule.place));
            });
        }
    }

    fn notes(&self, json: &mut Json<'_>) {
        let scan = self.scan;
        let mut note = |code: &str, count: u64| {
            if count > 0 {
                json.object(|json| {
                    json.name("code").string(code);
                    json.name("count").number(count);
                });
            }
        };
        note("repeated-member", scan.remarks.repeated.into());
        note("unknown-member", scan.remarks.unknown.into());
        note("null-is-error", scan.remarks.null_is_error.into());
        note("no-content", scan.remarks.no_content.into());
        note("lone-surrogate", scan.seen.has(Seen::LONE_SURROGATE).into());
        note("malformed-block", scan.malformed_blocks() as u64);
        note("coverage-over-budget", (self.known.coverage == Some(None)).into());
        note("placeholder", self.plan.placeholder.into());
        let sanitized = self.plan.sanitized;
        note("sanitized-ansi", sanitized.ansi);
        note("sanitized-bidi", sanitized.bidi);
        note("sanitized-invisible", sanitized.invisible);
        note("sanitized-tags", sanitized.tags);
        note("sanitized-control", sanitized.control);
        note("truncated", self.plan.truncated);
        note("projection-over-budget", self.plan.over_budget.into());
        if let Some((code, path, message)) = self.known.schema.iter().flatten().find_map(Conformity::note) {
            json.object(|json| {
                json.name("code").string(code);
                json.name("count").number(1);
                json.name("path").string(&short(path));
                json.name("message").string(&short(message));
            });
        }
    }
}

/// A text that may hold names out of the result: its start.
fn short(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn write_dropped(dropped: &Dropped, json: &mut Json<'_>) {
    json.object(|json| {
        json.name("what").string(&what(dropped.what));
        json.name("bytes").number(dropped.bytes.into());
        json.name("why").string(&why(dropped.why));
    });
}

/// What was dropped, as a path in the result.
pub fn what(what: What) -> String {
    match what {
        What::Block(index) | What::Noted(index) => format!("content[{index}]"),
        What::BlockMeta(index) => format!("content[{index}]._meta"),
        What::Structured => "structuredContent".into(),
        What::Meta => "_meta".into(),
        What::Unknown => "unknown members".into(),
        What::Result => "result".into(),
    }
}

/// Why, as the setting that did it or a word.
pub fn why(why: Why) -> String {
    match why {
        Why::Hide => "hide".into(),
        Why::Annotations => "annotations".into(),
        Why::Lane => "lane".into(),
        Why::Blocks(kind) => Setting::of_blocks(kind).name().into(),
        Why::Blank => "blocks.blank".into(),
        Why::Meta => "meta.allow".into(),
        Why::MetaBlocks => "meta.blocks".into(),
        Why::Limit => "limit".into(),
        Why::Projection => "structured.pick, structured.omit".into(),
        Why::Schema => "schema".into(),
        Why::Unknown => "unknown".into(),
    }
}
