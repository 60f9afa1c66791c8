//! Commands do the same with a daemon and without one.

use crate::home::{FAST, Home, Running};
use crate::site::Site;

/// Runs a test both ways.
fn both_ways(test: impl Fn(&Home, &Site)) {
    for daemon in [false, true] {
        let (home, site) = (Home::new(FAST), Site::start());
        let running: Option<Running> = daemon.then(|| home.start());
        test(&home, &site);
        if let Some(running) = running {
            assert_eq!(running.stop(), Some(0), "{}", home.log());
        }
    }
}

#[test]
fn sources_are_added_described_and_removed() {
    both_ways(|home, site| {
        let [a, b, c] = ["/a", "/b", "/c"].map(|path| site.url(path));
        let list = format!("# mine\n{a}\n\n{b}\n");
        let added = home.run_with(&list, &["add", "-", &c, "--tag", "t", "--paused"]).ok();
        assert_eq!(added.err, "added 3 sources\n");
        assert_eq!(
            home.run(&["add", &a]).ok().err,
            "1 source known already: what was said is noted\n"
        );
        home.run(&["add", "example.com"])
            .says(2, "hint: give the whole URL: `https://example.com`");
        home.run_with("https://e.example/\nx y\n", &["add", "-"]).says(2, "standard input:2: ");
        home.run(&["add", &a, "--objective", "beauty"]).says(2, "`beauty` is not one of harmonic");
        home.run(&["add", &a, "--select", "[["]).says(2, "select");
        assert_eq!(home.lines(&["ls", "--json"]).len(), 3);

        let set = ["set", "--where-tag", "t", "--importance", "7", "--max-interval", "12h"];
        assert_eq!(home.run(&set).ok().err, "described 3 sources\n");
        home.run(&["set", &a, "--select", "#price", "--drop", ".ad", "--tag", "u"]).ok();
        home.run(&["set", &a, "--drop", "", "--untag", "t"]).ok();
        let rows = home.lines(&["ls", "--json"]);
        assert!(rows.iter().all(|row| row["importance"] == 7.0 && row["max_interval_days"] == 0.5));
        assert_eq!(rows[0]["settings"].to_string(), r##"{"select":["#price"]}"##);
        assert_eq!(rows[0]["tags"].to_string(), r#"["u"]"#);
        assert_eq!(rows[1]["tags"].to_string(), r#"["t"]"#);
        // What is known keeps what is not said anew.
        home.run(&["add", &a, "--ignore", "case", "--tag", "v"]).ok();
        let row = &home.lines(&["ls", "--json"])[0];
        assert_eq!(row["settings"].to_string(), r##"{"ignore":["case"],"select":["#price"]}"##);
        assert_eq!(row["tags"].to_string(), r#"["u","v"]"#);
        home.run(&["set", &a, "--importance", "-1"]).says(2, "`importance` cannot be -1");
        home.run(&["set", &a, "--max-interval", "none"]).ok();
        assert!(home.lines(&["ls", "--text", "/a", "--json"])[0]["max_interval_days"].is_null());
        home.run(&["set", &a]).says(2, "nothing is said");

        assert_eq!(home.lines(&["ls", "--state", "paused", "--json"]).len(), 3);
        home.run(&["resume", &a]).ok();
        home.run(&["pause", &a]).ok();
        let host = site.address.to_string();
        assert_eq!(home.lines(&["ls", "--host", &host, "--tag", "t", "--json"]).len(), 2);
        assert!(home.lines(&["ls", "--host", "nobody.example", "--json"]).is_empty());
        home.run(&["rm", &c]).ok();
        let typo = site.url("/aa");
        home.run(&["rm", &typo]).says(1, &format!("perhaps {a} or {b} is meant"));
        home.run(&["show", &typo]).says(2, &format!("there is no source {typo}"));
        let removed = home.run(&["rm", "--where-host", &host]).ok();
        assert_eq!(removed.err, "removed 2 sources\n");
        assert_eq!(home.run(&["rm", "--where-host", &host]).code, Some(1));
    });
}

#[test]
fn a_url_is_fetched_and_recorded_if_it_is_a_source() {
    both_ways(|home, site| {
        site.set("/a", "one");
        site.set("/b", "two");
        let a = site.url("/a");
        home.run(&["add", &a, "--paused"]).ok();
        let first = home.run(&["check", &a, "--json"]).json();
        assert_eq!((&first["outcome"], &first["recorded"]), (&"first".into(), &true.into()));
        let again = home.run(&["check", &a, "--json"]).json();
        assert_eq!(again["outcome"], "unchanged");
        site.set("/a", "three");
        let changed = home.run(&["check", &a, "--json"]).json();
        assert_eq!((&changed["outcome"], &changed["version"]), (&"changed".into(), &2.into()));
        assert_eq!(changed["summary"], "1 added, 1 removed: −one; +three");
        let shown = home.run(&["show", &a, "--json"]).json();
        assert_eq!(shown["history"].as_array().unwrap().len(), 3);
        let status: serde_json::Value =
            serde_json::from_str(&home.run(&["status", "--json"]).out).unwrap();
        assert_eq!(status["spent_last_day"], 3.0);

        let stranger = home.run(&["check", &site.url("/b")]).ok();
        assert!(stranger.out.contains("two"), "{}", stranger.out);
        assert!(stranger.err.contains("not recorded: it is no source"), "{}", stranger.err);
        assert_eq!(home.run(&["check", &site.url("/none")]).code, Some(1));
        assert_eq!(home.lines(&["ls", "--json"]).len(), 1);
        assert_eq!(site.seen("/a"), 3);
    });
}

#[test]
fn what_is_there_can_be_taken_elsewhere() {
    both_ways(|home, site| {
        let [a, b] = ["/a", "/b"].map(|path| site.url(path));
        home.run(&["add", &a, "--importance", "3", "--min-interval", "6h"]).ok();
        home.run(&["add", &b, "--paused"]).ok();
        assert_eq!(home.run(&["export", "--format", "urls"]).ok().out, format!("{a}\n{b}\n"));
        home.run(&["export", "-o", "out.csv"]).ok();
        let table = home.read("out.csv");
        let (head, rows) = table.split_once('\n').unwrap();
        assert_eq!(head, "id,importance,change_rate,host,cost,min_rate,max_rate");
        let [first, second] = [0, 1].map(|row| rows.lines().nth(row).unwrap());
        assert!(first.starts_with(&format!("{a},3,")) && first.ends_with(",1,0,4"), "{rows}");
        // What is paused is not to be fetched by a plan either.
        assert!(second.starts_with(&format!("{b},1,")) && second.ends_with(",1,0,0"), "{rows}");
        home.run(&["plan", "out.csv", "--budget", "10/day", "--json"]).ok();
        let objects = home.run(&["export", "--format", "json"]).ok().out;
        assert_eq!(objects.lines().count(), 2);

        home.run(&["backup", "copy.db"]).ok();
        home.run(&["backup", "copy.db"]).says(2, "exists already");
        home.run(&["backup", "copy.db", "--force"]).ok();
        home.run(&["rm", &a]).ok();
        home.write("other.toml", "store = \"copy.db\"\n");
        assert_eq!(home.lines(&["ls", "--config", "other.toml", "--json"]).len(), 2);
        assert_eq!(home.lines(&["ls", "--json"]).len(), 1);
    });
}

#[test]
fn faults_have_a_way_out() {
    let home = Home::new("");
    home.run(&["ls"]).says(2, "hint: add a source or start the daemon to make one");
    home.run(&["ls", "--config", "none.toml"]).says(2, "hint: write one with `freshet init`");
    home.write("freshet.toml", "budgte = 1\n");
    home.run(&["ls"]).says(2, "hint: `freshet init -` shows a file with all settings");
    home.configure("");
    home.write("freshet.db", "not a database, but long enough to be looked at as one\n".repeat(20));
    home.run(&["ls"]).says(2, "not a database");
    home.run(&["add", "https://example.com/"]).says(2, "not a database");
}

#[test]
fn hosts_are_named_in_any_alphabet_and_at_any_port() {
    let home = Home::new("");
    for url in ["http://bücher.example:8080/", "https://bücher.example/", "https://other.example/"]
    {
        home.run(&["add", url]).ok();
    }
    let count = |host: &str| home.lines(&["ls", "--json", "--host", host]).len();
    assert_eq!((count("bücher.example"), count("XN--BCHER-KVA.example")), (2, 2));
    assert_eq!((count("bücher.example:8080"), count("bücher.example:443")), (1, 1));
    for command in [&["ls"][..], &["changes"], &["notify", "add", "a", "--command", "x"]] {
        let mut all = command.to_vec();
        all.extend(["--host", "https://other.example/"]);
        home.run(&all).says(2, "is not the name of a host, such as `example.com`");
    }
    home.run(&["rm", "--where-host", "bücher.example"]).ok();
    assert_eq!(home.lines(&["ls", "--json"]).len(), 1);
}

#[test]
fn sizes_have_all_usual_units_and_others_are_refused_by_name() {
    let home = Home::new("");
    for size in ["500KB", "500kB", "500KiB", "1tb"] {
        home.configure(&format!("bytes = \"{size}/day\"\n[keep]\nsize = \"{size}\"\n"));
        assert_eq!(home.run(&["status"]).code, Some(1), "{size}");
    }
    home.configure("[keep]\nsize = \"10 miles\"\n");
    home.run(&["status"]).says(2, "kB, MB, GB, TB, KiB, MiB, GiB or TiB");
}

#[test]
fn without_a_budget_nothing_is_due() {
    let site = Site::start();
    site.set("/a", "words");
    let home = Home::new("budget = \"0/day\"\n[hosts]\ngap = \"0s\"\n");
    home.run(&["add", &site.url("/a")]).ok();
    let daemon = home.start();
    home.run(&["check", &site.url("/a")]).ok();
    let check = |running: bool| {
        let shown = home.run(&["show", &site.url("/a")]).ok().out;
        assert!(shown.contains("next        not by itself: the budget is 0"), "{shown}");
        assert!(!shown.contains("worth the price") && !shown.contains("price  "), "{shown}");
        assert!(home.lines(&["ls", "--json"])[0]["next"].is_null());
        let status = home.run(&["status"]).out;
        assert!(!status.contains("every fetch is worth it"), "{status}");
        assert_eq!(status.contains("no fetch can be paid for"), running, "{status}");
    };
    check(true);
    assert_eq!(daemon.stop(), Some(0));
    check(false);
}
