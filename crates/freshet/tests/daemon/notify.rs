//! `freshet notify`, with and without a daemon.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::instance::{FAST, TestInstance, wait_until};
use crate::site::Site;

/// Receiver of webhooks that keeps their heads and bodies.
#[derive(Clone)]
struct WebhookReceiver {
    url: String,
    received: Arc<Mutex<Vec<(String, Value)>>>,
}

impl WebhookReceiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/in-the-path", listener.local_addr().unwrap());
        let hook = Self { url, received: Arc::default() };
        let received = Arc::clone(&hook.received);
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
                received.lock().unwrap().push((head, body));
                let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        hook
    }

    fn entries(&self) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        let all = received.iter().flat_map(|(_, body)| body["entries"].as_array().unwrap().clone());
        all.collect()
    }
}

fn config(extra: &str) -> String {
    format!("{FAST}[server]\nlisten = \"off\"\n[notify]\nwait = \"20ms\"\n{extra}")
}

#[test]
fn destinations_are_added_without_a_daemon_and_served_by_one() {
    let (instance, site, hook) =
        (TestInstance::new(&config("")), Site::start(), WebhookReceiver::start());
    site.set("/a", "first words");
    instance.run(&["add", &site.url("/a"), "--max-interval", "100ms", "--tag", "news"]).ok();
    let added =
        instance.run(&["notify", "add", "one", "--webhook", &hook.url, "--tag", "news"]).ok();
    let secret = added.out.trim().to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    instance.run(&["notify", "add", "one", "--webhook", &hook.url]).has_error(2, "`one` already");
    let daemon = instance.start();
    // A destination can also be added through the daemon.
    let other =
        instance.run(&["notify", "add", "two", "--webhook", &hook.url, "--tag", "other"]).ok();
    instance.run(&["notify", "add", "two", "--webhook", &hook.url]).has_error(2, "`two` already");
    wait_until("it is fetched", || site.requests("/a") > 0);
    site.set("/a", "second words");
    wait_until("the change is delivered", || hook.entries().len() == 1);
    let entry = hook.entries().remove(0);
    assert_eq!((&entry["kind"], &entry["url"]), (&"changed".into(), &site.url("/a").into()));
    // The webhook has the same object as `freshet changes --json`.
    assert_eq!(instance.lines(&["changes", "--json"]), [entry]);
    instance.run(&["notify", "set", "two", "--tag", ""]).ok();
    instance.run(&["notify", "pause", "one"]).ok();
    site.set("/a", "third words");
    wait_until("the other destination is served", || hook.entries().len() == 2);
    instance.run(&["notify", "resume", "one"]).ok();
    wait_until("the resumed destination is served", || hook.entries().len() == 3);
    let rotated = instance.run(&["notify", "rotate", "one"]).ok().out;
    assert_ne!(rotated.trim(), secret);
    instance.run(&["notify", "rm", "two"]).ok();
    assert_eq!(daemon.stop(), Some(0));
    let list = instance.lines(&["notify", "ls", "--json"]);
    assert_eq!((list.len(), list[0]["keys"].as_array().unwrap().len()), (1, 2));
    // Secrets are printed once, and nowhere else.
    let mut shown = instance.log();
    for arguments in [
        &["notify", "ls"][..],
        &["notify", "ls", "--json"],
        &["notify", "show", "one"],
        &["notify", "show", "one", "--json"],
        &["notify", "dead", "one", "--json"],
    ] {
        let ran = instance.run(arguments).ok();
        shown.push_str(&ran.out);
        shown.push_str(&ran.err);
    }
    for secret in [&secret, rotated.trim(), other.out.trim(), "in-the-path"] {
        assert!(!shown.contains(secret.trim_start_matches("whsec_")), "{secret} in {shown}");
    }
}

