//! `freshet trace git`.

use std::path::Path;
use std::process::Command;

use freshet_tables::{Input, pages_beside, read_trace};

use crate::{Folder, number};

/// Creates a repository `r` with `a` and `d/b` for 400 days and `c` for 200, where `a` changes twice.
/// Returns `None` if git is not installed.
fn folder() -> Option<Folder> {
    if Command::new("git").arg("--version").output().is_err() {
        print_skipped();
        return None;
    }
    let folder = Folder::new(&[]);
    let repository = folder.path("r");
    std::fs::create_dir_all(repository.join("d")).unwrap();
    git(&repository, 0, &["init", "--quiet", "--initial-branch=main"]);
    let write = |name: &str, text: &str| std::fs::write(repository.join(name), text).unwrap();
    for name in ["a", "d/b", "c"] {
        write(name, "1");
    }
    commit(&repository, 0);
    write("a", "2");
    commit(&repository, 100);
    std::fs::remove_file(repository.join("c")).unwrap();
    commit(&repository, 200);
    write("a", "3");
    commit(&repository, 300);
    commit(&repository, 400);
    Some(folder)
}

#[allow(clippy::print_stderr)]
fn print_skipped() {
    eprintln!("skipped: git is not installed");
}

fn commit(repository: &Path, day: u64) {
    git(repository, day, &["add", "--all"]);
    git(repository, day, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
}

fn git(repository: &Path, day: u64, arguments: &[&str]) {
    let date = format!("@{} +0000", 1_577_836_800 + day * 86_400);
    let output = Command::new("git")
        .current_dir(repository)
        .args(["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgSign=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_trace_of_a_repository() {
    let Some(folder) = folder() else { return };
    let ran = folder.run("trace git r -o t.csv");
    assert_eq!(
        ran.err,
        "3 sources, 2 changes in 5 commits, 2020-01-01 to 2021-02-04 (400 days)\n\n\
         never changed      2 of 3 sources (66.67 %)\n\
         gone by the end    1 of 3 sources (33.33 %)\n\
         changes a year     median 0, mean 0.7305\n\
         most changes       a: 2 changes\n\
         wrote              t.csv, t_pages.csv\n\n\
         next: freshet simulate --trace t.csv\n"
    );
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    assert_eq!(folder.names(), ["r", "t.csv", "t_pages.csv"]);
    assert_eq!(folder.read("t.csv"), "page_id,unix_time\n0,1586476800\n0,1603756800\n");
    assert_eq!(
        folder.read("t_pages.csv"),
        "page_id,birth_unix,end_unix,n_changes,path\n\
         0,1577836800,1612396800,2,a\n\
         1,1577836800,1595116800,0,c\n\
         2,1577836800,1612396800,0,d/b\n"
    );
}

#[test]
fn the_json_report_of_a_part_of_the_repository() {
    let Some(folder) = folder() else { return };
    let report = folder.json("trace git r a :!c -o t.csv.gz --revision HEAD~1 --quiet");
    let expect = [("sources", 1.0), ("changes", 2.0), ("commits", 4.0), ("never_changed", 0.0)];
    for (key, expect) in expect {
        assert_eq!(number(&report, key), Some(expect), "{key}");
    }
    assert_eq!(number(&report, "end"), Some(1_603_756_800.0));
    assert_eq!(report["trace"], "t.csv.gz");
    let trace = folder.path("t.csv.gz");
    let pages = Input::File(pages_beside(&trace).unwrap());
    let history = read_trace(&Input::File(trace), Some(&pages), false, &mut |_| {}).unwrap();
    assert_eq!(history.ids.iter().collect::<Vec<_>>(), ["a"]);
    assert_eq!(history.change_times(0), [1_586_476_800.0, 1_603_756_800.0]);
}

#[test]
fn unusual_histories_are_noted() {
    let Some(folder) = folder() else { return };
    commit(&folder.path("r"), 350);
    let ran = folder.run("trace git r -o t.csv");
    let note = "r: 1 commit is dated before its parent, treated as being as late as the parent\n";
    assert!(ran.err.starts_with(note), "{}", ran.err);
    let url = format!("file://{}", folder.path("r").display());
    git(&folder.path("."), 0, &["clone", "--quiet", "--depth=1", &url, "shallow"]);
    let ran = folder.run("trace git shallow -o t.csv --quiet");
    let note = "shallow: shallow clone: files seem to be created at its first commit \
                (`git fetch --unshallow` downloads the rest)\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), note));
}

#[test]
fn errors_leave_no_files() {
    let Some(folder) = folder() else { return };
    let name =
        "a trace is a file named .csv or .csv.gz\n\nhint: choose a name such as trace.csv.gz";
    let cases = [
        ("r -o t.txt", format!("t.txt: {name}")),
        ("r -o -", format!("-: {name}")),
        (
            "r -o no/t.csv",
            "cannot write no/t.csv: there is no directory no\n\n\
             hint: create it, or choose another path"
                .to_owned(),
        ),
        ("none -o t.csv", "none: no such directory".to_owned()),
        (
            "r -o t.csv --revision v9",
            "r: no commit `v9`\n\nhint: `git branch --all` and `git tag` list the names".to_owned(),
        ),
        (
            "r *.md -o t.csv",
            "r: no files in its history\n\n\
             hint: only committed files count; pathspecs are relative to the path, and `*.md` \
             needs quotes in a shell"
                .to_owned(),
        ),
    ];
    for (arguments, expect) in cases {
        let ran = folder.run(&format!("trace git {arguments}"));
        assert_eq!((ran.code, ran.err), (Some(2), format!("error: {expect}\n")), "{arguments}");
        assert_eq!(folder.names(), ["r"], "{arguments}");
    }
}

#[test]
fn errors_of_git_have_hints() {
    let Some(folder) = folder() else { return };
    let check = |variable: &str, value: &str, expect: &str| {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("freshet");
        command.current_dir(folder.path(".")).args(["trace", "git", "r", "-o", "t.csv"]);
        let output = command.env(variable, value).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.starts_with(expect), "{err}");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(folder.names(), ["r"]);
    };
    check(
        "PATH",
        "",
        "error: the program `git` is not installed, or not in PATH\n\nhint: install git\n",
    );
    check(
        "GIT_TEST_ASSUME_DIFFERENT_OWNER",
        "1",
        "error: r: git does not open a repository of another user\n\n\
         hint: if you trust it: `git config --global --add safe.directory ",
    );
}

#[test]
fn git_environment_variables_are_ignored() {
    let Some(folder) = folder() else { return };
    // The environment as in a hook of another repository.
    git(&folder.path("."), 0, &["init", "--quiet", "other"]);
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("freshet");
    command.current_dir(folder.path(".")).args(["trace", "git", "r", "-o", "t.csv", "--quiet"]);
    command.env("GIT_DIR", folder.path("other/.git")).env("GIT_WORK_TREE", folder.path("other"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.read("t.csv"), "page_id,unix_time\n0,1586476800\n0,1603756800\n");
}
