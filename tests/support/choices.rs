//! Where a generated thing gets its choices from: a seed, a list that a property test can shrink, or a fuzzer's bytes.

/// A run of choices. 0 is always the simplest one, so a list that has run out makes things end soon.
#[derive(Clone, Debug)]
pub struct Choices(Source);

#[derive(Clone, Debug)]
enum Source {
    /// The state of SplitMix64 (https://prng.di.unimi.it/splitmix64.c).
    Random(u64),
    Given {
        list: Vec<u32>,
        at: usize,
    },
    /// Those that are left, the next one last: a choice takes one byte, or two among more than 256.
    Bytes(Vec<u8>),
}

impl Default for Choices {
    /// Always the simplest one.
    fn default() -> Choices {
        Choices::bytes(&[])
    }
}

impl Choices {
    pub fn random(seed: u64) -> Choices {
        Choices(Source::Random(seed))
    }

    pub fn given(list: Vec<u32>) -> Choices {
        Choices(Source::Given { list, at: 0 })
    }

    pub fn bytes(bytes: &[u8]) -> Choices {
        Choices(Source::Bytes(bytes.iter().rev().copied().collect()))
    }

    pub fn next(&mut self) -> u32 {
        match &mut self.0 {
            Source::Random(state) => {
                *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut z = *state;
                z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                (z ^ (z >> 31)) as u32
            }
            Source::Given { list, at } => {
                *at += 1;
                list.get(*at - 1).copied().unwrap_or(0)
            }
            Source::Bytes(left) => left.pop().unwrap_or(0).into(),
        }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = n > 256 && matches!(self.0, Source::Bytes(_));
        let high = if wide { self.next() << 8 } else { 0 };
        (high | self.next()) as usize % n
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// `list` in another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            // The simplest choice leaves everything where it is.
            list.swap(i, i - self.below(i + 1));
        }
    }
}

/// The seed of a test: `MCP_SELECT_SEED`, else a fixed one.
pub fn seed() -> u64 {
    number("MCP_SELECT_SEED").unwrap_or(0x5EED)
}

/// How many inputs a test tries: `MCP_SELECT_FUZZ_INPUTS`, else `usual`.
pub fn inputs(usual: u64) -> u64 {
    number("MCP_SELECT_FUZZ_INPUTS").unwrap_or(usual)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, which is no whole number")))
}
