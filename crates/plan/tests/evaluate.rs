//! Closed forms against integrals of the expected cost, and against simulated histories.

#![allow(clippy::unwrap_used)]

use freshet_plan::{Objective, Order, Rule, Sources, Timing, evaluate};

/// Returns the expected cost `k(t)` of a source that changes `c` times a day, `t` days after a fetch, from
/// its definition as an integral or a sum.
fn expected_cost(objective: Objective, c: f64, t: f64) -> f64 {
    match objective {
        Objective::Freshness => 1.0 - (-c * t).exp(),
        // E[H(N)] for N Poisson of mean ct.
        Objective::Harmonic => {
            let mean = c * t;
            let (mut chance, mut harmonic, mut sum) = ((-mean).exp(), 0.0, 0.0);
            for n in 1..400 {
                chance *= mean / f64::from(n);
                harmonic += 1.0 / f64::from(n);
                sum += chance * harmonic;
            }
            sum
        }
        // ∫ P(first change before s) ds.
        Objective::Age => simpson(0.0, t, 200, |s| 1.0 - (-c * s).exp()),
    }
}

fn simpson(from: f64, to: f64, steps: i32, f: impl Fn(f64) -> f64) -> f64 {
    let h = (to - from) / f64::from(steps);
    let at = |i: i32| {
        let weight = if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        weight * f(from + f64::from(i) * h)
    };
    (0..=steps).map(at).sum::<f64>() * h / 3.0
}

/// Mean cost when the time between fetches has a density: `∫ f(w) ∫₀ʷ k / ∫ f(w) w`.
fn renewal(objective: Objective, c: f64, longest: f64, density: impl Fn(f64) -> f64) -> f64 {
    let steps = 400;
    let h = longest / f64::from(steps);
    let (mut inner, mut top, mut bottom) = (0.0, 0.0, 0.0);
    for i in 0..steps {
        let (a, b) = (f64::from(i) * h, f64::from(i + 1) * h);
        let k = |t: f64| expected_cost(objective, c, t);
        let whole = h / 6.0 * (k(a) + 4.0 * k(0.5 * (a + b)) + k(b));
        let half = inner + h / 24.0 * (5.0 * k(a) + 8.0 * k(0.5 * (a + b)) - k(b));
        let after = inner + whole;
        let part = |w: f64, inner: f64| density(w) * inner;
        top += h / 6.0 * (part(a, inner) + 4.0 * part(0.5 * (a + b), half) + part(b, after));
        let first = |w: f64| density(w) * w;
        bottom += h / 6.0 * (first(a) + 4.0 * first(0.5 * (a + b)) + first(b));
        inner = after;
    }
    top / bottom
}

fn cost(objective: Objective, c: f64, rate: f64, order: Order) -> f64 {
    let (w, c) = ([1.0], [c]);
    let sources = Sources::new(&w, &c).unwrap();
    evaluate(&sources, &[rate], order, Rule::Count).cost(objective)
}

#[track_caller]
fn close(what: &str, got: f64, expect: f64, tolerance: f64) {
    assert!((got / expect - 1.0).abs() <= tolerance, "{what}: {got:e}, expected {expect:e}");
}

#[test]
fn polled_sources_follow_from_the_cost_in_a_cycle() {
    for &objective in Objective::ALL {
        for c in [0.01, 0.4, 1.0, 3.0, 20.0] {
            let name = format!("{objective} c = {c}");
            let (fixed, round) = (Order::Timed(Timing::Periodic), Order::RandomOrder);
            let mean = simpson(0.0, 1.0, 400, |t| expected_cost(objective, c, t));
            close(&format!("{name} periodic"), cost(objective, c, 1.0, fixed), mean, 1e-6);
            // Intervals in rounds have a triangular density (Cho & Garcia-Molina 2003, Lemma 4.2).
            let triangle = renewal(objective, c, 2.0, |w| if w < 1.0 { w } else { 2.0 - w });
            close(&format!("{name} random order"), cost(objective, c, 1.0, round), triangle, 1e-4);
            let poisson = renewal(objective, c, 40.0, |w| (-w).exp());
            let got = cost(objective, c, 1.0, Order::Timed(Timing::Poisson));
            close(&format!("{name} poisson"), got, poisson, 2e-2);
        }
    }
}

/// A small generator, so that a seed is a history.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}

