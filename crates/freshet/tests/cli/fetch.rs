//! `freshet fetch`, from a server on loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use serde_json::Value;

use crate::{Folder, RunResult};

const ROBOTS: &str = "user-agent: *\nallow: /yes\ndisallow: /no\ncrawl-delay: 3\n";

/// Starts a server with a few pages that closes each connection.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap_or(0) == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let (status, headers, body) = answer(&head);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
            );
        }
    });
    address
}

fn answer(head: &str) -> (&'static str, &'static str, String) {
    let html =
        "Content-Type: text/html; charset=utf-8\r\nETag: \"v1\"\r\nCache-Control: max-age=60\r\n";
    match head.split(' ').nth(1).unwrap_or_default() {
        "/robots.txt" => ("200 OK", "", ROBOTS.to_owned()),
        "/yes" if head.contains("if-none-match: \"v1\"") => ("304 Not Modified", "", String::new()),
        "/yes" => ("200 OK", html, "<p>grün</p>".to_owned()),
        "/moved" => ("301 Moved", "Location: /yes\r\n", String::new()),
        "/busy" => ("503 Busy", "Retry-After: 120\r\n", String::new()),
        "/head" => ("200 OK", "", head.to_lowercase()),
        "/steer" => ("200 OK", "ETag: \"\u{9b}2J\"\r\n", "x".to_owned()),
        "/away" => ("302 Found", "Location: file:///etc/passwd\r\n", String::new()),
        _ => ("404 Not Found", "", String::new()),
    }
}

fn fetch(path: &str, more: &str) -> RunResult {
    let address = serve();
    Folder::new(&[]).run(&format!("fetch http://{address}{path} --allow 127.0.0.1 {more}"))
}

