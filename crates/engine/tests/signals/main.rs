//! Signals of different reliability and their effect on the engine.

mod world;

use freshet_engine::{
    Action, DueReason, Engine, EngineSettings, Event, FetchResult, Signal, SignalHistoryCheckpoint,
    SignalSource, SignalSourceCheckpoint, SourceDescription, StatedChangeTime,
};
use freshet_estimate::Penalty;
use world::{Measurement, SignalDelivery, SignalQuality, World};

const WORLD: World =
    World { pages: 60, days: 80.0, budget: 24.0, penalty: Penalty::Harmonic, from: 40.0, seed: 5 };

/// Results without and with signals, averaged over two webs.
fn without_and_with_signals(
    penalty: Penalty,
    quality: SignalQuality,
    delivery: SignalDelivery,
) -> (Measurement, Measurement) {
    let seeds = [5_u64, 500];
    let mean = |delivery| {
        let run = |&seed: &u64| World { penalty, seed, ..WORLD }.run(quality, delivery).0;
        let all: Vec<Measurement> = seeds.iter().map(run).collect();
        let mean = |f: fn(&Measurement) -> f64| all.iter().map(f).sum::<f64>() / all.len() as f64;
        Measurement {
            freshness: mean(|it| it.freshness),
            harmonic: mean(|it| it.harmonic),
            ..all[0]
        }
    };
    (mean(SignalDelivery::None), mean(delivery))
}

#[test]
fn bad_signals_do_not_reduce_freshness() {
    for (recall, precision) in [(0.2, 0.05), (0.2, 0.2), (0.9, 0.02)] {
        let quality = SignalQuality { recall, precision, delay: 0.0 };
        let (without_signals, with_signals) =
            without_and_with_signals(Penalty::Freshness, quality, SignalDelivery::Push);
        assert!(
            with_signals.freshness > 0.985 * without_signals.freshness,
            "{quality:?}: {without_signals:?}, {with_signals:?}"
        );
        let (without_signals, with_signals) =
            without_and_with_signals(Penalty::Harmonic, quality, SignalDelivery::Push);
        assert!(
            with_signals.harmonic < 1.025 * without_signals.harmonic,
            "{quality:?}: {without_signals:?}, {with_signals:?}"
        );
    }
}

#[test]
fn good_signals_improve_freshness_and_are_recognised() {
    let quality = SignalQuality { recall: 0.95, precision: 0.95, delay: 0.0 };
    let (without_signals, with_signals) =
        without_and_with_signals(Penalty::Harmonic, quality, SignalDelivery::Push);
    assert!(
        with_signals.harmonic < 0.7 * without_signals.harmonic,
        "{without_signals:?}, {with_signals:?}"
    );
    let (without_signals, with_signals) =
        without_and_with_signals(Penalty::Freshness, quality, SignalDelivery::Push);
    assert!(
        with_signals.freshness > 1.15 * without_signals.freshness,
        "{without_signals:?}, {with_signals:?}"
    );
    let (_, engine) = WORLD.run(quality, SignalDelivery::Push);
    let it = engine.signal_source(0).unwrap();
    assert!((it.precision.unwrap() - 0.95).abs() < 0.05, "{it:?}");
    assert!(it.recall.unwrap() > 0.7, "{it:?}");
    assert!(
        it.gained_value > 0.0
            && it.confirmed_fetches > it.signalled_fetches / 2
            && it.sources > WORLD.pages - 5,
        "{it:?}"
    );
}

#[test]
fn late_signals_still_improve_freshness() {
    let quality = SignalQuality { recall: 0.9, precision: 0.9, delay: 2.0 };
    let (without_signals, with_signals) =
        without_and_with_signals(Penalty::Harmonic, quality, SignalDelivery::Push);
    assert!(
        with_signals.harmonic < without_signals.harmonic,
        "{without_signals:?}, {with_signals:?}"
    );
}

#[test]
fn signals_do_not_harm_the_age_goal() {
    for precision in [0.05, 0.9] {
        let quality = SignalQuality { recall: 0.8, precision, delay: 0.0 };
        let (without_signals, with_signals) =
            without_and_with_signals(Penalty::Age, quality, SignalDelivery::Push);
        assert!(
            with_signals.freshness > 0.97 * without_signals.freshness,
            "{quality:?}: {without_signals:?}, {with_signals:?}"
        );
    }
}

