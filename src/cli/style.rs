//! Colour, only on a terminal and only when nobody asked for none.

use std::io::IsTerminal;

/// Marks parts of a report.
#[derive(Clone, Copy)]
pub struct Style {
    on: bool,
}

impl Style {
    /// For standard output.
    pub fn of_stdout() -> Style {
        Style { on: std::io::stdout().is_terminal() && wanted() }
    }

    /// For text that is no terminal's.
    pub fn plain() -> Style {
        Style { on: false }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn quiet(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn strong(self, text: &str) -> String {
        self.paint("1;36", text)
    }
}

/// <https://no-color.org>
pub fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut spaced = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            spaced.push(',');
        }
        spaced.push(digit);
    }
    spaced
}

pub fn bytes(count: usize) -> String {
    format!("{} {}", thousands(count as u64), if count == 1 { "byte" } else { "bytes" })
}

/// Text from a server or a policy on one line of a terminal: what steers a terminal is shown as an escape.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || mcp_select::result::text::is_invisible(c) {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}
