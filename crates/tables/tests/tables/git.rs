//! Histories of repositories that are made here, read through the program `git`.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use freshet_tables::{GitError, GitHistory, GitOptions, read_git};
use tempfile::TempDir;

/// A repository with a work tree.
struct Repository(TempDir);

impl Repository {
    /// Nothing where there is no git to make one with.
    fn new() -> Option<Self> {
        let directory = Self(tempfile::tempdir().unwrap());
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: git is not installed");
            return None;
        }
        directory.git(["init", "--quiet", "--initial-branch=main"]);
        Some(directory)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    #[track_caller]
    fn git<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<u8> {
        self.git_at(0, arguments)
    }

    #[track_caller]
    fn git_at<S: AsRef<OsStr>>(
        &self,
        time: u64,
        arguments: impl IntoIterator<Item = S>,
    ) -> Vec<u8> {
        let output = command(self.path(), time).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn write(&self, name: impl AsRef<Path>, text: &str) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn delete(&self, name: &str) -> &Self {
        std::fs::remove_file(self.path().join(name)).unwrap();
        self
    }

    /// Commits all that there is.
    #[track_caller]
    fn commit(&self, time: u64) -> &Self {
        self.git(["add", "--all"]);
        self.git_at(time, ["commit", "--quiet", "--allow-empty", "--message", "x"]);
        self
    }

    /// A line for each file: its birth, end and changes.
    #[track_caller]
    fn check(&self, expect: &[&str]) {
        check(self.path(), &GitOptions::default(), expect);
    }

    fn import(&self, stream: &str) {
        let mut child = command(self.path(), 0)
            .args(["fast-import", "--quiet", "--force"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
}

fn command(path: &Path, time: u64) -> Command {
    let mut command = Command::new("git");
    command.current_dir(path).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
    command.args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let date = format!("@{} +0200", 1_500_000_000 + time);
    // The time of the author is not the one that counts.
    command.env("GIT_COMMITTER_DATE", date).env("GIT_AUTHOR_DATE", "@1400000000 +0000");
    command
}

fn read(path: &Path, options: &GitOptions) -> Result<GitHistory, GitError> {
    read_git(path, options, &mut |_| {})
}

fn lines(found: &GitHistory) -> Vec<String> {
    let history = &found.history;
    let short = |time: f64| time - 1.5e9;
    let line = |source: usize| {
        let changes: Vec<f64> = history.change_times(source).iter().copied().map(short).collect();
        let (id, life) = (history.ids.get(source).unwrap(), history.lifetimes[source]);
        format!("{id} {} to {}: {changes:?}", short(life.start), short(life.end))
    };
    (0..history.len()).map(line).collect()
}

#[track_caller]
fn check(path: &Path, options: &GitOptions, expect: &[&str]) {
    assert_eq!(lines(&read(path, options).unwrap()), expect);
}

#[track_caller]
fn check_fault(path: &Path, revision: &str, expect: &str) {
    let options = GitOptions { revision: revision.to_owned(), ..GitOptions::default() };
    let error = read(path, &options).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: {expect}", path.display()));
}

#[test]
fn files_are_born_change_and_end() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "1").write("d/b", "1").commit(1);
    repository.write("a", "2").write("c", "1").commit(3);
    repository.commit(4);
    repository.write("a", "3").delete("d/b").commit(5);
    repository.commit(9);
    repository.check(&["a 1 to 9: [3.0, 5.0]", "d/b 1 to 5: []", "c 3 to 9: []"]);
    assert_eq!(read(repository.path(), &GitOptions::default()).unwrap().commits, 5);
}

#[test]
fn a_file_that_comes_back_goes_on() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "1").write("b", "1").commit(1);
    repository.delete("a").commit(2).write("a", "1").commit(6).delete("a").commit(8);
    repository.commit(9);
    repository.check(&["a 1 to 8: [6.0]", "b 1 to 9: []"]);
}

#[test]
fn renames_are_two_files() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "the same text, long enough").commit(1);
    repository.git(["mv", "a", "b"]);
    repository.commit(5).check(&["a 1 to 5: []", "b 5 to 5: []"]);
}

