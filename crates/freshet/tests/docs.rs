//! The documentation against the program: commands print what is shown, options exist, links lead
//! somewhere, and every page is in the table of contents.
//!
//! A `console` block runs in a directory of its own for each page, with `examples/` in it. A block
//! `console no-run` needs a network, a daemon or much time; its commands and options are compared
//! with `--help`. In expected output, a line `…` stands for any number of lines, and durations match
//! each other. `FRESHET_UPDATE_DOCS=1 cargo test -p freshet --test docs` writes the present output
//! into the pages.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README, CONTRIBUTING, ARCHITECTURE and all pages of the book.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| root.join(name)).into();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "md" => pages.push(path),
                _ => {}
            }
        }
    }
    pages.sort();
    pages
}

fn name(page: &Path) -> String {
    page.strip_prefix(root()).unwrap().display().to_string()
}

/// A fenced block: the word after the fence, and the numbers of its first line and of its end.
struct Block {
    info: String,
    start: usize,
    end: usize,
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        match open.take() {
            Some((info, start)) => blocks.push(Block { info, start, end: at }),
            None => open = Some((info.trim().to_owned(), at + 1)),
        }
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

/// A command of a block, and the output that the page shows for it.
struct Shown {
    command: String,
    output: Vec<String>,
}

fn commands(lines: &[&str]) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut continued = false;
    for line in lines {
        if continued {
            let last = shown.last_mut().unwrap();
            let _ = write!(last.command, "\n{line}");
        } else if let Some(command) = line.strip_prefix("$ ") {
            shown.push(Shown { command: command.to_owned(), output: Vec::new() });
        } else {
            shown.last_mut().unwrap().output.push((*line).to_owned());
            continue;
        }
        continued = line.ends_with('\\');
    }
    shown
}

