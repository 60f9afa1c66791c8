use proptest::prelude::*;

use super::*;

fn belief(shape: f64, days: f64) -> Belief {
    Belief::new(shape, days).unwrap()
}

#[track_caller]
fn check(label: &str, got: f64, expect: f64, tolerance: f64) {
    let close = got == expect || (got / expect - 1.0).abs() <= tolerance;
    assert!(close, "{label}: {got:e}, expected {expect:e}, off by {:e}", got / expect - 1.0);
}

const ALL: [Penalty; 3] = [Penalty::Harmonic, Penalty::Freshness, Penalty::Age];

/// `∫₀^τ t E[k′(t)] dt` by quadrature in `x = ln(1 + t/b)`, in units of `b` (or `b²`).
fn integral(penalty: Penalty, a: f64, u: f64) -> f64 {
    integrate(u.ln_1p(), (1.0 / a).min(1.0), |x| match penalty {
        Penalty::Harmonic => x.exp() * -(-a * x).exp_m1(),
        Penalty::Freshness => a * x.exp_m1() * (-a * x).exp(),
        Penalty::Age => x.exp() * x.exp_m1() * -(-a * x).exp_m1(),
    })
}

/// Shapes that include the singular ones and their neighbours.
fn shapes() -> Vec<f64> {
    let mut shapes: Vec<f64> = (0..49).map(|i| 10f64.powf(-3.0 + 0.25 * f64::from(i))).collect();
    for at in [1.0, 2.0, 3.0] {
        shapes.push(at);
        for off in [1e-15, 1e-12, 1e-8, 1e-4, 1e-2] {
            shapes.extend([at - off, at + off]);
        }
    }
    shapes
}

#[test]
fn values_are_integrals_of_expected_penalties() {
    for a in shapes() {
        for i in 0..=180 {
            let u = 10f64.powf(-9.0 + 0.1 * f64::from(i));
            for penalty in ALL {
                let got = penalty.fetch_value(belief(a, 1.0), u);
                check(
                    &format!("{penalty:?} a = {a}, u = {u:e}"),
                    got,
                    integral(penalty, a, u),
                    2e-13,
                );
            }
        }
    }
}

