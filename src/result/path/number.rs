//! Numbers as JSON spells them, compared by exact value: no digit is lost, however many there are.

use std::cmp::Ordering;

/// A number taken apart, borrowed from its spelling.
///
/// An exponent outside of an `i128` counts as the nearest one.
struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Zeros before the first digit that counts.
    zeros: usize,
    /// The power of ten just above the value; `None`: the value is zero.
    magnitude: Option<i128>,
}

impl<'a> Decimal<'a> {
    fn new(spelled: &'a [u8]) -> Decimal<'a> {
        let (negative, rest) = match spelled.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, spelled),
        };
        let (digits, exponent) = split(rest, |b| matches!(b, b'e' | b'E'));
        let (whole, fraction) = split(digits, |b| b == b'.');
        let zeros = whole.iter().chain(fraction).take_while(|&&b| b == b'0').count();
        let magnitude = (zeros < whole.len() + fraction.len())
            .then(|| power(exponent).saturating_add(length(whole.len())).saturating_sub(length(zeros)));
        Decimal { negative, whole, fraction, zeros, magnitude }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).skip(self.zeros).copied()
    }

    fn sign(&self) -> i8 {
        match (self.magnitude, self.negative) {
            (None, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }

    fn order_without_sign(&self, other: &Decimal) -> Ordering {
        self.magnitude.cmp(&other.magnitude).then_with(|| {
            let (mut ours, mut theirs) = (self.digits(), other.digits());
            loop {
                let (one, two) = (ours.next(), theirs.next());
                if one.is_none() && two.is_none() {
                    return Ordering::Equal;
                }
                let order = one.unwrap_or(b'0').cmp(&two.unwrap_or(b'0'));
                if order.is_ne() {
                    return order;
                }
            }
        })
    }
}

fn split(bytes: &[u8], at: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let place = bytes.iter().position(|&b| at(b)).unwrap_or(bytes.len());
    let (before, from) = bytes.split_at_checked(place).unwrap_or((bytes, &[]));
    (before, from.get(1..).unwrap_or_default())
}

fn length(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}

fn power(exponent: &[u8]) -> i128 {
    let negative = exponent.first() == Some(&b'-');
    let size = exponent
        .iter()
        .filter(|b| b.is_ascii_digit())
        .fold(0i128, |value, &digit| value.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
    if negative { -size } else { size }
}

/// The order of two JSON numbers.
pub(super) fn order(one: &[u8], two: &[u8]) -> Ordering {
    if one == two {
        return Ordering::Equal;
    }
    let (one, two) = (Decimal::new(one), Decimal::new(two));
    one.sign().cmp(&two.sign()).then_with(|| match one.sign() {
        0 => Ordering::Equal,
        1 => one.order_without_sign(&two),
        _ => two.order_without_sign(&one),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_by_exact_value() {
        let ascending: [&[&str]; 14] = [
            &["-1e400", "-10E+399"],
            &["-12", "-1.2e1", "-12.000"],
            &["-0.5", "-5e-1"],
            &["0", "-0", "0.0", "-0e9", "0E-99999999999999999999999999999999999999999999"],
            &["1e-400"],
            &["1e-20", "0.00000000000000000001"],
            &["0.1", "1e-1", "0.10"],
            &["1", "1.0", "10e-1", "0.1e1"],
            &["9007199254740992"],
            &["9007199254740993", "9007199254740993.0"],
            &["9007199254740993.0000000000000000000001"],
            &["18446744073709551616"],
            &["1e400", "10e399", "0.001e403"],
            &["1e99999999999999999999"],
        ];
        for (i, same) in ascending.iter().enumerate() {
            for (j, others) in ascending.iter().enumerate() {
                for one in *same {
                    for two in *others {
                        assert_eq!(order(one.as_bytes(), two.as_bytes()), i.cmp(&j), "{one} {two}");
                    }
                }
            }
        }
    }
}
