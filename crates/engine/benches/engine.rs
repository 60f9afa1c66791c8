//! Cost of a step of the engine, in units of one pop and push on a plain binary heap of as many due
//! times in the same run; the longest step; the time of a full survey; bytes per source.
//!
//! `cargo bench -p freshet-engine --bench engine [-- SOURCES…] [known | unknown] [processor]`; with
//! `processor`, steps are timed by the CPU time of the thread, which excludes preemption but is
//! slower to read.

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use freshet_engine::{
    Action, Engine, EngineSettings, Event, FetchResult, SourceDescription, SourceSnapshot,
};
use freshet_estimate::Belief;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rustix::time::{ClockId, clock_gettime};

/// Minimum number of timed steps, and their minimum number per source, so that at least one survey
/// is among them.
const STEPS: usize = 2_000_000;
const STEPS_OF_ALL: f64 = 0.8;
/// Sources per host.
const PER_HOST: u32 = 100;
/// Share of all sources fetched per day.
const SHARE: f64 = 0.2;

struct Bench {
    engine: Engine,
    /// Clock that times the steps.
    clock: ClockId,
    rates: Vec<f32>,
    last: Vec<f64>,
    /// True if the engine is given the rates.
    known: bool,
    random: Pcg64,
    actions: Vec<Action>,
    answers: Vec<u32>,
}

/// Seconds on a clock.
fn clock_seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Durations of some steps.
#[derive(Default)]
struct Steps {
    seconds: f64,
    count: usize,
    /// The longest ones, in microseconds.
    longest: BinaryHeap<Reverse<u64>>,
}

impl Steps {
    fn add(&mut self, seconds: f64) {
        self.seconds += seconds;
        self.count += 1;
        self.longest.push(Reverse((seconds * 1e6) as u64));
        if self.longest.len() > 10 {
            self.longest.pop();
        }
    }

    fn longest(&self) -> String {
        let mut all: Vec<u64> = self.longest.iter().map(|Reverse(it)| *it).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.iter().map(|it| format!("{:.2}", *it as f64 / 1e3)).collect::<Vec<_>>().join(" ")
    }
}

impl Bench {
    fn new(sources: usize, known: bool, clock: ClockId) -> Self {
        let mut random = Pcg64::seed_from_u64(1);
        let settings = EngineSettings {
            budget: SHARE * sources as f64,
            host_gap: 0.0,
            ..EngineSettings::default()
        };
        let rates =
            (0..sources).map(|_| (-1.5 + 3.0 * random.random::<f32>()).exp() * 0.2).collect();
        Self {
            clock,
            engine: Engine::new(0.0, settings),
            rates,
            last: vec![0.0; sources],
            known,
            random,
            actions: Vec::new(),
            answers: Vec::new(),
        }
    }

    fn describe(&mut self, from: usize, to: usize, now: f64) -> Event {
        let (random, rates, known) = (&mut self.random, &self.rates, self.known);
        let describe = |id: usize| SourceDescription {
            host: id as u32 / PER_HOST,
            importance: f64::from((3.0 * random.random::<f32>()).exp()),
            // Spread out, as after a while.
            last_fetch: Some(now - 5.0 * random.random::<f64>()),
            belief: known.then(|| Belief::new(1e3, 1e3 / f64::from(rates[id])).ok()).flatten(),
            ..SourceDescription::new(id as u32)
        };
        Event::SourcesDescribed((from..to).map(describe).collect())
    }

    fn step(&mut self, now: f64, event: Event, steps: &mut Steps) {
        let start = clock_seconds(self.clock);
        self.engine.step(now, event, &mut self.actions);
        steps.add(clock_seconds(self.clock) - start);
        for action in self.actions.drain(..) {
            if let Action::Fetch { id, .. } = action {
                self.answers.push(id);
            }
        }
    }

    /// Runs the next step: an answer if there is one, a tick otherwise.
    fn next(&mut self, steps: &mut Steps) {
        let now = self.engine.now();
        if let Some(id) = self.answers.pop() {
            let days = now - self.last[id as usize];
            self.last[id as usize] = now;
            let changed = self.random.random::<f64>()
                < 1.0 - (-f64::from(self.rates[id as usize]) * days).exp();
            let outcome = if changed { FetchResult::Changed } else { FetchResult::Unchanged };
            self.step(now, Event::FetchFinished { id, outcome }, steps);
        } else {
            self.step(self.engine.next_tick(), Event::Tick, steps);
        }
    }
}

impl Bench {
    /// Changes the budget and runs until a full survey is complete.
    fn set_budget(&mut self, label: &str, budget: f64) {
        let settings = EngineSettings { budget, ..*self.engine.settings() };
        let mut survey = Steps::default();
        let now = self.engine.now();
        self.step(now, Event::SettingsChanged(settings), &mut survey);
        let before = self.engine.long_run_price();
        let mut known = f64::NAN;
        let mut priced = false;
        while !priced {
            let start = clock_seconds(self.clock);
            self.engine.step(now, Event::Tick, &mut self.actions);
            survey.add(clock_seconds(self.clock) - start);
            if known.is_nan() && self.engine.long_run_price() != before {
                known = survey.seconds;
            }
            for action in self.actions.drain(..) {
                match action {
                    Action::Fetch { id, .. } => self.answers.push(id),
                    Action::PriceUpdated { .. } => priced = true,
                    _ => {}
                }
            }
        }
        println!(
            "  budget {label}: new price after {:.1} ms, full survey {:.3} s, longest steps {} ms",
            1e3 * known,
            survey.seconds,
            survey.longest()
        );
    }
}

