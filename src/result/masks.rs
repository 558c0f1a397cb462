//! Which of 64 bytes are quotes, operators, white space …: one bit a byte, the first byte lowest.
//!
//! By the vector instructions of x86-64 where they are there, else eight bytes at a time. This is the one place outside
//! the C ABI with `unsafe`: the compiler cannot know that a processor has an instruction.
#![allow(unsafe_code)]

/// How many bytes are looked at together.
pub const BLOCK: usize = 64;

/// The marks that tell strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strings {
    pub quote: u64,
    pub backslash: u64,
    /// Below a space.
    pub control: u64,
}

impl Strings {
    /// What cannot stand in a string as it is.
    pub fn special(self) -> u64 {
        self.quote | self.backslash | self.control
    }
}

/// The marks that tell what stands outside strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside {
    /// Braces, brackets, colon, comma.
    pub operator: u64,
    /// A space, or below it.
    pub white: u64,
}

/// Braces and brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Brackets {
    pub open: u64,
    pub close: u64,
}

/// Finds the marks of a block, in one way or another.
pub trait Marks: Copy {
    fn strings(self, block: &[u8; BLOCK]) -> Strings;
    fn outside(self, block: &[u8; BLOCK]) -> Outside;

    /// Whether all of it can stand in a string as it is.
    #[inline(always)]
    fn is_plain(self, block: &[u8; BLOCK]) -> bool {
        self.strings(block).special() == 0
    }

    fn brackets(self, block: &[u8; BLOCK]) -> Brackets;

    /// Of every bit the parity of itself and those below it: of quotes, what stands between them.
    #[inline(always)]
    fn prefix_xor(self, mut bits: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }

    /// Eight bytes without those whose bit is set; what comes behind means nothing.
    #[inline(always)]
    fn without(self, bytes: [u8; 8], mask: u8) -> [u8; 8] {
        let mut kept = [0; 8];
        let mut places = kept.iter_mut();
        for (index, byte) in bytes.into_iter().enumerate() {
            if (mask >> index) & 1 == 0
                && let Some(place) = places.next()
            {
                *place = byte;
            }
        }
        kept
    }

    /// Eight bytes with a backslash before each whose bit is set; what comes behind means nothing.
    #[inline(always)]
    fn with_backslashes(self, bytes: [u8; 8], mask: u8) -> [u8; 16] {
        let mut spread = [0; 16];
        let mut places = spread.iter_mut();
        for (index, byte) in bytes.into_iter().enumerate() {
            if (mask >> index) & 1 != 0
                && let Some(place) = places.next()
            {
                *place = b'\\';
            }
            if let Some(place) = places.next() {
                *place = byte;
            }
        }
        spread
    }
}

/// For each set of eight bytes that are to be left out: where each byte of the result comes from.
#[cfg(target_arch = "x86_64")]
const KEEP: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut from, mut to) = (0, 0);
        while from < 8 {
            if (mask >> from) & 1 == 0 {
                table[mask][to] = from;
                to += 1;
            }
            from += 1;
        }
        mask += 1;
    }
    table
};

/// For each set of eight bytes that are to have a backslash before them: where each byte of the result comes from, 8
/// standing for a backslash.
#[cfg(target_arch = "x86_64")]
const SPREAD: [[u8; 16]; 256] = {
    let mut table = [[0; 16]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut from, mut to) = (0, 0);
        while from < 8 {
            if (mask >> from) & 1 != 0 {
                table[mask][to] = 8;
                to += 1;
            }
            table[mask][to] = from;
            to += 1;
            from += 1;
        }
        mask += 1;
    }
    table
};

/// Something to be done with the marks of blocks. `run` must be `#[inline(always)]`, or it cannot use what the
/// processor has.
pub trait Work {
    type Output;
    fn run(self, marks: impl Marks) -> Self::Output;
}

