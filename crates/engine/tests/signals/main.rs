//! Signals that can be trusted more or less: what the engine makes of them.

mod world;

use freshet_engine::{
    Action, Because, Description, Engine, Event, Outcome, Settings, Signal, SignalHistoryMemory,
    SignalReceipt, SignalSource, SignalSourceMemory,
};
use freshet_estimate::Penalty;
use world::{Attained, Hearer, SignalLog, World};

const WORLD: World =
    World { pages: 60, days: 80.0, budget: 24.0, penalty: Penalty::Harmonic, from: 40.0, seed: 5 };

/// Without signals and with them, averaged over some webs.
fn both(penalty: Penalty, told: SignalLog, hearer: Hearer) -> (Attained, Attained) {
    let seeds = [5_u64, 500];
    let mean = |hearer| {
        let run = |&seed: &u64| World { penalty, seed, ..WORLD }.run(told, hearer).0;
        let all: Vec<Attained> = seeds.iter().map(run).collect();
        let mean = |f: fn(&Attained) -> f64| all.iter().map(f).sum::<f64>() / all.len() as f64;
        Attained { freshness: mean(|it| it.freshness), harmonic: mean(|it| it.harmonic), ..all[0] }
    };
    (mean(Hearer::Deaf), mean(hearer))
}

#[test]
fn bad_signals_do_not_hurt() {
    for (recall, precision) in [(0.2, 0.05), (0.2, 0.2), (0.9, 0.02)] {
        let told = SignalLog { recall, precision, delay: 0.0 };
        let (deaf, ours) = both(Penalty::Freshness, told, Hearer::Listening);
        assert!(ours.freshness > 0.985 * deaf.freshness, "{told:?}: {deaf:?}, {ours:?}");
        let (deaf, ours) = both(Penalty::Harmonic, told, Hearer::Listening);
        assert!(ours.harmonic < 1.025 * deaf.harmonic, "{told:?}: {deaf:?}, {ours:?}");
    }
}

#[test]
fn good_signals_help_and_are_known_for_it() {
    let told = SignalLog { recall: 0.95, precision: 0.95, delay: 0.0 };
    let (deaf, ours) = both(Penalty::Harmonic, told, Hearer::Listening);
    assert!(ours.harmonic < 0.7 * deaf.harmonic, "{deaf:?}, {ours:?}");
    let (deaf, ours) = both(Penalty::Freshness, told, Hearer::Listening);
    assert!(ours.freshness > 1.15 * deaf.freshness, "{deaf:?}, {ours:?}");
    let (_, engine) = WORLD.run(told, Hearer::Listening);
    let it = engine.herald(0).unwrap();
    assert!((it.precision.unwrap() - 0.95).abs() < 0.05, "{it:?}");
    assert!(it.recall.unwrap() > 0.7, "{it:?}");
    assert!(it.brought > 0.0 && it.proved > it.tried / 2 && it.sources > WORLD.pages - 5, "{it:?}");
}

#[test]
fn late_signals_help_less_and_do_not_hurt() {
    let told = SignalLog { recall: 0.9, precision: 0.9, delay: 2.0 };
    let (deaf, ours) = both(Penalty::Harmonic, told, Hearer::Listening);
    assert!(ours.harmonic < deaf.harmonic, "{deaf:?}, {ours:?}");
}

#[test]
fn other_goals_are_not_hurt() {
    for precision in [0.05, 0.9] {
        let told = SignalLog { recall: 0.8, precision, delay: 0.0 };
        let (deaf, ours) = both(Penalty::Age, told, Hearer::Listening);
        assert!(ours.freshness > 0.97 * deaf.freshness, "{told:?}: {deaf:?}, {ours:?}");
    }
}