#[test]
fn a_test_reports_its_result() {
    let (instance, hook) = (TestInstance::new(&config("")), WebhookReceiver::start());
    instance.run(&["notify", "add", "one", "--webhook", &hook.url]).ok();
    let receipt = instance.run(&["notify", "test", "one", "--json"]).json();
    assert_eq!(
        (receipt["kind"].as_str(), receipt["answer"].as_str()),
        (Some("webhook"), Some("200: ok"))
    );
    assert_eq!(hook.received.lock().unwrap()[0].1["test"], true);
    instance.run(&["notify", "add", "mail", "--mail", "me@example.com"]).ok();
    instance.run(&["notify", "test", "mail"]).has_error(1, "no mail server is configured");
    instance.run(&["notify", "test", "none"]).has_error(2, "there is no destination none");
    instance.run(&["notify", "retry", "one"]).ok();
    // The address guard applies to deliveries.
    instance.write("freshet.toml", config(""));
    instance.run(&["notify", "test", "one"]).has_error(1, "delivery failed");
    assert_eq!(hook.received.lock().unwrap().len(), 1);
}

#[test]
fn invalid_destinations_and_settings_are_rejected() {
    let instance = TestInstance::new(&config(""));
    let cases: [(&[&str], &str); 7] = [
        (&["add", "a b", "--command", "x"], "name: must be 1 to 64"),
        (&["add", "a", "--webhook", "ftp://example.com/"], "webhook.url: "),
        (&["add", "a", "--mail", "me"], "`me` is not a mail address"),
        (&["add", "a", "--command", "x", "--text", "{{x}}"], "unknown field `x`"),
        (&["add", "a", "--command", "x", "--digest", "often"], "digest: "),
        (&["add", "a", "--command", "x", "--header", "A: b"], "--header requires a webhook"),
        (&["add", "a"], "required"),
    ];
    for (arguments, part) in cases {
        let mut all = vec!["notify"];
        all.extend(arguments);
        instance.run(&all).has_error(2, part);
    }
    for (text, part) in [
        ("[commands]\ntell = [\"tell\"]\n", "commands.tell: the program must be an absolute path"),
        ("[mail]\nserver = \"m\"\nfrom = \"x\"\n", "mail.from: `x` is not a mail address"),
        ("[mail]\nserver = \"m\"\nfrom = \"a@b\"\ntls = \"maybe\"\n", "mail.tls: `maybe`"),
        ("[watch]\nquiet = \"long\"\n", "watch.quiet: `long`"),
        ("[notify]\nattempts = 0\n", "notify.attempts: `0`"),
        ("[mail]\nserver = \"m\"\nfrom = \"a@b\"\nuser = \"x\"\npassword = \"hunter2\"\n", "line"),
    ] {
        instance.configure(text);
        let ran = instance.run(&["notify", "ls"]);
        ran.has_error(2, part);
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    }
}

