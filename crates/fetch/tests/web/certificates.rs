//! Certificates of an authority that only the tests trust, and servers that present them.

use std::io::Write;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tempfile::NamedTempFile;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::server::{Server, Step, serve};

/// Authority, with its certificate in a file.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: NamedTempFile,
}

/// Name and validity of a certificate.
pub(crate) struct Shown {
    pub(crate) name: &'static str,
    pub(crate) from: i32,
    pub(crate) until: i32,
}

pub(crate) const VALID: Shown = Shown { name: "secure.example", from: 2000, until: 4000 };

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(issuer.pem().as_bytes()).unwrap();
        Self { issuer, file }
    }

    /// Returns the setting that trusts the authority.
    pub(crate) fn trusted(&self) -> String {
        format!("roots = [\"{}\"]", self.file.path().display())
    }

    pub(crate) fn acceptor(&self, shown: &Shown, protocols: &[&str]) -> TlsAcceptor {
        self.acceptor_with(shown, protocols, WebPkiClientVerifier::no_client_auth())
    }

    /// Returns an acceptor that requires a client certificate of this authority.
    pub(crate) fn demanding(&self, shown: &Shown, protocol: &str) -> TlsAcceptor {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        self.acceptor_with(shown, &[protocol], verifier.build().unwrap())
    }

    fn acceptor_with(
        &self,
        shown: &Shown,
        protocols: &[&str],
        verifier: Arc<dyn ClientCertVerifier>,
    ) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![shown.name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(shown.from, 1, 1);
        params.not_after = date_time_ymd(shown.until, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    /// Starts an HTTP/1.1 server with a certificate.
    pub(crate) async fn server(&self, shown: &Shown, steps: Vec<Step>) -> Server {
        let answer = Arc::new(move |_: &str, _: usize| steps.clone());
        let heads = Arc::default();
        secure(self.acceptor(shown, &["http/1.1"]), move |stream| {
            serve(stream, Arc::clone(&answer), Arc::clone(&heads))
        })
        .await
    }
}

/// Starts a TLS server that passes each connection to a function.
pub(crate) async fn secure<F, R>(acceptor: TlsAcceptor, each: F) -> Server
where
    F: Fn(TlsStream<TcpStream>) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::at(listener.local_addr().unwrap());
    let each = Arc::new(each);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, each) = (acceptor.clone(), Arc::clone(&each));
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    each(stream).await;
                }
            });
        }
    });
    server
}

/// Returns settings that trust the authority and resolve `secure.example` to loopback.
pub(crate) fn named(authority: &Authority) -> [String; 2] {
    [authority.trusted(), "resolve = { \"secure.example\" = [\"127.0.0.1\"] }".to_owned()]
}