/// Output without what differs from run to run.
fn normalize(line: &str) -> String {
    let is_duration = |word: &str| {
        let number = ["ns", "µs", "ms", "s"].iter().find_map(|unit| word.strip_suffix(unit));
        number.is_some_and(|it| it.contains('.') && it.parse::<f64>().is_ok())
    };
    // A relative residual of an optimum, in units of the last digit.
    let is_residual = |word: &str| {
        word.contains("e-") && word.trim_end_matches(',').parse::<f64>().is_ok_and(|it| it < 1e-9)
    };
    let words = line.trim_end().split(' ').map(|word| match word {
        word if is_duration(word) => "<duration>",
        word if is_residual(word) => "<residual>",
        word => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn matches(expected: &[String], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first == "…" => {
            (0..=actual.len()).any(|skipped| matches(rest, &actual[skipped..]))
        }
        Some((first, rest)) => {
            actual.first().is_some_and(|it| normalize(it) == normalize(first))
                && matches(rest, &actual[1..])
        }
    }
}

/// Runs a command line in a shell, and gives what it prints to both streams.
fn run(command: &str, folder: &Path) -> Vec<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_freshet")).parent().unwrap();
    let path = env::var_os("PATH").unwrap_or_default();
    let paths = [binary.to_owned()].into_iter().chain(env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", env::join_paths(paths).unwrap())
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn commands_print_what_the_pages_show() {
    let update = env::var_os("FRESHET_UPDATE_DOCS").is_some();
    let mut faults = String::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let folder = tempfile::tempdir().unwrap();
        let examples = root().join("examples");
        std::os::unix::fs::symlink(examples, folder.path().join("examples")).unwrap();
        let mut new: Vec<String> = Vec::new();
        let mut copied = 0;
        for block in blocks(&lines).iter().filter(|it| it.info == "console") {
            new.extend(lines[copied..block.start].iter().map(|&it| it.to_owned()));
            copied = block.end;
            for shown in commands(&lines[block.start..block.end]) {
                let actual = run(&shown.command, folder.path());
                let same = matches(&shown.output, &actual);
                new.extend(format!("$ {}", shown.command).lines().map(str::to_owned));
                new.extend(if same { shown.output.clone() } else { actual.clone() });
                if !same {
                    let _ = writeln!(
                        faults,
                        "{}: `{}` prints\n{}\nand the page shows\n{}\n",
                        name(&page),
                        shown.command,
                        actual.join("\n"),
                        shown.output.join("\n")
                    );
                }
            }
        }
        new.extend(lines[copied..].iter().map(|&it| it.to_owned()));
        if update {
            fs::write(&page, new.join("\n") + "\n").unwrap();
        }
    }
    assert!(update || faults.is_empty(), "{faults}");
}

/// Subcommands and long options of every `freshet` command, by the words that lead to it.
fn known_options() -> BTreeMap<String, BTreeSet<String>> {
    let mut known = BTreeMap::new();
    let mut left = vec![String::new()];
    while let Some(words) = left.pop() {
        let lines = run(&format!("freshet help {words} || echo unknown"), &env::temp_dir());
        if lines.last().is_some_and(|it| it == "unknown") {
            continue;
        }
        let mut options = BTreeSet::new();
        for line in &lines {
            // The alias of an option stands in brackets behind it.
            for word in line.split(|it: char| !(it.is_ascii_alphanumeric() || it == '-')) {
                if word.starts_with("--") {
                    options.insert(word.to_owned());
                }
            }
            // Perhaps a subcommand; `freshet help` knows.
            let first = line.strip_prefix("  ").and_then(|it| it.split("  ").next());
            let is_name = |it: &&str| !it.is_empty() && it.chars().all(|c| c.is_ascii_lowercase());
            if let Some(command) = first.filter(is_name).filter(|it| *it != "help") {
                left.push(format!("{words} {command}").trim().to_owned());
            }
        }
        known.insert(words, options);
    }
    assert!(known.len() > 30, "too few commands found: {:?}", known.keys());
    known
}

/// The parts of a command line that begin with `freshet`, as words.
fn invocations(command: &str) -> Vec<Vec<String>> {
    let command = command.split(" #").next().unwrap_or_default();
    let parts = command.split(['|', ';', '&']);
    let words = parts.map(|part| part.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.filter(|words| words.first().is_some_and(|it| it == "freshet")).collect()
}

#[test]
fn commands_and_options_of_the_pages_exist() {
    let known = known_options();
    let mut faults = String::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for block in blocks(&lines).iter().filter(|it| it.info.starts_with("console")) {
            for shown in commands(&lines[block.start..block.end]) {
                for words in invocations(&shown.command) {
                    let mut command = String::new();
                    for word in &words[1..] {
                        let longer = format!("{command} {word}").trim().to_owned();
                        if !known.contains_key(&longer) {
                            break;
                        }
                        command = longer;
                    }
                    let options = &known[&command];
                    let given = words.iter().filter(|it| it.starts_with("--"));
                    for option in given.map(|it| it.split('=').next().unwrap()) {
                        if !options.contains(option) {
                            let page = name(&page);
                            let _ = writeln!(faults, "{page}: `freshet {command}` has no {option}");
                        }
                    }
                    if command.is_empty() && words.get(1).is_some_and(|it| !it.starts_with('-')) {
                        let _ = writeln!(faults, "{}: no command {words:?}", name(&page));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let fenced = blocks(&lines);
    let headings = lines.iter().enumerate().filter(|(at, line)| {
        line.starts_with('#') && !fenced.iter().any(|it| (it.start..it.end).contains(at))
    });
    headings.map(|(_, line)| anchor(line)).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut faults = String::new();
    for page in pages().into_iter().chain([root().join("CHANGELOG.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.contains("://") || link.starts_with("mailto:") || link.contains(' ') {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                path => page.parent().unwrap().join(path),
            };
            let found = target.exists()
                && (place.is_empty() || !path.ends_with(".md") || anchors(&target).contains(place))
                && (!path.is_empty() || anchors(&page).contains(place));
            if !found {
                let _ = writeln!(faults, "{}: {link}", name(&page));
            }
        }
    }
    assert!(faults.is_empty(), "links that lead nowhere:\n{faults}");
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in pages() {
        let Ok(path) = page.strip_prefix(&docs) else { continue };
        let path = path.display().to_string();
        assert!(
            path == "SUMMARY.md" || summary.contains(&format!("({path})")),
            "{path} is missing"
        );
    }
}

#[test]
fn readme_and_architecture_stay_short() {
    for (page, limit) in [("README.md", 200), ("ARCHITECTURE.md", 250)] {
        let lines = fs::read_to_string(root().join(page)).unwrap().lines().count();
        assert!(lines <= limit, "{page} has {lines} lines, more than {limit}");
    }
}

#[test]
fn every_setting_of_the_template_is_in_the_reference() {
    let reference = fs::read_to_string(root().join("docs/reference/configuration.md")).unwrap();
    let fetching = fs::read_to_string(root().join("docs/reference/fetching.md")).unwrap();
    let detection = fs::read_to_string(root().join("docs/reference/change-detection.md")).unwrap();
    let guides = ["signals", "notifications"]
        .map(|name| fs::read_to_string(root().join(format!("docs/guides/{name}.md"))).unwrap());
    let all = [reference, fetching, detection, guides.concat()].concat();
    for line in run("freshet init -", &env::temp_dir()) {
        let line = line.strip_prefix('#').unwrap_or(&line).to_owned();
        let Some((key, _)) = line.split_once(" = ") else { continue };
        if key.starts_with(' ')
            || key.contains(|it: char| !(it.is_ascii_alphanumeric() || it == '_'))
        {
            continue;
        }
        assert!(
            all.contains(&format!("`{key}`"))
                || all.contains(&format!(".{key}`"))
                || all.contains(&format!("\n{key} = ")),
            "the setting `{key}` of the template is not documented"
        );
    }
}
