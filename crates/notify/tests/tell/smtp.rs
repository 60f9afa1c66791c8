//! A mail server that takes what it is given and says what a test says.

use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// How it secures the way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    StartTls,
    Implicit,
}

/// Somebody's mail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mail {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) data: String,
}

#[derive(Default)]
struct State {
    mails: Vec<Mail>,
    commands: Vec<String>,
}

pub(crate) struct Smtp {
    pub(crate) port: u16,
    /// The certificate of who vouches for it.
    pub(crate) root: String,
    state: Arc<Mutex<State>>,
}

impl Smtp {
    /// Refuses the first so many mails, in these words.
    pub(crate) async fn new(way: Way, refused: usize, words: &'static str) -> Self {
        let (acceptor, root) = certificates();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        let (own, left) = (Arc::clone(&state), Arc::new(Mutex::new(refused)));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let talk = Talk { state: Arc::clone(&own), left: Arc::clone(&left), words };
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    match way {
                        Way::Implicit => {
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            talk.serve(stream, false, true).await;
                        }
                        _ => {
                            let offers = way == Way::StartTls;
                            let Some(stream) = talk.serve(stream, offers, true).await else {
                                return;
                            };
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            talk.serve(stream, false, false).await;
                        }
                    }
                });
            }
        });
        Self { port, root, state }
    }

    pub(crate) fn mails(&self) -> Vec<Mail> {
        self.state.lock().unwrap().mails.clone()
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.state.lock().unwrap().commands.clone()
    }
}

struct Talk {
    state: Arc<Mutex<State>>,
    left: Arc<Mutex<usize>>,
    words: &'static str,
}

impl Talk {
    /// Talks; gives the stream back if it is to be secured.
    async fn serve<S>(&self, stream: S, offers: bool, greets: bool) -> Option<S>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut stream = BufReader::new(stream);
        if greets {
            stream.write_all(b"220 here\r\n").await.ok()?;
        }
        let mut mail = Mail::default();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok().filter(|&read| read > 0)?;
            let line = line.trim_end().to_owned();
            self.state.lock().unwrap().commands.push(line.clone());
            let upper = line.to_ascii_uppercase();
            let answer = match upper.split([' ', ':']).next().unwrap_or_default() {
                "EHLO" if offers => "250-here\r\n250-STARTTLS\r\n250 8BITMIME\r\n".to_owned(),
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
                    let mut left = self.left.lock().unwrap();
                    let mail = std::mem::take(&mut mail);
                    match left.checked_sub(1) {
                        Some(fewer) => {
                            *left = fewer;
                            format!("{}\r\n", self.words)
                        }
                        None => {
                            self.state.lock().unwrap().mails.push(mail);
                            "250 taken\r\n".to_owned()
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

/// A certificate for `localhost`, and the one that vouches for it.
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
