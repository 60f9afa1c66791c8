//! Tests of the architecture: dependencies follow the diagram in ARCHITECTURE.md, and crates that only
//! compute perform no I/O.

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

/// Crates for I/O, forbidden to crates that only compute.
const IO_CRATES: &[&str] = &["tokio", "hyper", "reqwest", "csv", "parquet", "rusqlite", "tempfile"];

/// Dependencies that are restricted to some crates.
const RESTRICTED: &[(&[&str], &[&str])] = &[
    (&["freshet-tables"], &["csv", "csv-core", "parquet", "arrow", "arrow-array", "arrow-schema"]),
    (&["freshet-fetch"], &["h2", "tokio-rustls", "hickory-resolver"]),
    (&["freshet-fetch", "freshet-demo", "freshet-server"], &["hyper"]),
    (&["freshet-server"], &["axum", "utoipa-axum", "prometheus-client"]),
    (&["freshet-store"], &["rusqlite"]),
    (&["freshet-notify"], &["lettre"]),
    // Signing of sent webhooks, and verification of received ones.
    (&["freshet-notify", "freshet-daemon"], &["hmac"]),
    (&["freshet"], &["clap", "indicatif", "anyhow"]),
];

/// Paths that must not occur in the source files of crates that only compute.
const FORBIDDEN_PATHS: &[&str] =
    &["std::fs", "std::net", "std::time::Instant", "SystemTime", "std::thread::spawn"];

/// The diagram: crates and the arrows between them.
#[derive(Debug, Default, PartialEq)]
struct Diagram {
    crates: BTreeSet<String>,
    arrows: BTreeSet<(String, String)>,
}

impl Diagram {
    /// Parses the lines `a --> b` and `a["…"]` of the diagram in a document.
    fn parse(page: &str) -> Self {
        let mut diagram = Self::default();
        let block = page.split("```mermaid").nth(1).and_then(|rest| rest.split("```").next());
        for line in block.unwrap_or_default().lines() {
            if let Some((from, to)) = line.split_once("-->") {
                diagram.arrows.insert((full_name(from), full_name(to)));
            } else if let Some((name, _)) = line.split_once('[') {
                diagram.crates.insert(full_name(name));
            }
        }
        diagram
    }

    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
        let diagram = Self::parse(&fs::read_to_string(path).unwrap());
        assert!(!diagram.arrows.is_empty(), "ARCHITECTURE.md has no diagram");
        diagram
    }

    /// Describes the rule that a dependency violates, if any.
    fn violation(&self, from: &str, to: &str) -> Option<String> {
        let edge = format!("`{from}` depends on `{to}`");
        if self.crates.contains(to) && !self.arrows.contains(&(from.to_owned(), to.to_owned())) {
            return Some(format!("{edge}, and the diagram has no such arrow"));
        }
        if PURE.contains(&from) && IO_CRATES.contains(&to) {
            return Some(format!("{edge}, but it only computes"));
        }
        let owners =
            RESTRICTED.iter().find(|(_, owned)| owned.contains(&to)).map(|(owners, _)| *owners);
        let owners = owners.filter(|owners| !owners.contains(&from));
        owners.map(|owners| format!("{edge}, which only `{}` may", owners.join("` and `")))
    }
}

/// Returns the crate name of a name in the diagram, which omits the common prefix.
fn full_name(short: &str) -> String {
    match short.trim() {
        "freshet" => "freshet".to_owned(),
        other => format!("freshet-{other}"),
    }
}

fn workspace() -> Metadata {
    // Without dependencies, no registry and no network is needed.
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap()
}

/// Returns the crates with their dependencies, except development dependencies.
fn edges(workspace: &Metadata) -> Vec<(String, String)> {
    let edges = workspace.packages.iter().flat_map(|package| {
        let linked = package.dependencies.iter();
        let linked = linked.filter(|dependency| dependency.kind != DependencyKind::Development);
        linked.map(|dependency| (package.name.to_string(), dependency.name.clone()))
    });
    edges.collect()
}

#[track_caller]
fn check(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{}\nif this is intended, change the diagram in ARCHITECTURE.md and the lists in {}",
        violations.join("\n"),
        file!()
    );
}

#[test]
fn every_dependency_is_in_the_diagram() {
    let (diagram, workspace) = (Diagram::read(), workspace());
    let edges = edges(&workspace);
    let known = ("freshet-plan".to_owned(), "freshet-model".to_owned());
    assert!(edges.contains(&known), "no dependencies found");
    let violations: Vec<String> =
        edges.iter().filter_map(|(from, to)| diagram.violation(from, to)).collect();
    check(&violations);
}

#[test]
fn the_diagram_shows_exactly_the_crates_of_the_workspace() {
    let workspace = workspace();
    let crates = workspace.packages.iter().map(|package| package.name.to_string()).collect();
    let violations: Vec<String> = Diagram::read()
        .crates
        .symmetric_difference(&crates)
        .map(|name| format!("`{name}` is only in one of the diagram and the workspace"))
        .collect();
    check(&violations);
}

#[test]
fn crates_that_only_compute_name_no_file_socket_clock_or_thread() {
    let workspace = workspace();
    let mut violations = Vec::new();
    for name in PURE {
        let package = workspace.packages.iter().find(|package| package.name.as_str() == *name);
        let source = package.unwrap().manifest_path.parent().unwrap().join("src");
        let mut files = 0;
        each_file(source.as_std_path(), &mut |path| {
            files += 1;
            let text = fs::read_to_string(path).unwrap();
            for (number, line) in (1..).zip(text.lines()) {
                for word in FORBIDDEN_PATHS.iter().filter(|word| line.contains(**word)) {
                    violations.push(format!("{}:{number} mentions `{word}`", path.display()));
                }
            }
        });
        assert!(files > 0, "`{name}` has no source files");
    }
    check(&violations);
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
fn violations_are_described() {
    let diagram = Diagram::parse(
        "# A page\n```mermaid\ngraph TD\n freshet[\"the binary\"]\n plan[\"rates\"]\n \
         tables[\"files\"]\n freshet --> plan\n freshet --> tables\n```\nplan --> tables\n",
    );
    let cases = [
        (
            "freshet-plan",
            "freshet-tables",
            Some("`freshet-plan` depends on `freshet-tables`, and the diagram has no such arrow"),
        ),
        (
            "freshet-plan",
            "freshet",
            Some("`freshet-plan` depends on `freshet`, and the diagram has no such arrow"),
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
        assert_eq!(diagram.violation(from, to).as_deref(), expect);
    }
}
