//! Another Rust library, with a standard library of its own inside, to be linked into one program with ours.

/// Sums what a text says, and survives a panic on the way: both libraries bring the machinery of panics.
///
/// # Safety
/// `len` bytes may be read from `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn second_sum(text: *const u8, len: usize) -> i64 {
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(text, len) };
    let sum = std::panic::catch_unwind(|| {
        let text = std::str::from_utf8(bytes).unwrap();
        let numbers: Vec<String> = text.split(',').map(str::to_owned).collect();
        numbers.iter().map(|number| number.parse::<i64>().unwrap()).sum()
    });
    sum.unwrap_or(-1)
}
