//! Mail, to a server on loopback.

use std::fs;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use freshet_notify::{RawChannel, RawEmail, RawTarget, Target};

use crate::smtp::{SmtpServer, TlsMode};
use crate::test_daemon::{FAST_RETRIES, TestDaemon, wait_until};

const SECRET: &str = "hunter2-of-the-mail-server";

/// Returns a configuration with a mail server whose certificate is trusted or not.
fn config(
    folder: &std::path::Path,
    smtp: &SmtpServer,
    tls: &str,
    trusted: bool,
    has_login: bool,
) -> String {
    let (root, secret) = (folder.join("root.pem"), folder.join("secret"));
    fs::write(&root, &smtp.root).unwrap();
    fs::write(&secret, SECRET).unwrap();
    let roots = if trusted { format!("roots = [\"{}\"]\n", root.display()) } else { String::new() };
    let user = match has_login {
        true => format!("user = \"me\"\npassword = {{ file = \"{}\" }}\n", secret.display()),
        false => String::new(),
    };
    format!(
        "{FAST_RETRIES}{roots}[mail]\nserver = \"localhost\"\nport = {}\ntls = \"{tls}\"\n\
         from = \"Freshet <freshet@example.com>\"\n{user}",
        smtp.port
    )
}

fn email(to: &[&str]) -> RawTarget {
    let to = to.iter().map(|it| (*it).to_owned()).collect();
    RawTarget::new(RawChannel::Email(RawEmail { to, from: None }))
}

