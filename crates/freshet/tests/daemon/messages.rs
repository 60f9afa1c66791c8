//! Messages contain the fact, the location and a hint.

use crate::instance::{FAST, TestInstance};
use crate::site::Site;

#[test]
fn configuration_errors_name_the_line_and_the_field() {
    let instance = TestInstance::new("");
    let cases = [
        (
            "# x\nbudget = \"lots\"\n",
            "freshet.toml, line 2: budget: `lots` is not a budget such as",
        ),
        (
            "budget = 5\n",
            "freshet.toml, line 1: budget: invalid type: integer `5`, expected a string",
        ),
        ("budget = 5\n", "; use \"500/day\", \"10/s\" or \"20%/day\""),
        (
            "[hosts]\n\ngap = \"soon\"\n",
            "freshet.toml, line 3: hosts.gap: `soon` is not a duration",
        ),
        ("[hosts]\nconnections = -1\n", "line 2: hosts.connections: invalid value: integer `-1`"),
        ("[hosts]\nconnections = \"two\"\n", "; use a whole number, 1 or more"),
        (
            "hosts = { gap = \"soon\" }\n",
            "freshet.toml, line 1: hosts.gap: `soon` is not a duration",
        ),
        (
            "[keep]\nsize = \"big\"\n",
            "line 2: keep.size: `big` is not a size above 0, such as \"10GB\"",
        ),
        ("[hours]\nweights = [\n1,\n\"x\"]\n", "line 4: hours.weights: invalid type: string \"x\""),
        ("[[rules]]\nmach = \"x\"\n", "freshet.toml, line 2: unknown field `mach`"),
    ];
    for (text, expect) in cases {
        instance.write("freshet.toml", text);
        instance.run(&["ls"]).has_error(2, expect);
    }
}

#[test]
fn a_missing_directory_of_the_store_is_reported() {
    let instance = TestInstance::new("");
    instance.configure("store = \"nowhere/x.db\"\n");
    for command in [&["status"][..], &["ls"], &["add", "https://example.com/"]] {
        let ran = instance.run(command);
        ran.has_error(2, "nowhere/x.db: its directory does not exist");
        ran.has_error(2, "hint: create it with `mkdir -p");
    }
}

#[test]
fn a_damaged_file_can_be_replaced_by_a_backup() {
    let instance = TestInstance::new("");
    instance.run(&["add", "https://example.com/"]).ok();
    instance.run(&["backup", "copy.db"]).ok();
    for name in ["freshet.db-wal", "freshet.db-shm"] {
        let _ = std::fs::remove_file(instance.path(name));
    }
    let mut bytes = std::fs::read(instance.path("freshet.db")).unwrap();
    bytes[..4096].fill(7);
    instance.write("freshet.db", bytes);
    instance.run(&["ls"]).has_error(2, "backup made by `freshet backup`");
    std::fs::copy(instance.path("copy.db"), instance.path("freshet.db")).unwrap();
    assert_eq!(instance.lines(&["ls", "--json"]).len(), 1);
}

#[test]
fn adding_a_refused_source_prints_a_warning() {
    let instance = TestInstance::new("");
    let cases = [
        ("file:///etc/hosts", "`file:` URLs are not allowed", "files = ["),
        ("http://10.0.0.1/x", "10.0.0.1 is at the private address", "allow = [\"10.0.0.1\"]"),
        ("http://[::1]:80/", "is at the loopback address", "allow = ["),
    ];
    for (url, why, hint) in cases {
        let added = instance.run(&["add", url]).ok();
        for part in ["warning: ", "will be refused", why, hint, "added 1 source"] {
            assert!(added.err.contains(part), "no `{part}` in: {}", added.err);
        }
    }
    // These are allowed, or public.
    for url in ["http://127.0.0.1:1/", "https://example.com/"] {
        assert_eq!(instance.run(&["add", url]).ok().err, "added 1 source\n");
    }
    instance.write("freshet.toml", "");
    let added = instance.run(&["add", "http://localhost:1/"]).ok();
    assert!(added.err.contains("allow = [\"localhost\"]"), "{}", added.err);
}

#[test]
fn intervals_are_printed_in_their_units() {
    let instance = TestInstance::new("");
    let add = ["add", "https://example.com/", "--min-interval", "2h", "--max-interval", "1h"];
    instance.run(&add).has_error(2, "min_interval is longer than max_interval: 2h > 1h");
}

#[test]
fn a_selector_that_matches_nothing_is_reported() {
    let (instance, site) = (TestInstance::new(FAST), Site::start());
    site.set("/a", "one");
    let url = site.url("/a");
    instance.run(&["add", &url, "--select", "#price"]).ok();
    let checked = instance.run(&["check", &url]).ok();
    assert!(checked.out.contains("nothing matches `#price`"), "{}", checked.out);
    let shown = instance.run(&["show", &url]).ok();
    assert!(shown.out.contains("nothing matches `#price`"), "{}", shown.out);
    let config = instance.read("freshet.toml");
    instance.write("freshet.toml", format!("{config}[detect]\nselect = [\"#stock\"]\n"));
    let looked = instance.run(&["check", &site.url("/a?other")]);
    assert_eq!(looked.code, Some(1), "{}", looked.err);
    site.set("/b", "two");
    let looked = instance.run(&["check", &site.url("/b")]).ok();
    assert!(looked.err.contains("nothing matches `#stock`"), "{}", looked.err);
}

#[test]
fn status_reports_a_budget_of_zero() {
    let instance = TestInstance::new("budget = \"0/day\"\n");
    instance.run(&["add", "http://127.0.0.1:1/"]).ok();
    let daemon = instance.start();
    let status = instance.run(&["status"]).ok();
    assert!(status.out.contains("none: the budget is 0; `freshet check URL`"), "{}", status.out);
    assert_eq!(daemon.stop(), Some(0));
    instance.configure("budget = \"1/day\"\n");
    let status = instance.run(&["status"]);
    assert!(status.out.contains("1 fetch a day,"), "{}", status.out);
}

#[test]
fn inputs_are_not_overwritten() {
    let instance = TestInstance::new("");
    instance.run(&["add", "https://example.com/"]).ok();
    for input in ["freshet.db", "./freshet.toml"] {
        let export = ["export", "--format", "urls", "-o", input];
        instance.run(&export).has_error(2, "is an input and cannot be overwritten");
    }
    instance.run(&["export", "-o", "t.csv"]).ok();
    let before = instance.read("t.csv");
    instance
        .run(&["plan", "t.csv", "--budget", "1/day", "--out", "./t.csv"])
        .has_error(2, "t.csv is an input and cannot be overwritten");
    instance.run(&["curve", "t.csv", "--out", "t.csv"]).has_error(2, "cannot be overwritten");
    assert_eq!(instance.read("t.csv"), before);
    instance.write("policies.csv", &before);
    instance
        .run(&["simulate", "policies.csv", "--budget", "1/day", "--out", "."])
        .has_error(2, "./policies.csv is an input and cannot be overwritten");
}
