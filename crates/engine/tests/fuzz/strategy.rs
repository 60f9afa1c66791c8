//! Cases at random: mostly what happens, now and then what should not.

use freshet_engine::{Blame, Description, Outcome, Settings};
use freshet_estimate::Belief;
use proptest::prelude::*;
use proptest::sample::select;

use crate::case::{Case, Happening, goals, profiles};

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let from = prop_oneof![4 => Just(0.0), 2 => Just(20_000.37), 1 => -1e3..1e6_f64];
    // Nothing is fetched before somebody can: most cases begin with that.
    let capacity = prop_oneof![
        6 => Just(vec![Happening::Capacity(u32::MAX)]),
        1 => (1..20_u32).prop_map(|some| vec![Happening::Capacity(some)]),
        1 => Just(Vec::new()),
    ];
    let happenings = prop::collection::vec(happening(), 1..60);
    (from, settings(), capacity, happenings).prop_map(|(from, settings, mut first, rest)| {
        first.extend(rest);
        Case { from, settings, happenings: first }
    })
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        2 => Just(Happening::Tick),
        6 => prop_oneof![3 => Just(0.0), 5 => log(-6.0, 1.0), 1 => log(1.0, 3.6)].prop_map(Happening::Wait),
        6 => (prop_oneof![3 => log(-5.0, 0.5), 1 => log(0.5, 3.0)], any::<u32>())
            .prop_map(|(days, seed)| Happening::Run { days, seed }),
        9 => (0..40_usize, outcome()).prop_map(|(which, outcome)| Happening::Answer { which, outcome }),
        3 => (0..40_usize, amount(log(-5.0, 1.0)), outcome())
            .prop_map(|(which, ago, outcome)| Happening::Report { which, ago, outcome }),
        1 => (id(), outcome()).prop_map(|(id, outcome)| Happening::Fetched { id, outcome }),
        8 => description(id()).prop_map(|first| Happening::Describe { first, count: 1, hosts: 1 }),
        2 => (description(prop_oneof![Just(0), 100..200_u32]), prop_oneof![6 => 2..60_u32, 1 => 60..4000_u32], 1..40_u32)
            .prop_map(|(first, count, hosts)| Happening::Describe { first, count, hosts }),
        2 => id().prop_map(|first| Happening::Remove { first, count: 1 }),
        1 => (prop_oneof![Just(0), 100..200_u32], 1..4000_u32)
            .prop_map(|(first, count)| Happening::Remove { first, count }),
        2 => (0..40_usize, amount(log(-5.0, 0.5)), any::<bool>())
            .prop_map(|(which, days, unasked)| Happening::PutOff { which, days, unasked }),
        1 => (host(), amount(log(-5.0, 0.5))).prop_map(|(host, days)| Happening::Visit { host, days }),
        2 => (host(), prop::option::of(amount(log(-5.0, 0.5))), any::<bool>())
            .prop_map(|(host, rest, failed)| Happening::Visited { host, rest, failed }),
        4 => id().prop_map(Happening::Signal),
        2 => (0..3_u32, prop::option::of(id()))
            .prop_map(|(number, source)| Happening::Herald { number, source }),
        1 => (0..3_u32).prop_map(Happening::Dismiss),
        6 => (id(), 0..3_u32, prop::option::of(amount(log(-3.0, 2.0))))
            .prop_map(|(id, herald, said)| Happening::Heard { id, herald, said }),
        1 => (0..3_u32, 0..9_u32).prop_map(|(herald, found)| Happening::Read { herald, found }),
        2 => id().prop_map(Happening::Fetch),
        1 => (0..5_u32, amount(log(-5.0, 0.5))).prop_map(|(host, days)| Happening::Gap { host, days }),
        1 => prop_oneof![0..5_u32, Just(u32::MAX)].prop_map(Happening::Capacity),
        1 => (0..5_u32).prop_map(Happening::Withdraw),
        3 => settings().prop_map(Happening::Set),
        2 => prop_oneof![4 => log(-6.0, 2.0), 2 => log(-6.0, 2.0).prop_map(|x| -x), 1 => Just(f64::NAN), 1 => Just(4e4)]
            .prop_map(Happening::Clock),
        2 => Just(Happening::Snapshot),
        1 => Just(Happening::Reopen),
    ]
}

fn id() -> impl Strategy<Value = u32> {
    prop_oneof![30 => 0..24_u32, 3 => 100..140_u32, 1 => Just(u32::MAX)]
}

fn host() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0..6_u32, 1 => Just(u32::MAX)]
}

/// From a power of ten to another.
fn log(from: f64, to: f64) -> impl Strategy<Value = f64> {
    (from..to).prop_map(|log| 10_f64.powf(log))
}

/// Mostly an ordinary amount, now and then one at the edge of the possible, seldom one beyond.
fn amount(usual: impl Strategy<Value = f64> + 'static) -> BoxedStrategy<f64> {
    let extreme = select(vec![0.0, 1e-30, 1e-9, 1e9, 1e30, 1e-45, 1e31]);
    let wrong = select(vec![f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY]);
    prop_oneof![40 => usual, 6 => extreme, 1 => wrong].boxed()
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let blame = select(vec![Blame::Host, Blame::Source, Blame::Us]);
    let days = prop_oneof![
        6 => log(-5.0, 1.0),
        1 => select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e5]),
    ];
    prop_oneof![
        4 => Just(Outcome::Changed),
        4 => Just(Outcome::Unchanged),
        4 => (blame, prop::option::of(days))
            .prop_map(|(blame, retry_after)| Outcome::Failed { blame, retry_after }),
        1 => Just(Outcome::Copied),
        1 => Just(Outcome::Gone),
    ]
}

fn description(id: impl Strategy<Value = u32>) -> impl Strategy<Value = Description> {
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
            Description {
                id,
                host,
                importance,
                cost,
                goal,
                observed,
                paused,
                min_interval,
                // Seldom on purpose, often by chance: the shortest above the longest.
                max_interval: if min_interval < 1e3 {
                    max_interval.max(min_interval)
                } else {
                    max_interval
                },
                fetched,
                belief,
            }
        },
    )
}

fn settings() -> impl Strategy<Value = Settings> {
    let budget = prop_oneof![3 => log(0.0, 3.0), 2 => log(3.0, 7.0), 1 => Just(0.0), 1 => amount(log(-2.0, 9.0))];
    let burst = prop_oneof![3 => Just(None), 3 => amount(log(0.0, 2.0)).prop_map(Some)];
    let profile = prop_oneof![3 => Just(0), 2 => 1..4_usize].prop_map(|at| profiles()[at].1);
    let gap = prop_oneof![2 => Just(Settings::default().host_gap), 1 => Just(0.0), 2 => amount(log(-5.0, 0.0))];
    let connections = prop_oneof![6 => 1..4_u32, 1 => Just(0), 1 => Just(u32::MAX)];
    let half_life = prop_oneof![4 => Just(None), 1 => amount(log(0.0, 3.0)).prop_map(Some)];
    let goal = prop_oneof![5 => Just(0), 2 => 0..9_usize].prop_map(|at| goals()[at].1);
    let many = prop_oneof![3 => Just(Settings::default().many), 2 => Just(0), 1 => 0..2000_usize];
    let paused = prop::bool::weighted(0.05);
    (budget, burst, profile, gap, connections, half_life, goal, many, paused).prop_map(
        |(budget, burst, profile, host_gap, host_connections, half_life, goal, many, paused)| {
            Settings {
                budget,
                burst,
                profile,
                host_gap,
                host_connections,
                half_life,
                goal,
                many,
                paused,
                ..Settings::default()
            }
        },
    )
}