#[test]
fn times_that_go_back_are_those_of_the_commit_before() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "1").commit(5);
    repository.write("a", "2").commit(3);
    repository.write("a", "3").commit(7);
    repository.check(&["a 5 to 7: [5.0, 7.0]"]);
    assert_eq!(read(repository.path(), &GitOptions::default()).unwrap().out_of_order, 1);
}

#[test]
fn a_merge_is_one_step_of_the_branch() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "1").write("b", "1").write("c", "1").commit(1);
    for (at, (branch, file)) in [("one", "a"), ("two", "b"), ("three", "n")].iter().enumerate() {
        repository.git(["checkout", "--quiet", "-b", branch, "main"]);
        repository.write(file, "2").commit(2 + 2 * at as u64);
        repository.write(file, "3").commit(3 + 2 * at as u64);
    }
    repository.git(["checkout", "--quiet", "main"]);
    repository.write("c", "2").commit(8);
    repository.git_at(9, ["merge", "--quiet", "--no-ff", "--message", "x", "one", "two", "three"]);
    let expect = ["a 1 to 9: [9.0]", "b 1 to 9: [9.0]", "c 1 to 9: [8.0]", "n 9 to 9: []"];
    repository.check(&expect);
    // The other side's view, and a head that is no branch.
    let revision = GitOptions { revision: "two".to_owned(), ..GitOptions::default() };
    check(repository.path(), &revision, &["a 1 to 5: []", "b 1 to 5: [4.0, 5.0]", "c 1 to 5: []"]);
    repository.git(["checkout", "--quiet", "--detach"]);
    repository.check(&expect);
}

#[cfg(unix)]
#[test]
fn links_count_and_permissions_do_not() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "b").write("b", "1").commit(1);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repository.path().join("a"), mode).unwrap();
    repository.commit(2).delete("a");
    symlink("b", repository.path().join("a")).unwrap();
    repository.commit(3).check(&["a 1 to 3: [3.0]", "b 1 to 3: []"]);
}

#[test]
fn submodules_are_no_files() {
    let Some(repository) = Repository::new() else { return };
    let Some(inner) = Repository::new() else { return };
    inner.write("x", "1").commit(1);
    repository.write("a", "1").commit(1);
    let url = inner.path().to_str().unwrap();
    repository.git(["submodule", "--quiet", "add", url, "inner"]);
    repository.commit(2).check(&["a 1 to 2: []", ".gitmodules 2 to 2: []"]);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_of_any_bytes_stay_different() {
    use std::os::unix::ffi::OsStrExt;
    let Some(repository) = Repository::new() else { return };
    let names: [&[u8]; 5] =
        [b"a\nb", b"c\"d\t", b"caf\xE9", b"caf\xE8", "caf\u{fffd}E9".as_bytes()];
    for name in names {
        repository.write(OsStr::from_bytes(name), "1");
    }
    repository.write(" :x", "1").write("-y", "1").write("@1", "1").commit(1);
    let mut found = lines(&read(repository.path(), &GitOptions::default()).unwrap());
    found.sort();
    let expect = [
        " :x",
        "-y",
        "@1",
        "a\nb",
        "c\"d\t",
        "caf\u{fffd}E8",
        "caf\u{fffd}E9",
        "caf\u{fffd}EF\u{fffd}BF\u{fffd}BDE9",
    ];
    assert_eq!(found, expect.map(|name| format!("{name} 1 to 1: []")));
}

#[test]
fn a_directory_inside_means_the_files_below_it() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a.md", "1").write("d/b.md", "1").write("d/e/c.txt", "1").commit(1);
    repository.write("a.md", "2").commit(4);
    let inside = repository.path().join("d");
    let check_specs = |path: &Path, pathspecs: &[&str], expect: &[&str]| {
        let pathspecs = pathspecs.iter().map(Into::into).collect();
        check(path, &GitOptions { pathspecs, ..GitOptions::default() }, expect);
    };
    // They existed until the last commit, whatever it changed.
    check_specs(&inside, &[], &["d/b.md 1 to 4: []", "d/e/c.txt 1 to 4: []"]);
    check_specs(&inside, &["*.md"], &["d/b.md 1 to 4: []"]);
    check_specs(&inside, &[":!*.md"], &["d/e/c.txt 1 to 4: []"]);
    check_specs(repository.path(), &["*.md"], &["a.md 1 to 4: [4.0]", "d/b.md 1 to 4: []"]);
    check_specs(repository.path(), &["d", ":!*.md"], &["d/e/c.txt 1 to 4: []"]);
    let nothing = GitOptions { pathspecs: vec!["*.html".into()], ..GitOptions::default() };
    let error = read(repository.path(), &nothing).unwrap_err();
    assert!(matches!(error, GitError::NoFiles { .. }), "{error}");
}

