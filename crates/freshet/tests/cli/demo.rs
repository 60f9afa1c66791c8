//! `freshet demo` and its dashboard.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Folder;

/// Requests a page. Returns the status and the whole response.
fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    (text.split(' ').nth(1).unwrap().parse().unwrap(), text)
}

#[test]
fn the_dashboard_is_served_until_the_demo_ends_with_a_summary() {
    let folder = Folder::new(&[]);
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("freshet"));
    command.args(["demo", "--pages", "100", "--listen", "127.0.0.1:0"]).current_dir(&folder.0);
    let mut demo = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(demo.stderr.take().unwrap()).lines().map(Result::unwrap);
    let url =
        lines.find_map(|line| line.strip_prefix("the dashboard is at http://").map(str::to_owned));
    let url = url.unwrap();
    let address = url.strip_suffix('/').unwrap();
    let (status, page) = get(address, "/");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("Demo: a simulated web"), "{page}");
    let (status, answer) = get(address, "/v1/status");
    assert_eq!(status, 200, "{answer}");
    // The demo stops on a signal even if a browser is still connected.
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /live HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    let id = demo.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let rest: Vec<String> = lines.collect();
    assert_eq!(demo.wait().unwrap().code(), Some(0), "{rest:?}");
    let has = |part: &str| rest.iter().any(|line| line.contains(part));
    assert!(
        has("100 pages on") && has("Nutch's rule") && has("With the same number of requests"),
        "{rest:?}"
    );
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn the_demo_ends_after_its_time_and_runs_without_a_dashboard() {
    let folder = Folder::new(&[]);
    let ran = folder.run("demo --pages 100 --for 1s --listen off --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("dashboard"), "{}", ran.err);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["pages"], 100);
    assert_eq!(json["clients"].as_array().unwrap().len(), 3);
}

#[test]
fn an_invalid_dashboard_address_is_rejected() {
    let folder = Folder::new(&[]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let check = |arguments: &str, parts: &[&str]| {
        let ran = folder.run(&format!("demo --pages 100 --for 1s {arguments}"));
        assert_eq!(ran.code, Some(2), "{arguments}: {}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "no `{part}` in: {}", ran.err);
        }
    };
    let parts = [&*format!("cannot listen on {address}"), "hint: omit `--listen`"];
    check(&format!("--listen {address}"), &parts);
    check("--listen 0.0.0.0:7343", &["other machines", "use 127.0.0.1:7343"]);
    check("--listen here", &["neither an address"]);
    check("--listen off --open", &["--open needs a dashboard", "hint: remove one of them"]);
}
