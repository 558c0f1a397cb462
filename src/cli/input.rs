//! Files and standard input.

use crate::Stop;
use std::io::Read;
use std::path::Path;

/// The bytes of a file; `-` or none: of standard input.
pub fn read(path: Option<&Path>) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    match path.filter(|path| path.as_os_str() != "-") {
        None => {
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| unreadable("standard input", &error))?;
        }
        Some(path) => bytes = std::fs::read(path).map_err(|error| unreadable(&path.display().to_string(), &error))?,
    }
    Ok(bytes)
}

/// What is said of a file that cannot be read.
pub fn unreadable(name: &str, error: &std::io::Error) -> Stop {
    Stop::Usage(format!("error: cannot read {name}: {error}"))
}
