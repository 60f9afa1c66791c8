use rand::{Rng, RngExt};

use crate::{CaptureError, Chances, Changes, Share};

/// Distance in spreads at which the probability vanishes: e^(−s²/2) is below 10⁻¹⁷.
const FAR: f64 = 8.9;

/// Errors of an estimator of change probabilities, as in WIC §5.
///
/// First, each change is missed with probability FPN, and a false one is put at a random
/// instant of the same page instead. Then each change is spread over the instants around it, in proportion
/// to e^(−d²/2σ²) at a distance of d instants, within the epoch. Where changes overlap, the
/// probability is that of at least one.
///
/// The paper leaves open which step comes first, how a spread past the ends of
/// the epoch is treated, and how probabilities are combined. Its spread, like this one, is centred on the true instant: the
/// peak is at the change, so the noise blurs rather than misleads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    spread: f64,
    false_positives: Share,
}

impl Noise {
    /// No errors.
    pub const NONE: Self = Self { spread: 0.0, false_positives: Share::NONE };

    /// Creates noise with the spread σ in instants, and the share FPN of changes that are missed and replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if the spread is negative or not finite.
    pub fn new(spread: f64, false_positives: Share) -> Result<Self, CaptureError> {
        if spread >= 0.0 && spread.is_finite() {
            Ok(Self { spread, false_positives })
        } else {
            Err(CaptureError::Spread(spread))
        }
    }

    /// Returns the probabilities that such an estimator reports for the given changes.
    pub fn chances(self, changes: &Changes, random: &mut impl Rng) -> Chances {
        let (pages, instants) = (changes.pages(), changes.instants());
        let bell = Bell::new(self.spread, instants);
        let mut values = vec![0.0; pages * instants];
        for (page, times) in changes.iter().enumerate() {
            for &time in times {
                let wrong = random.random::<f64>() < self.false_positives.get();
                let centre = if wrong { random.random_range(0..instants) } else { time as usize };
                let (first, last, total) = bell.around(centre, instants);
                for instant in first..=last {
                    let chance = &mut values[instant * pages + page];
                    let more = bell.height[instant.abs_diff(centre)] / total;
                    *chance += more - *chance * more;
                }
            }
        }
        Chances::from_parts(pages, instants, values)
    }
}

/// e^(−d²/2σ²) by distance, up to where it vanishes.
struct Bell {
    height: Vec<f64>,
    /// Cumulative sums of the heights.
    sum: Vec<f64>,
}

impl Bell {
    fn new(spread: f64, instants: usize) -> Self {
        let far = (FAR * spread).ceil().min(instants as f64) as usize;
        let height = |d: usize| {
            let x = d as f64 / spread;
            if d == 0 { 1.0 } else { (-0.5 * x * x).exp() }
        };
        let height: Vec<f64> = (0..=far).map(height).collect();
        let sum = height.iter().scan(0.0, |sum, height| {
            *sum += height;
            Some(*sum)
        });
        let sum = sum.collect();
        Self { height, sum }
    }

