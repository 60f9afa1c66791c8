use crate::{CaptureError, Life, Urgency};

/// A page to watch: what its changes are worth, until when they are there, and how soon they should
/// be captured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    weight: f64,
    life: Life,
    urgency: Urgency,
}

impl Page {
    /// A page of which each change is worth `weight` when it is captured at once.
    ///
    /// # Errors
    ///
    /// If the weight is not a finite number of at least 0.
    pub fn new(weight: f64, life: Life, urgency: Urgency) -> Result<Self, CaptureError> {
        if weight >= 0.0 && weight.is_finite() {
            Ok(Self { weight, life, urgency })
        } else {
            Err(CaptureError::Weight(weight))
        }
    }

    /// A page under CAM's objective, the returned information ratio (Pandey, Ramamritham &
    /// Chakrabarti 2003): changes overwrite each other, and count in their own instant only. The
    /// ratio itself is [`Captured::ratio`](crate::Captured::ratio). Greedy is optimal for it.
    ///
    /// # Errors
    ///
    /// If the weight is not a finite number of at least 0.
    pub fn cam(weight: f64) -> Result<Self, CaptureError> {
        Self::new(weight, Life::Overwrite, Urgency::Window(0))
    }

    /// What each change is worth when it is captured at once.
    #[must_use]
    pub fn weight(self) -> f64 {
        self.weight
    }

    /// Until when changes are there.
    #[must_use]
    pub fn life(self) -> Life {
        self.life
    }

    /// How soon changes should be captured.
    #[must_use]
    pub fn urgency(self) -> Urgency {
        self.urgency
    }

    /// The most that an instant of waiting leaves of the worth of a pending change.
    pub(crate) fn carry(self) -> f64 {
        match (self.life, self.urgency) {
            _ if self.weight == 0.0 => 0.0,
            (Life::Window(0), _) | (_, Urgency::Window(0)) => 0.0,
            (_, Urgency::Decay(kept)) => kept.get(),
            (_, Urgency::Uniform | Urgency::Window(_)) => 1.0,
        }
    }
}
