//! robots.txt: the rules of RFC 9309, well-known cases, a reference implementation, hostile files.

#![allow(clippy::unwrap_used)]

mod fuzz;
mod generated;
mod hostile;
#[path = "../corpus/mutator.rs"]
mod mutator;
mod public;
mod reference;
mod rfc;

use freshet_fetch::RobotsTxt;

/// Checks which paths a file allows (`+`) and disallows (`-`) for an agent.
#[track_caller]
fn check(file: &str, agent: &str, paths: &[&str]) {
    check_bytes(file.as_bytes(), agent, paths);
}

#[track_caller]
fn check_bytes(file: &[u8], agent: &str, paths: &[&str]) {
    let robots = RobotsTxt::parse(file);
    for path in paths {
        let (sign, path) = path.split_at(1);
        let verdict = robots.check(agent, path);
        assert_eq!(verdict.allowed, sign == "+", "{agent} {path}: {verdict:?}");
    }
}
