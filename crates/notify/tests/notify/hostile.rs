//! Tests of attacks that comparable tools had advisories for: requests to internal addresses (CWE-918, in
//! changedetection.io, Grafana, ntfy and n8n), injection into headers and mail (CWE-93, CWE-113), templates that run
//! code (CWE-1336, in changedetection.io's Jinja2 and n8n's expressions), commands through a shell (CWE-78, in n8n),
//! secrets in lists and logs (CWE-532, CWE-200, in Grafana's contact points).

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use freshet_notify::{
    RawChannel, RawCommand, RawEmail, RawFilter, RawTarget, RawWebhook, SigningKey, Target,
    Template, check_name,
};
use tracing_subscriber::fmt::MakeWriter;

use crate::receiver::Receiver;
use crate::smtp::{SmtpServer, TlsMode};
use crate::test_daemon::{FAST_RETRIES, TestDaemon, wait_until, webhook};

#[tokio::test(flavor = "multi_thread")]
async fn internal_addresses_are_refused_in_any_spelling() {
    let receiver = Receiver::accepting().await;
    let port = receiver.url.split(':').nth(2).unwrap().split('/').next().unwrap().to_owned();
    // Without `allow`, loopback is refused.
    let daemon = TestDaemon::new(&FAST_RETRIES.replace("allow = [\"127.0.0.0/8\"]", "")).await;
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "0.0.0.0",
    ] {
        let target = Target::try_from(webhook(&format!("http://{host}:{port}/"))).unwrap();
        let error = daemon.notifier.send_test("hook", &target).await.unwrap_err();
        assert!(error.response.is_none(), "{host}: {error:?}");
    }
    assert!(receiver.requests().is_empty());
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed() {
    let internal = Receiver::accepting().await;
    let to = internal.url.clone();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("Location: {to}\r\n");
        let external = Receiver::new(move |_| Some((status, location.clone()))).await;
        let daemon = TestDaemon::new(FAST_RETRIES).await;
        let target = Target::try_from(webhook(&external.url)).unwrap();
        let error = daemon.notifier.send_test("hook", &target).await.unwrap_err();
        assert_eq!(error.message, format!("HTTP status {status}"));
        daemon.stop().await;
    }
    assert!(internal.requests().is_empty());
}

#[test]
fn urls_of_other_schemes_are_refused() {
    for url in [
        "file:///etc/passwd",
        "exec:tell",
        "gopher://127.0.0.1:25/",
        "ftp://example.com/",
        "javascript:alert(1)",
        "//example.com/",
        "",
        "http://me:hunter2@example.com/",
        "http://example.com/\u{0}",
        "http://exa mple.com/",
    ] {
        match Target::try_from(webhook(url)) {
            // Characters that URL parsing removes are harmless.
            Ok(target) => assert!(target.redacted_address().starts_with("http"), "{url}"),
            Err(error) => {
                assert_eq!(error.field, "webhook.url", "{url}");
                assert!(!error.to_string().contains("hunter2"));
            }
        }
    }
    let long = format!("http://example.com/{}", "x".repeat(10_000));
    assert!(Target::try_from(webhook(&long)).is_err());
}