#[test]
fn a_herald_is_read_as_often_as_its_signals_are_worth() {
    let honest = SignalLog { recall: 0.95, precision: 0.95, delay: 0.0 };
    let (deaf, ours) = both(Penalty::Harmonic, honest, Hearer::Reading);
    assert!(ours.harmonic < 0.8 * deaf.harmonic, "{deaf:?}, {ours:?}");
    // It takes a part of the budget, and not too much of it.
    assert!(ours.reads > 90 && ours.reads < ours.fetches / 4, "{ours:?}");
    let liar = SignalLog { recall: 0.2, precision: 0.01, delay: 0.0 };
    let (deaf, with_liar) = both(Penalty::Freshness, liar, Hearer::Reading);
    assert!(with_liar.freshness > 0.98 * deaf.freshness, "{deaf:?}, {with_liar:?}");
    assert!(with_liar.reads < ours.reads / 2, "{with_liar:?}");
}

/// A page on a host of its own.
fn alone(id: u32) -> Description {
    Description { host: id, ..Description::new(id) }
}

/// An engine with a page that was fetched some times, of which a herald always told the truth.
fn taught(settings: Settings) -> Engine {
    let mut engine = Engine::new(0.0, settings);
    let mut tell = |day: f64, event| engine.step(day, event, &mut Vec::new());
    tell(0.0, Event::Described((0..3).map(alone).collect()));
    tell(0.0, Event::Heralds(vec![(SignalSource { number: 4, source: None }, None)]));
    for day in 1..40 {
        let day = f64::from(day);
        let changed = (day as u32).is_multiple_of(3);
        if changed && day > 1.0 {
            tell(day - 0.2, Event::Heard(Signal { id: 1, herald: 4, said: None }));
        }
        tell(day, Event::Fetching(1));
        let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
        tell(day, Event::Fetched { id: 1, outcome });
    }
    while engine.wake() <= engine.now() {
        engine.step(engine.now(), Event::Tick, &mut Vec::new());
    }
    engine
}

fn heard(id: u32, said: Option<SignalReceipt>) -> Event {
    Event::Heard(Signal { id, herald: 4, said })
}

#[test]
fn a_signal_moves_the_day_and_says_so() {
    let mut engine = taught(Settings { budget: 0.5, ..Settings::default() });
    let before = engine.explain(1).unwrap();
    let it = before.announced.unwrap();
    assert_eq!((it.herald, it.signals, it.days), (4, 0, None));
    assert!(it.precision > 0.6, "{it:?}");
    assert_eq!(it.due_without, before.due);
    // Of what the copy has already, nothing is heard.
    let old = SignalReceipt { day: 38.5, grain: 0.0 };
    engine.step(39.5, heard(1, Some(old)), &mut Vec::new());
    assert_eq!(engine.announced(1).unwrap().signals, 0);
    assert_eq!(engine.herald(4).unwrap().late, 1);
    engine.step(39.5, heard(1, None), &mut Vec::new());
    let after = engine.explain(1).unwrap();
    let it = after.announced.unwrap();
    assert_eq!((it.signals, it.days), (1, Some((39.5, 39.5))));
    assert!(after.due < before.due && it.due_without > after.due, "{after:?}");
    assert!(after.worth > before.worth && it.fresh < 0.5, "{after:?}");
    assert_ne!(after.because, Because::Never);
}

#[test]
fn what_was_learnt_of_heralds_outlives_the_engine() {
    let settings = Settings { budget: 0.5, ..Settings::default() };
    let mut old = taught(settings);
    old.step(39.5, heard(1, None), &mut Vec::new());
    let memory = SignalSourceMemory::from_bytes(&old.herald_memory(4).unwrap().to_bytes()).unwrap();
    let ears: Vec<_> = old.ear_memories(1);
    let ears: Vec<_> = ears
        .into_iter()
        .map(|(herald, it)| (1, herald, SignalHistoryMemory::from_bytes(&it.to_bytes()).unwrap()))
        .collect();
    assert_eq!(ears.len(), 1);
    let mut new = Engine::resume(39.5, settings, &old.checkpoint(0.0)).unwrap();
    let mut tell = |event| new.step(39.5, event, &mut Vec::new());
    tell(Event::Heralds(vec![(SignalSource { number: 4, source: None }, Some(memory))]));
    let sources = (0..3).map(|id| (alone(id), old.learned_state(id).unwrap())).collect();
    tell(Event::Recalled(sources));
    tell(Event::Overheard(ears));
    let (one, other) = (old.announced(1).unwrap(), new.announced(1).unwrap());
    assert_eq!((one.signals, one.days), (other.signals, other.days));
    assert!((one.precision - other.precision).abs() < 0.05, "{one:?}, {other:?}");
    let (one, other) = (old.herald(4).unwrap(), new.herald(4).unwrap());
    assert_eq!((one.signals, one.tried, one.proved), (other.signals, other.tried, other.proved));
    assert_eq!(Engine::restore(&old.snapshot()).unwrap().announced(1), old.announced(1));
    assert!(SignalHistoryMemory::from_bytes(b"something else").is_err());
}

