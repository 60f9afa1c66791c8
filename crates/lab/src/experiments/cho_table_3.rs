//! Two pages, one of which changes nine times as often: marginal gain of fetches.

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-table-3",
    paper: Paper::Cho,
    item: "Table III",
    section: "§5.2",
    about: "what fetches of two pages gain, one changing nine times a day and one once, at times \
            unknown",
    run,
};

/// Number of intervals per day in each of which the first page changes once.
const INTERVALS: u32 = 9;

/// Returns the gain of `fetches` evenly spaced in one interval, as a share of it: the change is
/// uniformly distributed, and after the next fetch the page is fresh until the end.
fn gain(fetches: u32) -> f64 {
    let gaps = f64::from(fetches + 1);
    (1..=fetches).map(|at| (1.0 - f64::from(at) / gaps) / gaps).sum()
}

/// Returns the best gain of fetches of the first page, which are spread over its intervals.
fn gain_of_first(fetches: u32) -> f64 {
    let (each, more) = (fetches / INTERVALS, fetches % INTERVALS);
    let all = f64::from(INTERVALS - more) * gain(each) + f64::from(more) * gain(each + 1);
    all / f64::from(INTERVALS)
}

fn benefit(first: u32, second: u32) -> f64 {
    gain_of_first(first) + gain(second)
}

/// Returns the split of a number of fetches that gains most.
fn best(fetches: u32) -> (u32, u32) {
    let splits = (0..=fetches).map(|first| (first, fetches - first));
    let better = |a: &(u32, u32), b: &(u32, u32)| benefit(a.0, a.1).total_cmp(&benefit(b.0, b.1));
    splits.max_by(better).unwrap_or_default()
}

fn run() -> Result<Outcome, LabError> {
    let mut gains = Table::list("Gain, in days of freshness a day");
    for (label, first, second, printed) in [
        ("(a) one fetch, of the fast page", 1, 0, Printed::exact("1/36", 1.0 / 36.0)),
        ("(b) one fetch, of the slow page", 0, 1, Printed::exact("1/4", 0.25)),
        ("(d) one fetch of each", 1, 1, Printed::exact("10/36", 10.0 / 36.0)),
    ] {
        gains = gains.with(label, Comparison::number(&printed, benefit(first, second)));
    }
    let mut splits = Table::list("The best split, fetches of the fast and of the slow page");
    for (fetches, printed) in [(1, (0, 1)), (2, (0, 2)), (5, (2, 3)), (10, (7, 3))] {
        let ours = best(fetches);
        let holds = ours == printed;
        let words = |(first, second): (u32, u32)| format!("{first} and {second}");
        splits = splits.with(
            &format!("{fetches} in all"),
            Comparison::property(&words(printed), &words(ours), holds),
        );
    }
    let (proportional, best_of_ten, uniform) = (benefit(9, 1), benefit(7, 3), benefit(5, 5));
    let claims = Table::list("What the table is to show").with(
        "ten fetches: in proportion (9 and 1), equally (5 and 5), best (7 and 3)",
        Comparison::property(
            "each better than the one before",
            &format!("{proportional:.4}, {uniform:.4}, {best_of_ten:.4}"),
            proportional < uniform && uniform < best_of_ten,
        ),
    );
    let claims = claims.with(
        "one or two fetches",
        Comparison::property(
            "the fast page is given up",
            &format!("it gets {} and {}", best(1).0, best(2).0),
            best(1).0 == 0 && best(2).0 == 0,
        ),
    );
    Ok(Outcome::new([gains, splits, claims]).note(
        "The other gains of the table are not legible in the text at hand. Fetches of a page are \
         evenly spaced within its intervals, as in the paper's own examples.",
    ))
}
