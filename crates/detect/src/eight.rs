//! Eight bytes at a time, as one number: for many short texts that is quicker than byte by byte.

pub(crate) const EACH: u64 = 0x0101_0101_0101_0101;
pub(crate) const HIGH: u64 = 0x80 * EACH;

/// The eight bytes at a place, the first one lowest.
#[inline]
pub(crate) fn eight(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A text of up to eight bytes, the first one lowest.
pub(crate) const fn packed(text: &[u8]) -> u64 {
    let (mut packed, mut at) = (0, text.len());
    while at > 0 {
        at -= 1;
        packed = packed << 8 | text[at] as u64;
    }
    packed
}

/// How many bits come before the first byte that is marked.
#[inline]
pub(crate) fn bits_before(marked: u64) -> u32 {
    marked.trailing_zeros() & !7
}

/// The highest bit of each byte that is this one. Only the first mark is sure.
#[inline]
pub(crate) fn equal(eight: u64, byte: u8) -> u64 {
    below(eight ^ (u64::from(byte) * EACH), 1)
}

/// The highest bit of each byte that is less than this one. Only the first mark is sure.
#[inline]
pub(crate) fn below(eight: u64, byte: u8) -> u64 {
    eight.wrapping_sub(u64::from(byte) * EACH) & !eight & HIGH
}

/// The highest bit of each byte that is a letter or a digit of ASCII.
#[inline]
pub(crate) fn alphanumeric(eight: u64) -> u64 {
    let lower = eight | (0x20 * EACH);
    (within(lower, b'a', b'z') | within(eight, b'0', b'9')) & !eight & HIGH
}

/// With letters of ASCII in lower case.
#[inline]
pub(crate) fn lowercase(eight: u64) -> u64 {
    let upper = within(eight, b'A', b'Z') & !eight & HIGH;
    eight | upper >> 2
}

/// The highest bit of each byte below 128 that is from `least` to `most`, and other bits.
#[inline]
fn within(eight: u64, least: u8, most: u8) -> u64 {
    let at_least = |least: u8| (eight | HIGH) - u64::from(least) * EACH;
    at_least(least) & !at_least(most + 1)
}

/// Where a byte is, from a place on. It is expected soon.
#[inline]
pub(crate) fn find_near(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    const NEAR: usize = 2;
    let mut at = from;
    for _ in 0..NEAR {
        // Two at a time: one branch less that nobody can foresee.
        let Some(sixteen) = bytes.get(at..).and_then(|it| it.first_chunk()) else { break };
        let sixteen = u128::from_le_bytes(*sixteen);
        let (low, high) = (equal(sixteen as u64, byte), equal((sixteen >> 64) as u64, byte));
        if low | high != 0 {
            let (marked, before) = if low != 0 { (low, 0) } else { (high, 8) };
            return Some(at + before + bits_before(marked) as usize / 8);
        }
        at += 16;
    }
    memchr::memchr(byte, bytes.get(at..)?).map(|it| at + it)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte at each place among others.
    fn each(check: impl Fn([u8; 8], u64)) {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let mut bytes = *b" a0Zz9-_";
                bytes[place] = byte;
                check(bytes, u64::from_le_bytes(bytes));
            }
        }
    }

    #[test]
    fn letters_and_digits() {
        each(|bytes, eight| {
            let expect = bytes.map(|it| 0x80 * u8::from(it.is_ascii_alphanumeric()));
            assert_eq!(alphanumeric(eight).to_le_bytes(), expect, "{bytes:?}");
            let expect = bytes.map(|it| it.to_ascii_lowercase());
            assert_eq!(lowercase(eight).to_le_bytes(), expect, "{bytes:?}");
        });
    }

    #[test]
    fn the_first_of_a_kind() {
        let first = |marked: u64| (marked != 0).then(|| bits_before(marked) as usize / 8);
        each(|bytes, eight| {
            for byte in 0..128 {
                let expect = bytes.iter().position(|it| *it == byte);
                assert_eq!(first(equal(eight, byte)), expect, "{bytes:?} {byte}");
                let expect = bytes.iter().position(|it| *it < byte);
                assert_eq!(first(below(eight, byte)), expect, "{bytes:?} {byte}");
            }
        });
    }

    #[test]
    fn near_and_far() {
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
