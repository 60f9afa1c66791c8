//! HTTP/2.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use freshet_fetch::{FetchBlame, FetchError, FetchResponse, Fetcher, ProtocolFault, ResponsePart};
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use hyper::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::certificates::{Authority, VALID, named, secure};
use crate::server::Server;
use crate::{failed, fetch, fetcher_with, text};

type Connection = h2::server::Connection<TlsStream<TcpStream>, Bytes>;
type ServerRequest = (Request<RecvStream>, SendResponse<Bytes>);

/// Starts a server that passes each request to a function; the connection ends if it returns false.
async fn server<F>(authority: &Authority, each: F) -> (Server, Arc<AtomicU32>)
where
    F: Fn(&mut Connection, ServerRequest) -> bool + Send + Sync + 'static,
{
    let connections = Arc::new(AtomicU32::new(0));
    let (count, each) = (Arc::clone(&connections), Arc::new(each));
    let server = secure(authority.acceptor(&VALID, &["h2"]), move |stream| {
        count.fetch_add(1, Ordering::SeqCst);
        let each = Arc::clone(&each);
        async move {
            let Ok(mut connection) = h2::server::handshake(stream).await else { return };
            while let Some(Ok(request)) = connection.accept().await {
                if !each(&mut connection, request) {
                    // Flushes pending frames.
                    let _ = std::future::poll_fn(|cx| connection.poll_closed(cx)).await;
                    return;
                }
            }
        }
    })
    .await;
    (server, connections)
}

fn answer(request: &mut ServerRequest, body: &str) {
    let mut stream = request.1.send_response(Response::new(()), false).unwrap();
    stream.send_data(Bytes::copy_from_slice(body.as_bytes()), true).unwrap();
}

fn fetcher_for(authority: &Authority) -> Fetcher {
    let [roots, names] = named(authority);
    fetcher_with(&[&roots, &names])
}

async fn get(fetcher: &Fetcher, server: &Server) -> FetchResponse {
    fetch(fetcher, &format!("https://secure.example:{}/", server.port())).await
}

#[tokio::test]
async fn many_requests_share_a_connection() {
    let authority = Authority::new();
    let (server, connections) = server(&authority, |_, mut request| {
        let version = request.0.version();
        let host = request.0.uri().host().unwrap().to_owned();
        answer(&mut request, &format!("{version:?} {host}"));
        true
    })
    .await;
    let fetcher = fetcher_for(&authority);
    let first = get(&fetcher, &server).await;
    assert_eq!(first.trace.hops[0].version, Some("HTTP/2"));
    assert_eq!(text(first), "HTTP/2.0 secure.example");
    let mut others = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (fetcher, port) = (fetcher.clone(), server.port());
        others.spawn(
            async move { fetch(&fetcher, &format!("https://secure.example:{port}/")).await },
        );
    }
    for answer in others.join_all().await {
        assert!(answer.trace.hops[0].reused);
        assert_eq!(text(answer), "HTTP/2.0 secure.example");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_reset_before_the_response_fails() {
    let authority = Authority::new();
    let (server, _) = server(&authority, |_, mut request| {
        request.1.send_reset(Reason::INTERNAL_ERROR);
        true
    })
    .await;
    let error = failed(get(&fetcher_for(&authority), &server).await);
    assert_eq!(error, FetchError::Protocol { fault: ProtocolFault::Reset(2) });
}

#[tokio::test]
async fn a_reset_within_the_body_fails() {
    let authority = Authority::new();
    let (server, _) = server(&authority, |_, mut request| {
        let mut stream = request.1.send_response(Response::new(()), false).unwrap();
        stream.send_data(Bytes::from_static(b"abc"), false).unwrap();
        stream.send_reset(Reason::CANCEL);
        true
    })
    .await;
    let error = failed(get(&fetcher_for(&authority), &server).await);
    assert_eq!(error, FetchError::Protocol { fault: ProtocolFault::Reset(8) });
}

// RFC 9113 §6.8: GOAWAY that says that no stream was processed.
#[tokio::test]
async fn a_goaway_before_the_response_fails() {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GO_AWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11];
    let authority = Authority::new();
    let server = secure(authority.acceptor(&VALID, &["h2"]), |mut stream| async move {
        // Reads the preface and the request in any number of pieces.
        while let Ok(1..) = stream.read(&mut [0; 4096]).await {
            let _ = stream.write_all(&[&SETTINGS[..], &GO_AWAY].concat()).await;
            let _ = stream.flush().await;
        }
    })
    .await;
    let error = failed(get(&fetcher_for(&authority), &server).await);
    assert_eq!(error, FetchError::Protocol { fault: ProtocolFault::GoAway(11) });
}

#[tokio::test]
async fn a_goaway_for_an_open_stream_fails() {
    let authority = Authority::new();
    let (server, _) = server(&authority, |connection, _asked| {
        connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        false
    })
    .await;
    let error = failed(get(&fetcher_for(&authority), &server).await);
    assert_eq!(error, FetchError::Protocol { fault: ProtocolFault::Closed });
}

