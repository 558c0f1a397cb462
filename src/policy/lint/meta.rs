//! `_meta`: everything shown, patterns that let nothing through (MS009, 010).

use super::{ALLOW_ALL, Lints, META_NOTHING};
use crate::policy::pattern::MetaPattern;
use crate::policy::rule::{Audiences, Reserved, Rule, Setting, Value};
use crate::result::meta_key::{is_reserved, is_well_formed};
use toml::de::DeValue;

pub(super) fn look(lints: &mut Lints<'_, '_>) {
    let mut reserved: Vec<Reserved> = Vec::new();
    for rule in &lints.policy.rules {
        for (_, value) in &rule.settings {
            if let Value::Reserved(one) = value
                && !reserved.contains(one)
            {
                reserved.push(*one);
            }
        }
    }
    for (number, rule) in lints.own() {
        if lints.dead.contains(&number) {
            continue;
        }
        let patterns = |wanted: Setting| {
            rule.settings.iter().find(|(setting, _)| *setting == wanted).and_then(|(_, value)| match value {
                Value::Meta(patterns) => Some(&**patterns),
                _ => None,
            })
        };
        let Some(allowed) = patterns(Setting::MetaAllow) else { continue };
        let denied = patterns(Setting::MetaDeny).unwrap_or_default();
        if allowed.contains(&MetaPattern::Any) && shows_to_a_reader(rule) {
            let message = "`meta.allow = [\"*\"]` shows the reader every key that a server puts into `_meta`";
            let found = lints.at_setting(ALLOW_ALL, rule, Setting::MetaAllow, message);
            lints.add(
                found
                    .note("`_meta` is for hosts; servers put request ids, tokens and internal addresses there")
                    .help("name the keys, or their prefix: `meta.allow = [\"com.example/*\"]`"),
            );
        }
        for (index, pattern) in allowed.iter().enumerate() {
            if let Some(why) = matches_nothing(pattern, denied, &reserved) {
                nothing(lints, rule, index, pattern, why);
            }
        }
    }
}

/// Programs and views are given `_meta` on purpose.
fn shows_to_a_reader(rule: &Rule) -> bool {
    match &rule.audiences {
        Audiences::All => true,
        Audiences::Named(names) => names.iter().any(|name| !matches!(&**name, "app" | "code")),
    }
}

fn matches_nothing(pattern: &MetaPattern, denied: &[MetaPattern], reserved: &[Reserved]) -> Option<String> {
    let is_denied = |other: &MetaPattern| match (other, pattern) {
        (MetaPattern::Any, pattern) => *pattern != MetaPattern::Inherit,
        (MetaPattern::Prefix(prefix), MetaPattern::Prefix(own) | MetaPattern::Key(own)) => own.starts_with(&**prefix),
        (MetaPattern::Key(key), MetaPattern::Key(own)) => key == own,
        _ => false,
    };
    if let Some(denying) = denied.iter().find(|other| is_denied(other)) {
        return Some(format!("`meta.deny` of this rule has {:?}, and deny wins", denying.text()));
    }
    if let MetaPattern::Prefix(prefix) = pattern {
        let key = format!("{prefix}x");
        if !is_well_formed(&key) {
            return Some("no key with this prefix is well formed, and others must be named exactly".to_owned());
        }
        if reserved.iter().all(|rules| is_reserved(&key, *rules)) {
            return Some("the protocol keeps this prefix for itself, and such keys must be named exactly".to_owned());
        }
    }
    None
}

fn nothing(lints: &mut Lints<'_, '_>, rule: &Rule, index: usize, pattern: &MetaPattern, why: String) {
    let message = format!("{:?} in `meta.allow` lets nothing through", pattern.text());
    let mut found = lints.at_setting(META_NOTHING, rule, Setting::MetaAllow, message).note(why);
    if let Some(DeValue::Array(list)) = lints.outline.value(rule.place, "meta.allow").map(toml::Spanned::get_ref)
        && let Some(element) = list.get(index)
    {
        found.span = element.span();
    }
    lints.add(found.help("name the keys that are meant, or take it out"));
}
