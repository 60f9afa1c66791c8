//! The golden-ratio sequence of 13 slots.

use freshet_schedule::{GoldenRatio, Rates};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::{Comparison, Evidence};
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "liu-golden-ratio",
    paper: Paper::LiuNain,
    item: "golden-ratio example",
    section: "§1.3.4",
    about: "the access sequence of four pages in 13 slots, its Fibonacci index, and the distances \
            between accesses",
    run,
};

const PRINTED: [usize; 13] = [4, 2, 4, 1, 3, 4, 2, 4, 1, 3, 4, 2, 3];

pub(super) fn golden() -> f64 {
    0.5 * (1.0 + 5.0_f64.sqrt())
}

/// Fibonacci numbers: F₀ = 0, F₁ = 1, and so on.
fn fibonacci(index: usize) -> u64 {
    (0..index).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// Returns the gaps of a source in a repeated cycle.
fn gaps(cycle: &[usize], source: usize) -> Vec<u64> {
    let places: Vec<usize> = (0..cycle.len()).filter(|&slot| cycle[slot] == source).collect();
    let next = places.iter().skip(1).copied().chain(places.first().map(|it| it + cycle.len()));
    places.iter().zip(next).map(|(&place, next)| (next - place) as u64).collect()
}

fn run() -> Result<Outcome, LabError> {
    let rates = [2.0, 3.0, 3.0, 5.0].map(|slots| slots / 13.0);
    let sequence = GoldenRatio::new(Rates::new(&rates)?, 13)?;
    let period = sequence.period();
    let ours: Vec<usize> = sequence.take(13).flatten().map(|source| source + 1).collect();
    let rotation = (0..13).find(|&by| {
        let mut turned = ours.clone();
        turned.rotate_left(by);
        turned == PRINTED
    });
    let text =
        |sequence: &[usize]| sequence.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let index = (1..20).find(|&index| fibonacci(index) == period && index > 2).unwrap_or(0);
    let printed = Printed::new("8");
    // Binet: F_k differs from φᵏ/√5 by less than φ⁻ᵏ/√5, which determines k to a few hundredths.
    let binet = (period as f64 * 5.0_f64.sqrt()).ln() / golden().ln();
    let evidence = Evidence::second(
        binet,
        0.05,
        &format!("by Binet's formula k = log_φ(13√5) = {binet:.3}, to the nearest whole number"),
    );
    let table = Table::list("")
        .with(
            "the sequence",
            Comparison::property(
                &text(&PRINTED),
                &match rotation {
                    Some(by) => format!("the same cycle, begun {by} slots later"),
                    None => text(&ours),
                },
                rotation.is_some(),
            ),
        )
        .with(
            "k with F_k = 13",
            Comparison::number(&printed, index as f64).or_misprint(&printed, &evidence, ""),
        )
        .with("j of the distances F_j, F_j+1, F_j+2", index_of_gaps()?);
    Ok(Outcome::new([table]))
}

/// The paper prints ⌈log_φ f⌉, which is negative; ⌈log_φ(1/f)⌉ is meant. Checks it on long cycles.
fn index_of_gaps() -> Result<Comparison, LabError> {
    let equal = vec![1.0 / 36.0; 36];
    let mixed: Vec<f64> = (1..=12).map(|i| f64::from(i) / 78.0).collect();
    let (mut printed, mut meant, mut pages) = (0, 0, 0);
    for rates in [equal, mixed, vec![0.3, 0.25, 0.2, 0.25]] {
        let sequence = GoldenRatio::new(Rates::new(&rates)?, 100_000)?;
        let period = sequence.period() as usize;
        let cycle: Vec<usize> = sequence.take(period).flatten().collect();
        for (source, rate) in rates.iter().enumerate() {
            let gaps = gaps(&cycle, source);
            let fits = |index: f64| {
                let allowed = |gap: &u64| {
                    index >= 0.0 && (0..3).any(|more| fibonacci(index as usize + more) == *gap)
                };
                usize::from(gaps.iter().all(allowed))
            };
            pages += 1;
            printed += fits((rate.ln() / golden().ln()).ceil());
            meant += fits(((1.0 / rate).ln() / golden().ln()).ceil());
        }
    }
    let share = |fitting: usize| 1.0 - fitting as f64 / pages as f64;
    Ok(Comparison::formula("j = ⌈log_φ f⌉", share(printed)).or_formula(
        "j = ⌈log_φ(1/f)⌉",
        share(meant),
        &format!("the distances of all {pages} pages in three long cycles"),
    ))
}
