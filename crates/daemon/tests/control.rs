//! The control socket: valid and invalid requests.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use freshet_daemon::{
    Clock, Config, ControlClient, ControlError, ControlRequest, ControlResponse, ControlServer,
    Daemon, NewSourceRequest, SourceEdit, socket_path,
};
use tempfile::TempDir;

struct TestServer {
    folder: TempDir,
    daemon: Daemon,
    control: ControlServer,
}

impl TestServer {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::parse("", &folder.path().join("freshet.toml")).unwrap();
        let wall = || {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            since.as_millis() as i64
        };
        let daemon = Daemon::start(config, Clock::new(Box::new(wall), 1.0)).unwrap();
        let control = ControlServer::open(daemon.handle()).unwrap();
        Self { folder, daemon, control }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("freshet.db")
    }

    async fn close(self) {
        let socket = self.control.socket().to_owned();
        self.control.close().await;
        assert!(!socket.exists());
        self.daemon.stop().await;
    }
}

/// Sends bytes to the socket and returns the response line.
async fn send_raw(socket: &Path, bytes: Vec<u8>) -> String {
    let socket = socket.to_owned();
    let answer = tokio::task::spawn_blocking(move || {
        let mut stream = UnixStream::connect(socket).unwrap();
        // A line that is too long is refused before all of it is sent.
        let _ = stream.write_all(&bytes);
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    });
    answer.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_on_one_connection_are_answered_in_order() {
    let open = TestServer::new();
    let store = open.store();
    let requested = tokio::task::spawn_blocking(move || {
        let mut client = ControlClient::connect(&store).unwrap().unwrap();
        let add =
            ControlRequest::Edit(SourceEdit::Add(vec![NewSourceRequest::new("http://a.invalid/")]));
        let ControlResponse::EditResult(applied) = client.send(add).unwrap() else { panic!() };
        let ControlResponse::Status(status) = client.send(ControlRequest::Status).unwrap() else {
            panic!()
        };
        let explain = |url: &str| ControlRequest::Explain(url.to_owned());
        let explained = client.send(explain("http://a.invalid/")).unwrap();
        assert!(matches!(explained, ControlResponse::Explanation(_)), "{explained:?}");
        let unknown = client.send(explain("http://b.invalid/")).unwrap();
        assert!(matches!(unknown, ControlResponse::Refused { .. }), "{unknown:?}");
        (applied.created, status.sources)
    });
    assert_eq!(requested.await.unwrap(), (1, 1));
    let store = open.store();
    open.close().await;
    assert!(ControlClient::connect(&store).unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_are_refused_and_do_no_harm() {
    let open = TestServer::new();
    let socket = open.control.socket().to_owned();
    for (answer, part) in [
        (b"hello\n".to_vec(), "invalid request"),
        (b"{\"version\":1,\"said\":\"dance\"}\n".to_vec(), "invalid request"),
        (b"{\"version\":7,\"said\":\"status\"}\n".to_vec(), "unsupported protocol version 7"),
        (b"\xff\xfe\n".to_vec(), "invalid request"),
        (b"{\"version\":1,\"said\":\"status\"}\n".to_vec(), "\"sources\":0"),
    ] {
        let answer = send_raw(&socket, answer).await;
        assert!(answer.contains(part), "{part}: {answer}");
    }
    // An endless line is not read to its end.
    let endless = vec![b'x'; 17 << 20];
    let answer = send_raw(&socket, endless).await;
    assert!(answer.is_empty() || answer.contains("request is longer than"), "{answer}");
    let status = send_raw(&socket, b"{\"version\":1,\"said\":\"status\"}\n".to_vec()).await;
    assert!(status.contains("\"version\":1"), "{status}");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_socket_is_not_replaced() {
    let open = TestServer::new();
    let store = open.store();
    let handle = open.daemon.handle();
    open.control.close().await;
    std::fs::write(socket_path(&store), "mine").unwrap();
    let error = ControlServer::open(handle).err().unwrap();
    assert!(matches!(error, ControlError::CannotListen { .. }), "{error}");
    assert_eq!(std::fs::read(socket_path(&store)).unwrap(), b"mine");
    let error = ControlClient::connect(&store).err().unwrap();
    assert!(matches!(error, ControlError::ForeignSocket { .. }), "{error}");
    open.daemon.stop().await;
}