/// What a copy cost over a stretch of time.
#[derive(Default)]
struct Tally {
    stale: f64,
    harmonic: f64,
    age: f64,
    time: f64,
    fetches: f64,
    missed: u32,
    since_first: f64,
}

impl Tally {
    fn pass(&mut self, days: f64) {
        if self.missed > 0 {
            self.stale += days;
            self.harmonic += days * (1..=self.missed).map(|n| 1.0 / f64::from(n)).sum::<f64>();
            self.age += days * (self.since_first + 0.5 * days);
            self.since_first += days;
        }
        self.time += days;
    }

    fn fetch(&mut self) {
        self.fetches += 1.0;
        self.missed = 0;
        self.since_first = 0.0;
    }

    fn mean(&self, objective: Objective) -> f64 {
        match objective {
            Objective::Freshness => self.stale / self.time,
            Objective::Harmonic => self.harmonic / self.time,
            Objective::Age => self.age / self.time,
        }
    }
}

/// Changes in a simulated history.
const CHANGES: u32 = 400_000;

/// Observed changes at `c` a day, fetched by `decide(pending, random)`.
fn history(c: f64, mut decide: impl FnMut(u32, &mut Random) -> bool) -> Tally {
    let (mut random, mut tally) = (Random(7), Tally::default());
    for _ in 0..CHANGES {
        let wait = random.exponential() / c;
        tally.pass(wait);
        tally.missed += 1;
        if decide(tally.missed, &mut random) {
            tally.fetch();
        }
    }
    tally
}

/// Observed changes at `c` a day, fetched when the first pending one is `wait` days old.
fn waiting_history(c: f64, wait: f64) -> Tally {
    let (mut random, mut tally) = (Random(11), Tally::default());
    let mut until_change = random.exponential() / c;
    for _ in 0..CHANGES {
        let left = wait - tally.since_first;
        if tally.missed > 0 && left < until_change {
            tally.pass(left);
            tally.fetch();
            until_change -= left;
        }
        tally.pass(until_change);
        tally.missed += 1;
        until_change = random.exponential() / c;
    }
    tally
}

#[test]
fn observed_sources_cost_what_a_history_costs() {
    let c = 2.0;
    let check = |rule: Rule, rate: f64, tally: &Tally| {
        let (w, rates) = ([1.0], [c]);
        let sources = Sources::new(&w, &rates).unwrap().with_complete(&[true]).unwrap();
        let closed = evaluate(&sources, &[rate], Timing::Periodic, rule);
        for &objective in Objective::ALL {
            let name = format!("{objective} {rule:?}");
            close(&name, closed.cost(objective), tally.mean(objective), 2e-2);
        }
    };
    // Per change rather than per day: the length of the history is noise.
    let rate = |tally: &Tally| c * tally.fetches / f64::from(CHANGES);
    for k in [2, 3, 7] {
        check(Rule::Count, c / f64::from(k), &history(c, |pending, _| pending >= k));
    }
    // Every cycle waits for two changes or for three.
    let mixed =
        history(c, |pending, random| pending >= 3 || (pending == 2 && random.uniform() < 0.4));
    check(Rule::Count, rate(&mixed), &mixed);
    for p in [0.1, 0.5, 0.9] {
        check(Rule::Chance, p * c, &history(c, |_, random| random.uniform() < p));
    }
    for wait in [0.05, 0.5, 4.0, 30.0] {
        check(Rule::Wait, 1.0 / (1.0 / c + wait), &waiting_history(c, wait));
    }
}

#[test]
fn observed_sources_in_slots_cost_what_a_history_costs() {
    // A wait of `longer` slots with this probability, otherwise of one less.
    for (chance, longer, share) in [(0.3, 1, 1.0), (0.05, 9, 1.0), (0.7, 4, 0.3), (0.2, 60, 0.5)] {
        let (mut random, mut missed, mut left, mut first) = (Random(5), 0_u32, 0_u32, 0_u32);
        let (mut tally, slots) = ([0.0; 3], 1_000_000);
        for slot in 0..slots {
            if random.uniform() < chance {
                missed += 1;
                if missed == 1 {
                    first = slot;
                    left = longer - u32::from(random.uniform() >= share);
                }
            }
            if missed > 0 && left == 0 {
                missed = 0;
            }
            if missed > 0 {
                left -= 1;
                tally[0] += (1..=missed).map(|n| 1.0 / f64::from(n)).sum::<f64>();
                tally[1] += 1.0;
                tally[2] += f64::from(slot - first);
            }
        }
        let (w, rates, all) = ([1.0], [chance], f64::from(slots));
        let rate = 1.0 / (1.0 / chance + f64::from(longer) - (1.0 - share));
        let sources = Sources::new(&w, &rates).unwrap().with_complete(&[true]).unwrap();
        let closed = evaluate(&sources, &[rate], Timing::Slots, Rule::Wait);
        let objectives = [Objective::Harmonic, Objective::Freshness, Objective::Age];
        for (objective, sum) in objectives.into_iter().zip(tally) {
            let name = format!("{objective}, chance {chance}, {longer} slots");
            let (got, expect) = (closed.cost(objective), sum / all);
            assert!((got - expect).abs() <= 2e-2 * expect, "{name}: {got}, expected {expect}");
        }
    }
}

