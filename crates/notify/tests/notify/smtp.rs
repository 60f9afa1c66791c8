//! SMTP server that accepts mails, or refuses them as scripted.

use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Encryption of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Plain,
    StartTls,
    Implicit,
}

/// Received mail.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedMail {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) data: String,
}

#[derive(Default)]
struct State {
    mails: Vec<ReceivedMail>,
    commands: Vec<String>,
}

pub(crate) struct SmtpServer {
    pub(crate) port: u16,
    /// Certificate of the issuer.
    pub(crate) root: String,
    state: Arc<Mutex<State>>,
}

impl SmtpServer {
    /// Starts a server that refuses the first `refused` mails with `reply`.
    pub(crate) async fn new(mode: TlsMode, refused: usize, reply: &'static str) -> Self {
        let (acceptor, root) = certificates();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        let (shared, remaining) = (Arc::clone(&state), Arc::new(Mutex::new(refused)));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let session = Session {
                    state: Arc::clone(&shared),
                    remaining: Arc::clone(&remaining),
                    reply,
                };
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    match mode {
                        TlsMode::Implicit => {
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            session.serve(stream, false, true).await;
                        }
                        _ => {
                            let offers_tls = mode == TlsMode::StartTls;
                            let Some(stream) = session.serve(stream, offers_tls, true).await else {
                                return;
                            };
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            session.serve(stream, false, false).await;
                        }
                    }
                });
            }
        });
        Self { port, root, state }
    }

    pub(crate) fn mails(&self) -> Vec<ReceivedMail> {
        self.state.lock().unwrap().mails.clone()
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.state.lock().unwrap().commands.clone()
    }
}

struct Session {
    state: Arc<Mutex<State>>,
    remaining: Arc<Mutex<usize>>,
    reply: &'static str,
}

impl Session {
    /// Serves SMTP commands. Returns the stream on `STARTTLS`.
    async fn serve<S>(&self, stream: S, offers_tls: bool, sends_greeting: bool) -> Option<S>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut stream = BufReader::new(stream);
        if sends_greeting {
            stream.write_all(b"220 here\r\n").await.ok()?;
        }
        let mut mail = ReceivedMail::default();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok().filter(|&read| read > 0)?;
            let line = line.trim_end().to_owned();
            self.state.lock().unwrap().commands.push(line.clone());
            let upper = line.to_ascii_uppercase();
            let answer = match upper.split([' ', ':']).next().unwrap_or_default() {
                "EHLO" if offers_tls => "250-here\r\n250-STARTTLS\r\n250 8BITMIME\r\n".to_owned(),
                "EHLO" => "250-here\r\n250-AUTH PLAIN\r\n250 8BITMIME\r\n".to_owned(),
                "STARTTLS" => {
                    stream.write_all(b"220 go\r\n").await.ok()?;
                    return Some(stream.into_inner());
                }
                "AUTH" => "235 welcome\r\n".to_owned(),
                "MAIL" => {
                    mail.from = line;
                    "250 ok\r\n".to_owned()
                }
                "RCPT" => {
                    mail.to.push(line);
                    "250 ok\r\n".to_owned()
                }
                "DATA" => {
                    stream.write_all(b"354 go\r\n").await.ok()?;
                    loop {
                        let mut line = String::new();
                        stream.read_line(&mut line).await.ok().filter(|&read| read > 0)?;
                        if line == ".\r\n" {
                            break;
                        }
                        mail.data.push_str(line.strip_prefix('.').unwrap_or(&line));
                    }
                    let mut remaining = self.remaining.lock().unwrap();
                    let mail = std::mem::take(&mut mail);
                    match remaining.checked_sub(1) {
                        Some(fewer) => {
                            *remaining = fewer;
                            format!("{}\r\n", self.reply)
                        }
                        None => {
                            self.state.lock().unwrap().mails.push(mail);
                            "250 accepted\r\n".to_owned()
                        }
                    }
                }
                "QUIT" => {
                    stream.write_all(b"221 bye\r\n").await.ok()?;
                    return None;
                }
                _ => "250 ok\r\n".to_owned(),
            };
            stream.write_all(answer.as_bytes()).await.ok()?;
        }
    }
}

/// Creates a certificate for `localhost` and its issuer.
fn certificates() -> (TlsAcceptor, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), issuer.pem())
}
