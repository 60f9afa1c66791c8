//! Mutated responses: always an outcome, within the limits.
//!
//! `scripts/fuzz-fetch` runs this for a minute.

use std::sync::{Arc, Mutex};

use freshet_fetch::FetchOutcome;

use crate::mutator::Mutator;
use crate::server::{Server, Step};
use crate::{fetch, fetcher_with};

#[tokio::test]
async fn mutated_responses_have_an_outcome() {
    let mut mutator = Mutator::new(
        "responses",
        &[
            "HTTP/1.1 ",
            "200",
            "304",
            "100",
            "\r\n",
            "\r\n\r\n",
            "Content-Length: ",
            "0",
            "18446744073709551616",
            "-1",
            "Transfer-Encoding: chunked\r\n",
            "Content-Encoding: gzip\r\n",
            "Content-Encoding: br\r\n",
            "Content-Encoding: zstd\r\n",
            "Content-Encoding: deflate\r\n",
            "Location: /\r\n",
            "Retry-After: ",
            "Cache-Control: max-age=",
            "Content-Type: text/html; charset=",
            "utf-16",
            "<meta charset=",
            "<?xml encoding=",
            "<!--",
            "\u{feff}",
            "ETag: ",
            "é",
        ],
    );
    let current = Arc::new(Mutex::new(Vec::new()));
    let served = Arc::clone(&current);
    let server = Server::new(move |path, number| match path {
        // The targets of mutated redirects do not matter.
        "/" => vec![Step::Send(served.lock().unwrap().clone()), Step::Close],
        _ => vec![Step::Send(format!("HTTP/1.1 404 {number}\r\n\r\n").into()), Step::Close],
    })
    .await;
    let fetcher = fetcher_with(&["first_byte = \"2s\"", "body_bytes = \"64KiB\"", "redirects = 3"]);
    for _ in 0..mutator.cases(500) {
        let bytes = mutator.next();
        current.lock().unwrap().clone_from(&bytes);
        let result = fetch(&fetcher, &server.url("/")).await;
        assert!(!result.trace.hops.is_empty() && result.trace.hops.len() <= 4);
        if let FetchOutcome::Content(content) = result.outcome {
            assert!(content.body.len() <= 64 * 1024, "{}", bytes.escape_ascii());
            // Any charset decodes to some text.
            let text = content.text();
            assert!(content.body.is_empty() || !text.text.is_empty() || content.body.len() < 4);
        }
    }
}
