//! What a step of the engine costs, in units of one pop and push on a plain binary heap of as many due
//! times, in the same run; the longest step; the time to look at all sources anew; bytes a source.
//!
//! `cargo bench -p freshet-engine --bench engine [-- SOURCES…] [known | unknown] [processor]`; with
//! `processor` steps are timed by what the thread took of the processor, which leaves out when others had
//! it, but takes longer to ask.

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use freshet_engine::{Action, Description, Engine, Event, Outcome, Settings, SourceSnapshot};
use freshet_estimate::Belief;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rustix::time::{ClockId, clock_gettime};

/// Steps that are timed, at least; and the share of all sources in steps, so that at least one survey
/// is among them.
const STEPS: usize = 2_000_000;
const STEPS_OF_ALL: f64 = 0.8;
/// Sources on a host.
const PER_HOST: u32 = 100;
/// Of all sources, the share that is fetched in a day.
const SHARE: f64 = 0.2;

struct Bench {
    engine: Engine,
    /// By which steps are timed.
    clock: ClockId,
    rates: Vec<f32>,
    last: Vec<f64>,
    /// Whether the engine is told the rates.
    known: bool,
    random: Pcg64,
    actions: Vec<Action>,
    answers: Vec<u32>,
}

/// Seconds by a clock.
fn now_by(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// How long some steps took.
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
        let settings =
            Settings { budget: SHARE * sources as f64, host_gap: 0.0, ..Settings::default() };
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
        let describe = |id: usize| Description {
            host: id as u32 / PER_HOST,
            importance: f64::from((3.0 * random.random::<f32>()).exp()),
            // Not all at once: as after a while.
            fetched: Some(now - 5.0 * random.random::<f64>()),
            belief: known.then(|| Belief::new(1e3, 1e3 / f64::from(rates[id])).ok()).flatten(),
            ..Description::new(id as u32)
        };
        Event::Described((from..to).map(describe).collect())
    }

    fn step(&mut self, now: f64, event: Event, steps: &mut Steps) {
        let start = now_by(self.clock);
        self.engine.step(now, event, &mut self.actions);
        steps.add(now_by(self.clock) - start);
        for action in self.actions.drain(..) {
            if let Action::Fetch { id, .. } = action {
                self.answers.push(id);
            }
        }
    }

    /// The next step: an answer if there is one, a tick otherwise. Says whether it was a survey's.
    fn next(&mut self, steps: &mut Steps) {
        let now = self.engine.now();
        if let Some(id) = self.answers.pop() {
            let days = now - self.last[id as usize];
            self.last[id as usize] = now;
            let changed = self.random.random::<f64>()
                < 1.0 - (-f64::from(self.rates[id as usize]) * days).exp();
            let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
            self.step(now, Event::Fetched { id, outcome }, steps);
        } else {
            self.step(self.engine.wake(), Event::Tick, steps);
        }
    }
}

impl Bench {
    /// Changes the budget, and goes on until the engine has looked at all sources.
    fn set_budget(&mut self, words: &str, budget: f64) {
        let settings = Settings { budget, ..*self.engine.settings() };
        let mut survey = Steps::default();
        let now = self.engine.now();
        self.step(now, Event::Settings(settings), &mut survey);
        let before = self.engine.outlook();
        let mut known = f64::NAN;
        let mut priced = false;
        while !priced {
            let start = now_by(self.clock);
            self.engine.step(now, Event::Tick, &mut self.actions);
            survey.add(now_by(self.clock) - start);
            if known.is_nan() && self.engine.outlook() != before {
                known = survey.seconds;
            }
            for action in self.actions.drain(..) {
                match action {
                    Action::Fetch { id, .. } => self.answers.push(id),
                    Action::Priced { .. } => priced = true,
                    _ => {}
                }
            }
        }
        println!(
            "  budget {words}: new price after {:.1} ms, all sources looked at: {:.3} s, longest steps {} ms",
            1e3 * known,
            survey.seconds,
            survey.longest()
        );
    }
}

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let by_processor = std::env::args().any(|it| it == "processor");
    let clock = if by_processor { ClockId::ThreadCPUTime } else { ClockId::Monotonic };
    let sizes = if asked.is_empty() { vec![10_000, 1_000_000, 10_000_000] } else { asked };
    let only = |word: &str| std::env::args().any(|it| it == word);
    for sources in sizes {
        for known in [false, true] {
            if !only(if known { "unknown" } else { "known" }) {
                bench(sources, known, clock);
            }
        }
    }
}