/// Returns a header of a mail, unfolded.
fn header(data: &str, name: &str) -> Option<String> {
    let head = data.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

/// Returns the subject of a mail with encoded words decoded (RFC 2047).
fn subject(data: &str) -> String {
    let (mut subject, mut was_encoded) = (String::new(), true);
    for word in header(data, "Subject").unwrap().split(' ') {
        let encoded = word.strip_prefix("=?utf-8?b?").and_then(|it| it.strip_suffix("?="));
        // Spaces between encoded words are not part of the text.
        if !(was_encoded && (encoded.is_some() || subject.is_empty())) {
            subject.push(' ');
        }
        match encoded {
            Some(it) => subject.push_str(&String::from_utf8(STANDARD.decode(it).unwrap()).unwrap()),
            None => subject.push_str(word),
        }
        was_encoded = encoded.is_some();
    }
    subject
}

/// Returns the decoded text of a mail.
fn text(data: &str) -> String {
    let (_, body) = data.split_once("\r\n\r\n").unwrap();
    match header(data, "Content-Transfer-Encoding").as_deref() {
        Some("base64") => {
            let bytes = STANDARD.decode(body.replace("\r\n", "")).unwrap();
            String::from_utf8(bytes).unwrap()
        }
        Some("quoted-printable") => {
            let mut parts = body.replace("=\r\n", "").into_bytes().into_iter();
            let mut bytes = Vec::new();
            while let Some(byte) = parts.next() {
                bytes.push(match byte {
                    b'=' => {
                        let digits = [parts.next().unwrap(), parts.next().unwrap()];
                        u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
                    }
                    _ => byte,
                });
            }
            String::from_utf8(bytes).unwrap()
        }
        Some("7bit") => body.to_owned(),
        other => panic!("{other:?}: {data}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_a_mail() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = SmtpServer::new(TlsMode::Plain, 0, "").await;
    let daemon = TestDaemon::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let mut raw = email(&["one@example.com", "Zwei <zwei@example.org>"]);
    raw.subject = Some("Geändert: {{url}}".into());
    let id = daemon.add_destination("post", raw).await;
    let cursor = daemon.log_change(1, "grün statt blau").await;
    wait_until("delivered", async || daemon.destination(id).await.cursor == cursor).await;
    let mail = smtp.mails().remove(0);
    assert!(mail.from.contains("freshet@example.com"));
    assert_eq!(mail.to.len(), 2);
    // RFC 2047: headers are ASCII.
    assert!(mail.data.split("\r\n\r\n").next().unwrap().is_ascii());
    assert_eq!(subject(&mail.data), "Geändert: https://a.example/news");
    assert_eq!(header(&mail.data, "Auto-Submitted").as_deref(), Some("auto-generated"));
    assert!(header(&mail.data, "Message-ID").unwrap().starts_with("<msg_"));
    let text = text(&mail.data);
    assert!(text.starts_with("https://a.example/news\r\nchanged: grün statt blau\r\n"), "{text}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retried_mail_has_the_same_message_id() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = SmtpServer::new(TlsMode::Plain, 2, "451 later").await;
    let daemon = TestDaemon::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let id = daemon.add_destination("post", email(&["one@example.com"])).await;
    let first = daemon.log_change(0, "x").await;
    let second = daemon.log_change(0, "y").await;
    wait_until("both delivered", async || daemon.destination(id).await.cursor == second).await;
    let ids: Vec<_> =
        smtp.mails().iter().map(|it| header(&it.data, "Message-ID").unwrap()).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    let mails = smtp.commands().iter().filter(|it| it.starts_with("MAIL")).count();
    assert_eq!((mails, second), (4, first + 1));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn permanently_refused_mails_are_given_up_sooner() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = SmtpServer::new(TlsMode::Plain, 100, "550 no such user here").await;
    let daemon = TestDaemon::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let id = daemon.add_destination("post", email(&["one@example.com"])).await;
    let cursor = daemon.log_change(0, "x").await;
    wait_until("given up", async || daemon.destination(id).await.cursor == cursor).await;
    let dead = daemon.dead_letters(id).await.remove(0).delivery;
    assert_eq!(dead.attempts, 3);
    assert!(dead.error.contains("no such user here"), "{}", dead.error);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_is_one_mail_with_all_entries() {
    let folder = tempfile::tempdir().unwrap();
    let smtp = SmtpServer::new(TlsMode::Plain, 0, "").await;
    let daemon = TestDaemon::new(&config(folder.path(), &smtp, "none", false, false)).await;
    let mut raw = email(&["one@example.com"]);
    raw.digest = Some("1h".into());
    raw.text = Some("{{cursor}} {{summary}}\n".into());
    let id = daemon.add_destination("post", raw).await;
    daemon.log_change(0, "first").await;
    daemon.log_change(1, "second").await;
    let last = daemon.log_change(0, "third").await;
    assert!(smtp.mails().is_empty());
    daemon.advance_clock(Duration::from_secs(3600)).await;
    wait_until("delivered", async || daemon.destination(id).await.cursor == last).await;
    let mails = smtp.mails();
    assert_eq!(mails.len(), 1);
    let data = &mails[0].data;
    assert_eq!(subject(data), "https://a.example/: first (and 2 more)");
    let text = text(data);
    let positions = ["first", "second", "third"].map(|it| text.find(it).unwrap());
    assert!(positions.is_sorted(), "{data}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn encrypted_connections_are_used_if_trusted() {
    for (mode, tls) in [(TlsMode::StartTls, "starttls"), (TlsMode::Implicit, "implicit")] {
        let folder = tempfile::tempdir().unwrap();
        let smtp = SmtpServer::new(mode, 0, "").await;
        let daemon = TestDaemon::new(&config(folder.path(), &smtp, tls, true, true)).await;
        let target = Target::try_from(email(&["one@example.com"])).unwrap();
        let receipt = daemon.notifier.send_test("post", &target).await.unwrap();
        assert!(receipt.answer.contains("accepted"), "{receipt:?}");
        assert_eq!(smtp.mails().len(), 1);
        assert!(smtp.commands().iter().any(|it| it.starts_with("AUTH PLAIN ")));
        assert!(subject(&smtp.mails()[0].data).starts_with("test: "));
        daemon.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_without_the_configured_encryption() {
    // No STARTTLS offered; untrusted certificates; no TLS.
    for (mode, tls) in [
        (TlsMode::Plain, "starttls"),
        (TlsMode::StartTls, "starttls"),
        (TlsMode::Implicit, "implicit"),
        (TlsMode::Plain, "implicit"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let smtp = SmtpServer::new(mode, 0, "").await;
        let daemon = TestDaemon::new(&config(folder.path(), &smtp, tls, false, true)).await;
        let target = Target::try_from(email(&["one@example.com"])).unwrap();
        let error = daemon.notifier.send_test("post", &target).await.unwrap_err();
        assert!(!error.message.contains(SECRET), "{error}");
        let commands = smtp.commands().join("\n");
        assert!(!commands.contains("AUTH") && !commands.contains("MAIL"), "{tls}: {commands}");
        assert!(smtp.mails().is_empty());
        daemon.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_the_error_names_the_setting() {
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    let target = Target::try_from(email(&["one@example.com"])).unwrap();
    let error = daemon.notifier.send_test("post", &target).await.unwrap_err();
    assert!(error.message.contains("[mail]"), "{error}");
    daemon.stop().await;
}
