//! The daemon's door: what comes through it, and what does not.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use freshet_daemon::{
    Answer, Call, Client, Clock, Config, Control, ControlError, Daemon, Edit, NewSourceRequest,
    socket_of,
};
use tempfile::TempDir;

struct Open {
    folder: TempDir,
    daemon: Daemon,
    control: Control,
}

impl Open {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::parse("", &folder.path().join("freshet.toml")).unwrap();
        let wall = || {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            since.as_millis() as i64
        };
        let daemon = Daemon::start(config, Clock::new(Box::new(wall), 1.0)).unwrap();
        let control = Control::open(daemon.handle()).unwrap();
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

/// Says something at the door, and gives the line that comes back.
async fn say(socket: &Path, bytes: Vec<u8>) -> String {
    let socket = socket.to_owned();
    let said = tokio::task::spawn_blocking(move || {
        let mut stream = UnixStream::connect(socket).unwrap();
        // What is too long is refused before it has all come.
        let _ = stream.write_all(&bytes);
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    });
    said.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_one_after_another() {
    let open = Open::new();
    let store = open.store();
    let asked = tokio::task::spawn_blocking(move || {
        let mut client = Client::connect(&store).unwrap().unwrap();
        let add = Call::Edit(Edit::Add(vec![NewSourceRequest::new("http://a.invalid/")]));
        let Answer::Applied(applied) = client.ask(add).unwrap() else { panic!() };
        let Answer::Status(status) = client.ask(Call::Status).unwrap() else { panic!() };
        let explain = |url: &str| Call::Explain(url.to_owned());
        let explained = client.ask(explain("http://a.invalid/")).unwrap();
        assert!(matches!(explained, Answer::Explained(_)), "{explained:?}");
        let unknown = client.ask(explain("http://b.invalid/")).unwrap();
        assert!(matches!(unknown, Answer::Refused { .. }), "{unknown:?}");
        (applied.new, status.sources)
    });
    assert_eq!(asked.await.unwrap(), (1, 1));
    let store = open.store();
    open.close().await;
    assert!(Client::connect(&store).unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_refused_and_harms_nobody() {
    let open = Open::new();
    let socket = open.control.socket().to_owned();
    for (said, part) in [
        (b"hello\n".to_vec(), "not a question"),
        (b"{\"version\":1,\"said\":\"dance\"}\n".to_vec(), "not a question"),
        (b"{\"version\":7,\"said\":\"status\"}\n".to_vec(), "asked in version 7"),
        (b"\xff\xfe\n".to_vec(), "not a question"),
        (b"{\"version\":1,\"said\":\"status\"}\n".to_vec(), "\"sources\":0"),
    ] {
        let answer = say(&socket, said).await;
        assert!(answer.contains(part), "{part}: {answer}");
    }
    // A line that does not end is not read to its end.
    let endless = vec![b'x'; 17 << 20];
    let answer = say(&socket, endless).await;
    assert!(answer.is_empty() || answer.contains("bytes at once"), "{answer}");
    let status = say(&socket, b"{\"version\":1,\"said\":\"status\"}\n".to_vec()).await;
    assert!(status.contains("\"version\":1"), "{status}");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_socket_is_left_alone() {
    let open = Open::new();
    let store = open.store();
    let handle = open.daemon.handle();
    open.control.close().await;
    std::fs::write(socket_of(&store), "mine").unwrap();
    let refused = Control::open(handle).err().unwrap();
    assert!(matches!(refused, ControlError::Unheard { .. }), "{refused}");
    assert_eq!(std::fs::read(socket_of(&store)).unwrap(), b"mine");
    let stranger = Client::connect(&store).err().unwrap();
    assert!(matches!(stranger, ControlError::Stranger { .. }), "{stranger}");
    open.daemon.stop().await;
}
