//! Reads files and commands as sources, if the settings allow them.

use std::path::Path;
use std::process::Stdio;

use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use url::Url;

use crate::connect::{FetchStop, with_timeout};
use crate::error::{FetchError, ResponsePart, TimeoutPhase};
use crate::guard::GuardRefusal;
use crate::settings::FetchSettings;

/// Reads a `file:` or `exec:` URL; `None` for other schemes.
pub(crate) async fn read(
    settings: &FetchSettings,
    url: &Url,
) -> Option<Result<Vec<u8>, FetchStop>> {
    let not_allowed =
        || Err(FetchStop::Refused(GuardRefusal::Scheme { scheme: url.scheme().to_owned() }));
    let limit = settings.limits.body_timeout;
    let content = match url.scheme() {
        "file" if settings.allowed_directories.is_empty() => return Some(not_allowed()),
        "file" => with_timeout(limit, TimeoutPhase::Local, read_file(settings, url)).await,
        "exec" if settings.commands.is_empty() => return Some(not_allowed()),
        "exec" => with_timeout(limit, TimeoutPhase::Local, run_command(settings, url.path())).await,
        _ => return None,
    };
    Some(content.unwrap_or_else(|timeout| Err(timeout.into())))
}

async fn read_file(settings: &FetchSettings, url: &Url) -> Result<Vec<u8>, FetchStop> {
    let display = |path: &Path| path.display().to_string();
    let path = url
        .to_file_path()
        .map_err(|()| FetchStop::Refused(GuardRefusal::File { path: url.path().to_owned() }))?;
    let failed =
        |error: std::io::Error| FetchError::File { path: display(&path), kind: error.kind() };
    // Symbolic links are resolved before the path is checked, and the resolved path is opened.
    let real = tokio::fs::canonicalize(&path).await.map_err(failed)?;
    let meta = tokio::fs::metadata(&real).await.map_err(failed)?;
    if !settings.allowed_directories.iter().any(|directory| real.starts_with(directory))
        || !meta.is_file()
    {
        return Err(FetchStop::Refused(GuardRefusal::File { path: display(&real) }));
    }
    let limit = settings.limits.max_body_bytes;
    let file = File::open(&real).await.map_err(failed)?;
    Ok(read_limited(file, limit).await.map_err(failed)??)
}

async fn run_command(settings: &FetchSettings, name: &str) -> Result<Vec<u8>, FetchStop> {
    let failed = |code| FetchError::Command { name: name.to_owned(), code };
    let Some([program, arguments @ ..]) = settings.commands.get(name).map(Vec::as_slice) else {
        return Err(FetchStop::Refused(GuardRefusal::Command { name: name.to_owned() }));
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
    let body =
        read_limited(output, settings.limits.max_body_bytes).await.map_err(|_| failed(None))??;
    let status = child.wait().await.map_err(|_| failed(None))?;
    if status.success() { Ok(body) } else { Err(failed(status.code()).into()) }
}

/// Reads all bytes, up to a limit.
async fn read_limited(
    reader: impl AsyncRead + Unpin,
    limit: u64,
) -> std::io::Result<Result<Vec<u8>, FetchError>> {
    let mut body = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut body).await?;
    let fits = body.len() as u64 <= limit;
    Ok(if fits {
        Ok(body)
    } else {
        Err(FetchError::TooLarge { part: ResponsePart::DecodedBody, limit })
    })
}
