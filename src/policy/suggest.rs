//! "Did you mean": the word that was probably meant.

/// The help for a word that is unknown: the nearest one if one is near, else all there are.
pub(super) fn help(word: &str, known: &[&str], quote: impl Fn(&str) -> String) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean {}?", quote(near)),
        None => format!("known here: {}", known.iter().map(|word| quote(word)).collect::<Vec<_>>().join(", ")),
    }
}

/// The nearest of the known words, if it is near enough to be meant. The first of several that are equally near.
pub(super) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let spelled = plain(word)?;
    let most = (spelled.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let Some(other) = plain(candidate) else { continue };
        if spelled.len().abs_diff(other.len()) > most {
            continue;
        }
        let distance = distance(&spelled, &other);
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Longer words are no typing mistakes, and must not cost time.
const LONGEST: usize = 48;

/// Letter case, `-`, `_` and spaces apart: `errorOrder` is `error_order`.
fn plain(word: &str) -> Option<Vec<char>> {
    let letters: Vec<char> =
        word.chars().take(2 * LONGEST).filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect();
    (!letters.is_empty() && letters.len() <= LONGEST).then_some(letters)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn distance(from: &[char], to: &[char]) -> usize {
    // Three rows of the usual table: the one before the last is for swaps.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (i, &a) in from.iter().enumerate() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i + 1);
        let mut left = None;
        for (j, &b) in to.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut cost = (at(&last, j) + usize::from(a != b)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            if j > 0 && previous == Some(b) && left == Some(a) {
                cost = cost.min(at(&before, j - 1).saturating_add(1));
            }
            row.push(cost);
            left = Some(b);
        }
        previous = Some(a);
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_word_that_was_meant() {
        let known = ["order", "error_order", "usable", "structured", "hide", "only"];
        for (word, expected) in [
            ("oder", Some("order")),
            ("odrer", Some("order")),
            ("errorOrder", Some("error_order")),
            ("error-order", Some("error_order")),
            ("strucured", Some("structured")),
            ("STRUCTURED", Some("structured")),
            ("hid", Some("hide")),
            ("colour", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, known.into_iter()), expected, "{word}");
        }
        assert_eq!(nearest(&"o".repeat(100_000), known.into_iter()), None);
    }

    #[test]
    fn counts_swaps_once() {
        let distance = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("order", "odrer"), 1);
    }
}