#[test]
fn a_signal_source_is_read_as_often_as_its_signals_are_worth() {
    let reliable = SignalQuality { recall: 0.95, precision: 0.95, delay: 0.0 };
    let (without_signals, with_signals) =
        without_and_with_signals(Penalty::Harmonic, reliable, SignalDelivery::Read);
    assert!(
        with_signals.harmonic < 0.8 * without_signals.harmonic,
        "{without_signals:?}, {with_signals:?}"
    );
    // Reads take a part of the budget, and not too much of it.
    assert!(
        with_signals.reads > 90 && with_signals.reads < with_signals.fetches / 4,
        "{with_signals:?}"
    );
    let unreliable = SignalQuality { recall: 0.2, precision: 0.01, delay: 0.0 };
    let (without_signals, with_unreliable) =
        without_and_with_signals(Penalty::Freshness, unreliable, SignalDelivery::Read);
    assert!(
        with_unreliable.freshness > 0.98 * without_signals.freshness,
        "{without_signals:?}, {with_unreliable:?}"
    );
    assert!(with_unreliable.reads < with_signals.reads / 2, "{with_unreliable:?}");
}

/// A page on a host of its own.
fn page_on_own_host(id: u32) -> SourceDescription {
    SourceDescription { host: id, ..SourceDescription::new(id) }
}

/// An engine with a page that was fetched often, and a signal source that was always right about
/// it.
fn engine_with_history(settings: EngineSettings) -> Engine {
    let mut engine = Engine::new(0.0, settings);
    let mut send = |day: f64, event| engine.step(day, event, &mut Vec::new());
    send(0.0, Event::SourcesDescribed((0..3).map(page_on_own_host).collect()));
    send(
        0.0,
        Event::SignalSourcesDescribed(vec![(SignalSource { number: 4, source: None }, None)]),
    );
    for day in 1..40 {
        let day = f64::from(day);
        let changed = (day as u32).is_multiple_of(3);
        if changed && day > 1.0 {
            send(
                day - 0.2,
                Event::SignalReceived(Signal { source: 1, signal_source: 4, change_time: None }),
            );
        }
        send(day, Event::FetchStarted(1));
        let outcome = if changed { FetchResult::Changed } else { FetchResult::Unchanged };
        send(day, Event::FetchFinished { id: 1, outcome });
    }
    while engine.next_tick() <= engine.now() {
        engine.step(engine.now(), Event::Tick, &mut Vec::new());
    }
    engine
}

fn signal_received(id: u32, change_time: Option<StatedChangeTime>) -> Event {
    Event::SignalReceived(Signal { source: id, signal_source: 4, change_time })
}

#[test]
fn a_signal_moves_the_due_day_and_is_explained() {
    let mut engine =
        engine_with_history(EngineSettings { budget: 0.5, ..EngineSettings::default() });
    let before = engine.explain(1).unwrap();
    let it = before.pending_signals.unwrap();
    assert_eq!((it.signal_source, it.count, it.first_and_last), (4, 0, None));
    assert!(it.precision > 0.6, "{it:?}");
    assert_eq!(it.due_without_signals, before.due_day);
    // A change that the copy already contains is ignored.
    let old = StatedChangeTime { earliest: 38.5, resolution: 0.0 };
    engine.step(39.5, signal_received(1, Some(old)), &mut Vec::new());
    assert_eq!(engine.pending_signals(1).unwrap().count, 0);
    assert_eq!(engine.signal_source(4).unwrap().late_signals, 1);
    engine.step(39.5, signal_received(1, None), &mut Vec::new());
    let after = engine.explain(1).unwrap();
    let it = after.pending_signals.unwrap();
    assert_eq!((it.count, it.first_and_last), (1, Some((39.5, 39.5))));
    assert!(after.due_day < before.due_day && it.due_without_signals > after.due_day, "{after:?}");
    assert!(after.value > before.value && it.fresh_probability < 0.5, "{after:?}");
    assert_ne!(after.due_reason, DueReason::Never);
}

#[test]
fn signal_checkpoints_restore_what_was_learned() {
    let settings = EngineSettings { budget: 0.5, ..EngineSettings::default() };
    let mut old = engine_with_history(settings);
    old.step(39.5, signal_received(1, None), &mut Vec::new());
    let memory =
        SignalSourceCheckpoint::from_bytes(&old.signal_source_checkpoint(4).unwrap().to_bytes())
            .unwrap();
    let histories: Vec<_> = old.signal_history_checkpoints(1);
    let histories: Vec<_> = histories
        .into_iter()
        .map(|(signal_source, it)| {
            (1, signal_source, SignalHistoryCheckpoint::from_bytes(&it.to_bytes()).unwrap())
        })
        .collect();
    assert_eq!(histories.len(), 1);
    let mut new = Engine::resume(39.5, settings, &old.checkpoint(0.0)).unwrap();
    let mut send = |event| new.step(39.5, event, &mut Vec::new());
    send(Event::SignalSourcesDescribed(vec![(
        SignalSource { number: 4, source: None },
        Some(memory),
    )]));
    let sources = (0..3).map(|id| (page_on_own_host(id), old.learned_state(id).unwrap())).collect();
    send(Event::SourcesRestored(sources));
    send(Event::SignalHistoriesRestored(histories));
    let (one, other) = (old.pending_signals(1).unwrap(), new.pending_signals(1).unwrap());
    assert_eq!((one.count, one.first_and_last), (other.count, other.first_and_last));
    assert!((one.precision - other.precision).abs() < 0.05, "{one:?}, {other:?}");
    let (one, other) = (old.signal_source(4).unwrap(), new.signal_source(4).unwrap());
    assert_eq!(
        (one.signals, one.signalled_fetches, one.confirmed_fetches),
        (other.signals, other.signalled_fetches, other.confirmed_fetches)
    );
    assert_eq!(
        Engine::restore(&old.snapshot()).unwrap().pending_signals(1),
        old.pending_signals(1)
    );
    assert!(SignalHistoryCheckpoint::from_bytes(b"something else").is_err());
}

