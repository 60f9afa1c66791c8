//! Host limits.

use crate::{Folder, number};

/// Two hosts of two sources, and two sources without a host.
const TABLE: &str = "\
id,change_rate,host
a,1,x
b,2,x
c,1,y
d,2,y
e,1,
f,2,
";

/// Checks the total rates of host x, of host y, and of the sources without a host.
#[track_caller]
fn check(limits: &str, expect: impl Fn([f64; 3]) -> bool) {
    let folder = Folder::new(&[("s.csv", TABLE), ("limits.csv", "host,limit\ny,2/day\n")]);
    let rows = folder.rows(&format!("plan s.csv --budget 12/day {limits}"));
    let rates = rows.numbers("rate");
    let hosts = [rates[0] + rates[1], rates[2] + rates[3], rates[4] + rates[5]];
    assert!((hosts.iter().sum::<f64>() - 12.0).abs() < 1e-9, "{hosts:?}");
    assert!(expect(hosts), "{hosts:?}");
}

fn is(value: f64, expect: f64) -> bool {
    (value - expect).abs() < 1e-9
}

#[test]
fn without_limits_all_rates_are_equal() {
    check("", |[x, y, none]| is(x, 4.0) && is(y, 4.0) && is(none, 4.0));
}

#[test]
fn a_limit_for_every_host_does_not_apply_to_sources_without_a_host() {
    check("--host-limit 3/day", |[x, y, none]| is(x, 3.0) && is(y, 3.0) && is(none, 6.0));
}

#[test]
fn a_file_limits_the_hosts_that_it_names() {
    check("--host-limit limits.csv", |[x, y, none]| is(x, 5.0) && is(y, 2.0) && is(none, 5.0));
}

#[test]
fn a_file_names_the_exceptions() {
    let limits = "--host-limit 3/day --host-limit limits.csv";
    check(limits, |[x, y, none]| is(x, 3.0) && is(y, 2.0) && is(none, 7.0));
}

#[test]
fn hosts_without_sources_are_noted() {
    let folder = Folder::new(&[
        ("s.csv", TABLE),
        ("l.csv", "host,limit\ny,2\nz.org,1/s\n"),
        ("m.csv", "host,limit\nz.org,1/s\nzz.org,1/s\n"),
    ]);
    for (file, who) in [("l.csv", "1 host"), ("m.csv", "2 hosts")] {
        let ran = folder.run(&format!("plan s.csv --budget 12/day --quiet --host-limit {file}"));
        let note = format!("{file}: {who} without sources in s.csv, such as `z.org`\n");
        assert_eq!((ran.code, ran.err), (Some(0), note));
    }
}

#[test]
fn a_host_at_its_limit_has_a_price_of_its_own() {
    let folder = Folder::new(&[("s.csv", TABLE), ("l.csv", "host,limit\ny,2\nx,11\n")]);
    let report = folder.json("plan s.csv --budget 12/day --quiet --host-limit l.csv");
    let prices = report["host_prices"].as_array().unwrap();
    assert_eq!(
        (prices.len(), &prices[0]["host"], &prices[0]["limit"]),
        (1, &"y".into(), &2.0.into())
    );
    assert!(number(&prices[0], "price") > number(&report, "price"), "{report}");
}