#[test]
fn values_match_reference_digits() {
    // The closed forms of the documentation; a = 1 and a = 2 are evaluated 1e-35 away from them.
    let rows = [
        (
            0.001,
            1e-9,
            [4.999_999_998_331_667e-22, 4.999_999_996_663_334e-22, 3.333_333_332_082_084e-31],
        ),
        (
            0.001,
            0.000_1,
            [4.999_833_175_012_004e-12, 4.999_666_358_368_843e-12, 3.333_208_215_009_586_5e-16],
        ),
        (
            0.001,
            0.2,
            [1.878_470_938_414_703_7e-5, 1.767_627_806_164_678_2e-5, 2.485_480_515_660_602e-6],
        ),
        (
            0.001,
            3.0,
            [0.002_543_879_475_359_664, 0.001_612_122_221_553_564_2, 0.004_792_459_886_089_669],
        ),
        (0.001, 10_000.0, [81.772_482_491_358_15, 9.909_059_363_323_173, 433_629.478_542_359_43]),
        (
            0.001,
            1_000_000_000.0,
            [19_529_544.156_947_58, 980_470.435_333_037_9, 1.001_001_230_278_193_6e16],
        ),
        (
            0.4,
            1e-9,
            [1.999_999_999_066_667e-19, 1.999_999_998_133_333_8e-19, 1.333_333_332_633_333_7e-28],
        ),
        (
            0.4,
            0.000_1,
            [1.999_906_672_266_286e-9, 1.999_813_350_131_810_6e-9, 1.333_263_337_813_016_2e-13],
        ),
        (
            0.4,
            0.2,
            [0.007_332_297_116_954_126, 0.006_734_265_928_074_622, 0.000_967_236_585_675_231_5],
        ),
        (0.4, 3.0, [0.837_672_150_009_883_4, 0.439_280_317_494_564_2, 1.543_836_075_004_941_8]),
        (0.4, 10_000.0, [9_582.993_809_719_776, 165.827_593_971_720_66, 48_430_237.415_318_09]),
        (
            0.4,
            1_000_000_000.0,
            [999_581_353.927_830_6, 167_457.429_118_969_4, 4.998_430_070_981_981e17],
        ),
        (
            0.999_999,
            1e-9,
            [4.999_994_996_666_673e-19, 4.999_994_993_333_344e-19, 3.333_329_997_500_004e-28],
        ),
        (
            0.999_999,
            0.000_1,
            [4.999_661_692_164_621e-9, 4.999_328_409_325_197e-9, 3.333_080_020_373_297e-13],
        ),
        (
            0.999_999,
            0.2,
            [0.017_678_426_585_469_33, 0.015_654_876_360_935_103, 0.002_321_554_628_661_361],
        ),
        (0.999_999, 3.0, [1.613_704_677_973_637_5, 0.636_294_282_304_871, 2.886_292_776_847_619_6]),
        (
            0.999_999,
            10_000.0,
            [9_990.789_517_216_788, 8.210_573_563_651_79, 49_990_009.128_368_825],
        ),
        (
            0.999_999,
            1_000_000_000.0,
            [999_999_979.276_519_4, 19.723_459_843_822_656, 4.999_999_989_999_803e17],
        ),
        (
            1.0,
            1e-9,
            [4.999_999_996_666_667e-19, 4.999_999_993_333_334e-19, 3.333_333_330_833_334e-28],
        ),
        (
            1.0,
            0.000_1,
            [4.999_666_691_664_667e-9, 4.999_333_408_325_335e-9, 3.333_083_353_331_667_3e-13],
        ),
        (
            1.0,
            0.2,
            [0.017_678_443_206_045_377, 0.015_654_890_127_287_963, 0.002_321_556_793_954_626_7],
        ),
        (1.0, 3.0, [1.613_705_638_880_109_4, 0.636_294_361_119_890_6, 2.886_294_361_119_891]),
        (1.0, 10_000.0, [9_990.789_559_633_024, 8.210_540_356_977_516, 49_990_009.210_440_37]),
        (1.0, 1_000_000_000.0, [999_999_979.276_734_1, 19.723_265_838_946_41, 4.999_999_99e17]),
        (
            1.5,
            1e-9,
            [7.499_999_993_750_001e-19, 7.499_999_987_500_001e-19, 4.999_999_995_312_501e-28],
        ),
        (
            1.5,
            0.000_1,
            [7.499_375_054_682_58e-9, 7.498_750_164_042_816e-9, 4.999_531_293_745_9e-13],
        ),
        (
            1.5,
            0.2,
            [0.025_741_858_350_553_714, 0.022_112_986_786_900_147, 0.003_367_911_628_781_835],
        ),
        (1.5, 3.0, [2.0, 0.625, 3.5]),
        (1.5, 10_000.0, [9_998.019_999_000_075, 1.970_002_499_737_528, 49_999_803.970_001_25]),
        (
            1.5,
            1_000_000_000.0,
            [999_999_998.000_063_3, 1.999_905_131_670_274, 4.999_999_999_999_368e17],
        ),
        (2.0, 1e-9, [9.999_999_99e-19, 9.999_999_980_000_002e-19, 6.666_666_659_166_668e-28]),
        (
            2.0,
            0.000_1,
            [9.999_000_099_990_002e-9, 9.998_000_299_960_006e-9, 6.665_916_746_658_335e-13],
        ),
        (2.0, 0.2, [0.033_333_333_333_333_34, 0.027_777_777_777_777_78, 0.004_345_109_872_712_041]),
        (2.0, 3.0, [2.25, 0.562_5, 3.863_705_638_880_109]),
        (2.0, 10_000.0, [9_999.000_099_99, 0.999_800_029_996_000_5, 49_999_991.789_459_646]),
        (2.0, 1_000_000_000.0, [999_999_999.0, 0.999_999_998_000_000_1, 5e17]),
        (
            2.000_000_1,
            1e-9,
            [1.000_000_048_999_999_9e-18, 1.000_000_047_999_999_8e-18, 6.666_666_992_5e-28],
        ),
        (
            2.000_000_1,
            0.000_1,
            [9.999_000_599_906_678e-9, 9.998_000_799_793_372e-9, 6.665_917_079_929_177e-13],
        ),
        (
            2.000_000_1,
            0.2,
            [0.033_333_334_806_536_93, 0.027_777_778_836_818_007, 0.004_345_110_061_565_943],
        ),
        (
            2.000_000_1,
            3.0,
            [2.250_000_040_342_639_5, 0.562_499_985_650_378_2, 3.863_705_694_628_068_3],
        ),
        (
            2.000_000_1,
            10_000.0,
            [9_999.000_100_089_9, 0.999_799_930_190_190_8, 49_999_991.789_463_79],
        ),
        (2.000_000_1, 1_000_000_000.0, [999_999_999.000_000_1, 0.999_999_898_000_014_4, 5e17]),
        (
            7.0,
            1e-9,
            [3.499_999_990_666_667e-18, 3.499_999_981_333_334e-18, 2.333_333_326_333_334e-27],
        ),
        (
            7.0,
            0.000_1,
            [3.499_066_876_624_675e-8, 3.498_133_963_165_372_4e-8, 2.332_633_501_298_340_3e-12],
        ),
        (7.0, 0.2, [0.089_149_662_780_064_02, 0.055_034_007_773_205_31, 0.011_225_851_623_228_167]),
        (7.0, 3.0, [2.833_374_023_437_5, 0.166_442_871_093_75, 4.466_821_289_062_5]),
        (7.0, 10_000.0, [9_999.833_333_333_334, 0.166_666_666_666_666_66, 49_999_999.966_666_67]),
        (7.0, 1_000_000_000.0, [999_999_999.833_333_4, 0.166_666_666_666_666_66, 5e17]),
        (
            10_000.0,
            1e-9,
            [4.999_983_331_708_347e-15, 4.999_966_663_458_371_4e-15, 3.333_320_832_116_677e-24],
        ),
        (
            10_000.0,
            0.000_1,
            [3.678_714_113_016_916e-5, 2.642_307_543_211_847_2e-5, 2.357_531_860_994_729e-9],
        ),
        (
            10_000.0,
            0.2,
            [0.199_899_989_998_999_9, 0.000_100_010_001_000_100_01, 0.019_999_989_996_999_302],
        ),
        (
            10_000.0,
            3.0,
            [2.999_899_989_998_999_8, 0.000_100_010_001_000_100_01, 4.499_999_989_996_999],
        ),
        (
            10_000.0,
            10_000.0,
            [9_999.999_899_99, 0.000_100_010_001_000_100_01, 49_999_999.999_999_99],
        ),
        (10_000.0, 1_000_000_000.0, [999_999_999.999_9, 0.000_100_010_001_000_100_01, 5e17]),
        (
            1_000_000_000.0,
            1e-9,
            [3.678_794_410_911_409_4e-10, 2.642_411_175_534_770_4e-10, 2.357_588_822_859_202e-19],
        ),
        (
            1_000_000_000.0,
            0.000_1,
            [9.999_899_999_999_9e-5, 1.000_000_001e-9, 4.999_999_999_000_001e-9],
        ),
        (1_000_000_000.0, 0.2, [0.199_999_999, 1.000_000_001e-9, 0.02]),
        (1_000_000_000.0, 3.0, [2.999_999_999, 1.000_000_001e-9, 4.5]),
        (1_000_000_000.0, 10_000.0, [9_999.999_999_999, 1.000_000_001e-9, 50_000_000.0]),
        (1_000_000_000.0, 1_000_000_000.0, [1_000_000_000.0, 1.000_000_001e-9, 5e17]),
    ];
    for (a, u, expect) in rows {
        for (penalty, expect) in ALL.into_iter().zip(expect) {
            let got = penalty.fetch_value(belief(a, 1.0), u);
            check(&format!("{penalty:?} a = {a}, u = {u:e}"), got, expect, 2e-13);
        }
    }
}