/// Runs `freshet fetch` with arguments that may contain spaces and control characters.
fn fetch_with(arguments: &[&str]) -> RunResult {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("freshet");
    let output = command.arg("fetch").args(arguments).output().unwrap();
    RunResult {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn json(path: &str, more: &str) -> (Option<i32>, Value) {
    let ran = fetch(path, &format!("--json {more}"));
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

#[test]
fn the_whole_outcome_is_shown() {
    let ran = fetch("/moved", "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for part in [
        "outcome       content (200)\n",
        "moved         permanently, to http://",
        "type          text/html; UTF-8, from the header\n",
        "size          12 bytes\n",
        "etag          \"v1\"\n",
        "max-age       60 seconds\n",
        "robots.txt    allowed by line 2, `allow: /yes`\n",
        "crawl delay   3 seconds\n",
        " for 3 requests: ",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn the_json_report_has_the_outcome_and_the_hops() {
    let (code, report) = json("/moved", "");
    assert_eq!(code, Some(0));
    assert_eq!((&report["outcome"], &report["status"]), (&"content".into(), &200.into()));
    assert_eq!(report["final_url"], report["moved_to"]);
    assert_eq!(report["hops"].as_array().unwrap().len(), 2);
    assert_eq!(report["charset"]["known_by"], "header");
    assert_eq!(report["robots"]["rule_line"], 2);
    assert_eq!(report["max_age_seconds"], 60);
    let (code, report) = json("/busy", "");
    assert_eq!((code, &report["blame"]), (Some(1), &"host".into()));
    assert_eq!(report["retry_after_seconds"], 120);
}

#[test]
fn exit_codes_distinguish_success_refusal_and_failure() {
    for (path, more, code) in [
        ("/yes", "", 0),
        ("/yes", "--etag \"v1\"", 0),
        ("/yes", "--head", 0),
        ("/none", "", 1),
        ("/busy", "", 1),
        ("/no", "", 1),
        ("/no", "--robots", 1),
        ("/yes", "--robots", 0),
        ("/no", "--no-robots", 1),
        ("/yes", "--header x", 2),
        ("/yes", "--header Host:x", 2),
        ("/yes", "--allow 10.0.0.0/99", 2),
        ("/yes", "--json --body -", 2),
        ("/yes", "--body no/such/directory", 2),
        ("/yes", "--robots --body x", 2),
        ("/yes", "--settings none.toml", 2),
    ] {
        let ran = fetch(path, more);
        assert_eq!(ran.code, Some(code), "{path} {more}: {}{}", ran.out, ran.err);
        assert_eq!(ran.err.starts_with("error: "), code == 2, "{path} {more}: {}", ran.err);
    }
    let (_, report) = json("/yes", "--etag \"v1\"");
    assert_eq!(report["outcome"], "not-modified");
}

#[test]
fn robots_are_explained() {
    let ran = fetch("/no/x", "--robots");
    for part in [
        "verdict           disallowed\n",
        "reason            disallowed by line 3, `disallow: /no`\n",
        "group             `user-agent: *`, from line 1\n",
        "/robots.txt, status 200\n",
        "age of the copy   ",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let (_, report) = json("/no/x", "--robots");
    assert_eq!((&report["allowed"], &report["rule_line"]), (&false.into(), &3.into()));
    assert_eq!(report["crawl_delay_seconds"], 3.0);
}

#[test]
fn a_refusal_of_the_guard_has_a_hint() {
    let address = serve();
    let ran = Folder::new(&[]).run(&format!("fetch http://{address}/yes"));
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains("refused by the guard: 127.0.0.1 is at the loopback address 127.0.0.1")
    );
    assert_eq!(ran.err, "\nhint: if this is intended, allow it with `--allow 127.0.0.1`\n");
    let report = Folder::new(&[]).run(&format!("fetch http://{address}/yes --json"));
    let report: Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(report["refused"]["zone"], "loopback");
}

#[test]
fn the_body_is_written_to_the_given_output() {
    let ran = fetch("/yes", "--body -");
    assert_eq!(ran.out, "<p>grün</p>");
    assert!(ran.err.starts_with("outcome "));
    let (address, folder) = (serve(), Folder::new(&[]));
    let ran = folder.run(&format!("fetch http://{address}/yes --allow 127.0.0.1 --body page.html"));
    assert!(ran.out.starts_with("outcome "));
    assert_eq!(folder.read("page.html"), "<p>grün</p>");
    folder.run(&format!("fetch http://{address}/none --allow 127.0.0.1 --body none.html"));
    assert_eq!(folder.names(), ["page.html"]);
}

#[test]
fn headers_and_settings_are_sent() {
    let settings =
        "contact = \"a@b.c\"\n[[rules]]\nmatch = \"127.0.0.1\"\nheaders = { x-rule = \"1\" }\n";
    let (address, folder) = (serve(), Folder::new(&[("s.toml", settings), ("bad.toml", "x = 1")]));
    let go = |more: &str| {
        folder.run(&format!("fetch http://{address}/head --allow 127.0.0.1 --body - {more}"))
    };
    let head = go("--header X-Own:2 --settings s.toml").out;
    for line in ["user-agent: freshet/0.1 (+a@b.c)", "x-rule: 1", "x-own: 2"] {
        assert!(head.contains(&format!("{line}\r\n")), "{head}");
    }
    assert!(go("--user-agent other/1").out.contains("user-agent: other/1\r\n"));
    let ran = go("--settings bad.toml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: bad.toml, line 1: unknown field `x`"), "{}", ran.err);
}

#[test]
fn invalid_urls_are_rejected() {
    let run = |url: &str| Folder::new(&[]).run(&format!("fetch {url}"));
    let ran = run("example.com");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.contains("hint: give the full URL, such as `https://example.com`"),
        "{}",
        ran.err
    );
    let ran = run("localhost:8080/x");
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.err, "\nhint: give the full URL: `http://localhost:8080/x`\n");
    for url in ["https://me:hunter2@example.com/", "me:hunter2@example.com", "hunter2:@example.com"]
    {
        let ran = run(url);
        assert_eq!(ran.code, Some(2));
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
        assert!(
            ran.err.contains("the URL of example.com contains a user name or password"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn secrets_in_the_wrong_place_are_not_repeated() {
    for line in [
        "match = 'https://me:hunter2@example.com'",
        "match = 'x'\nproxy = 'http://me:hunter2@example.com'",
        "match = 'x'\nbasic = 'me:hunter2'",
        "match = 'x'\nheaders = 'Authorization: hunter2'",
        "match = 'x'\nbearer = { env = 'hunter2' }",
    ] {
        let folder = Folder::new(&[("s.toml", &format!("[[rules]]\n{line}\n"))]);
        let ran = folder.run("fetch http://127.0.0.1:1/ --settings s.toml");
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.err);
        assert!(!ran.err.contains("hunter2"), "{line}: {}", ran.err);
    }
    let ran = fetch_with(&["http://127.0.0.1:1/", "--header", "Bearer hunter2: x"]);
    assert_eq!((ran.code, ran.err.contains("hunter2")), (Some(2), false), "{}", ran.err);
}

#[test]
fn a_setting_of_the_wrong_kind_is_named_and_not_repeated() {
    for (text, field, is) in [
        ("allow = 'hunter2'", "allow", "a list"),
        ("allow = [7531]", "allow", "a text"),
        ("robots = 'hunter2'", "robots", "true or false"),
        ("limits = 'hunter2'", "limits", "a table"),
        ("[limits]\nconnect = 7531", "limits.connect", "a text"),
        ("[limits]\nredirects = -7531", "limits.redirects", "a whole number"),
        ("[limits]\nhead_bytes = ['hunter2']", "limits.head_bytes", "a number of bytes"),
        ("commands = { a = 'hunter2' }", "commands.a", "a list"),
        ("[[rules]]\nmatch = 'x'\nheaders = { X = 7531 }", "headers.X", "a text"),
        (
            "[[rules]]\nmatch = 'x'\nproxy = { url = 'http://p', trusted = 'hunter2' }",
            "trusted",
            "true",
        ),
    ] {
        let folder = Folder::new(&[("s.toml", text)]);
        let ran = folder.run("fetch http://127.0.0.1:1/ --settings s.toml");
        assert_eq!(ran.code, Some(2), "{text}: {}", ran.err);
        for secret in ["hunter2", "7531", "Raw", "struct", "enum"] {
            assert!(!ran.err.contains(secret), "{text}: {}", ran.err);
        }
        assert!(ran.err.contains(field) && ran.err.contains(is), "{text}: {}", ran.err);
    }
    for (text, field) in [
        ("contact = 'me) (+you'", "contact"),
        ("[limits]\nbody_bytes = '99999999999999GiB'", "limits.body_bytes"),
    ] {
        let folder = Folder::new(&[("s.toml", text)]);
        let ran = folder.run("fetch http://127.0.0.1:1/ --settings s.toml");
        assert!(ran.err.contains(&format!("the setting `{field}`")), "{text}: {}", ran.err);
    }
}

#[test]
fn an_etag_without_quotes_has_a_hint() {
    let ran = fetch("/yes", "--etag v1");
    assert!(ran.err.contains("hint: the quotes are part of an ETag"), "{}", ran.err);
    let ran = fetch("/moved", "--etag \"v1\"");
    assert!(ran.out.contains("not modified (304)"), "{}", ran.out);
}

#[test]
fn invalid_conditions_are_rejected() {
    for (arguments, says) in [
        (["--etag", "\"a\nb\""], "the ETag is empty or contains control characters"),
        (["--etag", ""], "the ETag is empty"),
        (["--modified", "yesterday"], "`yesterday` is not an HTTP date"),
        (["--modified", "2024-01-01"], "Sun, 06 Nov 1994 08:49:37 GMT"),
        (["--allow", "::1:8080"], "`[::1]:8080`"),
    ] {
        let ran = fetch_with(&[&["http://127.0.0.1:1/"], &arguments[..]].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains("hint: "), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn an_unreachable_host_is_reported_before_robots_txt() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{gone}/");
    let ran = fetch_with(&[&url, "--allow", "127.0.0.1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let says = format!("failed: robots.txt cannot be reached: cannot connect to {gone}: ");
    assert!(ran.out.contains(&says) && ran.out.contains("caused by the host"), "{}", ran.out);
    let ran = fetch_with(&[&url, "--allow", "127.0.0.1", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&report["outcome"], &report["blame"]), (&"failed".into(), &"host".into()));
    assert_eq!(report["error"]["name"], "connect");
    assert_eq!(report["error"]["of"], "robots.txt");
    assert_eq!(report["robots"]["because"], "unreachable");
}

#[test]
fn a_redirect_to_a_file_is_refused_for_what_it_is() {
    let ran = fetch("/away", "");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains("refused by the guard: redirect to a `file:` URL not followed"),
        "{}",
        ran.out
    );
    assert!(!ran.err.contains("files ="), "{}", ran.err);
    let (_, report) = json("/away", "");
    assert_eq!(report["refused"]["name"], "redirect");
}

#[test]
fn fetched_text_cannot_control_the_terminal() {
    let ran = fetch("/steer", "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("etag          \"\u{fffd}2J\"\n"), "{}", ran.out);
    let ran = fetch("/steer", "--json");
    assert!(ran.out.contains(r#""etag":"\"\u009b2J\"""#), "{}", ran.out);
    for arguments in [
        &["\u{1b}[2J"][..],
        &["http://exa\u{1b}mple.com/"],
        &["http://example.com/", "--\u{1b}[2J"],
        &["http://example.com/", "--modified", "\u{1b}[2J"],
        &["http://example.com/", "--user-agent", "\u{1b}[2J"],
        &["http://example.com/", "--allow", "\u{9b}2J"],
        &["http://example.com/", "--header", "\u{1b}[2J: x"],
        &["http://example.com/", "--settings", "\u{1b}[2J"],
    ] {
        let ran = fetch_with(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
        assert!(!ran.err.contains(['\u{1b}', '\u{9b}']), "{arguments:?}: {:?}", ran.err);
    }
}

#[test]
fn detect_reads_a_url() {
    let address = serve();
    let ran = Folder::new(&[]).run(&format!("detect http://{address}/yes --allow 127.0.0.1"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "grün\n"), "{}", ran.err);
    for (url, why, hint) in [
        (format!("http://{address}/yes"), "refused", "--allow 127.0.0.1"),
        (format!("http://{address}/no --allow 127.0.0.1"), "robots.txt", "--robots"),
        (format!("http://{address}/lost --allow 127.0.0.1"), "gone", "freshet fetch"),
    ] {
        let ran = Folder::new(&[]).run(&format!("detect {url}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        assert!(ran.err.contains(why) && ran.err.contains(hint), "{}", ran.err);
    }
}
