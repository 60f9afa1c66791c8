use super::NOTHING;

/// Share of the whole below which a part is dropped.
const NEGLIGIBLE: f64 = 1e-20;

/// Change window of n: worth in parts, by the number of later changes.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    limit: usize,
    kept: f64,
    /// Part q has had q changes after it: Σ r^(j−k) · πₖ · P(q changes in k+1, …, j).
    parts: Vec<f64>,
    worth: f64,
}

impl Counted {
    pub(super) fn new(limit: u32, kept: f64) -> Self {
        Self { limit: limit as usize, kept, parts: Vec::new(), worth: 0.0 }
    }

    /// Creates a window from existing parts.
    pub(super) fn of(limit: usize, kept: f64, parts: &[f64]) -> Self {
        Self { limit, kept, parts: parts.to_vec(), worth: parts.iter().sum() }
    }

    pub(super) fn pass(&mut self, chance: f64) -> f64 {
        if chance <= NOTHING && self.kept == 1.0 {
            return self.worth;
        }
        let stay = self.kept * (1.0 - chance);
        let move_on = self.kept * chance;
        // The first part receives the new change.
        let mut entering = chance;
        let mut worth = 0.0;
        for part in &mut self.parts {
            let leaving = move_on * *part;
            *part = stay * *part + entering;
            worth += *part;
            entering = leaving;
        }
        if self.parts.len() < self.limit && entering > NEGLIGIBLE * worth {
            self.parts.push(entering);
            worth += entering;
        }
        self.worth = worth;
        if worth <= NOTHING {
            self.clear();
        }
        self.worth
    }

    pub(super) fn worth(&self) -> f64 {
        self.worth
    }

    pub(super) fn parts(&self) -> &[f64] {
        &self.parts
    }

    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.worth = 0.0;
    }
}