#[tokio::test]
async fn a_pooled_connection_with_goaway_is_replaced() {
    let authority = Authority::new();
    let number = AtomicU32::new(0);
    let (server, connections) = server(&authority, move |connection, mut request| {
        if number.fetch_add(1, Ordering::SeqCst) == 1 {
            connection.abrupt_shutdown(Reason::NO_ERROR);
            return false;
        }
        answer(&mut request, "x");
        true
    })
    .await;
    let fetcher = fetcher_for(&authority);
    for _ in 0..3 {
        assert_eq!(text(get(&fetcher, &server).await), "x");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_head_above_the_limit_fails() {
    let authority = Authority::new();
    let (server, _) = server(&authority, |_, mut request| {
        let mut response = Response::builder();
        for number in 0..200 {
            response = response.header(format!("x-{number}"), "y".repeat(1000));
        }
        request.1.send_response(response.body(()).unwrap(), true).is_ok()
    })
    .await;
    let error = failed(get(&fetcher_for(&authority), &server).await);
    assert_eq!(error, FetchError::TooLarge { part: ResponsePart::Head, limit: 64 << 10 });
}

#[tokio::test]
async fn heads_of_any_size_above_the_limit_fail() {
    for (lines, length, fits) in [
        (99, 100, true),
        (101, 1, false),
        (70, 1000, false),
        (90, 10_000, false),
        (99, 20_000, false),
    ] {
        let authority = Authority::new();
        let (server, connections) = server(&authority, move |_, mut request| {
            let mut response = Response::builder();
            for number in 0..lines {
                response = response.header(format!("x-{number}"), "y".repeat(length));
            }
            let _ = request.1.send_response(response.body(()).unwrap(), true);
            true
        })
        .await;
        let fetcher = fetcher_for(&authority);
        let answer = get(&fetcher, &server).await;
        if fits {
            assert_eq!(text(answer), "", "{lines} of {length}");
            continue;
        }
        assert_eq!(answer.blame(), Some(FetchBlame::Source), "{lines} of {length}: {answer:?}");
        let error = failed(answer);
        assert_eq!(error, FetchError::TooLarge { part: ResponsePart::Head, limit: 64 << 10 });
        // The request is not repeated.
        assert_eq!(connections.load(Ordering::SeqCst), 1);
    }
}

async fn post(fetcher: &Fetcher, server: &Server, body: Bytes) -> FetchResponse {
    let url = format!("https://secure.example:{}/hook", server.port());
    let request = freshet_fetch::FetchRequest::new(&url)
        .unwrap()
        .with_post_body("application/json", body)
        .unwrap();
    fetcher.fetch(&request).await
}

#[tokio::test]
async fn a_body_is_sent_whole_however_small_the_window() {
    let authority = Authority::new();
    let (server, connections) = server(&authority, |_, request| {
        tokio::spawn(async move {
            let (request, mut respond) = request;
            let (head, mut body) = request.into_parts();
            let (mut sum, mut length) = (0_u64, 0);
            while let Some(Ok(piece)) = body.data().await {
                let _ = body.flow_control().release_capacity(piece.len());
                sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
                length += piece.len();
            }
            let field = |name| head.headers.get(name).map_or("none", |it| it.to_str().unwrap());
            let summary = format!(
                "{} {} {} {} {length} {sum}",
                head.method,
                head.uri.path(),
                field("content-type"),
                field("content-length"),
            );
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            stream.send_data(summary.into(), true).unwrap();
        });
        true
    })
    .await;
    let fetcher = fetcher_for(&authority);
    // More than fits into the window before it is acknowledged.
    for length in [0, 1, 400_000] {
        let answer = post(&fetcher, &server, vec![7; length].into()).await;
        assert_eq!(answer.trace.hops[0].version, Some("HTTP/2"));
        let expect = format!("POST /hook application/json {length} {length} {}", 7 * length);
        assert_eq!(text(answer), expect);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

// RFC 9113 §8.1: a server may respond before it has the whole request, and stop reading it.
#[tokio::test]
async fn a_response_before_the_end_of_the_request_counts() {
    let authority = Authority::new();
    let (server, _) = server(&authority, |_, mut request| {
        let refused = Response::builder().status(413).body(()).unwrap();
        request.1.send_response(refused, true).unwrap();
        // Does not wait for the rest of the request: dropping the stream resets it.
        true
    })
    .await;
    let answer = post(&fetcher_for(&authority), &server, vec![7; 400_000].into()).await;
    assert_eq!(answer.trace.status(), Some(413));
}

// RFC 9113 §8.7: a refused request was not processed, so it is sent again in full.
#[tokio::test]
async fn a_refused_post_is_sent_again() {
    let authority = Authority::new();
    let request_count = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&request_count);
    let (server, _) = server(&authority, move |_, mut request| {
        if count.fetch_add(1, Ordering::SeqCst) == 1 {
            request.1.send_reset(Reason::REFUSED_STREAM);
            return true;
        }
        tokio::spawn(async move {
            let mut length = 0;
            while let Some(Ok(piece)) = request.0.body_mut().data().await {
                length += piece.len();
            }
            answer(&mut request, &length.to_string());
        });
        true
    })
    .await;
    let fetcher = fetcher_for(&authority);
    for length in [10, 2000] {
        assert_eq!(text(post(&fetcher, &server, vec![7; length].into()).await), length.to_string());
    }
    assert_eq!(request_count.load(Ordering::SeqCst), 3);
}
