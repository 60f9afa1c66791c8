//! Commands behave the same with and without a daemon.

use crate::instance::{FAST, RunningProgram, TestInstance};
use crate::site::Site;

/// Runs a test with and without a daemon.
fn with_and_without_daemon(test: impl Fn(&TestInstance, &Site)) {
    for daemon in [false, true] {
        let (instance, site) = (TestInstance::new(FAST), Site::start());
        let running: Option<RunningProgram> = daemon.then(|| instance.start());
        test(&instance, &site);
        if let Some(running) = running {
            assert_eq!(running.stop(), Some(0), "{}", instance.log());
        }
    }
}

#[test]
fn sources_are_added_edited_and_removed() {
    with_and_without_daemon(|instance, site| {
        let [a, b, c] = ["/a", "/b", "/c"].map(|path| site.url(path));
        let list = format!("# mine\n{a}\n\n{b}\n");
        let added = instance.run_with(&list, &["add", "-", &c, "--tag", "t", "--paused"]).ok();
        assert_eq!(added.err, "added 3 sources\n");
        assert_eq!(instance.run(&["add", &a]).ok().err, "updated 1 source\n");
        instance
            .run(&["add", "example.com"])
            .has_error(2, "hint: give the full URL: `https://example.com`");
        instance
            .run_with("https://e.example/\nx y\n", &["add", "-"])
            .has_error(2, "standard input:2: ");
        instance
            .run(&["add", &a, "--objective", "beauty"])
            .has_error(2, "`beauty` is not one of harmonic");
        instance.run(&["add", &a, "--select", "[["]).has_error(2, "select");
        assert_eq!(instance.lines(&["ls", "--json"]).len(), 3);

        let set = ["set", "--where-tag", "t", "--importance", "7", "--max-interval", "12h"];
        assert_eq!(instance.run(&set).ok().err, "edited 3 sources\n");
        instance.run(&["set", &a, "--select", "#price", "--drop", ".ad", "--tag", "u"]).ok();
        instance.run(&["set", &a, "--drop", "", "--untag", "t"]).ok();
        let rows = instance.lines(&["ls", "--json"]);
        assert!(rows.iter().all(|row| row["importance"] == 7.0 && row["max_interval_days"] == 0.5));
        assert_eq!(rows[0]["settings"].to_string(), r##"{"select":["#price"]}"##);
        assert_eq!(rows[0]["tags"].to_string(), r#"["u"]"#);
        assert_eq!(rows[1]["tags"].to_string(), r#"["t"]"#);
        // Existing sources keep the settings that are not given.
        instance.run(&["add", &a, "--ignore", "case", "--tag", "v"]).ok();
        let row = &instance.lines(&["ls", "--json"])[0];
        assert_eq!(row["settings"].to_string(), r##"{"ignore":["case"],"select":["#price"]}"##);
        assert_eq!(row["tags"].to_string(), r#"["u","v"]"#);
        instance
            .run(&["set", &a, "--importance", "-1"])
            .has_error(2, "invalid value of `importance`: -1");
        instance.run(&["set", &a, "--max-interval", "none"]).ok();
        assert!(
            instance.lines(&["ls", "--text", "/a", "--json"])[0]["max_interval_days"].is_null()
        );
        instance.run(&["set", &a]).has_error(2, "no settings are given");

        assert_eq!(instance.lines(&["ls", "--state", "paused", "--json"]).len(), 3);
        instance.run(&["resume", &a]).ok();
        instance.run(&["pause", &a]).ok();
        let host = site.address.to_string();
        assert_eq!(instance.lines(&["ls", "--host", &host, "--tag", "t", "--json"]).len(), 2);
        assert!(instance.lines(&["ls", "--host", "nobody.example", "--json"]).is_empty());
        instance.run(&["rm", &c]).ok();
        let typo = site.url("/aa");
        instance.run(&["rm", &typo]).has_error(1, &format!("hint: did you mean {a} or {b}?"));
        instance.run(&["show", &typo]).has_error(2, &format!("there is no source {typo}"));
        let removed = instance.run(&["rm", "--where-host", &host]).ok();
        assert_eq!(removed.err, "removed 2 sources\n");
        assert_eq!(instance.run(&["rm", "--where-host", &host]).code, Some(1));
    });
}

#[test]
fn a_checked_url_is_recorded_if_it_is_a_source() {
    with_and_without_daemon(|instance, site| {
        site.set("/a", "one");
        site.set("/b", "two");
        let a = site.url("/a");
        instance.run(&["add", &a, "--paused"]).ok();
        let first = instance.run(&["check", &a, "--json"]).json();
        assert_eq!((&first["outcome"], &first["recorded"]), (&"first".into(), &true.into()));
        let again = instance.run(&["check", &a, "--json"]).json();
        assert_eq!(again["outcome"], "unchanged");
        site.set("/a", "three");
        let changed = instance.run(&["check", &a, "--json"]).json();
        assert_eq!((&changed["outcome"], &changed["version"]), (&"changed".into(), &2.into()));
        assert_eq!(changed["summary"], "1 added, 1 removed: −one; +three");
        let shown = instance.run(&["show", &a, "--json"]).json();
        assert_eq!(shown["history"].as_array().unwrap().len(), 3);
        let status: serde_json::Value =
            serde_json::from_str(&instance.run(&["status", "--json"]).out).unwrap();
        assert_eq!(status["spent_last_day"], 3.0);

        let unknown = instance.run(&["check", &site.url("/b")]).ok();
        assert!(unknown.out.contains("two"), "{}", unknown.out);
        assert!(unknown.err.contains("not recorded: not a source"), "{}", unknown.err);
        assert_eq!(instance.run(&["check", &site.url("/none")]).code, Some(1));
        assert_eq!(instance.lines(&["ls", "--json"]).len(), 1);
        assert_eq!(site.requests("/a"), 3);
    });
}

#[test]
fn sources_are_exported_and_the_store_is_backed_up() {
    with_and_without_daemon(|instance, site| {
        let [a, b] = ["/a", "/b"].map(|path| site.url(path));
        instance.run(&["add", &a, "--importance", "3", "--min-interval", "6h"]).ok();
        instance.run(&["add", &b, "--paused"]).ok();
        assert_eq!(instance.run(&["export", "--format", "urls"]).ok().out, format!("{a}\n{b}\n"));
        instance.run(&["export", "-o", "out.csv"]).ok();
        let table = instance.read("out.csv");
        let (head, rows) = table.split_once('\n').unwrap();
        assert_eq!(head, "id,importance,change_rate,host,cost,min_rate,max_rate");
        let [first, second] = [0, 1].map(|row| rows.lines().nth(row).unwrap());
        assert!(first.starts_with(&format!("{a},3,")) && first.ends_with(",1,0,4"), "{rows}");
        // A plan does not fetch paused sources.
        assert!(second.starts_with(&format!("{b},1,")) && second.ends_with(",1,0,0"), "{rows}");
        instance.run(&["plan", "out.csv", "--budget", "10/day", "--json"]).ok();
        let objects = instance.run(&["export", "--format", "json"]).ok().out;
        assert_eq!(objects.lines().count(), 2);

        instance.run(&["backup", "copy.db"]).ok();
        instance.run(&["backup", "copy.db"]).has_error(2, "already exists");
        instance.run(&["backup", "copy.db", "--force"]).ok();
        instance.run(&["rm", &a]).ok();
        instance.write("other.toml", "store = \"copy.db\"\n");
        assert_eq!(instance.lines(&["ls", "--config", "other.toml", "--json"]).len(), 2);
        assert_eq!(instance.lines(&["ls", "--json"]).len(), 1);
    });
}

#[test]
fn errors_have_hints() {
    let instance = TestInstance::new("");
    instance.run(&["ls"]).has_error(2, "hint: create it with `freshet add` or `freshet run`");
    instance
        .run(&["ls", "--config", "none.toml"])
        .has_error(2, "hint: create one with `freshet init`");
    instance.write("freshet.toml", "budgte = 1\n");
    instance.run(&["ls"]).has_error(2, "hint: run `freshet init -` for a file with all settings");
    instance.configure("");
    instance
        .write("freshet.db", "not a database, but long enough to be looked at as one\n".repeat(20));
    instance.run(&["ls"]).has_error(2, "not a database");
    instance.run(&["add", "https://example.com/"]).has_error(2, "not a database");
}

#[test]
fn hosts_are_found_by_unicode_and_ascii_names_and_by_port() {
    let instance = TestInstance::new("");
    for url in ["http://bücher.example:8080/", "https://bücher.example/", "https://other.example/"]
    {
        instance.run(&["add", url]).ok();
    }
    let count = |host: &str| instance.lines(&["ls", "--json", "--host", host]).len();
    assert_eq!((count("bücher.example"), count("XN--BCHER-KVA.example")), (2, 2));
    assert_eq!((count("bücher.example:8080"), count("bücher.example:443")), (1, 1));
    for command in [&["ls"][..], &["changes"], &["notify", "add", "a", "--command", "x"]] {
        let mut all = command.to_vec();
        all.extend(["--host", "https://other.example/"]);
        instance.run(&all).has_error(2, "is not a host name, such as `example.com`");
    }
    instance.run(&["rm", "--where-host", "bücher.example"]).ok();
    assert_eq!(instance.lines(&["ls", "--json"]).len(), 1);
}

#[test]
fn sizes_accept_the_usual_units_and_reject_others() {
    let instance = TestInstance::new("");
    for size in ["500KB", "500kB", "500KiB", "1tb"] {
        instance.configure(&format!("bytes = \"{size}/day\"\n[keep]\nsize = \"{size}\"\n"));
        assert_eq!(instance.run(&["status"]).code, Some(1), "{size}");
    }
    instance.configure("[keep]\nsize = \"10 miles\"\n");
    instance.run(&["status"]).has_error(2, "kB, MB, GB, TB, KiB, MiB, GiB or TiB");
}

#[test]
fn without_a_budget_nothing_is_due() {
    let site = Site::start();
    site.set("/a", "words");
    let instance = TestInstance::new("budget = \"0/day\"\n[hosts]\ngap = \"0s\"\n");
    instance.run(&["add", &site.url("/a")]).ok();
    let daemon = instance.start();
    instance.run(&["check", &site.url("/a")]).ok();
    let check = |running: bool| {
        let shown = instance.run(&["show", &site.url("/a")]).ok().out;
        assert!(shown.contains("next fetch     none: the budget is 0"), "{shown}");
        assert!(!shown.contains("value"), "{shown}");
        assert!(instance.lines(&["ls", "--json"])[0]["next"].is_null());
        let status = instance.run(&["status"]).out;
        assert!(!status.contains("the budget allows every useful fetch"), "{status}");
        let price = status.contains("price            none: the budget is 0");
        assert_eq!(price, running, "{status}");
    };
    check(true);
    assert_eq!(daemon.stop(), Some(0));
    check(false);
}