#[test]
fn certain_beliefs_give_the_value_at_the_rate() {
    // c = 2 a day, τ = 0.3 days.
    let (c, t) = (2.0_f64, 0.3_f64);
    let certain = belief(c * 1e12, 1e12);
    let two = 1.0 - (-c * t).exp() * (1.0 + c * t);
    let once = -(-c * t).exp_m1();
    check("harmonic", Penalty::Harmonic.fetch_value(certain, t), t - once / c, 1e-11);
    check("freshness", Penalty::Freshness.fetch_value(certain, t), two / c, 1e-11);
    check("age", Penalty::Age.fetch_value(certain, t), t * t / 2.0 - two / (c * c), 1e-11);
    check("age now", Penalty::Age.expected_penalty(certain, t), t - once / c, 1e-11);
    // Ein(0.6), Abramowitz & Stegun 5.1.40.
    let ein = (1..20).fold((0.0, -1.0), |(sum, term): (f64, f64), k| {
        let term = -term * c * t / f64::from(k);
        (sum + term / f64::from(k), term)
    });
    check("harmonic now", Penalty::Harmonic.expected_penalty(certain, t), ein.0, 1e-11);
}

#[test]
fn expected_penalties() {
    // E[Ein(ct)] → ln(t/b) + ψ(a) + γ, and for a = 1 it is ∫₀^u ds/(1+s) = ln(1 + u).
    for u in [1e-9_f64, 1e-3, 1.0, 1e3, 1e12] {
        check(
            "a = 1",
            Penalty::Harmonic.expected_penalty(belief(1.0, 2.0), 2.0 * u),
            u.ln_1p(),
            1e-13,
        );
        // a = 2: ln(1 + u) + u/(1 + u).
        let two = u.ln_1p() + u / (1.0 + u);
        check("a = 2", Penalty::Harmonic.expected_penalty(belief(2.0, 2.0), 2.0 * u), two, 1e-13);
        let half = 1.0 - 1.0 / (1.0 + u).sqrt();
        check("fresh", Penalty::Freshness.expected_penalty(belief(0.5, 2.0), 2.0 * u), half, 1e-7);
    }
    for a in [1e-3, 0.3, 20.0, 1e9] {
        let (digamma, _) = crate::digamma::digamma_and_trigamma(a);
        let expect = 60.0 + digamma + 0.577_215_664_901_532_9;
        if a > 0.9 {
            check(
                "far",
                Penalty::Harmonic.expected_penalty(belief(a, 1.0), 60_f64.exp()),
                expect,
                1e-13,
            );
        }
    }
}

