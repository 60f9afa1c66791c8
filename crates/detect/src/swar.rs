//! Eight bytes at a time, as one number: for many short texts that is quicker than byte by byte.

pub(crate) const EACH: u64 = 0x0101_0101_0101_0101;
pub(crate) const HIGH: u64 = 0x80 * EACH;

/// The eight bytes at a place, the first one lowest.
#[inline]
pub(crate) fn load_word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(*eight.first_chunk()?))
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
#[inline(always)]
pub(crate) fn find_near(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    const NEAR: usize = 32;
    let rest = bytes.get(from..)?;
    let Some((near, far)) = rest.split_first_chunk::<NEAR>() else {
        return find_far(rest, byte).map(|it| from + it);
    };
    match first_of(near, byte) {
        Some(it) => Some(from + it),
        None => find_far(far, byte).map(|it| from + NEAR + it),
    }
}

#[inline(never)]
fn find_far(bytes: &[u8], byte: u8) -> Option<usize> {
    memchr::memchr(byte, bytes)
}

/// Where a byte is first among a few. Here the search that looks for nothing else first is quicker
/// than one that asks what the machine can do.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn first_of(bytes: &[u8; 32], byte: u8) -> Option<usize> {
    match memchr::arch::x86_64::sse2::memchr::One::new(byte) {
        Some(search) => search.find(bytes),
        None => memchr::memchr(byte, bytes),
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn first_of(bytes: &[u8; 32], byte: u8) -> Option<usize> {
    (0..bytes.len()).step_by(8).find_map(|at| {
        let found = equal(load_word(bytes, at)?, byte);
        (found != 0).then(|| at + bits_before(found) as usize / 8)
    })
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
