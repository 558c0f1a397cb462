//! What is blank: text in which there is nothing to see.
//!
//! What to do with blank text is said elsewhere (`blocks.blank`, `usable`, the condition `content`).

use super::json;

/// Whether there is nothing to see where this character stands: white space, or one of [`is_invisible`].
///
/// Other control characters (U+0000, U+001B) are not blank: whoever wrote them meant something by them.
pub fn is_blank_char(c: char) -> bool {
    c.is_whitespace() || is_invisible(c)
}

/// Characters that no font shows: `Default_Ignorable_Code_Point` of Unicode's `DerivedCoreProperties.txt` (16.0).
///
/// Soft hyphen, joiners, marks of direction, fillers, variation selectors, the byte order mark and tags.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Whether a JSON string, as it stands between its quotes, is blank. An empty one is.
#[inline]
pub fn is_blank(raw: &[u8]) -> bool {
    match raw.first() {
        None => true,
        Some(b'!'..=b'[' | b']'..=b'~') => false,
        Some(_) => json::decoded(raw).all(is_blank_char),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_and_invisible_characters_are_blank() {
        let blank = "\t\n\u{b}\u{c}\r \u{85}\u{a0}\u{1680}\u{2003}\u{2028}\u{202f}\u{3000}".chars();
        let invisible = "\u{ad}\u{180e}\u{200b}\u{200d}\u{2060}\u{2065}\u{3164}\u{fe0f}\u{feff}\u{e0041}".chars();
        for c in blank.chain(invisible) {
            assert!(is_blank_char(c), "U+{:04X}", u32::from(c));
        }
        for c in "a.\0\u{1b}\u{7f}é東🦊\u{301}\u{fffd}\u{2800}\u{180a}\u{2010}".chars() {
            assert!(!is_blank_char(c), "U+{:04X}", u32::from(c));
        }
    }

    /// 4,174 code points have the property in Unicode 16.0.
    #[test]
    fn the_invisible_set_is_complete() {
        assert_eq!(('\0'..=char::MAX).filter(|&c| is_invisible(c)).count(), 4174);
    }

    #[test]
    fn strings_are_judged_with_escapes_undone() {
        for blank in ["", " ", r"\n\t\r", r"\u00a0", r"\udb40\udc41", "\u{feff}", r" \u200B", "\u{3000}\\u0020"] {
            assert!(is_blank(blank.as_bytes()), "{blank}");
        }
        for visible in ["x", r" \\", r"\/", r"\u0041", r"\ud800", r" \b", r"\u0000", "  é", r"\ud83e\udd8a"] {
            assert!(!is_blank(visible.as_bytes()), "{visible}");
        }
    }

    proptest! {
        #[test]
        fn blank_is_all_blank(text in "[ \\n\\u{a0}\\u{200b}\\u{e0041}x\\\\\"]{0,6}") {
            let quoted = serde_json::to_string(&text).unwrap();
            let raw = &quoted.as_bytes()[1..quoted.len() - 1];
            prop_assert_eq!(is_blank(raw), text.chars().all(is_blank_char));
        }
    }
}
