//! Compressed bodies, valid and invalid.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use freshet_fetch::{ContentCoding, FetchError, ResponsePart};

use crate::server::{Server, reply};
use crate::{failed, fetch, fetcher, text};

const TEXT: &str = "It is always the same text, the same text, the same text.";

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn raw(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn br(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    brotli::CompressorWriter::new(&mut out, 4096, 5, 22).write_all(bytes).unwrap();
    out
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

async fn serve(coding: &str, body: Vec<u8>) -> Server {
    Server::always(reply("200 OK", &format!("Content-Encoding: {coding}\r\n"), body)).await
}

#[tokio::test]
async fn all_codings_are_decoded() {
    let text_bytes = TEXT.as_bytes();
    for (coding, body) in [
        ("gzip", gzip(text_bytes)),
        ("X-GZIP", gzip(text_bytes)),
        ("deflate", zlib(text_bytes)),
        ("deflate", raw(text_bytes)),
        ("br", br(text_bytes)),
        ("zstd", zst(text_bytes)),
        ("identity", text_bytes.to_vec()),
        ("", text_bytes.to_vec()),
        ("none", text_bytes.to_vec()),
        ("UTF-8", text_bytes.to_vec()),
        ("binary", text_bytes.to_vec()),
        ("identity,, gzip", gzip(text_bytes)),
        ("gzip, br", br(&gzip(text_bytes))),
        ("zstd,deflate , gzip", gzip(&zlib(&zst(text_bytes)))),
        // Two members, and two frames.
        ("gzip", [gzip(&text_bytes[..9]), gzip(&text_bytes[9..])].concat()),
        ("zstd", [zst(&text_bytes[..9]), zst(&text_bytes[9..])].concat()),
        // Trailing data, which browsers ignore.
        ("gzip", [gzip(text_bytes), b"\0\0\0".to_vec()].concat()),
    ] {
        let wire = body.len() as u64;
        let server = serve(coding, body).await;
        let result = fetch(&fetcher(), &server.url("/")).await;
        assert_eq!(
            (result.trace.body_sizes.encoded, result.trace.body_sizes.decoded),
            (wire, TEXT.len() as u64)
        );
        assert_eq!(text(result), TEXT, "{coding}");
    }
}

// RFC 9112 §6.1: transfer codings, the last of them chunked.
#[tokio::test]
async fn transfer_codings_are_decoded() {
    let packed = gzip(TEXT.as_bytes());
    let both = [gzip(&br(TEXT.as_bytes())), packed.clone()];
    for (headers, body, is_chunked) in [
        ("Transfer-Encoding: gzip, chunked\r\n", &packed, true),
        ("Transfer-Encoding: x-gzip\r\nTransfer-Encoding: Chunked\r\n", &packed, true),
        ("Transfer-Encoding: gzip\r\n", &packed, false),
        ("Transfer-Encoding: gzip, chunked\r\nContent-Encoding: br\r\n", &both[0], true),
        ("Transfer-Encoding: identity, chunked\r\nContent-Encoding: gzip\r\n", &packed, true),
        ("Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", &packed, true),
    ] {
        let result = fetch(&fetcher(), &transfer(headers, body, is_chunked).await.url("/")).await;
        assert_eq!(text(result), TEXT, "{headers}");
    }
    let bomb = gzip(&vec![0; 8 << 20]);
    let server = transfer("Transfer-Encoding: gzip, chunked\r\n", &bomb, true).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { part: ResponsePart::DecodedBody, limit: 2 << 20 });
    let short = &packed[..packed.len() - 5];
    let server = transfer("Transfer-Encoding: gzip\r\n", short, false).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::Decode { coding: ContentCoding::Gzip, truncated: true });
    for (list, name) in [
        ("chunked, gzip", "protocol"),
        ("chunked, chunked", "protocol"),
        ("compress, chunked", "unknown-encoding"),
        ("rot13", "unknown-encoding"),
    ] {
        let server = transfer(&format!("Transfer-Encoding: {list}\r\n"), &packed, true).await;
        assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), name, "{list}");
    }
}

async fn transfer(headers: &str, body: &[u8], is_chunked: bool) -> Server {
    let mut bytes = format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes();
    for chunk in body.chunks(if is_chunked { 10 } else { usize::MAX }) {
        if is_chunked {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        }
        bytes.extend(chunk);
        bytes.extend(if is_chunked { &b"\r\n"[..] } else { b"" });
    }
    bytes.extend(if is_chunked { &b"0\r\n\r\n"[..] } else { b"" });
    Server::saying(bytes).await
}

#[tokio::test]
async fn an_empty_body_is_valid_in_any_coding() {
    for coding in ["gzip", "deflate", "br", "zstd", "gzip, br"] {
        let server = serve(coding, Vec::new()).await;
        assert_eq!(text(fetch(&fetcher(), &server.url("/")).await), "", "{coding}");
    }
}

#[tokio::test]
async fn bombs_are_stopped_at_the_limit() {
    let zeros = vec![0; 8 << 20];
    for (coding, body) in [
        ("gzip", gzip(&zeros)),
        ("deflate", raw(&zeros)),
        ("br", br(&zeros)),
        ("zstd", zst(&zeros)),
        ("gzip, gzip", gzip(&gzip(&zeros))),
        ("br, gzip", gzip(&br(&zeros))),
        // Trailing data is ignored, but within the limit.
        ("gzip, gzip", gzip(&[gzip(b"x"), zeros].concat())),
    ] {
        assert!(body.len() < 100_000);
        let server = serve(coding, body).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(
            error,
            FetchError::TooLarge { part: ResponsePart::DecodedBody, limit: 2 << 20 },
            "{coding}"
        );
    }
}

#[tokio::test]
async fn too_many_gzip_members_fail() {
    let body = gzip(&gzip(b"").repeat(50_000));
    assert!(body.len() < 100_000);
    let server = serve("gzip, gzip", body).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::Decode { coding: ContentCoding::Gzip, truncated: false });
}

#[tokio::test]
async fn a_window_larger_than_http_allows_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(TEXT.as_bytes()).unwrap();
    encoder.flush().unwrap();
    let server = serve("zstd", encoder.finish().unwrap()).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::Decode { coding: ContentCoding::Zstd, truncated: false });
}

#[tokio::test]
async fn an_undecodable_body_fails() {
    for (coding, name) in [
        (ContentCoding::Gzip, "gzip"),
        (ContentCoding::Deflate, "deflate"),
        (ContentCoding::Brotli, "br"),
        (ContentCoding::Zstd, "zstd"),
    ] {
        let server = serve(name, b"<html>hello, this is a page</html>".to_vec()).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(error, FetchError::Decode { coding, truncated: false }, "{name}");
    }
}

#[tokio::test]
async fn a_truncated_body_fails() {
    for (coding, name, body) in [
        (ContentCoding::Gzip, "gzip", gzip(TEXT.as_bytes())),
        (ContentCoding::Deflate, "deflate", zlib(TEXT.as_bytes())),
        (ContentCoding::Brotli, "br", br(TEXT.as_bytes())),
        (ContentCoding::Zstd, "zstd", zst(TEXT.as_bytes())),
    ] {
        let server = serve(name, body[..body.len() - 5].to_vec()).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(error, FetchError::Decode { coding, truncated: true }, "{name}");
    }
}

#[tokio::test]
async fn unsupported_codings_fail() {
    for coding in ["compress", "rot13", "gzip, gzip, gzip, gzip", "\u{fffd}"] {
        let server = serve(coding, b"x".to_vec()).await;
        assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), "unknown-encoding");
    }
}
