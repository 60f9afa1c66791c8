//! Many sources at once.

use freshet_engine::{Description, Event, Reason};
use rand::RngExt;

use crate::web::{Web, budget, mean};

#[test]
fn a_hundred_thousand_at_once() {
    const MANY: u32 = 100_000;
    let mut web = Web::new(budget(50_000.0));
    let some: Vec<_> = (0..MANY)
        .map(|id| {
            let importance = web.log(-1.0, 1.0);
            let it = Description { host: id % 1000, importance, ..Description::new(id) };
            (it, web.rng.random_range(0.01..1.0))
        })
        .collect();
    web.add(&some);
    let mut ticks = 0;
    while web.engine.len() < MANY as usize {
        web.tell(Event::Tick);
        ticks += 1;
        assert!(ticks <= 100, "{} after {ticks} ticks", web.engine.len());
    }
    assert!(web.most_actions <= 1024 + 16);
    web.run_until(2.5);
    assert!(web.most_actions <= 1024 + 16);
    web.spends(0.0, 2.0, 50_000.0, 50_000.0 / 24.0);

    // Each once, and the most important first.
    let first: Vec<_> = web.between(0.0, 2.5).filter(|it| it.reason == Reason::New).collect();
    assert_eq!(first.len(), MANY as usize);
    let tenths: Vec<f64> =
        first.chunks(10_000).map(|some| mean(some.iter().map(|it| it.importance))).collect();
    assert!(tenths.is_sorted_by(|a, b| a > b), "mean importance by tenths: {tenths:?}");
    let mut best: Vec<f64> = some.iter().map(|it| it.0.importance).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let best = mean(best[..10_000].iter().copied());
    assert!(tenths[0] > 0.97 * best, "{} of {best}", tenths[0]);
}