#[test]
fn a_signal_source_may_be_added_before_its_document() {
    let mut engine =
        engine_with_history(EngineSettings { budget: 10.0, ..EngineSettings::default() });
    let mut send = |event| engine.step(39.5, event, &mut Vec::new());
    send(Event::SignalSourcesDescribed(vec![(SignalSource { number: 4, source: Some(7) }, None)]));
    send(Event::SourcesDescribed(vec![page_on_own_host(7)]));
    send(Event::FetchStarted(7));
    send(Event::FetchFinished { id: 7, outcome: FetchResult::Changed });
    send(Event::SignalSourceRead { signal_source: 4, found: 3 });
    // Signals about the sitemap itself are ignored.
    send(signal_received(7, None));
    let it = engine.signal_source(4).unwrap();
    assert_eq!((it.source, it.reads, it.sources_found), (Some(7), 1, 3));
    assert!(it.read_value.is_some() && engine.pending_signals(7).is_none());
    assert!(engine.explain(7).unwrap().due_day < f64::INFINITY);
}

#[test]
fn a_removed_signal_source_is_forgotten() {
    let mut engine =
        engine_with_history(EngineSettings { budget: 0.5, ..EngineSettings::default() });
    let rate = engine.explain(1).unwrap().belief.mean();
    engine.step(39.5, signal_received(1, None), &mut Vec::new());
    engine.step(39.6, Event::SignalSourcesRemoved(vec![4]), &mut Vec::new());
    assert!(engine.signal_source(4).is_none() && engine.pending_signals(1).is_none());
    assert!(engine.explain(1).unwrap().pending_signals.is_none());
    engine.step(39.7, signal_received(1, None), &mut Vec::new());
    assert!(engine.pending_signals(1).is_none());
    // A signal source that reuses the number starts without history.
    engine.step(
        39.8,
        Event::SignalSourcesDescribed(vec![(SignalSource { number: 4, source: None }, None)]),
        &mut Vec::new(),
    );
    assert!(engine.pending_signals(1).is_none());
    engine.step(40.0, Event::FetchStarted(1), &mut Vec::new());
    engine.step(
        40.0,
        Event::FetchFinished { id: 1, outcome: FetchResult::Unchanged },
        &mut Vec::new(),
    );
    let after = engine.explain(1).unwrap().belief.mean();
    assert!((after / rate).ln().abs() < 1.0, "{rate}, then {after}");
}

#[test]
fn invalid_signals_do_no_harm() {
    let mut engine =
        engine_with_history(EngineSettings { budget: 10.0, ..EngineSettings::default() });
    let mut actions = Vec::new();
    let extreme_values =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 1e300, 0.0, 39.0, 41.0];
    for (at, day) in extreme_values.into_iter().enumerate() {
        for grain in extreme_values {
            let change_time = Some(StatedChangeTime { earliest: day, resolution: grain });
            engine.step(
                40.0 + at as f64,
                signal_received(at as u32 % 4, change_time),
                &mut actions,
            );
        }
    }
    for _ in 0..2000 {
        engine.step(50.0, signal_received(1, None), &mut actions);
    }
    engine.step(
        50.0,
        Event::SignalReceived(Signal { source: 1, signal_source: u32::MAX, change_time: None }),
        &mut actions,
    );
    let number = SignalSource::NUMBER_LIMIT;
    engine.step(
        50.0,
        Event::SignalSourcesDescribed(vec![(SignalSource { number, source: None }, None)]),
        &mut actions,
    );
    engine.step(50.0, Event::SignalSourceRead { signal_source: 77, found: u32::MAX }, &mut actions);
    engine.step(50.0, Event::CapacityAdded(5), &mut actions);
    for _ in 0..50 {
        let day = engine.next_tick().min(60.0);
        engine.step(day, Event::Tick, &mut actions);
    }
    let it = engine.explain(1).unwrap();
    assert!(actions.iter().any(|it| matches!(it, Action::Fetch { id: 1, .. })), "{it:?}");
    assert!(it.value.is_finite() && it.price.is_finite(), "{it:?}");
    assert!(Engine::restore(&engine.snapshot()).is_ok());
}
