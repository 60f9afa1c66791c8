//! Mail, to a server on loopback.

use std::fs;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use freshet_notify::{RawChannel, RawEmail, RawTarget, Target};

use crate::home::{Home, QUICK, until};
use crate::smtp::{Smtp, Way};

const SECRET: &str = "hunter2-of-the-mail-server";

/// A configuration with a mail server, its certificate trusted or not.
fn config(
    folder: &std::path::Path,
    smtp: &Smtp,
    tls: &str,
    trusted: bool,
    signs_in: bool,
) -> String {
    let (root, secret) = (folder.join("root.pem"), folder.join("secret"));
    fs::write(&root, &smtp.root).unwrap();
    fs::write(&secret, SECRET).unwrap();
    let roots = if trusted { format!("roots = [\"{}\"]\n", root.display()) } else { String::new() };
    let user = match signs_in {
        true => format!("user = \"me\"\npassword = {{ file = \"{}\" }}\n", secret.display()),
        false => String::new(),
    };
    format!(
        "{QUICK}{roots}[mail]\nserver = \"localhost\"\nport = {}\ntls = \"{tls}\"\n\
         from = \"Freshet <freshet@example.com>\"\n{user}",
        smtp.port
    )
}

fn email(to: &[&str]) -> RawTarget {
    let to = to.iter().map(|it| (*it).to_owned()).collect();
    RawTarget::new(RawChannel::Email(RawEmail { to, from: None }))
}

/// A header of a mail, its lines put together.
fn header(data: &str, name: &str) -> Option<String> {
    let head = data.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

/// The subject of a mail, its encoded words read (RFC 2047).
fn subject(data: &str) -> String {
    let written = header(data, "Subject").unwrap();
    let words = written.split(' ').map(|word| {
        let inner = word.strip_prefix("=?utf-8?B?").and_then(|it| it.strip_suffix("?="));
        inner.map(|it| String::from_utf8(STANDARD.decode(it).unwrap()).unwrap())
    });
    words.collect::<Option<String>>().unwrap_or(written)
}

/// What a mail says.
fn text(data: &str) -> String {
    let (_, body) = data.split_once("\r\n\r\n").unwrap();
    match header(data, "Content-Transfer-Encoding").as_deref() {
        Some("base64") => {
            let bytes = STANDARD.decode(body.replace("\r\n", "")).unwrap();
            String::from_utf8(bytes).unwrap()
        }
        _ => body.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_a_mail() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = Smtp::new(Way::Open, 0, "").await;
    let home = Home::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let mut raw = email(&["one@example.com", "Zwei <zwei@example.org>"]);
    raw.subject = Some("Geändert: {{url}}".into());
    let id = home.tell("post", raw).await;
    let cursor = home.change(1, "grün statt blau").await;
    until("it is told", async || home.row(id).await.cursor == cursor).await;
    let mail = smtp.mails().remove(0);
    assert!(mail.from.contains("freshet@example.com"));
    assert_eq!(mail.to.len(), 2);
    // RFC 2047: as ASCII on the wire.
    assert!(mail.data.split("\r\n\r\n").next().unwrap().is_ascii());
    assert_eq!(subject(&mail.data), "Geändert: https://a.example/news");
    assert_eq!(header(&mail.data, "Auto-Submitted").as_deref(), Some("auto-generated"));
    assert!(header(&mail.data, "Message-ID").unwrap().starts_with("<msg_"));
    let text = text(&mail.data);
    assert!(text.starts_with("https://a.example/news\r\nchanged: grün statt blau\r\n"), "{text}");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_comes_again_is_the_same_one() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = Smtp::new(Way::Open, 2, "451 later").await;
    let home = Home::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let id = home.tell("post", email(&["one@example.com"])).await;
    let first = home.change(0, "x").await;
    let second = home.change(0, "y").await;
    until("both are told", async || home.row(id).await.cursor == second).await;
    let ids: Vec<_> =
        smtp.mails().iter().map(|it| header(&it.data, "Message-ID").unwrap()).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    let mails = smtp.commands().iter().filter(|it| it.starts_with("MAIL")).count();
    assert_eq!((mails, second), (4, first + 1));
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_never_takes_is_given_up_sooner() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = Smtp::new(Way::Open, 100, "550 no such user here").await;
    let home = Home::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let id = home.tell("post", email(&["one@example.com"])).await;
    let cursor = home.change(0, "x").await;
    until("it is given up", async || home.row(id).await.cursor == cursor).await;
    let dead = home.dead(id).await.remove(0).delivery;
    assert_eq!(dead.attempts, 3);
    assert!(dead.error.contains("no such user here"), "{}", dead.error);
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_is_one_mail_with_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = Smtp::new(Way::Open, 0, "").await;
    let home = Home::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let mut raw = email(&["one@example.com"]);
    raw.digest = Some("1h".into());
    raw.text = Some("{{cursor}} {{summary}}\n".into());
    let id = home.tell("post", raw).await;
    home.change(0, "first").await;
    home.change(1, "second").await;
    let last = home.change(0, "third").await;
    assert!(smtp.mails().is_empty());
    home.pass(Duration::from_secs(3600)).await;
    until("it is told", async || home.row(id).await.cursor == last).await;
    let mails = smtp.mails();
    assert_eq!(mails.len(), 1);
    let data = &mails[0].data;
    assert_eq!(subject(data), "https://a.example/: first (and 2 more)");
    let said = text(data);
    let places = ["first", "second", "third"].map(|it| said.find(it).unwrap());
    assert!(places.is_sorted(), "{data}");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn secured_ways_are_taken_if_they_can_be_trusted() {
    for (way, tls) in [(Way::StartTls, "starttls"), (Way::Implicit, "implicit")] {
        let folder = tempfile::tempdir().unwrap();
        let smtp = Smtp::new(way, 0, "").await;
        let home = Home::new(&config(folder.path(), &smtp, tls, true, true)).await;
        let target = Target::try_from(email(&["one@example.com"])).unwrap();
        let receipt = home.notifier.send_test("post", &target).await.unwrap();
        assert!(receipt.answer.contains("taken"), "{receipt:?}");
        assert_eq!(smtp.mails().len(), 1);
        assert!(smtp.commands().iter().any(|it| it.starts_with("AUTH PLAIN ")));
        assert!(subject(&smtp.mails()[0].data).starts_with("test: "));
        home.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_said_on_a_way_that_is_not_what_was_asked_for() {
    // No STARTTLS is offered; nobody vouches for the certificate; it speaks in the open.
    for (way, tls) in [
        (Way::Open, "starttls"),
        (Way::StartTls, "starttls"),
        (Way::Implicit, "implicit"),
        (Way::Open, "implicit"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let smtp = Smtp::new(way, 0, "").await;
        let home = Home::new(&config(folder.path(), &smtp, tls, false, true)).await;
        let target = Target::try_from(email(&["one@example.com"])).unwrap();
        let trouble = home.notifier.send_test("post", &target).await.unwrap_err();
        assert!(!trouble.message.contains(SECRET), "{trouble}");
        let said = smtp.commands().join("\n");
        assert!(!said.contains("AUTH") && !said.contains("MAIL"), "{tls}: {said}");
        assert!(smtp.mails().is_empty());
        home.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_it_says_how_to_name_one() {
    let home = Home::new(QUICK).await;
    let target = Target::try_from(email(&["one@example.com"])).unwrap();
    let trouble = home.notifier.send_test("post", &target).await.unwrap_err();
    assert!(trouble.message.contains("[mail]"), "{trouble}");
    home.stop().await;
}
