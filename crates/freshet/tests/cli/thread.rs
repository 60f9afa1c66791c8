//! The number of threads changes nothing but the time.

use crate::{Folder, generated};

#[track_caller]
fn check(arguments: &str) {
    let folder = Folder::new(&[("s.csv", &generated(200_000))]);
    let plan = |threads: u32| {
        let out = format!("{threads}.csv");
        let mut report =
            folder.json(&format!("plan s.csv --quiet --threads {threads} --out {out} {arguments}"));
        let object = report.as_object_mut().unwrap();
        object.retain(|key, _| !key.ends_with("_seconds"));
        (folder.read(&out), report)
    };
    let (one, two) = (plan(1), plan(2));
    assert_eq!(one.1, two.1);
    assert_eq!(one.0.lines().count(), 200_001);
    // Not `assert_eq`, which would print both.
    let line = one.0.lines().zip(two.0.lines()).position(|(one, two)| one != two);
    assert!(one.0 == two.0, "the first difference is on line {line:?}");
}

#[test]
fn a_harmonic_plan_does_not_depend_on_threads() {
    check("--budget 20%/day");
}

#[test]
fn a_freshness_plan_does_not_depend_on_threads() {
    check("--budget 1%/day --objective freshness");
}

#[test]
fn a_plan_with_host_limits_does_not_depend_on_threads() {
    check("--budget 20%/day --host-limit 4000/day");
}
