//! Numbers of the papers. Printed numbers are checked to the printed digits; the others come from an
//! independent implementation with 60 digits.

use crate::{Folder, number};

struct Case<'a> {
    /// Importance and change rate.
    sources: &'a [(f64, f64)],
    /// Index of the first observed source.
    observed_from: usize,
    arguments: &'a str,
    rates: &'a [f64],
    tolerance: f64,
}

impl Case<'_> {
    fn folder(&self) -> Folder {
        let mut table = String::from("importance,change_rate,complete\n");
        for (row, (importance, change_rate)) in self.sources.iter().enumerate() {
            let complete = u8::from(row >= self.observed_from);
            table += &format!("{importance},{change_rate},{complete}\n");
        }
        Folder::new(&[("s.csv", &table)])
    }
}

const NEVER: usize = usize::MAX;
const EXACT: f64 = 1e-12;

#[track_caller]
fn check(case: &Case<'_>) {
    let got = case.folder().rows(&format!("plan s.csv {}", case.arguments)).numbers("rate");
    assert_eq!(got.len(), case.rates.len());
    for (row, (got, expect)) in (1..).zip(got.iter().zip(case.rates)) {
        assert!((got - expect).abs() <= case.tolerance, "row {row}: {got}, expected {expect}");
    }
}

#[track_caller]
fn check_measure(case: &Case<'_>, key: &str, expect: f64) {
    let report = case.folder().json(&format!("plan s.csv {}", case.arguments));
    let got = number(&report, key).unwrap();
    assert!((got / expect - 1.0).abs() < EXACT, "{key} is {got}, expected {expect}");
}

const FIVE: &[(f64, f64)] = &[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0), (1.0, 4.0), (1.0, 5.0)];
const SIX: &[(f64, f64)] =
    &[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0), (2.0, 1.0), (2.0, 2.0), (2.0, 3.0)];

// Cho & Garcia-Molina 2003, Table IV (b).
#[test]
fn cho_table_4_freshness() {
    let case = Case {
        sources: FIVE,
        observed_from: NEVER,
        arguments: "--budget 5/day --objective freshness",
        rates: &[1.15, 1.36, 1.35, 1.14, 0.0],
        tolerance: 0.005,
    };
    check(&case);
    check_measure(&case, "price", 0.216_431_826_101_502_85);
    check_measure(&case, "freshness", 0.373_888_699_274_390_36);
}

// Table IV (c). The first rate is printed as 0.84; it is 0.8349.
#[test]
fn cho_table_4_age() {
    let case = Case {
        sources: FIVE,
        observed_from: NEVER,
        arguments: "--budget 5/day --objective age",
        rates: &[0.8349, 0.97, 1.03, 1.07, 1.09],
        tolerance: 0.005,
    };
    check(&case);
    check(&Case { rates: &FOUR_C, tolerance: EXACT, ..case });
}

const FOUR_C: [f64; 5] = [
    0.834_869_990_334_629_8,
    0.967_925_287_153_956_6,
    1.033_519_797_710_465_4,
    1.070_613_142_781_447_5,
    1.093_071_782_019_500_6,
];

// Table V (c).
#[test]
fn cho_table_5_freshness() {
    let case = Case {
        sources: SIX,
        observed_from: NEVER,
        arguments: "--budget 6/day --objective freshness",
        rates: &[0.78, 0.76, 0.0, 1.28, 1.56, 1.62],
        tolerance: 0.005,
    };
    check(&case);
    check_measure(&case, "freshness", 0.482_425_721_265_477_85);
}

// Table V (d).
#[test]
fn cho_table_5_age() {
    let case = Case {
        sources: SIX,
        observed_from: NEVER,
        arguments: "--budget 6/day --objective age",
        rates: &[0.76, 0.88, 0.94, 0.99, 1.17, 1.26],
        tolerance: 0.005,
    };
    check(&case);
    check_measure(&case, "age", 0.195_795_521_229_973_9);
}

// Azar et al. 2018, Algorithm 1: discrete time.
#[test]
fn azar_algorithm_1() {
    let case = Case {
        sources: &[
            (5.0, 0.1),
            (1.0, 0.6),
            (0.2, 0.8),
            (3.0, 0.3),
            (0.05, 0.5),
            (2.0, 0.05),
            (0.6, 0.9),
        ],
        observed_from: NEVER,
        arguments: "--budget 1/day --objective freshness --timing slots",
        rates: &[
            0.394_603_331_050_583_8,
            0.0,
            0.0,
            0.443_769_156_762_207_37,
            0.0,
            0.161_627_512_187_208_83,
            0.0,
        ],
        tolerance: EXACT,
    };
    check(&case);
    check_measure(&case, "price", 2.413_649_882_371_649);
}