#[test]
fn failures_and_recoveries_are_delivered_after_a_reload() {
    let instance = TestInstance::new(&config(""));
    let (site, hook) = (Site::start(), WebhookReceiver::start());
    site.set("/a", "words");
    instance.run(&["add", &site.url("/a")]).ok();
    instance.run(&["notify", "add", "one", "--webhook", &hook.url, "--kind", "failing"]).ok();
    let daemon = instance.start();
    wait_until("it is fetched", || site.requests("/a") > 0);
    instance.configure(&config("[watch]\nfailures = 2\nquiet = \"30 days\"\n"));
    daemon.signal("-HUP");
    wait_until("it is read again", || instance.log().contains("configuration reloaded"));
    site.remove("/a");
    // A fetch in flight may have been answered before the page was removed.
    instance.run(&["check", &site.url("/a")]);
    // Explicit checks, because the daemon retries at increasing intervals.
    for _ in 0..3 {
        assert_eq!(instance.run(&["check", &site.url("/a")]).code, Some(1));
    }
    wait_until("the change is delivered", || hook.entries().len() == 1);
    assert_eq!(hook.entries()[0]["kind"], "failing");
    site.set("/a", "words");
    wait_until("it recovers", || {
        instance.run(&["check", &site.url("/a")]);
        instance.run(&["changes"]).out.contains("recovered")
    });
    let kinds: Vec<Value> =
        instance.lines(&["changes", "--json"]).into_iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, ["gone", "failing", "recovered"]);
    let only = instance.run(&["changes", "--kind", "failing"]).ok().out;
    assert!(only.contains("failing") && only.lines().count() == 1, "{only}");
    assert_eq!(hook.entries().len(), 1);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_lowered_failure_limit_is_reported_once() {
    let instance = TestInstance::new(&config(""));
    let (site, hook) = (Site::start(), WebhookReceiver::start());
    instance.run(&["add", &site.url("/a")]).ok();
    instance.run(&["notify", "add", "one", "--webhook", &hook.url, "--kind", "failing"]).ok();
    let daemon = instance.start();
    for _ in 0..3 {
        assert_eq!(instance.run(&["check", &site.url("/a")]).code, Some(1));
    }
    let read_again = |limit: u32| {
        let times = instance.log().matches("configuration reloaded").count();
        instance.configure(&config(&format!("[watch]\nfailures = {limit}\n")));
        daemon.signal("-HUP");
        wait_until("it is read again", || {
            instance.log().matches("configuration reloaded").count() > times
        });
    };
    read_again(3);
    wait_until("the change is delivered", || hook.entries().len() == 1);
    read_again(2);
    assert_eq!(daemon.stop(), Some(0));
    let daemon = instance.start();
    instance.run(&["check", &site.url("/a")]);
    let kinds: Vec<Value> =
        instance.lines(&["changes", "--json"]).into_iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, ["gone", "failing"]);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_missing_secret_fails_only_the_commands_that_need_it() {
    let instance = TestInstance::new("");
    let config = "[mail]\nserver = \"m.example\"\nfrom = \"a@b.example\"\nuser = \"me\"\n\
        password = { env = \"FRESHET_TEST_NO_MAIL\" }\n\
        [[fetch.rules]]\nmatch = \"a.example\"\nbearer = { env = \"FRESHET_TEST_NO_TOKEN\" }\n";
    instance.write("freshet.toml", config);
    instance.run(&["add", "https://a.example/"]).ok();
    instance.run(&["notify", "add", "mail", "--mail", "me@b.example"]).ok();
    instance.run(&["notify", "add", "hook", "--webhook", "https://a.example/"]).ok();
    for arguments in [&["ls"][..], &["changes"], &["notify", "ls"], &["show", "https://a.example/"]]
    {
        instance.run(arguments).ok();
    }
    assert_eq!(instance.run(&["status"]).code, Some(1));
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
        let ran = instance.run(arguments);
        ran.has_error(2, part);
        ran.has_error(2, "hint: set the environment variable");
    }
}

#[test]
fn settings_of_a_destination_can_be_removed() {
    let instance = TestInstance::new("");
    instance
        .run(&["notify", "add", "one", "--command", "x", "--kind", "failing", "--tag", "a"])
        .ok();
    let kinds =
        || instance.run(&["notify", "show", "one", "--json"]).json()["filter"]["kinds"].clone();
    assert_eq!(kinds(), serde_json::json!(["failing"]));
    instance.run(&["notify", "set", "one", "--kind", ""]).ok();
    assert_eq!(kinds(), Value::Null);
    let filter = || instance.run(&["notify", "show", "one", "--json"]).json()["filter"].clone();
    instance.run(&["notify", "set", "one", "--min-importance", "2", "--tag", ""]).ok();
    assert_eq!(filter(), serde_json::json!({ "min_importance": 2.0 }));
    instance.run(&["notify", "set", "one", "--min-importance", ""]).ok();
    assert_eq!(filter(), serde_json::json!({}));
    instance
        .run(&["notify", "set", "one", "--kind", "odd"])
        .has_error(2, "`odd` is not one of changed");
}

#[test]
fn status_lists_paused_destinations() {
    let instance = TestInstance::new("");
    instance.run(&["notify", "add", "one", "--command", "x"]).ok();
    instance.run(&["notify", "pause", "one"]).ok();
    let shown = instance.run(&["status"]);
    assert!(shown.out.contains("1 destination, 1 paused"), "{}", shown.out);
    assert!(shown.out.contains("one: paused for "), "{}", shown.out);
    let json: Value = serde_json::from_str(&instance.run(&["status", "--json"]).out).unwrap();
    assert_eq!(json["destinations"]["troubled"][0]["name"], "one");
}
