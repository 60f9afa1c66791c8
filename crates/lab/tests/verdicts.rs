//! Verdicts follow from the numbers, whatever the numbers are.

use freshet_lab::{Comparison, Evidence, Printed, Verdict};
use proptest::prelude::*;

fn printed(decimals: usize) -> impl Strategy<Value = Printed> {
    (-1e4_f64..1e4).prop_map(move |value| Printed::new(&format!("{value:.decimals$}")))
}

fn any_printed() -> impl Strategy<Value = Printed> {
    (0_usize..6).prop_flat_map(printed)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_number_is_reproduced_if_and_only_if_it_rounds_to_what_is_printed(
        printed in any_printed(),
        distance in -3.0_f64..3.0,
    ) {
        // Halfway, either is right.
        prop_assume!((distance.abs() - 0.5).abs() > 1e-6);
        let ours = printed.value() + distance * printed.unit();
        let verdict = Comparison::number(&printed, ours).verdict();
        let expect = if distance.abs() < 0.5 { Verdict::Reproduced } else { Verdict::Differs };
        prop_assert_eq!(verdict, expect);
        let decimals = printed.text().split_once('.').map_or(0, |(_, digits)| digits.len());
        let rounded = format!("{ours:.decimals$}").parse::<f64>().unwrap_or(f64::NAN);
        prop_assert_eq!(rounded == printed.value(), expect == Verdict::Reproduced);
    }

    #[test]
    fn nothing_is_a_misprint_without_evidence_against_it(
        printed in any_printed(),
        distance in -3.0_f64..3.0,
        low in -3.0_f64..3.0,
        width in 0.0_f64..2.0,
    ) {
        prop_assume!((distance.abs() - 0.5).abs() > 1e-6);
        let at = |distance: f64| printed.value() + distance * printed.unit();
        let evidence = Evidence::between(at(low), at(low + width), "bounds");
        let plain = Comparison::number(&printed, at(distance));
        let own = plain.clone().or_misprint(&printed, &evidence, "").verdict();
        let against = low > 0.501 || low + width < -0.501;
        let holds_ours = low - 1e-6 <= distance && distance <= low + width + 1e-6;
        match own {
            Verdict::Misprint => prop_assert!(against && holds_ours && width <= 1.0 + 1e-6),
            other => prop_assert_eq!(other, plain.verdict()),
        }
    }

    #[test]
    fn what_is_open_holds_the_printed_number(
        printed in any_printed(),
        low in -3.0_f64..3.0,
        width in 0.0_f64..3.0,
    ) {
        let at = |distance: f64| printed.value() + distance * printed.unit();
        let range = at(low)..=at(low + width);
        let verdict = Comparison::open(&printed, &range, "data").verdict();
        let inside = low < 0.499 && low + width > -0.499;
        match verdict {
            Verdict::Differs => prop_assert!(!inside),
            Verdict::NotDeterminable => prop_assert!(low < 0.501 && low + width > -0.501),
            Verdict::Reproduced => prop_assert!(low > -0.501 && low + width < 0.501),
            other => prop_assert!(false, "{}", other),
        }
    }
}
