//! SWAR (SIMD within a register): processes eight bytes at a time as one `u64`. For short texts
//! this is faster than a byte at a time.

pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;
pub(crate) const HIGH_BITS: u64 = 0x80 * ONES;

/// Loads eight bytes, the first one lowest.
#[inline]
pub(crate) fn load_word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(*word.first_chunk()?))
}

/// Packs up to eight bytes into a number, the first one lowest.
pub(crate) const fn pack_bytes(text: &[u8]) -> u64 {
    let (mut word, mut at) = (0, text.len());
    while at > 0 {
        at -= 1;
        word = word << 8 | text[at] as u64;
    }
    word
}

/// Returns the number of bits before the first marked byte.
#[inline]
pub(crate) fn bits_before(marks: u64) -> u32 {
    marks.trailing_zeros() & !7
}

/// Marks the highest bit of each byte that equals `byte`. Only the first mark is exact.
#[inline]
pub(crate) fn match_byte(word: u64, byte: u8) -> u64 {
    match_below(word ^ (u64::from(byte) * ONES), 1)
}

/// Marks the highest bit of each byte below `byte`. Only the first mark is exact.
#[inline]
pub(crate) fn match_below(word: u64, byte: u8) -> u64 {
    word.wrapping_sub(u64::from(byte) * ONES) & !word & HIGH_BITS
}

/// Marks the highest bit of each ASCII letter or digit.
#[inline]
pub(crate) fn match_alphanumeric(word: u64) -> u64 {
    let lower = word | (0x20 * ONES);
    (match_range(lower, b'a', b'z') | match_range(word, b'0', b'9')) & !word & HIGH_BITS
}

/// Converts ASCII letters to lower case.
#[inline]
pub(crate) fn lowercase(word: u64) -> u64 {
    let upper = match_range(word, b'A', b'Z') & !word & HIGH_BITS;
    word | upper >> 2
}

/// Marks the highest bit of each byte from `min` to `max`, for bytes below 128. Other bits are
/// undefined.
#[inline]
fn match_range(word: u64, min: u8, max: u8) -> u64 {
    let at_least = |min: u8| (word | HIGH_BITS) - u64::from(min) * ONES;
    at_least(min) & !at_least(max + 1)
}

/// Finds a byte from an offset on, optimized for a match within the first bytes.
#[inline(always)]
pub(crate) fn find_near(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    const NEAR: usize = 32;
    let rest = bytes.get(from..)?;
    let Some((near, far)) = rest.split_first_chunk::<NEAR>() else {
        return find_far(rest, byte).map(|it| from + it);
    };
    match find_in_chunk(near, byte) {
        Some(it) => Some(from + it),
        None => find_far(far, byte).map(|it| from + NEAR + it),
    }
}

#[inline(never)]
fn find_far(bytes: &[u8], byte: u8) -> Option<usize> {
    memchr::memchr(byte, bytes)
}

/// Finds a byte in a small array. SSE2 directly is faster here than `memchr`, which detects the
/// features of the processor.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn find_in_chunk(bytes: &[u8; 32], byte: u8) -> Option<usize> {
    match memchr::arch::x86_64::sse2::memchr::One::new(byte) {
        Some(search) => search.find(bytes),
        None => memchr::memchr(byte, bytes),
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn find_in_chunk(bytes: &[u8; 32], byte: u8) -> Option<usize> {
    (0..bytes.len()).step_by(8).find_map(|at| {
        let marks = match_byte(load_word(bytes, at)?, byte);
        (marks != 0).then(|| at + bits_before(marks) as usize / 8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a check with each byte value at each position.
    fn for_each_word(check: impl Fn([u8; 8], u64)) {
        for byte in 0..=u8::MAX {
            for position in 0..8 {
                let mut bytes = *b" a0Zz9-_";
                bytes[position] = byte;
                check(bytes, u64::from_le_bytes(bytes));
            }
        }
    }

    #[test]
    fn letters_and_digits_are_marked_and_lowercased() {
        for_each_word(|bytes, word| {
            let expect = bytes.map(|it| 0x80 * u8::from(it.is_ascii_alphanumeric()));
            assert_eq!(match_alphanumeric(word).to_le_bytes(), expect, "{bytes:?}");
            let expect = bytes.map(|it| it.to_ascii_lowercase());
            assert_eq!(lowercase(word).to_le_bytes(), expect, "{bytes:?}");
        });
    }

    #[test]
    fn the_first_mark_is_exact() {
        let first = |marks: u64| (marks != 0).then(|| bits_before(marks) as usize / 8);
        for_each_word(|bytes, word| {
            for byte in 0..128 {
                let expect = bytes.iter().position(|it| *it == byte);
                assert_eq!(first(match_byte(word, byte)), expect, "{bytes:?} {byte}");
                let expect = bytes.iter().position(|it| *it < byte);
                assert_eq!(first(match_below(word, byte)), expect, "{bytes:?} {byte}");
            }
        });
    }

    #[test]
    fn find_near_finds_a_byte_at_any_distance() {
        for length in 0..80 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(find_near(&bytes, 0, b'"'), None);
            bytes.push(b'"');
            for from in 0..=length {
                assert_eq!(find_near(&bytes, from, b'"'), Some(length));
            }
        }
        assert_eq!(find_near(b"", 3, b'"'), None);
    }
}
