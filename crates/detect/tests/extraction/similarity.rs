//! Error of the estimated similarity.

use freshet_detect::{Sketch, similarity};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Returns words with a skewed distribution, as in natural text.
fn text(words: usize, random: &mut Pcg64) -> Vec<String> {
    (0..words)
        .map(|_| {
            let rank = random.random::<f64>().powi(3) * 5000.0;
            format!("w{}", rank as u32)
        })
        .collect()
}

#[test]
fn the_estimate_has_the_documented_error() {
    // The documented relative error of the changed share is √(2/64) = 0.177.
    let mut random = Pcg64::seed_from_u64(7);
    for changed in [0.02, 0.05, 0.2, 0.5] {
        let (mut squares, mut mean) = (0.0, 0.0);
        let rounds = 400;
        for _ in 0..rounds {
            let old = text(1500, &mut random);
            let mut new = old.clone();
            for word in &mut new {
                if random.random::<f64>() < changed {
                    *word = format!("n{}", random.random::<u32>());
                }
            }
            let (old, new) = (old.join(" "), new.join(" "));
            let exact = 1.0 - similarity(&old, &new);
            let estimate = 1.0 - Sketch::from_text(&old).similarity(&Sketch::from_text(&new));
            squares += (estimate / exact - 1.0).powi(2) / f64::from(rounds);
            mean += (estimate / exact - 1.0) / f64::from(rounds);
        }
        let error = squares.sqrt();
        assert!(error < 0.177 * 1.15, "{changed}: relative error {error}");
        assert!(mean.abs() < 0.03, "{changed}: bias {mean}");
    }
}

#[test]
fn similarity_falls_with_the_number_of_changed_words() {
    let mut random = Pcg64::seed_from_u64(8);
    let old = text(500, &mut random);
    let mut new = old.clone();
    let mut last = 1.0;
    for at in 0..500 {
        new[at] = format!("n{at}");
        let now = similarity(&old.join(" "), &new.join(" "));
        assert!(now < last, "{at}: {now} after {last}");
        // With k of n words replaced, the similarity is 1 − k/n.
        assert!((now - (1.0 - (at + 1) as f64 / 500.0)).abs() < 1e-12);
        last = now;
    }
}
