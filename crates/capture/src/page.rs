use crate::{CaptureError, Life, Urgency};

/// A page: worth of its changes, how long they are available, and how soon they should
/// be captured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    weight: f64,
    life: Life,
    urgency: Urgency,
}

impl Page {
    /// Creates a page whose changes are worth `weight` if captured at once.
    ///
    /// # Errors
    ///
    /// Returns an error if the weight is negative or not finite.
    pub fn new(weight: f64, life: Life, urgency: Urgency) -> Result<Self, CaptureError> {
        if weight >= 0.0 && weight.is_finite() {
            Ok(Self { weight, life, urgency })
        } else {
            Err(CaptureError::Weight(weight))
        }
    }

    /// Creates a page under CAM's objective, the returned information ratio (Pandey, Ramamritham &
    /// Chakrabarti 2003): changes overwrite each other, and count in their own instant only. The
    /// ratio itself is [`Captured::ratio`](crate::Captured::ratio). Greedy is optimal for it.
    ///
    /// # Errors
    ///
    /// Returns an error if the weight is negative or not finite.
    pub fn cam(weight: f64) -> Result<Self, CaptureError> {
        Self::new(weight, Life::Overwrite, Urgency::Window(0))
    }

    /// Returns the worth of a change that is captured at once.
    #[must_use]
    pub fn weight(self) -> f64 {
        self.weight
    }

    /// Returns how long changes are available.
    #[must_use]
    pub fn life(self) -> Life {
        self.life
    }

    /// Returns how soon changes should be captured.
    #[must_use]
    pub fn urgency(self) -> Urgency {
        self.urgency
    }

    /// Returns the largest share of the worth of a pending change that remains after an instant.
    pub(crate) fn carry(self) -> f64 {
        match (self.life, self.urgency) {
            _ if self.weight == 0.0 => 0.0,
            (Life::Window(0), _) | (_, Urgency::Window(0)) => 0.0,
            (_, Urgency::Decay(kept)) => kept.get(),
            (_, Urgency::Uniform | Urgency::Window(_)) => 1.0,
        }
    }
}
