//! Which of 64 bytes are quotes, operators, white space …: one bit a byte, the first byte lowest.
//!
//! By the vector instructions of x86-64 where they are there, else eight bytes at a time. This is the one place outside
//! the C ABI with `unsafe`: the compiler cannot know that a processor has an instruction.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering};

/// How many bytes are looked at together.
pub const BLOCK: usize = 64;
const WORD: usize = 8;

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

    /// Writes a block without the bytes whose bit is set; what comes behind the others means nothing.
    #[inline(always)]
    fn without(self, block: &[u8; BLOCK], mask: u64, target: &mut [u8; BLOCK]) {
        let (words, _) = block.as_chunks::<WORD>();
        let mut to = 0;
        for (word, mask) in words.iter().zip(mask.to_le_bytes()) {
            // As long as the compiler sees that a word fits, it asks nothing at run time.
            let start = to.min(BLOCK - WORD);
            if let Some(place) = target.get_mut(start..start + WORD) {
                place.copy_from_slice(&if mask == 0 { *word } else { self.word_without(*word, mask) });
            }
            to += WORD - mask.count_ones() as usize;
        }
    }

    /// Writes a block with a backslash before each byte whose bit is set; what comes behind means nothing.
    #[inline(always)]
    fn with_backslashes(self, block: &[u8; BLOCK], mask: u64, target: &mut [u8; 2 * BLOCK]) {
        let (words, _) = block.as_chunks::<WORD>();
        let mut to = 0;
        for (word, mask) in words.iter().zip(mask.to_le_bytes()) {
            // Sixteen bytes at a fixed length, of which the next ones are written over: cheaper than a length that varies.
            let start = to.min(2 * BLOCK - 2 * WORD);
            if let Some(place) = target.get_mut(start..start + 2 * WORD).and_then(|place| place.first_chunk_mut()) {
                *place = self.word_with_backslashes(*word, mask);
            }
            to += WORD + mask.count_ones() as usize;
        }
    }

    /// The same of eight bytes.
    #[inline(always)]
    fn word_without(self, bytes: [u8; WORD], mask: u8) -> [u8; WORD] {
        let mut kept = [0; WORD];
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

    /// The same of eight bytes.
    #[inline(always)]
    fn word_with_backslashes(self, bytes: [u8; WORD], mask: u8) -> [u8; 2 * WORD] {
        let mut spread = [0; 2 * WORD];
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
    /// 64 bytes, and bytes moved by masks.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    const ALL: &[Level] = &[
        Level::Word,
        #[cfg(target_arch = "x86_64")]
        Level::Sse2,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512,
    ];

    /// The best one of this machine.
    #[inline]
    pub fn of_this_machine() -> Level {
        /// Its place in `ALL` plus one, once somebody has looked. Whoever looks finds the same.
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        #[cfg(test)]
        if let Some(level) = tests::FORCED.get() {
            return level;
        }
        match Level::ALL.get(usize::from(KNOWN.load(Ordering::Relaxed)).wrapping_sub(1)) {
            Some(level) => *level,
            None => Level::look(&KNOWN),
        }
    }

    /// The best one of this machine for work that only looks: with AVX2 the marks come to the other registers sooner.
    #[inline]
    pub fn to_look() -> Level {
        match Level::of_this_machine() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Level::Avx2,
            level => level,
        }
    }

    #[cold]
    fn look(known: &AtomicU8) -> Level {
        let mut best = Level::Word;
        for (level, number) in Level::ALL.iter().zip(1..).filter(|(level, _)| level.is_here()) {
            best = *level;
            known.store(number, Ordering::Relaxed);
        }
        best
    }

    fn is_here(self) -> bool {
        match self {
            Level::Word => true,
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => x86::has_avx512(),
        }
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
            // SAFETY: this level is only made where these features were found.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::run_avx512(work) },
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

/// Strings from block to block.
#[derive(Clone, Copy, Default, Debug)]
pub struct Quoting {
    /// Every bit set: the next block starts inside a string.
    pub in_string: u64,
    /// 1: its first byte is escaped.
    pub escaped: u64,
}

/// What [`Quoting`] tells of a block.
#[derive(Clone, Copy)]
pub struct Quoted {
    pub escaped: u64,
    /// The quotes that are not.
    pub quotes: u64,
    /// What stands in strings, with the quotes that open them.
    pub inside: u64,
}

impl Quoting {
    #[inline(always)]
    pub fn next(&mut self, strings: Strings, marks: impl Marks) -> Quoted {
        let escaped =
            if strings.backslash | self.escaped == 0 { 0 } else { escaped_by(strings.backslash, &mut self.escaped) };
        let quotes = strings.quote & !escaped;
        let inside = marks.prefix_xor(quotes) ^ self.in_string;
        self.in_string = 0u64.wrapping_sub(inside >> 63);
        Quoted { escaped, quotes, inside }
    }
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
    use super::{BLOCK, Brackets, KEEP, Marks, Outside, SPREAD, Strings, WORD, Work};
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_clmulepi64_si128, _mm_cmpeq_epi8, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_max_epu8,
        _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi64x, _mm_shuffle_epi8,
        _mm_storeu_si128, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8,
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

    pub fn has_avx512() -> bool {
        has_avx2()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2")
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,bmi1,bmi2,popcnt,pclmulqdq")]
    pub fn run_avx512<W: Work>(work: W) -> W::Output {
        work.run(Avx512(()))
    }

    #[derive(Clone, Copy)]
    pub struct Sse2;

    /// Made in [`run_avx2`] alone.
    #[derive(Clone, Copy)]
    pub struct Avx2(());

    /// Made in [`run_avx512`] alone.
    #[derive(Clone, Copy)]
    pub struct Avx512(());

    /// The marks of a level, by the functions of a module.
    macro_rules! marks_by {
        ($module:ident) => {
            #[inline(always)]
            fn strings(self, block: &[u8; BLOCK]) -> Strings {
                // SAFETY: a level is only made where its instructions were found; every x86-64 has SSE2.
                unsafe { $module::strings(block) }
            }

            #[inline(always)]
            fn outside(self, block: &[u8; BLOCK]) -> Outside {
                // SAFETY: as above.
                unsafe { $module::outside(block) }
            }

            #[inline(always)]
            fn is_plain(self, block: &[u8; BLOCK]) -> bool {
                // SAFETY: as above.
                unsafe { $module::is_plain(block) }
            }

            #[inline(always)]
            fn brackets(self, block: &[u8; BLOCK]) -> Brackets {
                // SAFETY: as above.
                unsafe { $module::brackets(block) }
            }
        };
    }

    impl Marks for Sse2 {
        marks_by!(sse2);
    }

    impl Marks for Avx2 {
        marks_by!(avx2);

        #[inline(always)]
        fn prefix_xor(self, bits: u64) -> u64 {
            // SAFETY: an `Avx2` is only made where carry-less multiplication was found too.
            unsafe { prefix_xor(bits) }
        }

        #[inline(always)]
        fn word_without(self, bytes: [u8; WORD], mask: u8) -> [u8; WORD] {
            // SAFETY: an `Avx2` is only made where AVX2 was found, which has SSSE3 in it.
            unsafe { word_without(bytes, mask) }
        }

        #[inline(always)]
        fn word_with_backslashes(self, bytes: [u8; WORD], mask: u8) -> [u8; 2 * WORD] {
            // SAFETY: an `Avx2` is only made where AVX2 was found, which has SSSE3 in it.
            unsafe { word_with_backslashes(bytes, mask) }
        }
    }

    impl Marks for Avx512 {
        marks_by!(avx512);

        #[inline(always)]
        fn prefix_xor(self, bits: u64) -> u64 {
            // SAFETY: an `Avx512` is only made where carry-less multiplication was found too.
            unsafe { prefix_xor(bits) }
        }

        #[inline(always)]
        fn without(self, block: &[u8; BLOCK], mask: u64, target: &mut [u8; BLOCK]) {
            // SAFETY: an `Avx512` is only made where VBMI2 was found.
            unsafe { avx512::without(block, mask, target) }
        }

        #[inline(always)]
        fn with_backslashes(self, block: &[u8; BLOCK], mask: u64, target: &mut [u8; 2 * BLOCK]) {
            // SAFETY: an `Avx512` is only made where VBMI2 was found.
            unsafe { avx512::with_backslashes(block, mask, target) }
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
    fn word_without(bytes: [u8; WORD], mask: u8) -> [u8; WORD] {
        let from = KEEP.get(usize::from(mask)).unwrap_or(&[0; 8]);
        // Twice, for nobody needs zeros above: to put them there the compiler may take a `vmovq` that valgrind does not know.
        let word = |bytes: [u8; WORD]| _mm_set1_epi64x(i64::from_le_bytes(bytes));
        _mm_cvtsi128_si64(_mm_shuffle_epi8(word(bytes), word(*from))).to_le_bytes()
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn word_with_backslashes(bytes: [u8; WORD], mask: u8) -> [u8; 2 * WORD] {
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

    /// A block is one register, and its marks are.
    mod avx512 {
        use super::{BLOCK, Brackets, Outside, Strings};
        use std::arch::x86_64::{
            __m512i, __mmask64, _mm256_loadu_si256, _mm512_cmpeq_epi8_mask, _mm512_cmple_epu8_mask, _mm512_loadu_si512,
            _mm512_mask_expand_epi8, _mm512_maskz_compress_epi8, _mm512_or_si512, _mm512_set1_epi8,
            _mm512_storeu_si512, _mm512_zextsi256_si512, _pdep_u64, _pext_u64,
        };

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub fn strings(block: &[u8; BLOCK]) -> Strings {
            let lane = load(block);
            Strings { quote: is(lane, b'"'), backslash: is(lane, b'\\'), control: at_most(lane, 0x1F) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub fn is_plain(block: &[u8; BLOCK]) -> bool {
            strings(block).special() == 0
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub fn outside(block: &[u8; BLOCK]) -> Outside {
            let lane = load(block);
            let Brackets { open, close } = brackets(block);
            Outside { operator: open | close | is(lane, b':') | is(lane, b','), white: at_most(lane, b' ') }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub fn brackets(block: &[u8; BLOCK]) -> Brackets {
            // A bracket is a brace but for one bit.
            let brace = _mm512_or_si512(load(block), _mm512_set1_epi8(0x20));
            Brackets { open: is(brace, b'{'), close: is(brace, b'}') }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
        pub fn without(block: &[u8; BLOCK], mask: u64, target: &mut [u8; BLOCK]) {
            store(_mm512_maskz_compress_epi8(!mask, load(block)), target);
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
        pub fn with_backslashes(block: &[u8; BLOCK], mask: u64, target: &mut [u8; 2 * BLOCK]) {
            const HALF: usize = BLOCK / 2;
            let mut to = 0;
            let (halves, _) = block.as_chunks::<HALF>();
            for (half, mask) in halves.iter().zip([mask & 0xFFFF_FFFF, mask >> 32]) {
                // Two bits for each byte: one for a backslash before it, one for itself. Of those that are there, these are
                // the bytes themselves.
                const OWN: u64 = 0xAAAA_AAAA_AAAA_AAAA;
                let there = OWN | _pdep_u64(mask, !OWN);
                // SAFETY: 32 bytes can be read; no alignment is asked for.
                let bytes = _mm512_zextsi256_si512(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) });
                let spread =
                    _mm512_mask_expand_epi8(_mm512_set1_epi8(b'\\'.cast_signed()), _pext_u64(OWN, there), bytes);
                if let Some(place) = target.get_mut(to..).and_then(|rest| rest.first_chunk_mut()) {
                    store(spread, place);
                }
                to = HALF + mask.count_ones() as usize;
            }
        }

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn load(block: &[u8; BLOCK]) -> __m512i {
            // SAFETY: 64 bytes can be read; no alignment is asked for.
            unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn store(lane: __m512i, target: &mut [u8; BLOCK]) {
            // SAFETY: 64 bytes can be written; no alignment is asked for.
            unsafe { _mm512_storeu_si512(target.as_mut_ptr().cast(), lane) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn is(lane: __m512i, byte: u8) -> __mmask64 {
            _mm512_cmpeq_epi8_mask(lane, _mm512_set1_epi8(byte.cast_signed()))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn at_most(lane: __m512i, byte: u8) -> __mmask64 {
            _mm512_cmple_epu8_mask(lane, _mm512_set1_epi8(byte.cast_signed()))
        }
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
pub mod tests {
    use super::*;
    use std::cell::Cell;

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

    thread_local! {
        /// What [`Level::of_this_machine`] says in this thread.
        pub static FORCED: Cell<Option<Level>> = const { Cell::new(None) };
    }

    /// The levels that this machine has.
    fn levels() -> impl Iterator<Item = Level> {
        Level::ALL.iter().copied().filter(|level| level.is_here())
    }

    /// Tests something with each level that this machine has.
    pub fn at_every_level(test: impl Fn()) {
        for level in levels() {
            FORCED.set(Some(level));
            test();
        }
        FORCED.set(None);
    }

    struct Spread([u8; BLOCK], u64);

    impl Work for Spread {
        type Output = ([u8; 2 * BLOCK], [u8; BLOCK]);
        #[inline(always)]
        fn run(self, marks: impl Marks) -> Self::Output {
            let (mut spread, mut left) = ([0; 2 * BLOCK], [0; BLOCK]);
            marks.with_backslashes(&self.0, self.1, &mut spread);
            marks.without(&self.0, self.1, &mut left);
            (spread, left)
        }
    }

    #[test]
    fn every_level_puts_and_takes_the_same_bytes() {
        let bytes: [u8; BLOCK] = std::array::from_fn(|index| b'0' + index as u8);
        let eights = (0..=255).flat_map(|mask: u64| (0..8).map(move |word| mask << (8 * word)));
        let random = (1..2000u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for mask in eights.chain(random).chain([u64::MAX, 1 << 63, u64::MAX >> 1, u64::MAX << 32]) {
            let mut expected = Vec::new();
            for (index, byte) in bytes.into_iter().enumerate() {
                expected.extend((mask >> index & 1 != 0).then_some(b'\\'));
                expected.push(byte);
            }
            let kept: Vec<u8> = (0..BLOCK).filter(|index| mask >> index & 1 == 0).map(|index| bytes[index]).collect();
            for level in levels() {
                let (spread, left) = level.run(Spread(bytes, mask));
                assert!(spread.starts_with(&expected), "{level:?} {mask:#x}");
                assert!(left.starts_with(&kept), "{level:?} {mask:#x}");
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
        for level in levels() {
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
