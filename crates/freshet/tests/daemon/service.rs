//! The HTTP service of the daemon.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::instance::{FAST, TestInstance, wait_until};

/// Sends a request to the service. Returns the status, or 0 without a connection.
fn get_status(address: &str, path: &str, token: &str) -> u16 {
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
fn tokens_take_effect_immediately_with_and_without_a_daemon() {
    let instance = TestInstance::new(FAST);
    assert!(instance.run(&["token", "ls"]).ok().err.contains("no tokens"));
    let daemon = instance.spawn(&["run", "--listen", "127.0.0.1:0"]);
    let address = instance.service().strip_prefix("http://").unwrap().to_owned();
    wait_until("it answers without a token", || get_status(&address, "/v1/status", "") == 200);
    let token = instance.run(&["token", "add", "one"]).ok().out;
    assert_eq!(get_status(&address, "/v1/status", ""), 401);
    assert_eq!(get_status(&address, "/v1/status", token.trim()), 200);
    assert!(!instance.log().contains(token.trim()));
    instance.run(&["token", "add", "two", "--scope", "write,claim"]).ok();
    instance.run(&["token", "rm", "one"]).ok();
    instance.run(&["token", "rm", "one"]).has_error(1, "there is no token");
    assert_eq!(get_status(&address, "/v1/status", token.trim()), 401);
    assert_eq!(daemon.stop(), Some(0));
    // Tokens can also be managed without a daemon.
    let list = instance.run(&["token", "ls", "--json"]).json();
    assert_eq!(list[0]["name"], "two");
    assert_eq!(list[0]["scopes"], serde_json::json!(["write", "claim"]));
    assert!(list[1].is_null());
    instance
        .run(&["token", "add", "three", "--scope", "root"])
        .has_error(2, "not one of read, write");
    instance.run(&["token", "add", ""]).has_error(2, "is not a valid name of a token");
}

#[test]
fn a_public_address_requires_a_token() {
    let instance = TestInstance::new(FAST);
    let refused = instance.run(&["run", "--listen", "0.0.0.0:0"]);
    refused.has_error(2, "is reachable from other machines, and there is no token");
    refused.has_error(2, "freshet token add NAME --scope");
    instance.run(&["run", "--listen", "here"]).has_error(2, "neither an address");
    instance.configure("[server]\nlisten = \"nowhere\"\n");
    instance.run(&["run"]).has_error(2, "server.listen: `nowhere` is neither");
    instance.configure("[server]\nhosts = [\"http://x/\"]\n");
    instance.run(&["run"]).has_error(2, "server.hosts: `http://x/` is not a host name");
}

#[test]
fn an_address_in_use_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let instance = TestInstance::new(FAST);
    instance.run(&["run", "--listen", &address]).has_error(2, "cannot listen on");
    // The store is unlocked.
    instance.run(&["add", "https://example.com/"]).ok();
    let daemon = instance.spawn(&["run", "--listen", "off"]);
    wait_until("it runs", || instance.run(&["status"]).code == Some(0));
    assert!(!instance.log().contains("the service is at"));
    assert_eq!(daemon.stop(), Some(0));
}
