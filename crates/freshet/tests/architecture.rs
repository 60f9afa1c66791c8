//! The picture in ARCHITECTURE.md as a test: dependencies go the way that it shows, and what is
//! deliberately absent stays absent.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// Crates that only compute.
const PURE: &[&str] = &[
    "freshet-model",
    "freshet-plan",
    "freshet-estimate",
    "freshet-schedule",
    "freshet-crew",
    "freshet-capture",
    "freshet-detect",
    "freshet-signals",
    "freshet-engine",
    "freshet-sim",
    "freshet-lab",
    "freshet-chart",
];

/// Doors to the outside, closed to those that only compute.
const OUTSIDE: &[&str] = &["tokio", "hyper", "reqwest", "csv", "parquet", "rusqlite", "tempfile"];

/// Dependencies that are for a few only.
const OWNED: &[(&[&str], &[&str])] = &[
    (&["freshet-tables"], &["csv", "csv-core", "parquet", "arrow", "arrow-array", "arrow-schema"]),
    (&["freshet-fetch"], &["h2", "tokio-rustls", "hickory-resolver"]),
    (&["freshet-fetch", "freshet-demo", "freshet-server"], &["hyper"]),
    (&["freshet-server"], &["axum", "utoipa-axum", "prometheus-client"]),
    (&["freshet-store"], &["rusqlite"]),
    (&["freshet-notify"], &["lettre"]),
    // Those who sign what they send, and who check what was sent to them.
    (&["freshet-notify", "freshet-daemon"], &["hmac"]),
    (&["freshet"], &["clap", "indicatif", "anyhow"]),
];

/// What no source file of a crate that only computes may say.
const UNSPEAKABLE: &[&str] =
    &["std::fs", "std::net", "std::time::Instant", "SystemTime", "std::thread::spawn"];

/// Crates and the arrows between them.
#[derive(Debug, Default, PartialEq)]
struct Picture {
    crates: BTreeSet<String>,
    arrows: BTreeSet<(String, String)>,
}

impl Picture {
    /// From the lines `a --> b` and `a["…"]` of the diagram in a page.
    fn of(page: &str) -> Self {
        let mut picture = Self::default();
        let diagram = page.split("```mermaid").nth(1).and_then(|rest| rest.split("```").next());
        for line in diagram.unwrap_or_default().lines() {
            if let Some((from, to)) = line.split_once("-->") {
                picture.arrows.insert((full_name(from), full_name(to)));
            } else if let Some((name, _)) = line.split_once('[') {
                picture.crates.insert(full_name(name));
            }
        }
        picture
    }

    fn drawn() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
        let picture = Self::of(&fs::read_to_string(path).unwrap());
        assert!(!picture.arrows.is_empty(), "ARCHITECTURE.md has no picture");
        picture
    }

    /// What a dependency breaks, if anything.
    fn fault(&self, from: &str, to: &str) -> Option<String> {
        let edge = format!("`{from}` depends on `{to}`");
        if self.crates.contains(to) && !self.arrows.contains(&(from.to_owned(), to.to_owned())) {
            return Some(format!("{edge}, and the picture has no such arrow"));
        }
        if PURE.contains(&from) && OUTSIDE.contains(&to) {
            return Some(format!("{edge}, but it only computes"));
        }
        let owners = OWNED.iter().find(|(_, owned)| owned.contains(&to)).map(|(owners, _)| *owners);
        let owners = owners.filter(|owners| !owners.contains(&from));
        owners.map(|owners| format!("{edge}, which only `{}` may", owners.join("` and `")))
    }
}

/// The picture leaves out what all names have in common.
fn full_name(short: &str) -> String {
    match short.trim() {
        "freshet" => "freshet".to_owned(),
        other => format!("freshet-{other}"),
    }
}

fn workspace() -> Metadata {
    // Without dependencies it needs neither a registry nor a network.
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap()
}

/// Each crate with each of its dependencies, those for tests left aside.
fn edges(workspace: &Metadata) -> Vec<(String, String)> {
    let edges = workspace.packages.iter().flat_map(|package| {
        let linked = package.dependencies.iter();
        let linked = linked.filter(|dependency| dependency.kind != DependencyKind::Development);
        linked.map(|dependency| (package.name.to_string(), dependency.name.clone()))
    });
    edges.collect()
}

#[track_caller]
fn check(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{}\nif that should be so, change the picture in ARCHITECTURE.md, and the lists in {}",
        faults.join("\n"),
        file!()
    );
}

#[test]
fn every_dependency_is_in_the_picture() {
    let (picture, workspace) = (Picture::drawn(), workspace());
    let edges = edges(&workspace);
    let known = ("freshet-plan".to_owned(), "freshet-model".to_owned());
    assert!(edges.contains(&known), "no dependencies were found");
    let faults: Vec<String> =
        edges.iter().filter_map(|(from, to)| picture.fault(from, to)).collect();
    check(&faults);
}

#[test]
fn every_crate_is_in_the_picture_and_no_other() {
    let workspace = workspace();
    let crates = workspace.packages.iter().map(|package| package.name.to_string()).collect();
    let faults: Vec<String> = Picture::drawn()
        .crates
        .symmetric_difference(&crates)
        .map(|name| format!("`{name}` is only in one of the picture and the workspace"))
        .collect();
    check(&faults);
}

#[test]
fn crates_that_only_compute_name_no_file_socket_clock_or_thread() {
    let workspace = workspace();
    let mut faults = Vec::new();
    for name in PURE {
        let package = workspace.packages.iter().find(|package| package.name.as_str() == *name);
        let source = package.unwrap().manifest_path.parent().unwrap().join("src");
        let mut files = 0;
        each_file(source.as_std_path(), &mut |path| {
            files += 1;
            let text = fs::read_to_string(path).unwrap();
            for (number, line) in (1..).zip(text.lines()) {
                for word in UNSPEAKABLE.iter().filter(|word| line.contains(**word)) {
                    faults.push(format!("{}:{number} mentions `{word}`", path.display()));
                }
            }
        });
        assert!(files > 0, "`{name}` has no source files");
    }
    check(&faults);
}

fn each_file(directory: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, visit);
        } else {
            visit(&path);
        }
    }
}

#[test]
fn a_dependency_too_many_is_named() {
    let picture = Picture::of(
        "# A page\n```mermaid\ngraph TD\n freshet[\"the binary\"]\n plan[\"rates\"]\n \
         tables[\"files\"]\n freshet --> plan\n freshet --> tables\n```\nplan --> tables\n",
    );
    let cases = [
        (
            "freshet-plan",
            "freshet-tables",
            Some("`freshet-plan` depends on `freshet-tables`, and the picture has no such arrow"),
        ),
        (
            "freshet-plan",
            "freshet",
            Some("`freshet-plan` depends on `freshet`, and the picture has no such arrow"),
        ),
        ("freshet-plan", "tokio", Some("`freshet-plan` depends on `tokio`, but it only computes")),
        (
            "freshet",
            "parquet",
            Some("`freshet` depends on `parquet`, which only `freshet-tables` may"),
        ),
        (
            "freshet-tables",
            "clap",
            Some("`freshet-tables` depends on `clap`, which only `freshet` may"),
        ),
        ("freshet-plan", "rayon", None),
        ("freshet", "freshet-plan", None),
    ];
    for (from, to, expect) in cases {
        assert_eq!(picture.fault(from, to).as_deref(), expect);
    }
}
