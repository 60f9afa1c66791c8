//! Files and commands.

use freshet_fetch::{FetchError, FetchOutcome, GuardRefusal, TimeoutPhase};

use crate::{failed, fetch, fetcher, fetcher_with, text};

#[tokio::test]
async fn files_and_commands_are_refused_by_default() {
    for url in ["file:///etc/hostname", "exec:id", "ftp://x.test/", "data:,x"] {
        match fetch(&fetcher(), url).await.outcome {
            FetchOutcome::Refused(GuardRefusal::Scheme { scheme }) => {
                assert!(url.starts_with(&scheme))
            }
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn files_in_an_allowed_directory_are_read() {
    let (open, closed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (inside, outside) = (open.path().join("a b.txt"), closed.path().join("secret"));
    std::fs::write(&inside, "x").unwrap();
    std::fs::write(&outside, "secret").unwrap();
    let files = format!("files = [\"{}\"]", open.path().display());
    let fetcher = fetcher_with(&[&files]);
    let url = |path: &std::path::Path| url::Url::from_file_path(path).unwrap().to_string();
    assert_eq!(text(fetch(&fetcher, &url(&inside)).await), "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, open.path().join("link")).unwrap();
    let hidden =
        format!("{}/%2e%2e/../../{}", url(open.path()), &url(&outside)["file:///".len()..]);
    for url in [url(&outside), url(&open.path().join("link")), url(open.path()), hidden] {
        let result = fetch(&fetcher, &url).await;
        assert!(
            matches!(result.outcome, FetchOutcome::Refused(GuardRefusal::File { .. })),
            "{url} {result:?}"
        );
    }
    let error = failed(fetch(&fetcher, &url(&open.path().join("none"))).await);
    assert!(matches!(error, FetchError::File { kind: std::io::ErrorKind::NotFound, .. }));
    let small = fetcher_with(&[&files, "body_bytes = 8"]);
    std::fs::write(&inside, "123456789").unwrap();
    assert_eq!(failed(fetch(&small, &url(&inside)).await).name(), "too-large");
}

#[cfg(unix)]
#[tokio::test]
async fn named_commands_are_run() {
    let commands = "commands = { hello = [\"printf\", \"%s\", \"$HOME;x\"], no = [\"false\"], \
                    none = [\"/no/such/program\"], slow = [\"sleep\", \"60\"], much = [\"yes\"] }";
    let fetcher = fetcher_with(&[commands, "body = \"5s\""]);
    // No shell interprets the arguments.
    assert_eq!(text(fetch(&fetcher, "exec:hello").await), "$HOME;x");
    let error = failed(fetch(&fetcher, "exec:no").await);
    assert_eq!(error, FetchError::Command { name: "no".to_owned(), code: Some(1) });
    assert_eq!(failed(fetch(&fetcher, "exec:none").await).name(), "command");
    assert_eq!(failed(fetch(&fetcher, "exec:much").await).name(), "too-large");
    let quick = fetcher_with(&[commands, "body = \"100ms\""]);
    let error = failed(fetch(&quick, "exec:slow").await);
    assert!(matches!(error, FetchError::Timeout { phase: TimeoutPhase::Local, .. }), "{error:?}");
    for url in ["exec:id", "exec:hello;id", "exec:../hello"] {
        let result = fetch(&fetcher, url).await;
        assert!(
            matches!(result.outcome, FetchOutcome::Refused(GuardRefusal::Command { .. })),
            "{result:?}"
        );
    }
}
