//! Limits the other clients to as many requests as freshet makes.

/// Returns the number of requests that a poller may have made: the budget up to now, within
/// `slack` of the number that freshet has made. All clients therefore make equally many, whether freshet starts late,
/// waits for a host, or spends saved budget.
pub(crate) fn allowed(budgeted: f64, freshet: u64, slack: f64) -> u64 {
    let freshet = freshet as f64;
    budgeted.clamp((freshet - slack).max(0.0), freshet + slack) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_within_reach_of_what_freshet_made() {
        assert_eq!(allowed(100.0, 101, 5.0), 100);
        assert_eq!(allowed(100.0, 20, 5.0), 25);
        assert_eq!(allowed(100.0, 200, 5.0), 195);
        assert_eq!(allowed(100.0, 0, 5.0), 5);
        assert_eq!(allowed(0.0, 2, 5.0), 0);
    }
}
