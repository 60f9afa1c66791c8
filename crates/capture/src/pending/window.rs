use super::{Fade, NOTHING, settled};

/// Sliding-window sum over the last instants, k ≥ j − w, for pages that append or overwrite.
///
/// The instants of the window are in two stacks that face each other. Those in the newer one have
/// one sum. Those in the older one have a sum for each place at which the window may begin, so the
/// oldest is dropped by dropping its sum. When no sums are left, the newer instants become the
/// older ones: one step for each instant that ever comes. A window with nothing in it is an empty
/// one: most pages hardly change.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Number of instants of the window besides the present one.
    instants: usize,
    fade: Fade,
    /// Once the window is full: the sums of the older instants, the one that has them all last,
    /// then the chances of the newer instants, the newest first. Until then: chances in order.
    slots: Vec<f64>,
    older: usize,
    newer_sum: f64,
    /// Factor by which the older sums have decayed since.
    left: f64,
}

impl Window {
    pub(super) fn new(instants: u32, fade: Fade) -> Self {
        let instants = instants as usize;
        Self { instants, fade, slots: Vec::new(), older: 0, newer_sum: 0.0, left: 1.0 }
    }

    pub(super) fn pass(&mut self, chance: f64) -> f64 {
        if chance <= NOTHING && self.slots.is_empty() {
            return 0.0;
        }
        if self.slots.len() <= self.instants {
            self.slots.push(chance);
            if self.slots.len() > self.instants {
                self.slots.reverse();
            }
        } else {
            if self.older == 0 {
                self.turn();
            }
            self.older -= 1;
            self.slots[self.older] = chance;
        }
        let left = self.fade.left(chance);
        self.newer_sum = settled(left * self.newer_sum + chance);
        self.left = settled(left * self.left);
        if self.worth() <= NOTHING {
            self.clear();
        }
        self.worth()
    }

    /// Moves the newer instants to the older ones: from probabilities to sums at the time of the newest.
    fn turn(&mut self) {
        let (mut sum, mut left) = (0.0, 1.0);
        for slot in &mut self.slots {
            let chance = *slot;
            sum += left * chance;
            left *= self.fade.left(chance);
            *slot = sum;
        }
        (self.older, self.newer_sum, self.left) = (self.slots.len(), 0.0, 1.0);
    }

    pub(super) fn worth(&self) -> f64 {
        let older = if self.older > 0 { self.slots[self.older - 1] * self.left } else { 0.0 };
        older + self.newer_sum
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        (self.older, self.newer_sum, self.left) = (0, 0.0, 1.0);
    }
}