#[test]
fn a_herald_may_come_before_the_source_that_is_read_to_hear_it() {
    let mut engine = taught(Settings { budget: 10.0, ..Settings::default() });
    let mut tell = |event| engine.step(39.5, event, &mut Vec::new());
    tell(Event::Heralds(vec![(SignalSource { number: 4, source: Some(7) }, None)]));
    tell(Event::Described(vec![alone(7)]));
    tell(Event::Fetching(7));
    tell(Event::Fetched { id: 7, outcome: Outcome::Changed });
    tell(Event::Read { herald: 4, found: 3 });
    // What is said of a sitemap itself is not listened to.
    tell(heard(7, None));
    let it = engine.herald(4).unwrap();
    assert_eq!((it.source, it.reads, it.found), (Some(7), 1, 3));
    assert!(it.worth.is_some() && engine.announced(7).is_none());
    assert!(engine.explain(7).unwrap().due < f64::INFINITY);
}

#[test]
fn who_is_dismissed_is_heard_no_more() {
    let mut engine = taught(Settings { budget: 0.5, ..Settings::default() });
    let rate = engine.explain(1).unwrap().belief.mean();
    engine.step(39.5, heard(1, None), &mut Vec::new());
    engine.step(39.6, Event::Dismissed(vec![4]), &mut Vec::new());
    assert!(engine.herald(4).is_none() && engine.announced(1).is_none());
    assert!(engine.explain(1).unwrap().announced.is_none());
    engine.step(39.7, heard(1, None), &mut Vec::new());
    assert!(engine.announced(1).is_none());
    // Another one of the same number is a stranger.
    engine.step(
        39.8,
        Event::Heralds(vec![(SignalSource { number: 4, source: None }, None)]),
        &mut Vec::new(),
    );
    assert!(engine.announced(1).is_none());
    engine.step(40.0, Event::Fetching(1), &mut Vec::new());
    engine.step(40.0, Event::Fetched { id: 1, outcome: Outcome::Unchanged }, &mut Vec::new());
    let after = engine.explain(1).unwrap().belief.mean();
    assert!((after / rate).ln().abs() < 1.0, "{rate}, then {after}");
}

#[test]
fn whatever_is_said_does_no_harm() {
    let mut engine = taught(Settings { budget: 10.0, ..Settings::default() });
    let mut actions = Vec::new();
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 1e300, 0.0, 39.0, 41.0];
    for (at, day) in odd.into_iter().enumerate() {
        for grain in odd {
            let said = Some(SignalReceipt { day, grain });
            engine.step(40.0 + at as f64, heard(at as u32 % 4, said), &mut actions);
        }
    }
    for _ in 0..2000 {
        engine.step(50.0, heard(1, None), &mut actions);
    }
    engine.step(50.0, Event::Heard(Signal { id: 1, herald: u32::MAX, said: None }), &mut actions);
    let number = SignalSource::NUMBERS;
    engine.step(
        50.0,
        Event::Heralds(vec![(SignalSource { number, source: None }, None)]),
        &mut actions,
    );
    engine.step(50.0, Event::Read { herald: 77, found: u32::MAX }, &mut actions);
    engine.step(50.0, Event::Capacity(5), &mut actions);
    for _ in 0..50 {
        let day = engine.wake().min(60.0);
        engine.step(day, Event::Tick, &mut actions);
    }
    let it = engine.explain(1).unwrap();
    assert!(actions.iter().any(|it| matches!(it, Action::Fetch { id: 1, .. })), "{it:?}");
    assert!(it.worth.is_finite() && it.price.is_finite(), "{it:?}");
    assert!(Engine::restore(&engine.snapshot()).is_ok());
}
