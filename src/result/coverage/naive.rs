//! The definition of coverage, written down as plainly as possible, for tests and the fuzz target.

use super::fold;
use crate::result::json::{self, Span};
use crate::result::text::is_blank_char;
use std::collections::HashSet;

enum Value {
    String(String),
    Number(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
    Other,
}

fn parse(text: &str) -> Value {
    let bytes = text.as_bytes();
    let string = |raw: Span| json::decoded(raw.of(bytes)).collect::<String>();
    let text_of = |span: Span| std::str::from_utf8(span.of(bytes)).unwrap();
    let whole = json::validate_text(bytes, 128).unwrap();
    match bytes[whole.start as usize] {
        b'"' => Value::String(string(json::string_inside(bytes, whole).unwrap())),
        b'[' => Value::Array(json::elements(bytes, whole).map(|span| parse(text_of(span))).collect()),
        b'{' => Value::Object(
            json::members(bytes, whole).map(|(name, span)| (string(name), parse(text_of(span)))).collect(),
        ),
        b't' | b'f' | b'n' => Value::Other,
        _ => Value::Number(text_of(whole).to_owned()),
    }
}

/// Strings and numbers in document order, without superseded members.
fn leaves<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    match value {
        Value::String(_) | Value::Number(_) => out.push(value),
        Value::Array(elements) => elements.iter().for_each(|element| leaves(element, out)),
        Value::Object(members) => {
            for (i, (name, value)) in members.iter().enumerate() {
                if members[i + 1..].iter().all(|(later, _)| later != name) {
                    leaves(value, out);
                }
            }
        }
        Value::Other => {}
    }
}

fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(elements) => elements.iter().for_each(|element| strings(element, out)),
        Value::Object(members) => members.iter().for_each(|(_, value)| strings(value, out)),
        _ => {}
    }
}

fn read_block(block: &Value, depth: u32, texts: &mut Vec<String>, whole: &mut Vec<String>) {
    let Value::Object(members) = block else { return strings(block, whole) };
    for (i, (name, value)) in members.iter().enumerate() {
        let special = ["text", "name", "title", "description", "resource"].contains(&name.as_str());
        if special && members[i + 1..].iter().any(|(later, _)| later == name) {
            continue;
        }
        match value {
            Value::String(text) if special && name != "resource" => texts.push(text.clone()),
            _ if name == "resource" && depth == 0 => read_block(value, 1, texts, whole),
            _ => strings(value, whole),
        }
    }
}

fn fold(text: &str) -> String {
    text.chars().map(fold::fold_char).collect()
}

