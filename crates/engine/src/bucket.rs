//! A budget that is paid out as time passes.

/// Never pays out more than `rate·t + burst` in any stretch of `t` days.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bucket {
    rate: f64,
    burst: f64,
    tokens: f64,
    at: f64,
    /// What ran over unused.
    lost: f64,
}

/// What adding up many small amounts may miss, relatively.
const ROUNDING: f64 = 1e-9;

impl Bucket {
    pub(crate) fn new(now: f64, rate: f64, burst: f64) -> Self {
        Self { rate, burst, tokens: 0.0, at: now, lost: 0.0 }
    }

    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Changes what flows in from now on. What is there already stays, up to the new brim.
    pub(crate) fn set(&mut self, now: f64, rate: f64, burst: f64) {
        self.flow(now);
        (self.rate, self.burst) = (rate, burst);
        self.tokens = self.tokens.min(burst);
    }

    pub(crate) fn flow(&mut self, now: f64) {
        if now > self.at {
            let full = self.rate.mul_add(now - self.at, self.tokens);
            self.tokens = full.min(self.burst);
            self.lost += full - self.tokens;
            self.at = now;
        }
    }

    /// Takes `cost` out if that much is there, but for rounding. What costs more than the brim is paid
    /// when the bucket is full, and leaves a debt.
    pub(crate) fn pay(&mut self, cost: f64) -> bool {
        let affordable = self.is_payable(cost);
        if affordable {
            self.tokens -= cost;
        }
        affordable
    }

    fn is_payable(&self, cost: f64) -> bool {
        self.tokens >= cost.min(self.burst) * (1.0 - ROUNDING)
    }

    /// The day on which `cost` can be paid.
    pub(crate) fn when(&self, cost: f64) -> f64 {
        if self.is_payable(cost) {
            self.at
        } else if self.rate > 0.0 {
            self.at + (cost.min(self.burst) - self.tokens) / self.rate
        } else {
            f64::INFINITY
        }
    }

    /// The day from which on it runs over.
    pub(crate) fn full(&self) -> f64 {
        self.when(f64::INFINITY)
    }

    /// What ran over since it was last asked.
    pub(crate) fn take_lost(&mut self) -> f64 {
        std::mem::take(&mut self.lost)
    }
}