// Azar et al. 2018, Algorithm 2: continuous time.
#[test]
fn azar_algorithm_2() {
    let case = Case {
        sources: &[
            (5.0, 0.1),
            (1.0, 2.6),
            (0.2, 0.8),
            (3.0, 0.3),
            (0.05, 5.0),
            (2.0, 0.05),
            (0.6, 0.9),
            (8.0, 12.0),
        ],
        observed_from: NEVER,
        arguments: "--budget 2.5/day --objective freshness --timing poisson",
        rates: &[
            0.796_265_530_449_169_1,
            0.0,
            0.0,
            0.902_466_391_184_549_8,
            0.0,
            0.350_822_130_394_849_96,
            0.031_426_461_486_378_89,
            0.419_019_486_485_052_2,
        ],
        tolerance: EXACT,
    };
    check(&case);
    check_measure(&case, "freshness", 0.440_017_428_032_009_14);
}

const NINE: &[(f64, f64)] = &[
    (12.0, 0.5),
    (3.0, 2.0),
    (0.4, 4.0),
    (150.0, 0.05),
    (7.0, 0.9),
    (1.0, 0.01),
    (40.0, 0.3),
    (2.0, 6.0),
    (0.3, 1.0),
];

// Kolobov et al. 2019, Algorithm 1: no source is observed.
#[test]
fn kolobov_algorithm_1() {
    let case = Case {
        sources: &NINE[..6],
        observed_from: NEVER,
        arguments: "--budget 3/day --timing poisson",
        rates: &[
            0.766_053_736_873_597_4,
            0.403_518_862_080_165_1,
            0.063_645_007_987_229_8,
            1.076_343_041_594_444_4,
            0.654_924_638_165_672_2,
            0.035_514_713_298_891_01,
        ],
        tolerance: EXACT,
    };
    check(&case);
    check_measure(&case, "harmonic_cost", 26.156_657_553_086_55);
}

// Kolobov et al. 2019, Algorithm 2: all are observed.
#[test]
fn kolobov_algorithm_2() {
    let case = Case {
        sources: &NINE[..6],
        observed_from: 0,
        arguments: "--budget 3/day --timing poisson --observed random",
        rates: &[0.5, 1.358_823_529_411_764_7, 0.181_176_470_588_235_3, 0.05, 0.9, 0.01],
        tolerance: EXACT,
    };
    check(&case);
    let rows = case.folder().rows(&format!("plan s.csv {}", case.arguments));
    let expect = [1.0, 0.679_411_764_705_882_3, 0.045_294_117_647_058_825, 1.0, 1.0, 1.0];
    for (got, expect) in rows.numbers("probability").iter().zip(expect) {
        assert!((got - expect).abs() <= EXACT, "{rows:?}");
    }
}

// Kolobov et al. 2019, Algorithm 3: some are.
#[test]
fn kolobov_algorithm_3() {
    let case = Case {
        sources: NINE,
        observed_from: 6,
        arguments: "--budget 3/day --timing poisson --observed random",
        rates: &[
            0.623_204_742_267_113_5,
            0.303_835_312_421_693_9,
            0.046_133_688_816_888_38,
            0.910_739_361_359_358_6,
            0.518_238_528_469_955_6,
            0.029_520_199_929_842_435,
            0.3,
            0.233_328_840_639_258_73,
            0.034_999_326_095_888_81,
        ],
        tolerance: EXACT,
    };
    check(&case);
    check_measure(&case, "harmonic_cost", 37.791_621_697_088_154);
}

// Kolobov et al. 2019, Proposition 9: rates in proportion to importance, which are the best where
// importance is in proportion to the change rate.
#[test]
fn kolobov_proposition_9() {
    let sources = &[(1.0, 0.125), (2.0, 0.25), (4.0, 0.5), (16.0, 2.0), (0.5, 0.0625)];
    let total = 23.5;
    let rates: Vec<f64> = sources.iter().map(|(importance, _)| 2.0 * importance / total).collect();
    for policy in ["importance", "optimal"] {
        let case = Case {
            sources,
            observed_from: NEVER,
            arguments: &format!("--budget 2/day --timing poisson --policy {policy}"),
            rates: &rates,
            tolerance: EXACT,
        };
        check(&case);
        check_measure(&case, "harmonic_cost", 21.237_230_817_181_43);
    }
}