/// What the processor can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Eight bytes at a time.
    Word,
    /// 16 bytes: every x86-64.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// 32 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Level {
    #[inline]
    pub fn of_this_machine() -> Level {
        #[cfg(target_arch = "x86_64")]
        return if x86::has_avx2() { Level::Avx2 } else { Level::Sse2 };
        #[cfg(not(target_arch = "x86_64"))]
        return Level::Word;
    }

    /// Whether the marks come from vector instructions. Without, looking at each byte once is quicker where that will do.
    pub fn has_vectors(self) -> bool {
        self != Level::Word
    }

    /// Does some work with the best marks that there are.
    #[inline(always)]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            Level::Word => work.run(word::Word),
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => work.run(x86::Sse2),
            // SAFETY: this level is only made where these features were found.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::run_avx2(work) },
        }
    }
}

/// The bytes that a backslash escapes. `escaped` is 1 when the first one is; then what it is for the next block.
#[inline(always)]
pub fn escaped_by(backslash: u64, escaped: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    // A backslash that is escaped itself escapes nothing.
    let backslash = backslash & !*escaped;
    let behind = (backslash << 1) | *escaped;
    // Where a row of backslashes starts at an odd place, the addition carries to the place behind the row.
    let odd_rows = backslash & !EVEN & !behind;
    let (carried, overflow) = odd_rows.overflowing_add(backslash);
    *escaped = overflow.into();
    (EVEN ^ (carried << 1)) & behind
}

/// The places of the bits that are set, the lowest first.
#[inline(always)]
pub fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        place
    })
}

/// Eight bytes at a time, with nothing but numbers of 64 bits.
mod word {
    use super::{BLOCK, Brackets, Marks, Outside, Strings};

    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOWS: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    const HIGHS: u64 = 0x8080_8080_8080_8080;

    #[derive(Clone, Copy)]
    pub struct Word;

    impl Marks for Word {
        #[inline(always)]
        fn strings(self, block: &[u8; BLOCK]) -> Strings {
            strings(block)
        }

        #[inline(always)]
        fn outside(self, block: &[u8; BLOCK]) -> Outside {
            outside(block)
        }

        #[inline(always)]
        fn brackets(self, block: &[u8; BLOCK]) -> Brackets {
            // A bracket is a brace but for one bit.
            let brace = |word: u64, byte: u8| is(word | (ONES * 0x20), byte);
            Brackets { open: marks(block, |word| brace(word, b'{')), close: marks(block, |word| brace(word, b'}')) }
        }
    }

    fn strings(block: &[u8; BLOCK]) -> Strings {
        Strings {
            quote: marks(block, |word| is(word, b'"')),
            backslash: marks(block, |word| is(word, b'\\')),
            control: marks(block, |word| below(word, 0x20)),
        }
    }

    fn outside(block: &[u8; BLOCK]) -> Outside {
        // A bracket is a brace but for one bit.
        let operator = |word: u64| {
            let brace = word | (ONES * 0x20);
            is(brace, b'{') | is(brace, b'}') | is(word, b':') | is(word, b',')
        };
        Outside { operator: marks(block, operator), white: marks(block, |word| below(word, 0x21)) }
    }

    /// One bit for each byte whose highest bit `test` sets, and that of no other.
    #[inline(always)]
    fn marks(block: &[u8; BLOCK], test: impl Fn(u64) -> u64) -> u64 {
        let (words, _) = block.as_chunks::<8>();
        words.iter().rev().fold(0, |marks, word| {
            // Brings the highest bits of the eight bytes together in the highest byte.
            let bits = (test(u64::from_le_bytes(*word)) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            marks << 8 | bits
        })
    }

    /// Marks the bytes that are this one.
    #[inline(always)]
    fn is(word: u64, byte: u8) -> u64 {
        let zero = word ^ (ONES * u64::from(byte));
        !(((zero & LOWS) + LOWS) | zero) & HIGHS
    }

    /// Marks the bytes that are less than `limit`, at most 0x80.
    #[inline(always)]
    fn below(word: u64, limit: u64) -> u64 {
        !(((word & LOWS) + ONES * (0x80 - limit)) | word) & HIGHS
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, Brackets, KEEP, Marks, Outside, SPREAD, Strings, Work};
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_clmulepi64_si128, _mm_cmpeq_epi8, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_max_epu8,
        _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_shuffle_epi8, _mm_storeu_si128,
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };

