//! Who is ahead, in virtual time: the engine and the rules on the demo's own web for one day,
//! starting from nothing known.

use freshet_demo::{Client, Equal, Nutch, Options, Rule, Seen, Truth, World, nutch_scale};
use freshet_engine::{Action, Engine, EngineSettings, Event, FetchResult, SourceDescription};
use freshet_sim::{Calendar, Experiment, Policy, PolicyKind, run};

/// Mean freshness of a day under a rule.
fn polled(world: &World, client: Client, rule: &mut dyn Rule) -> f64 {
    let per_day = Options::BUDGET * world.len() as f64;
    let mut truth = Truth::new(world, false);
    let mut known = vec![false; world.len()];
    for number in 0..per_day as u32 {
        let page = rule.next().unwrap();
        let before = truth.tally(client).changes;
        let now = f64::from(number) / per_day;
        truth.answered(client, page, now);
        let is_known = std::mem::replace(&mut known[page as usize], true);
        let is_changed = truth.tally(client).changes > before;
        rule.learn(
            page,
            now,
            match (is_known, is_changed) {
                (false, _) => Seen::First,
                (true, true) => Seen::Changed,
                (true, false) => Seen::Same,
            },
        );
    }
    truth.standing(1.0).fresh_days[client as usize]
}

/// The same under the engine, with or without initial copies.
pub(crate) fn kept(world: &World, per_page: f64, days: f64, copied: bool) -> (Truth, f64) {
    let budget = per_page * world.len() as f64;
    let mut truth = Truth::new(world, false);
    if copied {
        truth.copy_all(0.0);
    }
    let settings = EngineSettings {
        budget,
        host_gap: 0.0,
        host_connections: u32::MAX,
        ..EngineSettings::default()
    };
    let mut engine = Engine::new(0.0, settings);
    let mut actions = Vec::new();
    let describe = |(page, importance): (usize, f64)| SourceDescription {
        host: world.host(page as u32),
        importance,
        last_fetch: copied.then_some(0.0),
        ..SourceDescription::new(page as u32)
    };
    let all = world.importance().enumerate().map(describe).collect();
    engine.step(0.0, Event::CapacityAdded(u32::MAX), &mut actions);
    engine.step(0.0, Event::SourcesDescribed(all), &mut actions);
    let mut known = vec![copied; world.len()];
    let (mut now, mut middle) = (0.0, None);
    loop {
        while let Some(action) = actions.pop() {
            let Action::Fetch { id, .. } = action else { continue };
            let before = truth.tally(Client::Freshet).changes;
            truth.answered(Client::Freshet, id, now);
            let is_new = !std::mem::replace(&mut known[id as usize], true);
            let is_changed = is_new || truth.tally(Client::Freshet).changes > before;
            let outcome = if is_changed { FetchResult::Changed } else { FetchResult::Unchanged };
            engine.step(now, Event::FetchFinished { id, outcome }, &mut actions);
        }
        now = engine.next_tick().max(now);
        if now >= 0.5 * days {
            middle.get_or_insert_with(|| truth.standing(0.5 * days));
        }
        if now >= days {
            break;
        }
        engine.step(now, Event::Tick, &mut actions);
    }
    let settled = truth.standing(days).mean_since(&middle.unwrap(), Client::Freshet);
    (truth, settled)
}

#[test]
fn freshet_is_ahead_of_equal_polling_and_that_of_nutch() {
    for seed in 1..=8 {
        let world = World::made(seed, Options::PAGES).unwrap();
        let order = world.order();
        let (mut truth, _) = kept(&world, Options::BUDGET, 1.0, false);
        let freshet = truth.standing(1.0).fresh_days[0];
        let equal = polled(&world, Client::Equal, &mut Equal::new(&order));
        let scale = nutch_scale(&world, Options::BUDGET, 1.0).unwrap();
        let mut nutch = Nutch::new(&order, 1.0 / Options::BUDGET, scale);
        let nutch = polled(&world, Client::Nutch, &mut nutch);
        let all = format!("seed {seed}: {freshet:.3} {equal:.3} {nutch:.3}");
        assert!(freshet > equal + 0.04 && equal > nutch + 0.02, "{all}");
    }
}

/// Nutch's rule as the simulator runs policies: every page is requested exactly when it is due.
struct PolledNutch(Nutch);

impl Policy for PolledNutch {
    fn wake(&self) -> f64 {
        self.0.due()
    }

    fn step(&mut self, now: f64, event: freshet_sim::Event, fetches: &mut Vec<u32>) {
        use freshet_sim::{Event, Outcome};
        match event {
            Event::Wake => fetches.extend(self.0.next()),
            Event::Fetched { source, outcome: Outcome::Changed { .. } } => {
                self.0.learn(source, now, Seen::Changed);
            }
            Event::Fetched { source, .. } => self.0.learn(source, now, Seen::Same),
            _ => {}
        }
    }
}

#[test]
fn nutchs_rule_is_that_of_the_simulator() {
    let (days, burn_in) = (8.0, 4.0);
    for seed in 1..=3 {
        let world = World::made(seed, 500).unwrap();
        let web = freshet_sim::Web::new(&world.origin(days), &[], days, seed).unwrap();
        let scale = nutch_scale(&world, 10.0, days).unwrap();
        let mut rule = PolledNutch(Nutch::new(&world.order(), 0.1, scale));
        let ours = run(&web, &mut rule, Calendar::new(days, burn_in, 2), None);
        let experiment = Experiment {
            policies: vec![PolicyKind::Nutch.into()],
            days: Some(days),
            burn_in: Some(0.0),
            budget: "10/source/day".parse().unwrap(),
            seeds: 1,
            seed,
            pieces: 2,
            ..Experiment::new(world.origin(days))
        };
        let report = experiment.run(&|_| {}).unwrap();
        let theirs = report.policies[0].runs[0].ledger.pieces()[1];
        let ours = ours.ledger.measured();
        // They begin differently: at random places of the first interval, and as if each page had
        // changed on day 0. So counts are compared, and not freshness, which hangs on when the few
        // most important pages happen to be asked.
        let close = |one: f64, other: f64| (one / other - 1.0).abs() < 0.02;
        assert!(close(ours.requests, theirs.requests), "{ours:?} {theirs:?}");
        assert!(close(ours.found, theirs.found), "{ours:?} {theirs:?}");
    }
}
