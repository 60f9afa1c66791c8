//! Headers and secrets by URL pattern.

use std::io::Write;

use freshet_fetch::{FetchSettings, Fetcher, RawFetchSettings};

use crate::certificates::{Authority, VALID, named, secure};
use crate::server::{Server, ok, read_head};
use crate::{QUICK, fetch, quick_with, settings};

fn token_file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

async fn head_with(rules: &str) -> String {
    let server = Server::always(ok("x")).await;
    let rules = rules.replace("PORT", &server.port().to_string());
    let settings = settings(&format!("{QUICK}\n{rules}"));
    assert!(!format!("{settings:?}").contains("hunter2"));
    let result = fetch(&Fetcher::new(settings), &server.url("/api/x")).await;
    assert!(!format!("{result:?}").contains("hunter2"));
    server.heads().remove(0)
}

#[tokio::test]
async fn headers_go_where_their_pattern_says() {
    let rules = "[[rules]]\nmatch = \"127.0.0.1:PORT/api/\"\nheaders = { X-One = \"1\", X-Two = \"1\" }\n\
                 [[rules]]\nmatch = \"*\"\nheaders = { x-two = \"2\" }\n\
                 [[rules]]\nmatch = \"127.0.0.1/other\"\nheaders = { x-three = \"3\" }\n";
    let head = head_with(rules).await;
    assert!(head.contains("x-one: 1\r\n") && head.contains("x-two: 2\r\n"), "{head}");
    assert!(!head.contains("x-three") && !head.contains("x-two: 1"), "{head}");
}

#[tokio::test]
async fn secrets_go_unencrypted_only_if_the_pattern_says_so() {
    let file = token_file(" hunter2\n");
    let path = file.path().display();
    let rule = |pattern: &str| {
        format!("[[rules]]\nmatch = \"{pattern}\"\nbearer = {{ file = \"{path}\" }}\n")
    };
    let head = head_with(&rule("http://127.0.0.1")).await;
    assert!(head.contains("authorization: Bearer hunter2\r\n"), "{head}");
    let head = head_with(&rule("127.0.0.1")).await;
    assert!(!head.contains("authorization"), "{head}");
    let basic = format!(
        "[[rules]]\nmatch = \"http://*\"\nbasic = {{ user = \"me\", password = {{ file = \"{path}\" }} }}"
    );
    // `me:hunter2`
    assert!(head_with(&basic).await.contains("authorization: Basic bWU6aHVudGVyMg==\r\n"));
}

#[tokio::test]
async fn credentials_in_plain_headers_are_secrets() {
    for name in ["Authorization", "cookie"] {
        let rule = |pattern: &str| {
            format!("[[rules]]\nmatch = \"{pattern}\"\nheaders = {{ {name} = \"hunter2\" }}\n")
        };
        assert!(!head_with(&rule("127.0.0.1")).await.contains("hunter2"), "{name}");
        assert!(head_with(&rule("http://127.0.0.1")).await.contains("hunter2"), "{name}");
    }
}

#[tokio::test]
async fn secrets_go_over_secure_connections() {
    let (file, authority) = (token_file("hunter2"), Authority::new());
    let (sender, mut heads) = tokio::sync::mpsc::unbounded_channel();
    let server = secure(authority.acceptor(&VALID, &["http/1.1"]), move |mut stream| {
        let sender = sender.clone();
        async move {
            sender.send(read_head(&mut stream).await.unwrap()).unwrap();
        }
    })
    .await;
    let [roots, names] = named(&authority);
    let rule = format!(
        "[[rules]]\nmatch = \"*.example\"\nheaders = {{ x-key = {{ file = \"{}\" }} }}\n",
        file.path().display()
    );
    let settings = settings(&format!("{}\n{rule}", quick_with(&[&roots, &names])));
    fetch(&Fetcher::new(settings), &format!("https://secure.example:{}/", server.port())).await;
    assert!(heads.recv().await.unwrap().contains("x-key: hunter2\r\n"));
}

#[track_caller]
fn check_invalid(text: &str, field: &str) {
    let raw: RawFetchSettings = toml::from_str(text).unwrap();
    let error = FetchSettings::try_from(raw).unwrap_err();
    assert_eq!(error.field, field, "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn an_invalid_setting_is_named() {
    check_invalid("allow = [\"10.0.0.0/99\"]", "allow");
    check_invalid("dns = [\"example.com\"]", "dns");
    check_invalid("resolve = { x = [\"y\"] }", "resolve.x");
    check_invalid("roots = [\"/no/such/file\"]", "roots");
    check_invalid("files = [\"/no/such/directory\"]", "files");
    check_invalid("commands = { x = [] }", "commands.x");
    check_invalid("user_agent = \"(x)\"", "user_agent");
    check_invalid("contact = \"a\\nb\"", "contact");
    check_invalid("[limits]\nconnect = \"soon\"", "limits.connect");
    check_invalid("[limits]\nidle = \"0s\"", "limits.idle");
    check_invalid("[limits]\ntotal = \"99999999999999d\"", "limits.total");
    check_invalid("[limits]\nkeep = \"31d\"", "limits.keep");
    check_invalid("[limits]\nbody_bytes = 0", "limits.body_bytes");
    check_invalid("[limits]\nwire_bytes = \"1 mile\"", "limits.wire_bytes");
    check_invalid("[limits]\nhead_bytes = 1", "limits.head_bytes");
    check_invalid("[limits]\nredirects = 1000", "limits.redirects");
    check_invalid("[limits]\nrobots = \"2d\"", "limits.robots");
    let rule = |text: &str| format!("[[rules]]\nmatch = \"*\"\n[[rules]]\n{text}");
    check_invalid(&rule("match = \"\""), "rules[1].match");
    check_invalid(&rule("match = \"x\"\nheaders = { host = \"y\" }"), "rules[1].headers.host");
    check_invalid(&rule("match = \"x\"\nheaders = { \"a b\" = \"y\" }"), "rules[1].headers.a b");
    check_invalid(&rule("match = \"x\"\nheaders = { a = \"y\\n\" }"), "rules[1].headers.a");
    check_invalid(
        &rule("match = \"x\"\nbearer = { env = \"NO_SUCH_VARIABLE\" }"),
        "rules[1].bearer",
    );
    check_invalid(&rule("match = \"x\"\nbearer = { file = \"/no\" }"), "rules[1].bearer");
    check_invalid(&rule("match = \"x\"\nproxy = { url = \"socks5://x\" }"), "rules[1].proxy.url");
    check_invalid(
        &rule("match = \"x\"\nproxy = { url = \"http://me:hunter2@x\" }"),
        "rules[1].proxy.url",
    );
    assert!(toml::from_str::<RawFetchSettings>("unknown = 1").is_err());
}
