//! What holds whatever happens.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use freshet_engine::{Action, Blame, Description, Engine, Event, Outcome, Settings};
use proptest::prelude::*;

/// Something that happens to an engine.
#[derive(Clone, Debug)]
enum Happening {
    Describe {
        id: u32,
        host: u32,
        importance: f64,
        cost: f64,
        observed: bool,
    },
    Remove(u32),
    Signal(u32),
    /// The oldest fetch under way comes back.
    Answer(u8),
    Budget(f64),
    Wait(f64),
}

fn happening() -> impl Strategy<Value = Happening> {
    let id = 0..40_u32;
    prop_oneof![
        4 => (id.clone(), 0..6_u32, 0.0..10.0_f64, 0.5..3.0_f64, any::<bool>()).prop_map(
            |(id, host, importance, cost, observed)| Happening::Describe { id, host, importance, cost, observed }
        ),
        1 => id.clone().prop_map(Happening::Remove),
        2 => id.prop_map(Happening::Signal),
        8 => any::<u8>().prop_map(Happening::Answer),
        1 => prop_oneof![Just(0.0), 1.0..500.0_f64].prop_map(Happening::Budget),
        8 => (-6.0..1.0_f64).prop_map(|log| Happening::Wait(10f64.powf(log))),
    ]
}

/// An engine, and what its driver remembers.
struct Driven {
    engine: Engine,
    settings: Settings,
    now: f64,
    descriptions: BTreeMap<u32, Description>,
    under_way: Vec<(u32, u32)>,
    /// Days and costs of all fetches.
    spent: Vec<(f64, f64)>,
    /// The budget in force from each day on.
    budgets: Vec<(f64, f64)>,
    last_at_host: BTreeMap<u32, f64>,
}

const GAP: f64 = 0.01;
const BURST: f64 = 20.0;

impl Driven {
    fn new() -> Self {
        let settings =
            Settings { budget: 100.0, burst: Some(BURST), host_gap: GAP, ..Settings::default() };
        let mut driven = Self {
            engine: Engine::new(0.0, settings),
            settings,
            now: 0.0,
            descriptions: BTreeMap::new(),
            under_way: Vec::new(),
            spent: Vec::new(),
            budgets: vec![(0.0, 100.0)],
            last_at_host: BTreeMap::new(),
        };
        driven.step(Event::Capacity(u32::MAX));
        driven
    }

    fn step(&mut self, event: Event) {
        let mut actions = Vec::new();
        self.engine.step(self.now, event, &mut actions);
        for action in actions {
            if let Action::Fetch { id, .. } = action {
                self.fetch(id);
            }
        }
    }

    /// Checks a fetch that the engine asks for.
    fn fetch(&mut self, id: u32) {
        let it = self.descriptions.get(&id).expect("only sources that are there are fetched");
        let busy: BTreeSet<u32> = self.under_way.iter().map(|&(_, host)| host).collect();
        assert!(!busy.contains(&it.host), "one at a time from each host");
        if let Some(&last) = self.last_at_host.get(&it.host) {
            assert!(self.now >= last + GAP - 1e-9, "a rest between two fetches");
        }
        self.last_at_host.insert(it.host, self.now);
        self.under_way.push((id, it.host));
        self.spent.push((self.now, it.cost));
        // In every stretch that ends now.
        let mut cost = 0.0;
        for &(from, one) in self.spent.iter().rev() {
            cost += one;
            assert!(
                cost <= self.allowed(from) + BURST + 3.0 + 1e-6,
                "{cost} spent from {from} to {}",
                self.now
            );
        }
    }

    /// What the budget pays from a day to now.
    fn allowed(&self, from: f64) -> f64 {
        let ends = self.budgets.iter().skip(1).map(|budget| budget.0).chain([self.now]);
        let paid = |(&(start, rate), end): (&(f64, f64), f64)| {
            rate * (end.min(self.now) - start.max(from)).max(0.0)
        };
        self.budgets.iter().zip(ends).map(paid).sum()
    }

    fn happen(&mut self, happening: &Happening) {
        match *happening {
            Happening::Describe { id, host, importance, cost, observed } => {
                // A source stays on its host, so that the driver knows where a fetch went.
                let host = self.descriptions.get(&id).map_or(host, |it| it.host);
                let it = Description { host, importance, cost, observed, ..Description::new(id) };
                self.descriptions.insert(id, it);
                self.step(Event::Described(vec![it]));
            }
            Happening::Remove(id) => {
                self.descriptions.remove(&id);
                self.under_way.retain(|&(other, _)| other != id);
                self.step(Event::Removed(vec![id]));
            }
            Happening::Signal(id) => self.step(Event::Signal(id)),
            Happening::Answer(kind) => {
                if !self.under_way.is_empty() {
                    let (id, _) = self.under_way.remove(0);
                    let outcome = match kind % 8 {
                        0..=2 => Outcome::Changed,
                        3..=5 => Outcome::Unchanged,
                        6 => Outcome::Failed { blame: Blame::Host, retry_after: Some(0.02) },
                        _ => Outcome::Gone,
                    };
                    self.step(Event::Fetched { id, outcome });
                }
            }
            Happening::Budget(budget) => {
                self.settings.budget = budget;
                self.budgets.push((self.now, budget));
                self.step(Event::Settings(self.settings));
            }
            Happening::Wait(days) => {
                let until = self.now + days;
                // Ticks when it asks for them, and not for ever at one moment.
                for _ in 0..10_000 {
                    let wake = self.engine.wake();
                    if wake > until {
                        break;
                    }
                    self.now = self.now.max(wake);
                    self.step(Event::Tick);
                }
                assert!(self.engine.wake() > until, "it does not come to rest");
                self.now = until;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn budget_and_hosts_are_respected(happenings in prop::collection::vec(happening(), 1..120)) {
        let mut driven = Driven::new();
        for happening in &happenings {
            driven.happen(happening);
        }
        prop_assert_eq!(driven.engine.len(), driven.descriptions.len());
    }

    #[test]
    fn the_same_events_give_the_same_actions(happenings in prop::collection::vec(happening(), 1..60)) {
        let run = || {
            let mut driven = Driven::new();
            for happening in &happenings {
                driven.happen(happening);
            }
            (driven.spent, driven.engine.price().to_bits())
        };
        prop_assert_eq!(run(), run());
    }
}