    /// Returns the instants that a bell curve around a centre reaches, and the sum of its heights there.
    fn around(&self, centre: usize, instants: usize) -> (usize, usize, f64) {
        let far = self.height.len() - 1;
        let (before, after) = (centre.min(far), (instants - 1 - centre).min(far));
        (centre - before, centre + after, self.sum[before] + self.sum[after] - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    fn column(chances: &Chances, page: usize) -> Vec<f64> {
        chances.iter().map(|row| row[page]).collect()
    }

    fn noise(spread: f64, false_positives: f64) -> Noise {
        Noise::new(spread, Share::new(false_positives).unwrap()).unwrap()
    }

    #[test]
    fn without_noise_the_changes_are_known() {
        let changes = Changes::new(9, vec![vec![0, 3, 8], vec![], vec![5]]).unwrap();
        let chances = Noise::NONE.chances(&changes, &mut Pcg64::seed_from_u64(1));
        assert_eq!(chances, changes.chances());
    }

    /// WIC §5.2: with σ = 4 the peak is at around 0.1, and well below it with σ = 5.
    #[test]
    fn a_change_is_spread_around_its_instant_and_is_still_one() {
        let changes = Changes::new(101, vec![vec![50], vec![0], vec![99]]).unwrap();
        for (spread, peak) in [(4.0, 0.1), (5.0, 0.08), (0.0, 1.0), (1e-9, 1.0)] {
            let chances = noise(spread, 0.0).chances(&changes, &mut Pcg64::seed_from_u64(1));
            for page in 0..3 {
                let sum: f64 = column(&chances, page).iter().sum();
                assert!((sum - 1.0).abs() < 1e-14, "{spread}: {sum}");
            }
            let middle = column(&chances, 0);
            assert!((middle[50] - peak).abs() < 0.001, "{spread}: {}", middle[50]);
            assert!((0..=50).all(|d| (middle[50 - d] - middle[50 + d]).abs() < 1e-15));
            let ratio = middle[52] / middle[50];
            let bell = if spread > 0.0 { (-2.0 / (spread * spread)).exp() } else { 0.0 };
            assert!((ratio - bell).abs() < 1e-14, "{spread}: {ratio}");
        }
    }

    #[test]
    fn a_spread_of_any_size_is_a_spread() {
        let changes = Changes::new(100, vec![vec![10]]).unwrap();
        for spread in [1e3, 1e300, f64::MAX] {
            let chances = noise(spread, 0.0).chances(&changes, &mut Pcg64::seed_from_u64(1));
            let column = column(&chances, 0);
            assert!(column.iter().all(|chance| (chance - 0.01).abs() < 1e-4), "{spread}");
        }
        assert!(Noise::new(f64::NAN, Share::NONE).is_err());
        assert_eq!(Noise::new(-1.0, Share::NONE), Err(CaptureError::Spread(-1.0)));
    }

    #[test]
    fn overlapping_changes_have_the_chance_of_at_least_one() {
        let changes = Changes::new(40, vec![vec![10, 13]]).unwrap();
        let chances = noise(2.0, 0.0).chances(&changes, &mut Pcg64::seed_from_u64(1));
        let alone = |time| {
            let changes = Changes::new(40, vec![vec![time]]).unwrap();
            column(&noise(2.0, 0.0).chances(&changes, &mut Pcg64::seed_from_u64(1)), 0)
        };
        for ((both, one), other) in column(&chances, 0).iter().zip(alone(10)).zip(alone(13)) {
            assert!((both - (1.0 - (1.0 - one) * (1.0 - other))).abs() < 1e-15);
        }
    }

    #[test]
    fn so_many_changes_are_missed_and_as_many_made_up() {
        let rows: Vec<Vec<u32>> = (0..2000).map(|page| vec![page % 500]).collect();
        let changes = Changes::new(1000, rows).unwrap();
        let mut random = Pcg64::seed_from_u64(7);
        let chances = noise(0.0, 0.3).chances(&changes, &mut random);
        let total: f64 = chances.iter().flatten().sum();
        assert_eq!(total, 2000.0);
        let right = changes.iter().enumerate();
        let right: f64 = right.map(|(page, times)| chances.at(times[0] as usize)[page]).sum();
        // Of 2000, 1400 are left, with a deviation of 20.5, and 0.6 are made up where they were.
        assert!((right - 1400.6).abs() < 5.0 * 20.5, "{right}");
        // Those made up can be anywhere, the second half too.
        let late: f64 = (500..1000).flat_map(|instant| chances.at(instant)).sum();
        assert!((late - 300.0).abs() < 5.0 * 16.0, "{late}");
        let again = noise(0.0, 0.3).chances(&changes, &mut Pcg64::seed_from_u64(7));
        assert_eq!(chances, again);
    }
}