#[test]
fn a_wait_in_many_small_slots_is_a_wait_in_continuous_time() {
    let w = [1.0];
    for (chance, changes_per_fetch) in [(1e-7, 1.5), (1e-9, 4.0), (1e-12, 80.0), (1e-20, 3e4)] {
        let (c, rate) = ([chance], [chance / changes_per_fetch]);
        let sources = Sources::new(&w, &c).unwrap().with_complete(&[true]).unwrap();
        let slots = evaluate(&sources, &rate, Timing::Slots, Rule::Wait);
        let continuous = evaluate(&sources, &rate, Timing::Periodic, Rule::Wait);
        for &objective in Objective::ALL {
            let name = format!("{objective} at {chance}");
            close(&name, slots.cost(objective), continuous.cost(objective), 20.0 * chance + 1e-12);
        }
    }
}

#[test]
fn a_wait_after_the_first_change_is_the_best_use_of_observations_for_age() {
    let (w, c) = ([1.0], [2.0]);
    let sources = Sources::new(&w, &c).unwrap().with_complete(&[true]).unwrap();
    for wait in [0.0, 0.1, 1.0, 30.0] {
        // Cycles of a mean 1/c + T days in which age grows from 0 to T.
        let rate = 1.0 / (1.0 / c[0] + wait);
        let expect = rate * wait * wait / 2.0;
        let age = |rule| evaluate(&sources, &[rate], Timing::Periodic, rule).age();
        assert!((age(Rule::Wait) - expect).abs() <= 1e-12 * expect);
        assert!(expect <= age(Rule::Count) + 1e-12);
        assert!(expect <= age(Rule::Chance) + 1e-12);
        assert!(expect <= cost(Objective::Age, c[0], rate, Order::Timed(Timing::Periodic)));
    }
}

#[test]
fn slots_cost_what_a_history_costs() {
    // Azar et al. 2018: within a slot the change comes first, then the fetch.
    for (chance, fetch) in [(0.3, 0.2), (0.05, 0.5), (0.7, 0.05)] {
        let (mut random, mut stale, mut harmonic, mut age) = (Random(3), 0.0, 0.0, 0.0);
        let (mut missed, mut first, slots) = (0_u32, 0_u32, 1_000_000);
        for slot in 0..slots {
            if random.uniform() < chance {
                missed += 1;
                if missed == 1 {
                    first = slot;
                }
            }
            if random.uniform() < fetch {
                missed = 0;
            }
            if missed > 0 {
                stale += 1.0;
                harmonic += (1..=missed).map(|n| 1.0 / f64::from(n)).sum::<f64>();
                age += f64::from(slot - first);
            }
        }
        let sum = f64::from(slots);
        let order = Order::Timed(Timing::Slots);
        close("freshness", cost(Objective::Freshness, chance, fetch, order), stale / sum, 2e-2);
        close("harmonic", cost(Objective::Harmonic, chance, fetch, order), harmonic / sum, 2e-2);
        close("age", cost(Objective::Age, chance, fetch, order), age / sum, 2e-2);
    }
}

#[test]
fn what_never_changes_is_fresh_and_what_does_not_matter_counts_nothing() {
    let (w, c) = ([2.0, 0.0, 1.0], [0.0, 5.0, 1.0]);
    let sources = Sources::new(&w, &c).unwrap();
    let never = evaluate(&sources, &[0.0; 3], Timing::Periodic, Rule::Count);
    assert_eq!(never.freshness(), 2.0 / 3.0);
    assert_eq!((never.age(), never.cost(Objective::Harmonic)), (f64::INFINITY, f64::INFINITY));
    assert_eq!(never.starved(), 1);
}