fn main() {
    let requested_sizes: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let uses_cpu_time = std::env::args().any(|it| it == "processor");
    let clock = if uses_cpu_time { ClockId::ThreadCPUTime } else { ClockId::Monotonic };
    let sizes = if requested_sizes.is_empty() {
        vec![10_000, 1_000_000, 10_000_000]
    } else {
        requested_sizes
    };
    let has_argument = |word: &str| std::env::args().any(|it| it == word);
    for sources in sizes {
        for known in [false, true] {
            if !has_argument(if known { "unknown" } else { "known" }) {
                bench(sources, known, clock);
            }
        }
    }
}

fn bench(sources: usize, known: bool, clock: ClockId) {
    let rate_knowledge = if known { "known" } else { "unknown" };
    println!(
        "{sources} sources, {PER_HOST} on each host, {SHARE} fetches/day each, rates {rate_knowledge}"
    );
    let before = resident();
    let mut bench = Bench::new(sources, known, clock);
    let driver = 4 * sources + 8 * sources;
    let mut steps = Steps::default();
    bench.step(0.0, Event::CapacityAdded(u32::MAX), &mut steps);

    // All in one step. The memory of the event belongs to the caller.
    let event = bench.describe(0, sources, 0.0);
    let mut loading = Steps::default();
    bench.step(0.0, event, &mut loading);
    while bench.engine.next_tick() <= 0.0 {
        bench.next(&mut loading);
    }
    println!(
        "  all added and surveyed once: {:.2} s, longest steps {} ms",
        loading.seconds,
        loading.longest()
    );

    // Runs through the first day, until the state is typical.
    let mut warm_up = Steps::default();
    while warm_up.count < 3 * STEPS.min(4 * sources) {
        bench.next(&mut warm_up);
    }
    let mut steps = Steps::default();
    let day = bench.engine.now();
    let mut fetches = 0;
    let min_steps = STEPS.max((STEPS_OF_ALL * sources as f64) as usize);
    let start = clock_seconds(ClockId::ThreadCPUTime);
    while steps.count < min_steps {
        fetches += bench.answers.len().min(1);
        bench.next(&mut steps);
    }
    let processor = clock_seconds(ClockId::ThreadCPUTime) - start;
    let rate = steps.count as f64 / steps.seconds;
    let heap_time = heap_seconds(sources);
    println!(
        "  {:.2} M steps/s, of which {:.2} M fetches/s; a step is {:.2} pops and pushes of a binary heap; longest steps {} ms; {:.2} days simulated; including the driver {:.2} µs CPU per step",
        rate / 1e6,
        fetches as f64 / steps.seconds / 1e6,
        1.0 / rate / heap_time,
        steps.longest(),
        bench.engine.now() - day,
        1e6 * processor / steps.count as f64,
    );

    let used = resident().saturating_sub(before).saturating_sub(driver);
    println!("  {:.0} bytes/source", used as f64 / sources as f64);
    for (label, factor) in [("halved", 0.5), ("doubled", 2.0)] {
        bench.set_budget(label, factor * SHARE * sources as f64);
    }
    let used = resident().saturating_sub(before).saturating_sub(driver);
    println!("  {:.0} bytes/source afterwards", used as f64 / sources as f64);
    let start = Instant::now();
    let snapshots: Vec<SourceSnapshot> =
        (0..sources as u32).filter_map(|id| bench.engine.source_snapshot(id)).collect();
    let elapsed = start.elapsed().as_secs_f64();
    let each = |seconds: f64| 1e9 * seconds / sources as f64;
    let start = Instant::now();
    let due = snapshots.iter().filter(|it| it.due_day() <= bench.engine.now()).count();
    let due_elapsed = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let worth_price = snapshots.iter().filter(|it| it.relative_value() >= 1.0).count();
    println!(
        "  snapshots: {:.0} ns/source; {due} due: {:.0} ns; {worth_price} worth the price: {:.0} ns",
        each(elapsed),
        each(due_elapsed),
        each(start.elapsed().as_secs_f64())
    );
    drop(snapshots);
    let start = Instant::now();
    let bytes = bench.engine.snapshot();
    let elapsed = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let is_equal = Engine::restore(&bytes).is_ok_and(|engine| engine.len() == sources);
    println!(
        "  snapshot of {:.0} bytes/source: {elapsed:.2} s, restored in {:.2} s{}",
        bytes.len() as f64 / sources as f64,
        start.elapsed().as_secs_f64(),
        if is_equal { "" } else { ", but different" }
    );
}

/// Seconds for one pop and push on a binary heap of due times.
fn heap_seconds(sources: usize) -> f64 {
    let mut random = Pcg64::seed_from_u64(2);
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> =
        (0..sources as u32).map(|id| Reverse((random.random::<u64>() >> 1, id))).collect();
    let start = Instant::now();
    for _ in 0..STEPS {
        if let Some(Reverse((day, id))) = heap.pop() {
            heap.push(Reverse((day + (random.random::<u64>() >> 1), id)));
        }
    }
    start.elapsed().as_secs_f64() / STEPS as f64
}

/// Resident memory in bytes.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