fn bench(sources: usize, known: bool, clock: ClockId) {
    let told = if known { "known" } else { "unknown at first" };
    println!(
        "{sources} sources, {PER_HOST} on each host, {SHARE} fetches a day each, rates {told}"
    );
    let before = resident();
    let mut bench = Bench::new(sources, known, clock);
    let driver = 4 * sources + 8 * sources;
    let mut steps = Steps::default();
    bench.step(0.0, Event::Capacity(u32::MAX), &mut steps);

    // All at once, but for the step's own time: the event's memory is the caller's.
    let event = bench.describe(0, sources, 0.0);
    let mut taken = Steps::default();
    bench.step(0.0, event, &mut taken);
    while bench.engine.wake() <= 0.0 {
        bench.next(&mut taken);
    }
    println!(
        "  all taken in and surveyed once: {:.2} s, longest steps {} ms",
        taken.seconds,
        taken.longest()
    );

    // Through the first day, until all is as usual.
    let mut warm = Steps::default();
    while warm.count < 3 * STEPS.min(4 * sources) {
        bench.next(&mut warm);
    }
    let mut steps = Steps::default();
    let day = bench.engine.now();
    let mut fetches = 0;
    let most = STEPS.max((STEPS_OF_ALL * sources as f64) as usize);
    let start = now_by(ClockId::ThreadCPUTime);
    while steps.count < most {
        fetches += bench.answers.len().min(1);
        bench.next(&mut steps);
    }
    let processor = now_by(ClockId::ThreadCPUTime) - start;
    let rate = steps.count as f64 / steps.seconds;
    let heap = heap(sources);
    println!(
        "  {:.2} M steps/s, of which {:.2} M fetches/s; a step is {:.2} pops and pushes of a binary heap; longest steps {} ms; {:.2} days went by; with the driver {:.2} µs of the processor a step",
        rate / 1e6,
        fetches as f64 / steps.seconds / 1e6,
        1.0 / rate / heap,
        steps.longest(),
        bench.engine.now() - day,
        1e6 * processor / steps.count as f64,
    );

    let used = resident().saturating_sub(before).saturating_sub(driver);
    println!("  {:.0} bytes a source", used as f64 / sources as f64);
    for (words, factor) in [("halved", 0.5), ("doubled", 2.0)] {
        bench.set_budget(words, factor * SHARE * sources as f64);
    }
    let used = resident().saturating_sub(before).saturating_sub(driver);
    println!("  {:.0} bytes a source then", used as f64 / sources as f64);
    let start = Instant::now();
    let sights: Vec<SourceSnapshot> =
        (0..sources as u32).filter_map(|id| bench.engine.sight(id)).collect();
    let took = start.elapsed().as_secs_f64();
    let each = |seconds: f64| 1e9 * seconds / sources as f64;
    let start = Instant::now();
    let due = sights.iter().filter(|it| it.due() <= bench.engine.now()).count();
    let due_took = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let worth = sights.iter().filter(|it| it.value() >= 1.0).count();
    println!(
        "  to see all of them: {:.0} ns a source; {due} are due: {:.0} ns; {worth} are worth it: {:.0} ns",
        each(took),
        each(due_took),
        each(start.elapsed().as_secs_f64())
    );
    drop(sights);
    let start = Instant::now();
    let bytes = bench.engine.snapshot();
    let took = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let same = Engine::restore(&bytes).is_ok_and(|engine| engine.len() == sources);
    println!(
        "  snapshot of {:.0} bytes a source: {took:.2} s, restored in {:.2} s{}",
        bytes.len() as f64 / sources as f64,
        start.elapsed().as_secs_f64(),
        if same { "" } else { ", but not the same" }
    );
}

/// Seconds for one pop and push on a binary heap of due times.
fn heap(sources: usize) -> f64 {
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

/// Bytes of memory in use.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
