//! TLS connections, valid and invalid.

use std::sync::Arc;

use freshet_fetch::{FetchError, TlsFault};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use tokio::io::AsyncReadExt;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::{ConfigBuilder, ServerConfig, WantsVerifier};

use crate::certificates::{Authority, Shown, VALID, named, secure};
use crate::server::{Server, Step, ok, redirect, serve};
use crate::{failed, fetch, fetcher_with, text};

async fn check(authority: &Authority, trusted: bool, server: &Server, expect: TlsFault) {
    let lines = named(authority);
    let lines: Vec<&str> = lines.iter().map(String::as_str).skip(usize::from(!trusted)).collect();
    let url = format!("https://secure.example:{}/", server.port());
    let error = failed(fetch(&fetcher_with(&lines), &url).await);
    assert_eq!(error, FetchError::Tls { host: "secure.example".to_owned(), fault: expect });
}

#[tokio::test]
async fn an_authority_from_the_settings_is_trusted() {
    let authority = Authority::new();
    let server = authority.server(&VALID, ok("x")).await;
    let lines = named(&authority);
    let fetcher = fetcher_with(&[&lines[0], &lines[1]]);
    for _ in 0..2 {
        let result = fetch(&fetcher, &format!("https://secure.example:{}/", server.port())).await;
        assert_eq!(result.trace.hops[0].version, Some("HTTP/1.1"));
        assert_eq!(text(result), "x");
    }
}

#[tokio::test]
async fn invalid_certificates_fail() {
    let authority = Authority::new();
    let old = Shown { until: 2001, ..VALID };
    check(&authority, true, &authority.server(&old, ok("x")).await, TlsFault::Expired).await;
    let new = Shown { from: 3999, ..VALID };
    check(&authority, true, &authority.server(&new, ok("x")).await, TlsFault::NotYetValid).await;
    let other = Shown { name: "other.example", ..VALID };
    check(&authority, true, &authority.server(&other, ok("x")).await, TlsFault::WrongName).await;
    let server = authority.server(&VALID, ok("x")).await;
    check(&authority, false, &server, TlsFault::UnknownIssuer).await;
}

#[tokio::test]
async fn a_server_without_tls_fails() {
    let authority = Authority::new();
    let plain = Server::saying("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    // Sends data at once, before anything that it could take for a request.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let non_tls_server = Server::at(listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let hello = b"220 mail.example ESMTP\r\n".repeat(20);
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &hello).await;
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4096]).await;
        }
    });
    check(&authority, true, &non_tls_server, TlsFault::NotTls).await;
    drop(plain);
    let closing = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = Server::at(closing.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = closing.accept().await {
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4096]).await;
        }
    });
    check(&authority, true, &closed, TlsFault::Closed).await;
}

#[tokio::test]
async fn a_handshake_without_end_times_out() {
    let silent = Server::always(vec![Step::Hang]).await;
    let fetcher = fetcher_with(&["tls = \"100ms\""]);
    let error = failed(fetch(&fetcher, &format!("https://127.0.0.1:{}/", silent.port())).await);
    assert_eq!(error.to_string(), "the TLS handshake took longer than 100ms (limit: `limits.tls`)");
}

#[tokio::test]
async fn downgrades_need_a_setting() {
    let plain = Server::always(ok("x")).await;
    let authority = Authority::new();
    let server = authority.server(&VALID, redirect("302 Found", &plain.url("/"))).await;
    let [roots, names] = named(&authority);
    let url = format!("https://secure.example:{}/", server.port());
    let error = failed(fetch(&fetcher_with(&[&roots, &names]), &url).await);
    assert_eq!(error.name(), "downgrade");
    assert!(plain.heads().is_empty());
    let fetcher = fetcher_with(&[&roots, &names, "downgrade = true"]);
    assert_eq!(text(fetch(&fetcher, &url).await), "x");
}

/// Starts a server with a self-signed certificate; returns it with the certificate file.
async fn self_signed(is_ca: IsCa) -> (Server, tempfile::NamedTempFile) {
    let mut params = CertificateParams::new(vec!["secure.example".to_owned()]).unwrap();
    params.is_ca = is_ca;
    let key = KeyPair::generate().unwrap();
    let own = params.self_signed(&key).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), own.pem()).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config = server_config().with_no_client_auth();
    let config = config.with_single_cert(vec![own.der().clone()], key).unwrap();
    let server = secure(TlsAcceptor::from(Arc::new(config)), |stream| {
        serve(stream, Arc::new(|_: &str, _: usize| ok("x")), Arc::default())
    });
    (server.await, file)
}

#[tokio::test]
async fn a_self_signed_ca_certificate_fails() {
    let names = "resolve = { \"secure.example\" = [\"127.0.0.1\"] }";
    let authority = IsCa::Ca(BasicConstraints::Unconstrained);
    for (is_ca, fits) in [(IsCa::NoCa, true), (authority, false)] {
        let (server, file) = self_signed(is_ca).await;
        let roots = format!("roots = [\"{}\"]", file.path().display());
        let url = format!("https://secure.example:{}/", server.port());
        let result = fetch(&fetcher_with(&[&roots, names]), &url).await;
        if fits {
            assert_eq!(text(result), "x");
            continue;
        }
        let error = failed(result);
        let host = "secure.example".to_owned();
        assert_eq!(error, FetchError::Tls { host, fault: TlsFault::CaCertificate });
        assert!(error.to_string().contains("that of an authority"), "{error}");
    }
}

fn server_config() -> ConfigBuilder<ServerConfig, WantsVerifier> {
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
}

// RFC 8446 §4.4.2.4: the server rejects the client after the client's end of the handshake.
#[tokio::test]
async fn a_required_client_certificate_fails() {
    for protocol in ["http/1.1", "h2"] {
        let authority = Authority::new();
        let acceptor = authority.demanding(&VALID, protocol);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::at(listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Err((_, mut stream)) = acceptor.accept(stream).into_fallible().await else {
                    panic!("there is no certificate of ours");
                };
                // Keeps the connection open until the client closes, so that the alert is not lost.
                while let Ok(1..) = stream.read(&mut [0; 4096]).await {}
            }
        });
        check(&authority, true, &server, TlsFault::Rejected).await;
    }
}
