use std::fmt;

/// Number between 0 and 1: a probability, or a retained share of a worth.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(f64);

/// Error for an invalid share.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not between 0 and 1")]
pub struct InvalidShare(pub f64);

impl Share {
    /// Zero.
    pub const NONE: Self = Self(0.0);
    /// One.
    pub const ALL: Self = Self(1.0);

    /// Validates a number.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is not in [0, 1].
    pub fn new(share: f64) -> Result<Self, InvalidShare> {
        // Avoids printing a negative zero.
        if (0.0..=1.0).contains(&share) { Ok(Self(share.abs())) } else { Err(InvalidShare(share)) }
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_0_to_1_are_shares() {
        for share in [0.0, 1e-300, 0.5, 1.0] {
            assert_eq!(Share::new(share).map(Share::get), Ok(share));
        }
        for number in [-1e-300, 1.0 + f64::EPSILON, f64::INFINITY] {
            assert_eq!(Share::new(number), Err(InvalidShare(number)));
        }
        assert!(Share::new(f64::NAN).is_err());
        assert_eq!(Share::new(-0.0).unwrap().to_string(), "0");
    }
}
