//! Why it came out as it did: for each setting that mattered the rule that won, and what beat the rules above it.

use super::plan::{Fate, Form};
use super::{Selection, record};
use crate::policy::rule::{Lane, Setting};

/// A decision with its reasons, in words and figures for people. The decision record says the same for programs.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    pub policy: String,
    pub hash: String,
    pub server: String,
    pub tool: String,
    pub audience: String,
    pub lane: Option<Lane>,
    pub settings: Vec<ExplainedSetting>,
    pub blocks: Vec<ExplainedBlock>,
    pub dropped: Vec<ExplainedDrop>,
}

/// A setting that mattered.
#[derive(Clone, Debug)]
pub struct ExplainedSetting {
    pub setting: &'static str,
    /// As policies write it.
    pub value: String,
    pub rule: String,
    /// `file:line:column`
    pub place: String,
    /// The conditions of the rule, all of which held; none: a section.
    pub held: Vec<String>,
    /// The rules above it that set it too, and the condition that each failed.
    pub beaten: Vec<Beaten>,
}

/// A rule that would have won had its conditions held.
#[derive(Clone, Debug)]
pub struct Beaten {
    pub rule: String,
    pub place: String,
    pub failed: String,
}

/// A block of the output.
#[derive(Clone, Debug)]
pub struct ExplainedBlock {
    pub source: Option<usize>,
    pub fate: Fate,
    /// Of the source block, or `text` for one that was added.
    pub kind: &'static str,
    /// Of the text, for a block made of text.
    pub text_bytes: Option<usize>,
}

/// Something that the reader does not see.
#[derive(Clone, Debug)]
pub struct ExplainedDrop {
    /// As a path: `content[2]`, `structuredContent`, `_meta`.
    pub what: String,
    pub bytes: u32,
    /// The setting that did it, or a word.
    pub why: String,
}

impl Selection {
    /// Why the last call came out as it did; `None` when it failed.
    pub fn explain(&self) -> Option<Explanation> {
        let context = self.context.as_ref().filter(|_| self.status.is_some())?;
        let (policy, table, decided) = (&context.snapshot.policy, &context.slot.table, &self.decided);
        let mut explanation = Explanation {
            policy: policy.name.to_string(),
            hash: format!("{:016x}", policy.hash),
            server: context.slot.route.server.to_string(),
            tool: context.slot.route.tool.to_string(),
            audience: context.slot.route.audience.to_string(),
            lane: self.plan.lane,
            ..Explanation::default()
        };
        for (setting, name) in Setting::ALL {
            let column = table.column(setting);
            let Some(index) = decided.winner(setting) else { continue };
            let Some((rule, value)) = column.get(index).and_then(|cell| table.cell(&policy.rules, *cell)) else {
                continue;
            };
            let row = column.get(index).and_then(|cell| table.rows.get(cell.row as usize));
            let beaten = column.iter().take(index).filter_map(|cell| {
                let (rule, _) = table.cell(&policy.rules, *cell)?;
                let row = table.rows.get(cell.row as usize)?;
                let failed = table
                    .predicates
                    .iter()
                    .enumerate()
                    .find(|(number, _)| row.mask.has(*number) && decided.predicate(*number) == Some(false))?;
                Some(Beaten {
                    rule: rule.title().into_owned(),
                    place: policy.place(rule.place),
                    failed: failed.1.to_string(),
                })
            });
            explanation.settings.push(ExplainedSetting {
                setting: name,
                value: value.to_string(),
                rule: rule.title().into_owned(),
                place: policy.place(rule.place),
                held: row.map(|row| crate::table::print::conditions_of(table, row)).unwrap_or_default(),
                beaten: beaten.collect(),
            });
        }
        explanation.blocks = self
            .plan
            .items
            .iter()
            .map(|item| {
                let block = item.source.and_then(|index| self.scan.blocks.get(index as usize));
                ExplainedBlock {
                    source: item.source.map(|index| index as usize),
                    fate: item.fate,
                    kind: block.map_or("text", |block| block.kind.name()),
                    text_bytes: match &item.form {
                        Form::Text(range) => Some(range.len()),
                        Form::Structured => Some(self.scan.structured.len()),
                        Form::Block | Form::Json(_) => None,
                    },
                }
            })
            .collect();
        explanation.dropped = self
            .plan
            .dropped
            .iter()
            .map(|dropped| ExplainedDrop {
                what: record::what(dropped.what),
                bytes: dropped.bytes,
                why: record::why(dropped.why),
            })
            .collect();
        Some(explanation)
    }

    /// What came: figures of the result, whatever the policy.
    pub fn input_summary(&self) -> InputSummary {
        let mut kinds: Vec<(&'static str, usize)> = Vec::new();
        for block in &self.scan.blocks {
            match kinds.iter_mut().find(|(kind, _)| *kind == block.kind.name()) {
                Some((_, count)) => *count += 1,
                None => kinds.push((block.kind.name(), 1)),
            }
        }
        InputSummary {
            bytes: self.bytes_in,
            kinds,
            structured_bytes: (!self.scan.structured.is_absent()).then(|| self.scan.structured.len()),
            meta_bytes: (!self.scan.meta.is_absent()).then(|| self.scan.meta.len()),
            is_error: self.is_error,
        }
    }
}

/// What came.
#[derive(Clone, Debug)]
pub struct InputSummary {
    pub bytes: usize,
    /// The kinds of blocks in order of appearance, and how many of each.
    pub kinds: Vec<(&'static str, usize)>,
    pub structured_bytes: Option<usize>,
    pub meta_bytes: Option<usize>,
    pub is_error: bool,
}

impl Selection {
    /// The policy that decided the last call; `None` before the first.
    pub fn policy(&self) -> Option<&crate::policy::Policy> {
        self.context.as_ref().map(|context| &*context.snapshot.policy)
    }

    /// The rules that decided something in the last call, as indices into [`Policy::rules`](crate::policy::Policy::rules),
    /// ascending.
    pub fn deciding_rules(&self) -> Vec<usize> {
        let Some(context) = self.context.as_ref().filter(|_| self.status.is_some()) else { return Vec::new() };
        let table = &context.slot.table;
        let winners = Setting::ALL.iter().filter_map(|&(setting, _)| {
            let cell = table.column(setting).get(self.decided.winner(setting)?)?;
            table.rows.get(cell.row as usize).map(|row| row.rule as usize)
        });
        let mut rules: Vec<usize> = winners.collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}