    #[inline]
    pub fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("pclmulqdq")
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq")]
    pub fn run_avx2<W: Work>(work: W) -> W::Output {
        work.run(Avx2(()))
    }

    #[derive(Clone, Copy)]
    pub struct Sse2;

    /// Made in [`run_avx2`] alone.
    #[derive(Clone, Copy)]
    pub struct Avx2(());

    impl Marks for Sse2 {
        #[inline(always)]
        fn strings(self, block: &[u8; BLOCK]) -> Strings {
            // SAFETY: every x86-64 has SSE2.
            unsafe { sse2::strings(block) }
        }

        #[inline(always)]
        fn outside(self, block: &[u8; BLOCK]) -> Outside {
            // SAFETY: every x86-64 has SSE2.
            unsafe { sse2::outside(block) }
        }

        #[inline(always)]
        fn is_plain(self, block: &[u8; BLOCK]) -> bool {
            // SAFETY: every x86-64 has SSE2.
            unsafe { sse2::is_plain(block) }
        }

        #[inline(always)]
        fn brackets(self, block: &[u8; BLOCK]) -> Brackets {
            // SAFETY: every x86-64 has SSE2.
            unsafe { sse2::brackets(block) }
        }
    }

    impl Marks for Avx2 {
        #[inline(always)]
        fn strings(self, block: &[u8; BLOCK]) -> Strings {
            // SAFETY: an `Avx2` is only made where AVX2 was found.
            unsafe { avx2::strings(block) }
        }

        #[inline(always)]
        fn outside(self, block: &[u8; BLOCK]) -> Outside {
            // SAFETY: an `Avx2` is only made where AVX2 was found.
            unsafe { avx2::outside(block) }
        }

        #[inline(always)]
        fn is_plain(self, block: &[u8; BLOCK]) -> bool {
            // SAFETY: an `Avx2` is only made where AVX2 was found.
            unsafe { avx2::is_plain(block) }
        }

        #[inline(always)]
        fn brackets(self, block: &[u8; BLOCK]) -> Brackets {
            // SAFETY: an `Avx2` is only made where AVX2 was found.
            unsafe { avx2::brackets(block) }
        }

        #[inline(always)]
        fn prefix_xor(self, bits: u64) -> u64 {
            // SAFETY: an `Avx2` is only made where carry-less multiplication was found too.
            unsafe { prefix_xor(bits) }
        }

        #[inline(always)]
        fn without(self, bytes: [u8; 8], mask: u8) -> [u8; 8] {
            // SAFETY: an `Avx2` is only made where AVX2 was found, which has SSSE3 in it.
            unsafe { without(bytes, mask) }
        }

        #[inline(always)]
        fn with_backslashes(self, bytes: [u8; 8], mask: u8) -> [u8; 16] {
            // SAFETY: an `Avx2` is only made where AVX2 was found, which has SSSE3 in it.
            unsafe { with_backslashes(bytes, mask) }
        }
    }

