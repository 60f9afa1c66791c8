//! Answers that were damaged at random: always an outcome, within the limits.
//!
//! `scripts/fuzz-fetch` does this for a minute.

use std::sync::{Arc, Mutex};

use freshet_fetch::Outcome;

use crate::mutant::Mutants;
use crate::server::{Server, Step};
use crate::{fetch, fetcher_with};

#[tokio::test]
async fn damaged_answers() {
    let mut mutants = Mutants::of(
        "answers",
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
    let now = Arc::new(Mutex::new(Vec::new()));
    let said = Arc::clone(&now);
    let server = Server::new(move |path, number| match path {
        // What a damaged redirect leads to is of no interest.
        "/" => vec![Step::Send(said.lock().unwrap().clone()), Step::Close],
        _ => vec![Step::Send(format!("HTTP/1.1 404 {number}\r\n\r\n").into()), Step::Close],
    })
    .await;
    let fetcher = fetcher_with(&["first_byte = \"2s\"", "body_bytes = \"64KiB\"", "redirects = 3"]);
    for _ in 0..mutants.cases(500) {
        let bytes = mutants.next();
        now.lock().unwrap().clone_from(&bytes);
        let answer = fetch(&fetcher, &server.url("/")).await;
        assert!(!answer.trace.hops.is_empty() && answer.trace.hops.len() <= 4);
        if let Outcome::Content(content) = answer.outcome {
            assert!(content.body.len() <= 64 * 1024, "{}", bytes.escape_ascii());
            // Any charset gives some text.
            let text = content.text();
            assert!(content.body.is_empty() || !text.text.is_empty() || content.body.len() < 4);
        }
    }
}
