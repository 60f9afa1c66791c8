//! Pages that change as auctions do: the data of WIC §5 are not available.

use freshet_capture::Changes;
use rand::{Rng, RngExt};

/// Auctions of one day: most get one bid and some get many. Half of the bids come at any time, half
/// in the last minutes; auctions end at full hours, more in the evening than at night.
pub(crate) fn auctions(pages: usize, instants: usize, random: &mut impl Rng) -> Changes {
    let hour = instants as f64 / 24.0;
    let rows = (0..pages).map(|_| {
        let bids = random.random::<f64>().powf(-0.3).min(50.0) as usize;
        let end = (24.0 * evening(random)).ceil() * hour;
        let bid = |_| {
            let late = -(1.0 - random.random::<f64>()).ln() * hour / 10.0;
            let time =
                if random.random::<bool>() { end - late } else { end * random.random::<f64>() };
            (time.max(0.0) as u32).min(instants as u32 - 1)
        };
        (0..bids).map(bid).collect()
    });
    Changes::new(instants, rows.collect()).expect("bids within the day")
}

/// Returns a time of day, as a share of it, with a density of 1 − 0.9 cos(2πx).
fn evening(random: &mut impl Rng) -> f64 {
    loop {
        let x = random.random::<f64>();
        if random.random::<f64>() * 1.9 < 1.0 - 0.9 * (std::f64::consts::TAU * x).cos() {
            return x;
        }
    }
}