    /// A product without carries by all ones.
    #[inline]
    #[target_feature(enable = "pclmulqdq")]
    fn prefix_xor(bits: u64) -> u64 {
        let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1));
        _mm_cvtsi128_si64(product).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn without(bytes: [u8; 8], mask: u8) -> [u8; 8] {
        let from = KEEP.get(usize::from(mask)).unwrap_or(&[0; 8]);
        let word = |bytes: [u8; 8]| _mm_set_epi64x(0, i64::from_le_bytes(bytes));
        _mm_cvtsi128_si64(_mm_shuffle_epi8(word(bytes), word(*from))).to_le_bytes()
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn with_backslashes(bytes: [u8; 8], mask: u8) -> [u8; 16] {
        let from = SPREAD.get(usize::from(mask)).unwrap_or(&[0; 16]);
        let bytes = _mm_set_epi64x(i64::from_le_bytes([b'\\'; 8]), i64::from_le_bytes(bytes));
        let mut spread = [0; 16];
        // SAFETY: 16 bytes can be read from and written to 16 bytes; no alignment is asked for.
        unsafe {
            let from = _mm_loadu_si128(from.as_ptr().cast());
            _mm_storeu_si128(spread.as_mut_ptr().cast(), _mm_shuffle_epi8(bytes, from));
        }
        spread
    }

    /// The marks by instructions of one width.
    macro_rules! marks {
        (
            $module:ident, $feature:literal, $lane:ident, $bytes:literal, $lanes:expr, $load:ident, $splat:ident,
            $equal:ident, $max:ident, $or:ident, $bits:ident
        ) => {
            mod $module {
                use super::*;

                #[inline]
                #[target_feature(enable = $feature)]
                pub fn strings(block: &[u8; BLOCK]) -> Strings {
                    let lanes = lanes(block);
                    Strings {
                        quote: together(lanes.map(|lane| bits(is(lane, b'"')))),
                        backslash: together(lanes.map(|lane| bits(is(lane, b'\\')))),
                        control: together(lanes.map(|lane| bits(at_most(lane, 0x1F)))),
                    }
                }

                #[inline]
                #[target_feature(enable = $feature)]
                pub fn is_plain(block: &[u8; BLOCK]) -> bool {
                    let special = |lane| $or($or(is(lane, b'"'), is(lane, b'\\')), at_most(lane, 0x1F));
                    lanes(block)
                        .into_iter()
                        .map(special)
                        .reduce(|one, other| $or(one, other))
                        .is_none_or(|any| bits(any) == 0)
                }

                #[inline]
                #[target_feature(enable = $feature)]
                pub fn outside(block: &[u8; BLOCK]) -> Outside {
                    let lanes = lanes(block);
                    let operator = lanes.map(|lane| {
                        // A bracket is a brace but for one bit.
                        let brace = $or(lane, $splat(0x20));
                        let braces = $or(is(brace, b'{'), is(brace, b'}'));
                        bits($or(braces, $or(is(lane, b':'), is(lane, b','))))
                    });
                    let white = lanes.map(|lane| bits(at_most(lane, b' ')));
                    Outside { operator: together(operator), white: together(white) }
                }

                #[inline]
                #[target_feature(enable = $feature)]
                pub fn brackets(block: &[u8; BLOCK]) -> Brackets {
                    let lanes = lanes(block).map(|lane| $or(lane, $splat(0x20)));
                    Brackets {
                        open: together(lanes.map(|lane| bits(is(lane, b'{')))),
                        close: together(lanes.map(|lane| bits(is(lane, b'}')))),
                    }
                }

                #[inline]
                #[target_feature(enable = $feature)]
                fn lanes(block: &[u8; BLOCK]) -> [$lane; BLOCK / $bytes] {
                    let (lanes, _) = block.as_chunks::<$bytes>();
                    let lane = |index: usize| lanes.get(index).unwrap_or(&[0; $bytes]);
                    // SAFETY: as many bytes can be read as a lane has; no alignment is asked for.
                    $lanes.map(|index| unsafe { $load(lane(index).as_ptr().cast()) })
                }

                #[inline]
                #[target_feature(enable = $feature)]
                fn is(lane: $lane, byte: u8) -> $lane {
                    $equal(lane, $splat(byte.cast_signed()))
                }

                #[inline]
                #[target_feature(enable = $feature)]
                fn at_most(lane: $lane, byte: u8) -> $lane {
                    let most = $splat(byte.cast_signed());
                    $equal($max(lane, most), most)
                }

                #[inline]
                #[target_feature(enable = $feature)]
                fn bits(lane: $lane) -> u64 {
                    u64::from($bits(lane).cast_unsigned())
                }

                #[inline(always)]
                fn together(bits: [u64; BLOCK / $bytes]) -> u64 {
                    bits.iter().rev().fold(0, |marks, bits| marks << $bytes | bits)
                }
            }
        };
    }

    marks!(
        sse2,
        "sse2",
        __m128i,
        16,
        [0, 1, 2, 3],
        _mm_loadu_si128,
        _mm_set1_epi8,
        _mm_cmpeq_epi8,
        _mm_max_epu8,
        _mm_or_si128,
        _mm_movemask_epi8
    );
    marks!(
        avx2,
        "avx2",
        __m256i,
        32,
        [0, 1],
        _mm256_loadu_si256,
        _mm256_set1_epi8,
        _mm256_cmpeq_epi8,
        _mm256_max_epu8,
        _mm256_or_si256,
        _mm256_movemask_epi8
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the marks should be, byte by byte.
    fn plainly(block: &[u8; BLOCK]) -> (Strings, Outside, Brackets) {
        let marks =
            |test: fn(u8) -> bool| block.iter().rev().fold(0, |marks, byte| marks << 1 | u64::from(test(*byte)));
        (
            Strings { quote: marks(|b| b == b'"'), backslash: marks(|b| b == b'\\'), control: marks(|b| b < b' ') },
            Outside {
                operator: marks(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b':' | b',')),
                white: marks(|b| b <= b' '),
            },
            Brackets { open: marks(|b| matches!(b, b'{' | b'[')), close: marks(|b| matches!(b, b'}' | b']')) },
        )
    }

    struct Spread([u8; 8], u8);

    impl Work for Spread {
        type Output = ([u8; 16], [u8; 8]);
        #[inline(always)]
        fn run(self, marks: impl Marks) -> Self::Output {
            (marks.with_backslashes(self.0, self.1), marks.without(self.0, self.1))
        }
    }

    #[test]
    fn every_level_puts_and_takes_the_same_bytes() {
        for mask in 0..=255u8 {
            let bytes = *b"abcdefgh";
            let mut expected = String::new();
            for (index, byte) in bytes.into_iter().enumerate() {
                expected.push_str(if (mask >> index) & 1 != 0 { "\\" } else { "" });
                expected.push(byte.into());
            }
            let kept: Vec<u8> = (0..8).filter(|index| (mask >> index) & 1 == 0).map(|index| bytes[index]).collect();
            for level in [Level::Word, Level::of_this_machine()] {
                let (spread, left) = level.run(Spread(bytes, mask));
                assert!(spread.starts_with(expected.as_bytes()), "{level:?} {mask}");
                assert!(left.starts_with(&kept), "{level:?} {mask}");
            }
        }
    }

    struct Both<'b>(&'b [u8; BLOCK]);

    impl Work for Both<'_> {
        type Output = (Strings, Outside, Brackets);
        #[inline(always)]
        fn run(self, marks: impl Marks) -> Self::Output {
            assert_eq!(marks.is_plain(self.0), marks.strings(self.0).special() == 0);
            (marks.strings(self.0), marks.outside(self.0), marks.brackets(self.0))
        }
    }

    #[test]
    fn every_level_marks_every_byte_at_every_place() {
        let mut levels = vec![Level::Word, Level::of_this_machine()];
        #[cfg(target_arch = "x86_64")]
        levels.push(Level::Sse2);
        for level in levels {
            for byte in 0..=255u8 {
                for place in 0..BLOCK {
                    for around in [b'a', b'"', 0, 0x7F, 0x80, 0xFF, byte.wrapping_sub(1), byte.wrapping_add(1)] {
                        let mut block = [around; BLOCK];
                        block[place] = byte;
                        assert_eq!(level.run(Both(&block)), plainly(&block), "{level:?} {block:?}");
                    }
                }
            }
        }
    }
}
