//! Secure connections.

use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use crate::error::TlsFault;
use crate::settings::Settings;

/// Trusts the authorities that browsers trust, from a list that is compiled in: the same on every
/// machine, also on those that have none. Private authorities come from the settings. `None` if the
/// library has no version of TLS to offer.
pub(crate) fn connector(settings: &Settings) -> Option<TlsConnector> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(settings.roots.iter().cloned());
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Some(Arc::new(config).into())
}

/// What a failed handshake tells.
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
                CertificateError::BadSignature => TlsFault::Signature,
                CertificateError::InvalidPurpose
                | CertificateError::InvalidPurposeContext { .. } => TlsFault::Purpose,
                // The library has no name of its own for it, and passes on what checks certificates says.
                CertificateError::Other(other) if other.0.to_string() == "CaUsedAsEndEntity" => {
                    TlsFault::Authority
                }
                _ => TlsFault::Certificate,
            }
        }
        Some(Error::AlertReceived(_)) => TlsFault::Alert,
        Some(Error::PeerIncompatible(_)) => TlsFault::Incompatible,
        Some(_) => TlsFault::Garbage,
        None => TlsFault::Closed,
    }
}
