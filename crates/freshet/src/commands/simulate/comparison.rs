//! Comparison of policies with the bound and with equal polling, seed by seed.

use std::cmp::Ordering;

use freshet_sim::{Choice, MeanWithInterval, PolicyKind, PolicyReport, Report, SimObjective};

/// Result of the comparison. Policies are given by their index in the report.
#[derive(Debug, PartialEq)]
pub(crate) struct PolicyComparison {
    /// Policy that the others are compared with: the best one that knows all change rates.
    pub(crate) bound: Option<usize>,
    pub(crate) uniform: Option<usize>,
    /// Best policy that does not know the change rates.
    pub(crate) best: Option<usize>,
    /// Share of the distance from equal polling to the bound that the best policy covers.
    pub(crate) way: Option<f64>,
    /// Policies that are significantly worse than equal polling.
    pub(crate) worse: Vec<usize>,
}

impl PolicyComparison {
    pub(crate) fn new(report: &Report) -> Self {
        let costs: Vec<Vec<f64>> =
            report.policies.iter().map(|it| costs(it, report.objective)).collect();
        let mean = |at: usize| costs[at].iter().sum::<f64>() / costs[at].len() as f64;
        let place = |kind: PolicyKind| {
            let plain = Choice::from(kind);
            report.policies.iter().position(|it| it.policy == plain)
        };
        let (bound, uniform) = (place(report.objective.yardstick()), place(PolicyKind::Uniform));
        let best = (0..costs.len())
            .filter(|&at| !knows_rates(&report.policies[at].policy) && !mean(at).is_nan())
            .min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        // A single policy is not called the best.
        let rivals = report.policies.iter().filter(|it| !knows_rates(&it.policy)).count();
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

/// True if a policy knows the true change rates.
fn knows_rates(policy: &Choice) -> bool {
    use PolicyKind::{ChangeRate, Greedy, Optimum, Wic};
    matches!(policy.kind, Optimum | Greedy | Wic | ChangeRate)
        || policy.to_string() == "engine:known"
}

/// Returns the cost of the objective for each seed.
fn costs(policy: &PolicyReport, objective: SimObjective) -> Vec<f64> {
    policy.runs.iter().map(|run| run.ledger.measured().cost(objective)).collect()
}

/// Compares costs by their differences on each seed, which vary less than the means because all policies
/// run on the same webs.
fn compare(one: &[f64], other: &[f64]) -> Ordering {
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let MeanWithInterval { mean, interval } = MeanWithInterval::of(&differences);
    let (low, high) = interval.unwrap_or((mean, mean));
    // Differences by rounding are ignored.
    let noise = 1e-9 * other.iter().fold(0.0_f64, |largest, cost| largest.max(cost.abs()));
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
    fn a_difference_is_significant_if_all_seeds_agree() {
        let uniform = [1.0, 5.0, 3.0];
        // The costs differ between the seeds, but the difference is the same for each.
        assert_eq!(compare(&[1.1, 5.1, 3.1], &uniform), Ordering::Greater);
        assert_eq!(compare(&[0.9, 4.89, 2.9], &uniform), Ordering::Less);
        assert_eq!(compare(&[1.1, 4.9, 3.0], &uniform), Ordering::Equal);
        assert_eq!(compare(&uniform, &uniform), Ordering::Equal);
        assert_eq!(compare(&[1.2], &[1.0]), Ordering::Greater);
        assert_eq!(compare(&[f64::NAN], &[1.0]), Ordering::Equal);
    }
}
