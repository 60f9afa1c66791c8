//! Signals that can be trusted more or less: what the engine makes of them.

mod world;

use freshet_estimate::Penalty;
use world::{Hearer, Told, World};

#[test]
fn grid() {
    for seed in [1, 2, 3] {
        for penalty in [Penalty::Harmonic, Penalty::Freshness] {
            for recall in [0.2] {
                for precision in [0.05, 0.2] {
                    let world =
                        World { pages: 150, days: 100.0, budget: 60.0, penalty, from: 50.0, seed };
                    let told = Told { recall, precision, delay: 0.0 };
                    let (deaf, deaf_engine) = world.run(told, Hearer::Deaf);
                    let (ours, engine) = world.run(told, Hearer::Listening);
                    let it = engine.herald(0).unwrap();
                    println!(
                        "{penalty:?} r {recall} p {precision}: fresh {:.3} → {:.3}, harmonic {:.3} → {:.3}, fetches {} {} led {}; p {:.3} r {:.3} tried {} proved {} missed {} price {:.3} outlook {:.3} deaf price {:.3}",
                        deaf.freshness,
                        ours.freshness,
                        deaf.harmonic,
                        ours.harmonic,
                        deaf.fetches,
                        ours.fetches,
                        ours.led,
                        it.precision.unwrap_or(f64::NAN),
                        it.recall.unwrap_or(f64::NAN),
                        it.tried,
                        it.proved,
                        it.missed,
                        engine.price(),
                        engine.outlook(),
                        deaf_engine.price()
                    );
                }
            }
        }
    }
}