#[test]
fn value_slopes_follow_from_penalty_slopes() {
    // d(value)/dτ = τ · d(expected)/dτ for every penalty, by definition.
    for penalty in ALL {
        for a in [0.05, 0.9, 1.0, 3.5, 80.0] {
            for changes in [1e-3_f64, 0.4, 8.0] {
                let (b, t) = (belief(a, 2.0), 2.0 * changes / a);
                let h = 1e-4 * t;
                let value = penalty.fetch_value(b, t + h) - penalty.fetch_value(b, t - h);
                let cost = penalty.expected_penalty(b, t + h) - penalty.expected_penalty(b, t - h);
                check(&format!("{penalty:?} {a} {t}"), value / cost, t, 1e-6);
            }
        }
    }
}

#[test]
fn limits() {
    assert_eq!(Penalty::Freshness.max_value(belief(3.0, 4.0)), 2.0);
    assert_eq!(Penalty::Freshness.max_value(belief(1.0, 4.0)), f64::INFINITY);
    assert_eq!(Penalty::Freshness.fetch_value(belief(3.0, 4.0), f64::INFINITY), 2.0);
    assert_eq!(Penalty::Harmonic.fetch_value(belief(3.0, 4.0), f64::INFINITY), f64::INFINITY);
    check("far", Penalty::Freshness.fetch_value(belief(3.0, 4.0), 1e9), 2.0, 1e-12);
    for penalty in ALL {
        for days in [0.0, -1.0, f64::NAN] {
            assert_eq!(penalty.fetch_value(belief(3.0, 4.0), days), 0.0);
            assert_eq!(penalty.expected_penalty(belief(3.0, 4.0), days), 0.0);
        }
        assert_eq!(penalty.interval_at_price(belief(3.0, 4.0), 0.0), 0.0);
        assert_eq!(penalty.interval_at_price(belief(3.0, 4.0), f64::NAN), f64::INFINITY);
        assert_eq!(penalty.interval_at_price(belief(3.0, 4.0), f64::INFINITY), f64::INFINITY);
    }
    assert_eq!(Penalty::Freshness.interval_at_price(belief(3.0, 4.0), 2.0), f64::INFINITY);
}

