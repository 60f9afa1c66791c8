//! `freshet notify`, with a daemon and without one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::home::{FAST, Home, until};
use crate::site::Site;

/// Somebody who receives webhooks: heads and bodies.
#[derive(Clone)]
struct Hook {
    url: String,
    came: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Hook {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/in-the-path", listener.local_addr().unwrap());
        let hook = Self { url, came: Arc::default() };
        let came = Arc::clone(&hook.came);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let (mut head, mut length) = (String::new(), 0);
                while !head.ends_with("\r\n\r\n") {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) == 0 {
                        break;
                    }
                    if let Some(it) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                        length = it.trim().parse().unwrap();
                    }
                    head.push_str(&line);
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                came.lock().unwrap().push((head, body));
                let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        hook
    }

    fn entries(&self) -> Vec<Value> {
        let came = self.came.lock().unwrap();
        let all = came.iter().flat_map(|(_, body)| body["entries"].as_array().unwrap().clone());
        all.collect()
    }
}

fn config(extra: &str) -> String {
    format!("{FAST}[server]\nlisten = \"off\"\n[notify]\nwait = \"20ms\"\n{extra}")
}

#[test]
fn destinations_are_kept_without_a_daemon_and_told_by_one() {
    let (home, site, hook) = (Home::new(&config("")), Site::start(), Hook::start());
    site.set("/a", "first words");
    home.run(&["add", &site.url("/a"), "--max-interval", "100ms", "--tag", "news"]).ok();
    let added = home.run(&["notify", "add", "one", "--webhook", &hook.url, "--tag", "news"]).ok();
    let secret = added.out.trim().to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    home.run(&["notify", "add", "one", "--webhook", &hook.url]).says(2, "`one` already");
    let daemon = home.start();
    // The same through the daemon.
    let other = home.run(&["notify", "add", "two", "--webhook", &hook.url, "--tag", "other"]).ok();
    home.run(&["notify", "add", "two", "--webhook", &hook.url]).says(2, "`two` already");
    until("it is fetched", || site.seen("/a") > 0);
    site.set("/a", "second words");
    until("it is told", || hook.entries().len() == 1);
    let entry = hook.entries().remove(0);
    assert_eq!((&entry["kind"], &entry["url"]), (&"changed".into(), &site.url("/a").into()));
    // As a program reads it elsewhere.
    assert_eq!(home.lines(&["changes", "--json"]), [entry]);
    home.run(&["notify", "set", "two", "--tag", ""]).ok();
    home.run(&["notify", "pause", "one"]).ok();
    site.set("/a", "third words");
    until("the other is told", || hook.entries().len() == 2);
    home.run(&["notify", "resume", "one"]).ok();
    until("the first one then", || hook.entries().len() == 3);
    let rotated = home.run(&["notify", "rotate", "one"]).ok().out;
    assert_ne!(rotated.trim(), secret);
    home.run(&["notify", "rm", "two"]).ok();
    assert_eq!(daemon.stop(), Some(0));
    let list = home.lines(&["notify", "ls", "--json"]);
    assert_eq!((list.len(), list[0]["keys"].as_array().unwrap().len()), (1, 2));
    // Secrets were shown once, and nowhere else.
    let mut shown = home.log();
    for arguments in [
        &["notify", "ls"][..],
        &["notify", "ls", "--json"],
        &["notify", "show", "one"],
        &["notify", "show", "one", "--json"],
        &["notify", "dead", "one", "--json"],
    ] {
        let ran = home.run(arguments).ok();
        shown.push_str(&ran.out);
        shown.push_str(&ran.err);
    }
    for secret in [&secret, rotated.trim(), other.out.trim(), "in-the-path"] {
        assert!(!shown.contains(secret.trim_start_matches("whsec_")), "{secret} in {shown}");
    }
}

