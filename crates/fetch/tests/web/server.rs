//! Server that plays scripted steps, byte by byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

/// Step of a server.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Sends repeatedly until the client closes.
    Flood(Vec<u8>),
    /// Sends nothing until the client closes.
    Hang,
    Close,
}

/// Loopback port that is reserved but not listened on.
pub(crate) struct Closed {
    pub(crate) address: SocketAddr,
    _socket: TcpSocket,
}

impl Closed {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self { address: socket.local_addr().unwrap(), _socket: socket }
    }
}

/// Server on a free loopback port.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<u32>>,
}

impl Server {
    /// Starts a server that responds by the path and the number of the request.
    pub(crate) async fn new<F>(answer: F) -> Self
    where
        F: Fn(&str, usize) -> Vec<Step> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self::at(listener.local_addr().unwrap());
        let (heads, connections) = (Arc::clone(&server.heads), Arc::clone(&server.connections));
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *connections.lock().unwrap() += 1;
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&heads)));
            }
        });
        server
    }

    /// Starts a server that always plays the same steps.
    pub(crate) async fn always(steps: Vec<Step>) -> Self {
        Self::new(move |_, _| steps.clone()).await
    }

    /// Starts a server that sends these bytes and closes.
    pub(crate) async fn saying(bytes: impl Into<Vec<u8>>) -> Self {
        Self::always(vec![Step::Send(bytes.into()), Step::Close]).await
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        Self { address, heads: Arc::default(), connections: Arc::default() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Returns the paths of all requests so far.
    pub(crate) fn paths(&self) -> Vec<String> {
        let path = |head: &String| head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.heads().iter().map(path).collect()
    }

    pub(crate) fn connections(&self) -> u32 {
        *self.connections.lock().unwrap()
    }
}

pub(crate) async fn serve<S, F>(mut stream: S, answer: Arc<F>, heads: Arc<Mutex<Vec<String>>>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(&str, usize) -> Vec<Step>,
{
    while let Some(head) = read_head(&mut stream).await {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let number = {
            let mut heads = heads.lock().unwrap();
            heads.push(head);
            heads.len()
        };
        for step in answer(&path, number) {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                    let _ = stream.flush().await;
                }
                Step::Flood(bytes) => while stream.write_all(&bytes).await.is_ok() {},
                Step::Hang => {
                    let _ = stream.read(&mut [0; 1024]).await;
                    return;
                }
                Step::Close => {
                    let _ = stream.shutdown().await;
                    return;
                }
            }
        }
    }
}

pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// Returns a complete response with a body.
pub(crate) fn ok(body: &str) -> Vec<Step> {
    reply("200 OK", "", body)
}

/// Returns a complete response with a status, extra headers (each with its line ending) and a body.
pub(crate) fn reply(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let mut bytes = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len())
        .into_bytes();
    bytes.extend_from_slice(body);
    vec![Step::Send(bytes)]
}

pub(crate) fn redirect(status: &str, to: &str) -> Vec<Step> {
    reply(status, &format!("Location: {to}\r\n"), "")
}
