//! Files and commands as sources, for those who opened them in the settings.

use std::path::Path;
use std::process::Stdio;

use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use url::Url;

use crate::connect::{Stop, within};
use crate::error::{FetchError, Phase, Size};
use crate::guard::Refusal;
use crate::settings::Settings;

/// What a `file:` or `exec:` URL holds; `None` if it is neither.
pub(crate) async fn read(settings: &Settings, url: &Url) -> Option<Result<Vec<u8>, Stop>> {
    let closed = || Err(Stop::Refused(Refusal::Scheme { scheme: url.scheme().to_owned() }));
    let limit = settings.limits.body;
    let read = match url.scheme() {
        "file" if settings.files.is_empty() => return Some(closed()),
        "file" => within(limit, Phase::Local, file(settings, url)).await,
        "exec" if settings.commands.is_empty() => return Some(closed()),
        "exec" => within(limit, Phase::Local, command(settings, url.path())).await,
        _ => return None,
    };
    Some(read.unwrap_or_else(|late| Err(late.into())))
}

async fn file(settings: &Settings, url: &Url) -> Result<Vec<u8>, Stop> {
    let shown = |path: &Path| path.display().to_string();
    let path = url
        .to_file_path()
        .map_err(|()| Stop::Refused(Refusal::File { path: url.path().to_owned() }))?;
    let failed =
        |error: std::io::Error| FetchError::File { path: shown(&path), kind: error.kind() };
    // Links are followed before the path is judged, and what was judged is opened.
    let real = tokio::fs::canonicalize(&path).await.map_err(failed)?;
    let meta = tokio::fs::metadata(&real).await.map_err(failed)?;
    if !settings.files.iter().any(|open| real.starts_with(open)) || !meta.is_file() {
        return Err(Stop::Refused(Refusal::File { path: shown(&real) }));
    }
    let limit = settings.limits.body_bytes;
    let file = File::open(&real).await.map_err(failed)?;
    Ok(whole(file, limit).await.map_err(failed)??)
}

async fn command(settings: &Settings, name: &str) -> Result<Vec<u8>, Stop> {
    let failed = |code| FetchError::Command { name: name.to_owned(), code };
    let Some([program, arguments @ ..]) = settings.commands.get(name).map(Vec::as_slice) else {
        return Err(Stop::Refused(Refusal::Command { name: name.to_owned() }));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|_| failed(None))?;
    let Some(output) = child.stdout.take() else { return Err(failed(None).into()) };
    let body = whole(output, settings.limits.body_bytes).await.map_err(|_| failed(None))??;
    let status = child.wait().await.map_err(|_| failed(None))?;
    if status.success() { Ok(body) } else { Err(failed(status.code()).into()) }
}

/// All bytes, up to a limit.
async fn whole(
    from: impl AsyncRead + Unpin,
    limit: u64,
) -> std::io::Result<Result<Vec<u8>, FetchError>> {
    let mut body = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut body).await?;
    let fits = body.len() as u64 <= limit;
    Ok(if fits { Ok(body) } else { Err(FetchError::TooLarge { what: Size::Body, limit }) })
}