#[test]
fn a_test_says_what_came_of_it() {
    let (home, hook) = (Home::new(&config("")), Hook::start());
    home.run(&["notify", "add", "one", "--webhook", &hook.url]).ok();
    let receipt = home.run(&["notify", "test", "one", "--json"]).json();
    assert_eq!(
        (receipt["kind"].as_str(), receipt["answer"].as_str()),
        (Some("webhook"), Some("200: ok"))
    );
    assert_eq!(hook.came.lock().unwrap()[0].1["test"], true);
    home.run(&["notify", "add", "mail", "--mail", "me@example.com"]).ok();
    home.run(&["notify", "test", "mail"]).says(1, "no mail server is named");
    home.run(&["notify", "test", "none"]).says(2, "there is no destination none");
    home.run(&["notify", "retry", "one"]).ok();
    // The guard stands before it.
    home.write("freshet.toml", config(""));
    home.run(&["notify", "test", "one"]).says(1, "did not arrive");
    assert_eq!(hook.came.lock().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let home = Home::new(&config(""));
    let cases: [(&[&str], &str); 7] = [
        (&["add", "a b", "--command", "x"], "name: a name has"),
        (&["add", "a", "--webhook", "ftp://example.com/"], "webhook.url: "),
        (&["add", "a", "--mail", "me"], "`me` is not a mail address"),
        (&["add", "a", "--command", "x", "--text", "{{x}}"], "an entry has no `x`"),
        (&["add", "a", "--command", "x", "--digest", "often"], "digest: "),
        (&["add", "a", "--command", "x", "--header", "A: b"], "--header is for webhooks"),
        (&["add", "a"], "required"),
    ];
    for (arguments, part) in cases {
        let mut all = vec!["notify"];
        all.extend(arguments);
        home.run(&all).says(2, part);
    }
    for (text, part) in [
        ("[commands]\ntell = [\"tell\"]\n", "commands.tell: the program must be a whole path"),
        ("[mail]\nserver = \"m\"\nfrom = \"x\"\n", "mail.from: `x` is not a mail address"),
        ("[mail]\nserver = \"m\"\nfrom = \"a@b\"\ntls = \"maybe\"\n", "mail.tls: `maybe`"),
        ("[watch]\nquiet = \"long\"\n", "watch.quiet: `long`"),
        ("[notify]\nattempts = 0\n", "notify.attempts: 0"),
        ("[mail]\nserver = \"m\"\nfrom = \"a@b\"\nuser = \"x\"\npassword = \"hunter2\"\n", "line"),
    ] {
        home.configure(text);
        let ran = home.run(&["notify", "ls"]);
        ran.says(2, part);
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    }
}

#[test]
fn what_fails_and_recovers_is_told_and_sighup_says_when() {
    let home = Home::new(&config(""));
    let (site, hook) = (Site::start(), Hook::start());
    site.set("/a", "words");
    home.run(&["add", &site.url("/a")]).ok();
    home.run(&["notify", "add", "one", "--webhook", &hook.url, "--kind", "failing"]).ok();
    let daemon = home.start();
    until("it is fetched", || site.seen("/a") > 0);
    home.configure(&config("[watch]\nfailures = 2\nquiet = \"30 days\"\n"));
    daemon.signal("-HUP");
    until("it is read again", || home.log().contains("read again"));
    site.remove("/a");
    // One that is under way may have been answered before.
    home.run(&["check", &site.url("/a")]);
    // At once: by itself it would be given more and more time.
    for _ in 0..3 {
        assert_eq!(home.run(&["check", &site.url("/a")]).code, Some(1));
    }
    until("it is told", || hook.entries().len() == 1);
    assert_eq!(hook.entries()[0]["kind"], "failing");
    site.set("/a", "words");
    until("it recovers", || {
        home.run(&["check", &site.url("/a")]);
        home.run(&["changes"]).out.contains("recovered")
    });
    let kinds: Vec<Value> =
        home.lines(&["changes", "--json"]).into_iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, ["gone", "failing", "recovered"]);
    let only = home.run(&["changes", "--kind", "failing"]).ok().out;
    assert!(only.contains("failing") && only.lines().count() == 1, "{only}");
    assert_eq!(hook.entries().len(), 1);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_limit_that_was_passed_is_told_once_when_it_is_set() {
    let home = Home::new(&config(""));
    let (site, hook) = (Site::start(), Hook::start());
    home.run(&["add", &site.url("/a")]).ok();
    home.run(&["notify", "add", "one", "--webhook", &hook.url, "--kind", "failing"]).ok();
    let daemon = home.start();
    for _ in 0..3 {
        assert_eq!(home.run(&["check", &site.url("/a")]).code, Some(1));
    }
    let read_again = |limit: u32| {
        let times = home.log().matches("read again").count();
        home.configure(&config(&format!("[watch]\nfailures = {limit}\n")));
        daemon.signal("-HUP");
        until("it is read again", || home.log().matches("read again").count() > times);
    };
    read_again(3);
    until("it is told", || hook.entries().len() == 1);
    read_again(2);
    assert_eq!(daemon.stop(), Some(0));
    let daemon = home.start();
    home.run(&["check", &site.url("/a")]);
    let kinds: Vec<Value> =
        home.lines(&["changes", "--json"]).into_iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, ["gone", "failing"]);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_secret_that_is_missing_matters_to_those_alone_who_need_it() {
    let home = Home::new("");
    let config = "[mail]\nserver = \"m.example\"\nfrom = \"a@b.example\"\nuser = \"me\"\n\
        password = { env = \"FRESHET_TEST_NO_MAIL\" }\n\
        [[fetch.rules]]\nmatch = \"a.example\"\nbearer = { env = \"FRESHET_TEST_NO_TOKEN\" }\n";
    home.write("freshet.toml", config);
    home.run(&["add", "https://a.example/"]).ok();
    home.run(&["notify", "add", "mail", "--mail", "me@b.example"]).ok();
    home.run(&["notify", "add", "hook", "--webhook", "https://a.example/"]).ok();
    for arguments in [&["ls"][..], &["changes"], &["notify", "ls"], &["show", "https://a.example/"]]
    {
        home.run(arguments).ok();
    }
    assert_eq!(home.run(&["status"]).code, Some(1));
    let token = "fetch: the setting `rules[0].bearer` needs the environment variable \
        FRESHET_TEST_NO_TOKEN";
    let password = "line 5: mail.password: needs the environment variable FRESHET_TEST_NO_MAIL";
    for (arguments, part) in [
        (&["run"][..], token),
        (&["check", "https://a.example/"], token),
        (&["check", "https://b.example/"], token),
        (&["notify", "test", "hook"], token),
        (&["notify", "test", "mail"], password),
        (&["notify", "retry", "mail"], password),
    ] {
        let ran = home.run(arguments);
        ran.says(2, part);
        ran.says(2, "hint: set the variable where freshet runs");
    }
}

#[test]
fn what_was_said_of_a_destination_can_be_taken_away() {
    let home = Home::new("");
    home.run(&["notify", "add", "one", "--command", "x", "--kind", "failing", "--tag", "a"]).ok();
    let kinds = || home.run(&["notify", "show", "one", "--json"]).json()["filter"]["kinds"].clone();
    assert_eq!(kinds(), serde_json::json!(["failing"]));
    home.run(&["notify", "set", "one", "--kind", ""]).ok();
    assert_eq!(kinds(), Value::Null);
    let least = || home.run(&["notify", "show", "one", "--json"]).json()["filter"].clone();
    home.run(&["notify", "set", "one", "--min-importance", "2", "--tag", ""]).ok();
    assert_eq!(least(), serde_json::json!({ "min_importance": 2.0 }));
    home.run(&["notify", "set", "one", "--min-importance", ""]).ok();
    assert_eq!(least(), serde_json::json!({}));
    home.run(&["notify", "set", "one", "--kind", "odd"]).says(2, "`odd` is not one of changed");
}

#[test]
fn status_names_those_who_are_not_told() {
    let home = Home::new("");
    home.run(&["notify", "add", "one", "--command", "x"]).ok();
    home.run(&["notify", "pause", "one"]).ok();
    let shown = home.run(&["status"]);
    assert!(shown.out.contains("1 destination, 1 paused"), "{}", shown.out);
    assert!(shown.out.contains("one: paused for "), "{}", shown.out);
    let json: Value = serde_json::from_str(&home.run(&["status", "--json"]).out).unwrap();
    assert_eq!(json["destinations"]["troubled"][0]["name"], "one");
}
