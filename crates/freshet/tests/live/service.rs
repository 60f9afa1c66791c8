//! The service beside the daemon, as people start it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::home::{FAST, Home, until};

/// Asks a service, and gives the status.
fn ask(address: &str, path: &str, token: &str) -> u16 {
    let Ok(mut stream) = TcpStream::connect(address) else { return 0 };
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

#[test]
fn tokens_count_at_once_with_a_daemon_and_without() {
    let home = Home::new(FAST);
    assert!(home.run(&["token", "ls"]).ok().err.contains("no tokens"));
    let daemon = home.spawn(&["run", "--listen", "127.0.0.1:0"]);
    let address = home.service().strip_prefix("http://").unwrap().to_owned();
    until("it answers without a token", || ask(&address, "/v1/status", "") == 200);
    let token = home.run(&["token", "add", "one"]).ok().out;
    assert_eq!(ask(&address, "/v1/status", ""), 401);
    assert_eq!(ask(&address, "/v1/status", token.trim()), 200);
    assert!(!home.log().contains(token.trim()));
    home.run(&["token", "add", "two", "--scope", "write,claim"]).ok();
    home.run(&["token", "rm", "one"]).ok();
    home.run(&["token", "rm", "one"]).says(1, "there is no token");
    assert_eq!(ask(&address, "/v1/status", token.trim()), 401);
    assert_eq!(daemon.stop(), Some(0));
    // And without a daemon.
    let list = home.run(&["token", "ls", "--json"]).json();
    assert_eq!(list[0]["name"], "two");
    assert_eq!(list[0]["scopes"], serde_json::json!(["write", "claim"]));
    assert!(list[1].is_null());
    home.run(&["token", "add", "three", "--scope", "root"]).says(2, "not one of read, write");
    home.run(&["token", "add", ""]).says(2, "cannot be the name of a token");
}

#[test]
fn other_machines_are_let_in_only_with_a_token() {
    let home = Home::new(FAST);
    let refused = home.run(&["run", "--listen", "0.0.0.0:0"]);
    refused.says(2, "can be reached from other machines, and there is no token");
    refused.says(2, "freshet token add NAME --scope");
    home.run(&["run", "--listen", "here"]).says(2, "neither an address");
    home.configure("[server]\nlisten = \"nowhere\"\n");
    home.run(&["run"]).says(2, "server.listen: `nowhere` is neither");
    home.configure("[server]\nhosts = [\"http://x/\"]\n");
    home.run(&["run"]).says(2, "server.hosts: `http://x/` is not the name of a host");
}

#[test]
fn a_place_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = Home::new(FAST);
    home.run(&["run", "--listen", &address]).says(2, "cannot listen at");
    // The store is free again.
    home.run(&["add", "https://example.com/"]).ok();
    let daemon = home.spawn(&["run", "--listen", "off"]);
    until("it runs", || home.run(&["status"]).code == Some(0));
    assert!(!home.log().contains("the service is at"));
    assert_eq!(daemon.stop(), Some(0));
}