#[test]
fn bare_repositories_and_shallow_clones() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "1").write("b", "1").commit(1);
    repository.write("a", "2").commit(3).write("a", "3").commit(5);
    let clones = tempfile::tempdir().unwrap();
    let clone = |name: &str, options: &[&str]| -> PathBuf {
        let path = clones.path().join(name);
        let url = format!("file://{}", repository.path().display());
        let mut command = command(clones.path(), 0);
        let output = command.args(["clone", "--quiet"]).args(options).arg(url).arg(&path).output();
        assert!(output.unwrap().status.success());
        path
    };
    let all = ["a 1 to 5: [3.0, 5.0]", "b 1 to 5: []"];
    check(&clone("bare", &["--bare"]), &GitOptions::default(), &all);
    check(&repository.path().join(".git"), &GitOptions::default(), &all);
    let shallow = read(&clone("shallow", &["--depth=2"]), &GitOptions::default()).unwrap();
    assert_eq!(lines(&shallow), ["a 3 to 5: [5.0]", "b 3 to 5: []"]);
    assert!(shallow.shallow && !read(repository.path(), &GitOptions::default()).unwrap().shallow);
}

#[test]
fn a_configuration_that_would_change_the_log_does_not() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "1").write("d/b", "a long text that stays the same").commit(1);
    repository.git(["checkout", "--quiet", "-b", "side"]);
    repository.write("a", "2").commit(2);
    repository.git(["checkout", "--quiet", "main"]);
    repository.git(["mv", "d/b", "d/c"]);
    repository.commit(3);
    repository.git_at(4, ["merge", "--quiet", "--no-ff", "--message", "x", "side"]);
    let expect = ["a 1 to 4: [4.0]", "d/b 1 to 3: []", "d/c 3 to 4: []"];
    repository.check(&expect);
    for (key, value) in [
        ("color.ui", "always"),
        ("core.pager", "false"),
        ("core.quotePath", "true"),
        ("diff.external", "false"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.orderFile", "/nonexistent"),
        ("diff.relative", "true"),
        ("diff.renames", "copies"),
        ("format.pretty", "fuller"),
        ("log.abbrevCommit", "true"),
        ("log.date", "human"),
        ("log.decorate", "full"),
        ("log.diffMerges", "combined"),
        ("log.follow", "true"),
        ("log.mailmap", "true"),
        ("log.showRoot", "false"),
        ("log.showSignature", "true"),
        ("notes.displayRef", "*"),
        ("pager.log", "false"),
    ] {
        repository.git(["config", key, value]);
    }
    repository.check(&expect);
    // Neither do parents that are only pretended.
    let head = String::from_utf8(repository.git(["rev-parse", "HEAD"])).unwrap();
    repository.write(".git/info/grafts", &head);
    repository.check(&expect);
    repository.delete(".git/info/grafts");
    repository.git(["replace", "--graft", "HEAD"]);
    repository.check(&expect);
}

#[test]
fn what_is_no_history_is_said() {
    let Some(repository) = Repository::new() else { return };
    check_fault(repository.path(), "HEAD", "no commits");
    repository.commit(1);
    check_fault(repository.path(), "HEAD", "no files in its history");
    check_fault(repository.path(), "nowhere", "no commit `nowhere`");
    check_fault(repository.path(), "--all", "no commit `--all`");
    check_fault(repository.path(), "HEAD..HEAD", "no commit `HEAD..HEAD`");
    check_fault(&repository.path().join("none"), "HEAD", "no such directory");
    let elsewhere = tempfile::tempdir().unwrap();
    check_fault(elsewhere.path(), "HEAD", "not a git repository");
}