#[test]
fn headers_cannot_be_injected() {
    let with = |name: &str, value: &str| {
        let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let (url, keys) =
            ("http://example.com/".to_owned(), vec![SigningKey::generate(0).unwrap()]);
        Target::try_from(RawTarget::new(RawChannel::Webhook(RawWebhook { url, headers, keys })))
    };
    assert!(with("Authorization", "Bearer x").is_ok());
    for (name, value) in [
        ("X", "a\r\nY: b"),
        ("X", "a\nb"),
        ("X", "a\u{0}b"),
        ("X\r\nY", "b"),
        ("X: Y", "b"),
        ("", "b"),
        ("Host", "inside"),
        ("Content-Length", "1"),
        ("Transfer-Encoding", "chunked"),
        ("Webhook-Signature", "v1,x"),
        ("webhook-id", "x"),
        ("Content-Type", "text/html"),
        ("Proxy-Authorization", "x"),
    ] {
        let error = with(name, value).unwrap_err();
        assert_eq!(error.field, "webhook.headers", "{name:?}");
        assert!(!error.reason.contains('\n'), "{error}");
    }
    for name in ["", "a b", "a\r\nb", "ä", "../x", "a/b", &"x".repeat(65)] {
        assert!(check_name(name).is_err(), "{name:?}");
    }
    for to in ["", "x", "a@b\r\nBcc: c@d", "a@b, c@d", "<a@b>\n", "a@b\u{0}"] {
        let email = RawEmail { to: vec![to.to_owned()], from: None };
        let error = Target::try_from(RawTarget::new(RawChannel::Email(email))).unwrap_err();
        assert_eq!(error.field, "email.to", "{to:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_content_adds_no_header_to_a_mail() {
    let smtp = SmtpServer::new(TlsMode::Plain, 0, "").await;
    let config = format!(
        "{FAST_RETRIES}[mail]\nserver = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n\
         from = \"f@example.com\"\n",
        smtp.port
    );
    let daemon = TestDaemon::new(&config).await;
    let email = RawEmail { to: vec!["one@example.com".into()], from: None };
    let mut raw = RawTarget::new(RawChannel::Email(email));
    raw.subject = Some("{{summary}}".into());
    raw.text = Some("{{summary}}".into());
    let id = daemon.add_destination("post", raw).await;
    let hostile =
        "x\r\nBcc: evil@example.com\r\n\r\n.\r\nMAIL FROM:<evil@example.com>\r\n\u{2028}y";
    let cursor = daemon.log_change(0, hostile).await;
    wait_until("delivered", async || daemon.destination(id).await.cursor == cursor).await;
    let mails = smtp.mails();
    assert_eq!((mails.len(), mails[0].to.len()), (1, 1));
    let head = mails[0].data.split("\r\n\r\n").next().unwrap();
    assert!(!head.lines().any(|line| line.to_ascii_lowercase().starts_with("bcc")), "{head}");
    assert!(!smtp.commands().iter().any(|it| it.contains("<evil@example.com>")));
    daemon.stop().await;
}

#[test]
fn templates_expand_fields_only() {
    for (text, part) in [
        ("{{secret}}", "unknown field `secret`"),
        ("{{ 7 * 7 }}", "unknown field `7 * 7`"),
        ("{{config.__class__}}", "unknown field `config"),
        ("{{url|upper}}", "unknown field `url|upper`"),
        ("{{ url.host }}", "unknown field `url.host`"),
        ("{{{{url}}}}", "unknown field `{{url`"),
        ("{{include '/etc/passwd'}}", "unknown field `include"),
        ("{{url", "not closed"),
        ("{{}}", "unknown field ``"),
    ] {
        let error = Template::parse(text, "subject").unwrap_err();
        assert!(error.field == "subject" && error.reason.contains(part), "{text}: {error}");
    }
    for fine in ["", "{{url}}{{host}}", "{% raw %} ${url} {url} }}", "{{ url }}"] {
        assert!(Template::parse(fine, "text").is_ok(), "{fine}");
    }
    assert!(Template::parse(&"x".repeat(20_000), "text").is_err());
}

#[test]
fn an_invalid_field_is_named_in_the_error() {
    let check = |change: &dyn Fn(&mut RawTarget), field: &str| {
        let mut raw = webhook("http://example.com/");
        change(&mut raw);
        assert_eq!(Target::try_from(raw).unwrap_err().field, field);
    };
    check(&|it| it.version = 2, "version");
    check(&|it| it.digest = Some("soon".into()), "digest");
    check(&|it| it.digest = Some("1ms".into()), "digest");
    check(&|it| it.subject = Some("x".into()), "subject");
    check(&|it| it.text = Some("x".into()), "text");
    let filter = RawFilter { max_similarity: Some(2.0), ..RawFilter::default() };
    check(&|it| it.filter = filter.clone(), "filter.max_similarity");
    check(&|it| it.to = RawChannel::Command(RawCommand { name: "a b".into() }), "command.name");
    for text in ["", "{}", "null", r#"{"version":1,"to":{"webhook":{"url":7}}}"#] {
        assert_eq!(Target::parse(text).unwrap_err().field, "settings");
    }
}

/// Collects log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_no_log_list_or_error() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone());
    let subscriber = subscriber.with_max_level(tracing::Level::TRACE).finish();
    // Another test may have set a subscriber already.
    let _ = tracing::subscriber::set_global_default(subscriber);
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    let receiver = Receiver::new(|n| match n {
        1 => Some((500, String::new())),
        2..=4 => Some((400, String::new())),
        _ => Some((410, String::new())),
    })
    .await;
    let mut raw = webhook(&receiver.url);
    let RawChannel::Webhook(webhook) = &mut raw.to else { unreachable!() };
    webhook.headers.insert("Authorization".into(), "Bearer hunter2-token".into());
    let secret = webhook.keys[0].reveal_secret()["whsec_".len()..].to_owned();
    let target = Target::try_from(raw.clone()).unwrap();
    let id = daemon.add_destination("hook", raw.clone()).await;
    daemon.log_change(0, "x").await;
    wait_until("given up", async || !daemon.dead_letters(id).await.is_empty()).await;
    daemon.log_change(0, "y").await;
    wait_until("paused", async || daemon.destination(id).await.paused).await;
    let row = daemon.destination(id).await;
    let error = daemon.notifier.send_test("hook", &target).await.unwrap_err();
    let shown = format!(
        "{:?} {target:?} {raw:?} {error:?} {:?} {} {:?}",
        row.error,
        daemon.dead_letters(id).await,
        target.redacted_address(),
        Target::parse(&row.settings.replace("whsec_", "hunter2-")).unwrap_err(),
    );
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    // It requests with them, so they are what is looked for.
    assert!(receiver.requests()[0].head.contains("hunter2-token"));
    assert!(logged.contains("given up") && logged.contains("paused"), "{logged}");
    for secret in [secret.as_str(), "hunter2-token", "hidden-path"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
        assert!(!logged.contains(secret), "{secret} is logged");
    }
    daemon.stop().await;
}
