//! As many requests for the others as freshet makes.

/// How many requests a poller may have made: what the budget comes to by now, but no more than
/// `slack` away from what freshet has made. So all make equally many, whether freshet comes up late,
/// waits for a host, or spends what it saved.
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