#[test]
fn what_git_says_of_a_damaged_repository_is_shown() {
    let Some(repository) = Repository::new() else { return };
    repository.write("a", "1").commit(1).write("a", "2").commit(2);
    let tree = String::from_utf8(repository.git(["rev-parse", "HEAD~^{tree}"])).unwrap();
    let (directory, file) = tree.trim().split_at(2);
    repository.delete(&format!(".git/objects/{directory}/{file}"));
    let error = read(repository.path(), &GitOptions::default()).unwrap_err();
    let GitError::Failed { message, .. } = &error else { panic!("{error}") };
    assert!(message.contains(tree.trim()), "{message}");
    assert!(error.hint().is_some_and(|hint| hint.starts_with("objects are missing")), "{message}");
}

/// Commits of random files, some of them merges, as `git fast-import` takes them.
fn random_stream(commits: u64) -> String {
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut stream = String::new();
    for commit in 1..=commits {
        let time = 1_500_000_000 + 100 * commit + random(150);
        writeln!(stream, "commit refs/heads/main\nmark :{commit}").unwrap();
        writeln!(stream, "committer x <x@example.org> {time} +0000\ndata 1\nx").unwrap();
        if commit > 1 {
            writeln!(stream, "from :{}", commit - 1).unwrap();
        }
        if commit > 9 && random(4) == 0 {
            writeln!(stream, "merge :{}", commit - 2 - random(5)).unwrap();
        }
        for _ in 0..random(4) {
            let (path, mode) = (random(15), ["100644", "100755", "120000"][random(3) as usize]);
            if random(4) == 0 {
                writeln!(stream, "D d{}/f{path}", path % 3).unwrap();
            } else {
                writeln!(stream, "M {mode} inline d{}/f{path}\ndata 1\n{}", path % 3, random(3))
                    .unwrap();
            }
        }
    }
    stream
}

/// The same history from the whole trees of all commits, without a log and without differences.
fn from_trees(repository: &Repository) -> BTreeMap<String, (f64, f64, Vec<f64>)> {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let commits = text(repository.git(["rev-list", "--first-parent", "--reverse", "main"]));
    let mut files = BTreeMap::new();
    let mut before: HashMap<String, (bool, String)> = HashMap::new();
    let mut now = 0.0;
    for commit in commits.lines() {
        let time = text(repository.git(["show", "--no-patch", "--format=%ct", commit]));
        now = f64::max(now, time.trim().parse().unwrap());
        let tree = text(repository.git(["ls-tree", "-r", commit]));
        let tree: HashMap<String, (bool, String)> = tree
            .lines()
            .map(|line| {
                let (about, path) = line.split_once('\t').unwrap();
                let hash = about.split(' ').nth(2).unwrap();
                (path.to_owned(), (about.starts_with("12"), hash.to_owned()))
            })
            .collect();
        for (path, content) in &tree {
            let (_, end, changes) =
                files.entry(path.clone()).or_insert_with(|| (now, f64::NAN, Vec::new()));
            if !end.is_nan() || before.get(path).is_some_and(|old| old != content) {
                changes.push(now);
            }
            *end = f64::NAN;
        }
        for path in before.keys().filter(|path| !tree.contains_key(*path)) {
            files.get_mut(path).unwrap().1 = now;
        }
        before = tree;
    }
    for (_, end, _) in files.values_mut().filter(|(_, end, _)| end.is_nan()) {
        *end = now;
    }
    files
}

#[test]
fn the_log_tells_the_same_as_the_trees() {
    let Some(repository) = Repository::new() else { return };
    repository.import(&random_stream(150));
    let mut reports = Vec::new();
    let options = GitOptions::default();
    let found =
        read_git(repository.path(), &options, &mut |commits| reports.push(commits)).unwrap();
    let history = &found.history;
    let got: BTreeMap<String, (f64, f64, Vec<f64>)> = (0..history.len())
        .map(|source| {
            let life = history.lifetimes[source];
            let id = history.ids.get(source).unwrap().to_owned();
            (id, (life.start, life.end, history.change_times(source).to_vec()))
        })
        .collect();
    assert_eq!(got, from_trees(&repository));
    assert!(history.change_count() > 50 && found.out_of_order > 0, "{found:?}");
    assert_eq!((found.commits, reports.as_slice()), (150, &[64, 128][..]));
}
