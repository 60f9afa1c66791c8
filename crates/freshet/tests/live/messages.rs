//! Messages say what, where and what to do.

use crate::home::{FAST, Home};
use crate::site::Site;

#[test]
fn a_fault_in_the_configuration_is_named_with_its_line_and_field() {
    let home = Home::new("");
    let cases = [
        (
            "# x\nbudget = \"lots\"\n",
            "freshet.toml, line 2: budget: `lots` is not a budget such as",
        ),
        (
            "budget = 5\n",
            "freshet.toml, line 1: budget: invalid type: integer `5`, expected a string",
        ),
        ("budget = 5\n", "; write \"500/day\", \"10/s\" or \"20%/day\""),
        ("[hosts]\n\ngap = \"soon\"\n", "freshet.toml, line 3: hosts.gap: `soon` is not a time"),
        ("[hosts]\nconnections = -1\n", "line 2: hosts.connections: invalid value: integer `-1`"),
        ("[hosts]\nconnections = \"two\"\n", "; write a whole number, 1 or more"),
        ("hosts = { gap = \"soon\" }\n", "freshet.toml, line 1: hosts.gap: `soon` is not a time"),
        (
            "[keep]\nsize = \"big\"\n",
            "line 2: keep.size: `big` is not a size above 0 such as \"10GB\"",
        ),
        ("[hours]\nweights = [\n1,\n\"x\"]\n", "line 4: hours.weights: invalid type: string \"x\""),
        ("[[rules]]\nmach = \"x\"\n", "freshet.toml, line 2: unknown field `mach`"),
    ];
    for (text, expect) in cases {
        home.write("freshet.toml", text);
        home.run(&["ls"]).says(2, expect);
    }
}

#[test]
fn a_store_in_a_directory_that_is_not_there_is_named() {
    let home = Home::new("");
    home.configure("store = \"nowhere/x.db\"\n");
    for command in [&["status"][..], &["ls"], &["add", "https://example.com/"]] {
        let ran = home.run(command);
        ran.says(2, "nowhere/x.db: its directory does not exist");
        ran.says(2, "hint: make it with `mkdir -p");
    }
}

#[test]
fn a_damaged_file_can_be_replaced_by_a_backup() {
    let home = Home::new("");
    home.run(&["add", "https://example.com/"]).ok();
    home.run(&["backup", "copy.db"]).ok();
    for name in ["freshet.db-wal", "freshet.db-shm"] {
        let _ = std::fs::remove_file(home.path(name));
    }
    let mut bytes = std::fs::read(home.path("freshet.db")).unwrap();
    bytes[..4096].fill(7);
    home.write("freshet.db", bytes);
    home.run(&["ls"]).says(2, "put a backup that `freshet backup` made in its place");
    std::fs::copy(home.path("copy.db"), home.path("freshet.db")).unwrap();
    assert_eq!(home.lines(&["ls", "--json"]).len(), 1);
}

#[test]
fn what_will_be_refused_is_said_when_it_is_added() {
    let home = Home::new("");
    let cases = [
        ("file:///etc/hosts", "`file:` is not opened", "files = ["),
        ("http://10.0.0.1/x", "10.0.0.1 is at the private address", "allow = [\"10.0.0.1\"]"),
        ("http://[::1]:80/", "is at the loopback address", "allow = ["),
    ];
    for (url, why, hint) in cases {
        let added = home.run(&["add", url]).ok();
        for part in ["warning: ", "will be refused", why, hint, "added 1 source"] {
            assert!(added.err.contains(part), "no `{part}` in: {}", added.err);
        }
    }
    // These are open, or public as far as anybody knows.
    for url in ["http://127.0.0.1:1/", "https://example.com/"] {
        assert_eq!(home.run(&["add", url]).ok().err, "added 1 source\n");
    }
    home.write("freshet.toml", "");
    let added = home.run(&["add", "http://localhost:1/"]).ok();
    assert!(added.err.contains("allow = [\"localhost\"]"), "{}", added.err);
}

#[test]
fn intervals_are_said_as_they_are_written() {
    let home = Home::new("");
    let add = ["add", "https://example.com/", "--min-interval", "2h", "--max-interval", "1h"];
    home.run(&add).says(2, "the shortest interval, 2h, is longer than the longest, 1h");
}

#[test]
fn a_selector_that_matches_nothing_is_named() {
    let (home, site) = (Home::new(FAST), Site::start());
    site.set("/a", "one");
    let url = site.url("/a");
    home.run(&["add", &url, "--select", "#price"]).ok();
    let checked = home.run(&["check", &url]).ok();
    assert!(checked.out.contains("nothing matches `#price`"), "{}", checked.out);
    let shown = home.run(&["show", &url]).ok();
    assert!(shown.out.contains("nothing matches `#price`"), "{}", shown.out);
    let config = home.read("freshet.toml");
    home.write("freshet.toml", format!("{config}[detect]\nselect = [\"#stock\"]\n"));
    let looked = home.run(&["check", &site.url("/a?other")]);
    assert_eq!(looked.code, Some(1), "{}", looked.err);
    site.set("/b", "two");
    let looked = home.run(&["check", &site.url("/b")]).ok();
    assert!(looked.err.contains("nothing matches `#stock`"), "{}", looked.err);
}

#[test]
fn no_budget_is_the_reason_for_no_fetch() {
    let home = Home::new("budget = \"0/day\"\n");
    home.run(&["add", "http://127.0.0.1:1/"]).ok();
    let daemon = home.start();
    let status = home.run(&["status"]).ok();
    assert!(
        status.out.contains("no fetch: the budget is 0; `freshet check URL`"),
        "{}",
        status.out
    );
    assert_eq!(daemon.stop(), Some(0));
    home.configure("budget = \"1/day\"\n");
    let status = home.run(&["status"]);
    assert!(status.out.contains("1 fetch a day,"), "{}", status.out);
}

#[test]
fn nothing_is_written_over_what_is_read() {
    let home = Home::new("");
    home.run(&["add", "https://example.com/"]).ok();
    for input in ["freshet.db", "./freshet.toml"] {
        let export = ["export", "--format", "urls", "-o", input];
        home.run(&export).says(2, "is read and cannot be written over");
    }
    home.run(&["export", "-o", "t.csv"]).ok();
    let before = home.read("t.csv");
    home.run(&["plan", "t.csv", "--budget", "1/day", "--out", "./t.csv"])
        .says(2, "t.csv is read and cannot be written over");
    home.run(&["curve", "t.csv", "--out", "t.csv"]).says(2, "cannot be written over");
    assert_eq!(home.read("t.csv"), before);
    home.write("policies.csv", &before);
    home.run(&["simulate", "policies.csv", "--budget", "1/day", "--out", "."])
        .says(2, "./policies.csv is read and cannot be written over");
}