#[test]
fn pending_changes() {
    let (known, pending) = (belief(5.0, 8.0), PendingChanges { count: 3, age_days: 0.5 });
    assert_eq!(Penalty::Harmonic.pending_value(known, pending), 6.0);
    assert_eq!(Penalty::Freshness.pending_value(known, pending), 2.0);
    assert_eq!(Penalty::Age.pending_value(known, pending), 1.125);
    for penalty in ALL {
        let none = PendingChanges { count: 0, age_days: 0.0 };
        assert_eq!(penalty.pending_value(known, none), 0.0);
    }
    let (unsure, now) = (belief(0.5, 8.0), PendingChanges { count: 1, age_days: 0.0 });
    assert_eq!(Penalty::Harmonic.pending_value(unsure, now), f64::INFINITY);
    assert_eq!(Penalty::Age.pending_value(unsure, now), 0.0);
}

#[test]
fn interval_at_price_inverts_the_value() {
    for a in shapes() {
        for i in 0..=180 {
            let u = 10f64.powf(-9.0 + 0.1 * f64::from(i));
            for penalty in ALL {
                let price = penalty.fetch_value(belief(a, 1.0), u);
                // Close to its limit, freshness does not resolve times better than prices.
                let slope = match penalty {
                    Penalty::Freshness => u * u * a * (-(a + 1.0) * u.ln_1p()).exp() / price,
                    _ => 1.0,
                };
                if slope > 1e-12 {
                    let tolerance = 5e-13 + 1e-15 / slope;
                    let got = penalty.interval_at_price(belief(a, 1.0), price);
                    check(&format!("{penalty:?} a = {a}, u = {u:e}"), got, u, tolerance);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn interval_at_price_is_monotone_and_always_defined(
        shape in -3.0..9.0_f64,
        days in -9.0..9.0_f64,
        price in -30.0..30.0_f64,
        more in -12.0..1.0_f64,
    ) {
        let belief = belief(10f64.powf(shape), 10f64.powf(days));
        let (low, high) = (10f64.powf(price), 10f64.powf(price) * (1.0 + 10f64.powf(more)));
        for penalty in ALL {
            let (early, late) = (penalty.interval_at_price(belief, low), penalty.interval_at_price(belief, high));
            prop_assert!(early > 0.0 && early <= late, "{penalty:?}: {early:e}, {late:e}");
            if early.is_finite() {
                let back = penalty.fetch_value(belief, early);
                prop_assert!((back / low - 1.0).abs() < 1e-12, "{penalty:?}: {back:e}, {low:e}");
            } else {
                let max_value = penalty.fetch_value(belief, belief.days() * 1e295);
                prop_assert!(penalty == Penalty::Freshness && low >= max_value * 0.9);
            }
        }
    }
}
