//! Random cases: mostly plausible steps, occasionally invalid ones.

use freshet_engine::{EngineSettings, FailureCause, FetchResult, SourceDescription};
use freshet_estimate::Belief;
use proptest::prelude::*;
use proptest::sample::select;

use crate::case::{Case, Step, goals, profiles};

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let from = prop_oneof![4 => Just(0.0), 2 => Just(20_000.37), 1 => -1e3..1e6_f64];
    // Nothing is fetched without capacity: most cases begin with it.
    let capacity = prop_oneof![
        6 => Just(vec![Step::Capacity(u32::MAX)]),
        1 => (1..20_u32).prop_map(|items| vec![Step::Capacity(items)]),
        1 => Just(Vec::new()),
    ];
    let steps = prop::collection::vec(step(), 1..60);
    (from, settings(), capacity, steps).prop_map(|(from, settings, mut first, retry_after)| {
        first.extend(retry_after);
        Case { from, settings, steps: first }
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Tick),
        6 => prop_oneof![3 => Just(0.0), 5 => log(-6.0, 1.0), 1 => log(1.0, 3.6)].prop_map(Step::Wait),
        6 => (prop_oneof![3 => log(-5.0, 0.5), 1 => log(0.5, 3.0)], any::<u32>())
            .prop_map(|(days, seed)| Step::Run { days, seed }),
        9 => (0..40_usize, outcome()).prop_map(|(index, outcome)| Step::Answer { index, outcome }),
        3 => (0..40_usize, amount(log(-5.0, 1.0)), outcome())
            .prop_map(|(index, ago, outcome)| Step::Report { index, ago, outcome }),
        1 => (id(), outcome()).prop_map(|(id, outcome)| Step::Fetched { id, outcome }),
        8 => description(id()).prop_map(|first| Step::Describe { first, count: 1, hosts: 1 }),
        2 => (description(prop_oneof![Just(0), 100..200_u32]), prop_oneof![6 => 2..60_u32, 1 => 60..4000_u32], 1..40_u32)
            .prop_map(|(first, count, hosts)| Step::Describe { first, count, hosts }),
        2 => id().prop_map(|first| Step::Remove { first, count: 1 }),
        1 => (prop_oneof![Just(0), 100..200_u32], 1..4000_u32)
            .prop_map(|(first, count)| Step::Remove { first, count }),
        2 => (0..40_usize, amount(log(-5.0, 0.5)), any::<bool>())
            .prop_map(|(index, days, unsent)| Step::PutOff { index, days, unsent }),
        1 => (host(), amount(log(-5.0, 0.5))).prop_map(|(host, days)| Step::Visit { host, days }),
        2 => (host(), prop::option::of(amount(log(-5.0, 0.5))), any::<bool>())
            .prop_map(|(host, retry_after, failed)| Step::Visited { host, retry_after, failed }),
        4 => id().prop_map(Step::Signal),
        2 => (0..3_u32, prop::option::of(id()))
            .prop_map(|(number, source)| Step::SignalSource { number, source }),
        1 => (0..3_u32).prop_map(Step::RemoveSignalSource),
        6 => (id(), 0..3_u32, prop::option::of(amount(log(-3.0, 2.0))))
            .prop_map(|(id, signal_source, change_time)| Step::SignalReceived { id, signal_source, change_time }),
        1 => (0..3_u32, 0..9_u32).prop_map(|(signal_source, found)| Step::Read { signal_source, found }),
        2 => id().prop_map(Step::Fetch),
        1 => (0..5_u32, amount(log(-5.0, 0.5))).prop_map(|(host, days)| Step::Gap { host, days }),
        1 => prop_oneof![0..5_u32, Just(u32::MAX)].prop_map(Step::Capacity),
        1 => (0..5_u32).prop_map(Step::Withdraw),
        3 => settings().prop_map(Step::Set),
        2 => prop_oneof![4 => log(-6.0, 2.0), 2 => log(-6.0, 2.0).prop_map(|x| -x), 1 => Just(f64::NAN), 1 => Just(4e4)]
            .prop_map(Step::Clock),
        2 => Just(Step::Snapshot),
        1 => Just(Step::Reopen),
    ]
}

fn id() -> impl Strategy<Value = u32> {
    prop_oneof![30 => 0..24_u32, 3 => 100..140_u32, 1 => Just(u32::MAX)]
}

fn host() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0..6_u32, 1 => Just(u32::MAX)]
}

/// Log-uniform between two powers of ten.
fn log(from: f64, to: f64) -> impl Strategy<Value = f64> {
    (from..to).prop_map(|log| 10_f64.powf(log))
}

