//! Who did well: policies compared with the bound and with equal polling, seed by seed.

use std::cmp::Ordering;

use freshet_sim::{Aim, Choice, PolicyKind, PolicyReport, Report, Spread};

/// What the comparison comes to. Places are those in the report.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    /// Whom the others are compared with: the best for those who know all change rates.
    pub(crate) bound: Option<usize>,
    pub(crate) uniform: Option<usize>,
    /// The best of those that were not told the change rates.
    pub(crate) best: Option<usize>,
    /// How much of the way from equal polling to the bound the best goes.
    pub(crate) way: Option<f64>,
    /// Those that do worse than equal polling, as far as the seeds can tell.
    pub(crate) worse: Vec<usize>,
}

impl Verdict {
    pub(crate) fn of(report: &Report) -> Self {
        let costs: Vec<Vec<f64>> =
            report.policies.iter().map(|it| costs(it, report.objective)).collect();
        let mean = |at: usize| costs[at].iter().sum::<f64>() / costs[at].len() as f64;
        let place = |kind: PolicyKind| {
            let plain = Choice::from(kind);
            report.policies.iter().position(|it| it.policy == plain)
        };
        let (bound, uniform) = (place(report.objective.yardstick()), place(PolicyKind::Uniform));
        let best = (0..costs.len())
            .filter(|&at| !is_told(&report.policies[at].policy) && !mean(at).is_nan())
            .min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        // Equal polling alone is no winner.
        let rivals = report.policies.iter().filter(|it| !is_told(&it.policy)).count();
        let best = best.filter(|_| rivals > 1);
        let way = match (bound, uniform, best) {
            (Some(bound), Some(uniform), Some(best)) if mean(uniform) > mean(bound) => {
                Some((mean(uniform) - mean(best)) / (mean(uniform) - mean(bound)))
            }
            _ => None,
        };
        let worse = uniform.map_or_else(Vec::new, |uniform| {
            let is_worse = |&at: &usize| compare(&costs[at], &costs[uniform]) == Ordering::Greater;
            (0..costs.len()).filter(|&at| at != uniform).filter(is_worse).collect()
        });
        Self { bound, uniform, best, way, worse }
    }
}

/// Whether a policy is told the change rates that others must learn, or do without.
fn is_told(policy: &Choice) -> bool {
    use PolicyKind::{ChangeRate, Greedy, Optimum, Wic};
    let told = matches!(policy.kind, Optimum | Greedy | Wic | ChangeRate);
    told || policy.to_string() == "engine:known"
}

/// The cost of the objective, for each seed.
fn costs(policy: &PolicyReport, objective: Aim) -> Vec<f64> {
    policy.runs.iter().map(|run| run.ledger.measured().cost(objective)).collect()
}

/// Whether costs differ. All policies meet the same webs, so that their difference on each seed
/// tells more than the two means.
fn compare(one: &[f64], other: &[f64]) -> Ordering {
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let Spread { mean, interval } = Spread::of(&differences);
    let (low, high) = interval.unwrap_or((mean, mean));
    // Rounding is no difference.
    let noise = 1e-9 * other.iter().fold(0.0_f64, |most, cost| most.max(cost.abs()));
    if low > noise {
        Ordering::Greater
    } else if high < -noise {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_if_all_seeds_bear_it_out() {
        let uniform = [1.0, 5.0, 3.0];
        // Each seed has its own level, and the difference is the same on all.
        assert_eq!(compare(&[1.1, 5.1, 3.1], &uniform), Ordering::Greater);
        assert_eq!(compare(&[0.9, 4.89, 2.9], &uniform), Ordering::Less);
        assert_eq!(compare(&[1.1, 4.9, 3.0], &uniform), Ordering::Equal);
        assert_eq!(compare(&uniform, &uniform), Ordering::Equal);
        assert_eq!(compare(&[1.2], &[1.0]), Ordering::Greater);
        assert_eq!(compare(&[f64::NAN], &[1.0]), Ordering::Equal);
    }
}
