//! TLS connections.

use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use crate::error::TlsFault;
use crate::settings::FetchSettings;

/// Creates a connector that trusts the authorities that browsers trust, from a compiled-in list: it
/// is the same on every machine, also on those without one. The settings add private authorities.
/// Returns `None` if the library offers no TLS version.
pub(crate) fn connector(settings: &FetchSettings) -> Option<TlsConnector> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(settings.extra_roots.iter().cloned());
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Some(Arc::new(config).into())
}

/// Classifies the error of a handshake.
pub(crate) fn fault(error: &io::Error) -> TlsFault {
    match error.get_ref().and_then(|it| it.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(error)) => {
            match error {
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    TlsFault::Expired
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    TlsFault::NotYetValid
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => TlsFault::WrongName,
                CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
                CertificateError::Revoked => TlsFault::Revoked,
                CertificateError::BadSignature => TlsFault::BadSignature,
                CertificateError::InvalidPurpose
                | CertificateError::InvalidPurposeContext { .. } => TlsFault::WrongPurpose,
                // The library has no variant for this error and passes on the verifier's text.
                CertificateError::Other(other) if other.0.to_string() == "CaUsedAsEndEntity" => {
                    TlsFault::CaCertificate
                }
                _ => TlsFault::InvalidCertificate,
            }
        }
        Some(Error::AlertReceived(_)) => TlsFault::Rejected,
        Some(Error::PeerIncompatible(_)) => TlsFault::Incompatible,
        Some(_) => TlsFault::NotTls,
        None => TlsFault::Closed,
    }
}