/// Mostly an ordinary amount, sometimes an extreme one, rarely an invalid one.
fn amount(default: impl Strategy<Value = f64> + 'static) -> BoxedStrategy<f64> {
    let extreme = select(vec![0.0, 1e-30, 1e-9, 1e9, 1e30, 1e-45, 1e31]);
    let violation = select(vec![f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY]);
    prop_oneof![40 => default, 6 => extreme, 1 => violation].boxed()
}

fn outcome() -> impl Strategy<Value = FetchResult> {
    let cause = select(vec![FailureCause::Host, FailureCause::Source, FailureCause::Us]);
    let days = prop_oneof![
        6 => log(-5.0, 1.0),
        1 => select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e5]),
    ];
    prop_oneof![
        4 => Just(FetchResult::Changed),
        4 => Just(FetchResult::Unchanged),
        4 => (cause, prop::option::of(days))
            .prop_map(|(cause, retry_after)| FetchResult::Failed { cause, retry_after }),
        1 => Just(FetchResult::Uncompared),
        1 => Just(FetchResult::Gone),
    ]
}

fn description(id: impl Strategy<Value = u32>) -> impl Strategy<Value = SourceDescription> {
    let goal = prop_oneof![4 => Just(None), 3 => (0..9_usize).prop_map(|at| Some(goals()[at].1))];
    let flags = (prop::bool::weighted(0.25), prop::bool::weighted(0.1));
    let shortest = prop_oneof![5 => Just(0.0), 3 => amount(log(-3.0, 1.5))];
    let longest = prop_oneof![6 => Just(f64::INFINITY), 3 => amount(log(-3.0, 2.0))];
    let copy = prop_oneof![5 => Just(None), 4 => amount(log(-2.0, 2.0)).prop_map(Some)];
    let belief = prop_oneof![
        6 => Just(None),
        2 => (log(-2.0, 2.0), log(-3.0, 3.0)).prop_map(|(shape, days)| Belief::new(shape, days).ok()),
        1 => (log(-3.0, 9.0), log(-9.0, 9.0)).prop_map(|(shape, days)| Belief::new(shape, days).ok()),
    ];
    let amounts = (amount(log(-2.0, 2.0)), amount(log(-0.5, 0.5)), shortest, longest);
    (id, host(), amounts, goal, flags, copy, belief).prop_map(
        |(id, host, amounts, goal, (observed, paused), fetched, belief)| {
            let (importance, cost, min_interval, max_interval) = amounts;
            SourceDescription {
                id,
                host,
                importance,
                cost,
                goal,
                observed,
                paused,
                min_interval,
                // An inverted interval is rare by design, because it occurs often by chance.
                max_interval: if min_interval < 1e3 {
                    max_interval.max(min_interval)
                } else {
                    max_interval
                },
                last_fetch: fetched,
                belief,
            }
        },
    )
}

fn settings() -> impl Strategy<Value = EngineSettings> {
    let budget = prop_oneof![3 => log(0.0, 3.0), 2 => log(3.0, 7.0), 1 => Just(0.0), 1 => amount(log(-2.0, 9.0))];
    let burst = prop_oneof![3 => Just(None), 3 => amount(log(0.0, 2.0)).prop_map(Some)];
    let profile = prop_oneof![3 => Just(0), 2 => 1..4_usize].prop_map(|at| profiles()[at].1);
    let gap = prop_oneof![2 => Just(EngineSettings::default().host_gap), 1 => Just(0.0), 2 => amount(log(-5.0, 0.0))];
    let connections = prop_oneof![6 => 1..4_u32, 1 => Just(0), 1 => Just(u32::MAX)];
    let half_life = prop_oneof![4 => Just(None), 1 => amount(log(0.0, 3.0)).prop_map(Some)];
    let goal = prop_oneof![5 => Just(0), 2 => 0..9_usize].prop_map(|at| goals()[at].1);
    let descriptions = prop_oneof![3 => Just(EngineSettings::default().large_set_threshold), 2 => Just(0), 1 => 0..2000_usize];
    let paused = prop::bool::weighted(0.05);
    (budget, burst, profile, gap, connections, half_life, goal, descriptions, paused).prop_map(
        |(
            budget,
            burst,
            profile,
            host_gap,
            host_connections,
            half_life,
            goal,
            descriptions,
            paused,
        )| {
            EngineSettings {
                budget,
                burst,
                profile,
                host_gap,
                host_connections,
                half_life,
                goal,
                large_set_threshold: descriptions,
                paused,
                ..EngineSettings::default()
            }
        },
    )
}