fn normal(text: &str) -> String {
    fold(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn collapse(text: &str) -> String {
    let mut out = String::new();
    for c in fold(text).chars() {
        if !c.is_whitespace() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    fold::unescape_into(text.as_bytes(), &mut out);
    String::from_utf8(out).unwrap()
}

fn contains(text: &str, leaf: &str) -> bool {
    if leaf.chars().count() >= 4 {
        return text.contains(leaf);
    }
    let joins = |a: Option<char>, b: Option<char>| a.is_some_and(fold::joins) && b.is_some_and(fold::joins);
    text.char_indices().any(|(at, first)| {
        let Some(rest) = text[at..].strip_prefix(leaf) else { return false };
        !joins(text[..at].chars().next_back(), Some(first)) && !joins(leaf.chars().next_back(), rest.chars().next())
    })
}

/// A number as its sign, its digits without zeros at the ends, and a power of ten.
fn canonical(negative: bool, digits: &str, exponent: i64) -> String {
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    let all = digits.replace('.', "");
    let all = all.trim_start_matches('0');
    let kept = all.trim_end_matches('0');
    if kept.is_empty() {
        return "0".to_owned();
    }
    let power = exponent - fraction + (all.len() - kept.len()) as i64;
    format!("{}{kept}e{power}", if negative { "-" } else { "" })
}

fn power_of(text: &str) -> i64 {
    let most = 1_000_000_000_000_000;
    text.parse::<i64>().map_or(if text.starts_with('-') { -most } else { most }, |power| power.clamp(-most, most))
}

fn value_of(number: &str) -> String {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    canonical(number.starts_with('-'), digits.trim_start_matches('-'), power_of(exponent))
}

/// All numbers that stand in a text.
fn numbers(text: &str) -> HashSet<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\n');
    let mut found = HashSet::new();
    let mut start = 0;
    while start < chars.len() {
        if !at(start).is_ascii_digit() {
            start += 1;
            continue;
        }
        let mut end = start;
        while at(end).is_ascii_digit() || (".,_'".contains(at(end)) && at(end + 1).is_ascii_digit()) {
            end += 1;
        }
        let run: String = chars[start..end].iter().collect();
        // What stands before: a point, a sign.
        let before = |n: usize| start.checked_sub(n).map_or('\n', |i| chars[i]);
        let dot = before(1) == '.';
        let point = dot && before(2) != '.' && !before(2).is_alphanumeric();
        let (sign, beyond) = if point { (before(2), before(3)) } else { (before(1), before(2)) };
        let signs: &[bool] = match sign {
            '-' | '\u{2212}' if beyond.is_alphanumeric() => &[false, true],
            '-' | '\u{2212}' => &[true],
            _ => &[false],
        };
        // What stands after: an exponent.
        let mut exponent = None;
        if at(end) == 'e' {
            let digits = end + 1 + usize::from("+-".contains(at(end + 1)));
            let stop = (digits..).find(|&i| !at(i).is_ascii_digit()).unwrap();
            let more = at(stop).is_alphanumeric() || (at(stop) == '.' && at(stop + 1).is_ascii_digit());
            if stop > digits && !more {
                let text: String = chars[end + 1..stop].iter().collect();
                exponent = Some((power_of(&text), stop));
            }
        }
        let parts: Vec<&str> = run.split([',', '_', '\'']).collect();
        let points = |i: usize| parts[i].matches('.').count() + usize::from(i == 0 && point);
        let last = parts.len() - 1;
        if points(last) > 1 {
            exponent = None;
        }
        let power = exponent.map_or(0, |(power, _)| power);
        for (i, part) in parts.iter().enumerate() {
            if points(i) > 1 {
                found.extend(part.split('.').map(|group| canonical(false, group, 0)));
                continue;
            }
            let digits = if i == 0 && point { format!(".{part}") } else { (*part).to_owned() };
            for &negative in if i == 0 { signs } else { &[false] } {
                found.insert(canonical(negative, &digits, if i == last { power } else { 0 }));
            }
        }
        let separators: HashSet<char> = run.chars().filter(|c| ",_'".contains(*c)).collect();
        let thousands = last > 0
            && separators.len() == 1
            && parts[0].len() <= 3
            && !parts[0].starts_with('0')
            && (0..last).all(|i| points(i) == 0 && (i == 0 || parts[i].len() == 3))
            && points(last) <= 1
            && parts[last].split('.').next().unwrap().len() == 3;
        if thousands {
            for &negative in signs {
                found.insert(canonical(negative, &parts.concat(), power));
            }
        }
        start = exponent.map_or(end, |(_, stop)| stop);
    }
    found
}

pub fn measure(structured: &str, blocks: &[&str]) -> (u32, u32, Vec<String>) {
    let (mut texts, mut whole) = (Vec::new(), Vec::new());
    for block in blocks {
        read_block(&parse(block), 0, &mut texts, &mut whole);
    }
    let forms: Vec<String> = texts.iter().flat_map(|text| [collapse(text), collapse(&unescape(text))]).collect();
    let whole: HashSet<String> = whole.iter().map(|text| normal(text)).collect();
    let numbers: HashSet<String> = forms.iter().flat_map(|form| numbers(form)).collect();

    let value = parse(structured);
    let mut all = Vec::new();
    leaves(&value, &mut all);
    let (mut seen, mut covered, mut missing) = (HashSet::new(), 0, Vec::new());
    for leaf in all {
        let (key, found, spelled) = match leaf {
            Value::String(text) if text.chars().all(is_blank_char) => continue,
            Value::String(text) => {
                let leaf = normal(text);
                let found = whole.contains(&leaf) || forms.iter().any(|form| contains(form, &leaf));
                (format!("s{leaf}"), found, text.clone())
            }
            Value::Number(spelled) => {
                let value = value_of(spelled);
                (format!("n{value}"), numbers.contains(&value), spelled.clone())
            }
            _ => continue,
        };
        if !seen.insert(key) {
            continue;
        }
        covered += u32::from(found);
        if !found {
            let cut: String = spelled.chars().take(79).collect();
            missing.push(if spelled.chars().count() > 80 { cut + "…" } else { spelled });
        }
    }
    missing.truncate(5);
    (covered, seen.len() as u32, missing)
}
