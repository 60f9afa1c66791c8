//! `freshet fetch`.

mod arguments;
mod document;
mod report;
mod settings;
mod summary;

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use freshet_fetch::{
    Answer, Because, Fetcher, InvalidRequest, Outcome, Permission, Refusal, Request, Validators,
};
use freshet_tables::write_atomic;
use tokio::runtime::Runtime;

pub(crate) use crate::commands::fetch::arguments::FetchArguments;
pub(crate) use crate::commands::fetch::document::document;
pub(crate) use crate::commands::fetch::summary::text as summary_of;

use crate::failure::Failure;
use crate::output::{check_file, note, print_bytes, print_json, print_text};

pub(crate) fn run(arguments: &FetchArguments) -> Result<ExitCode, Failure> {
    let body_to_stdout = arguments.body.as_deref() == Some(Path::new("-"));
    if arguments.json && body_to_stdout {
        return Err(Failure::new("standard output can take one of --json and --body -")
            .hint("write the body to a file: --body page.html"));
    }
    if let Some(file) = arguments.body.as_deref().filter(|_| !body_to_stdout) {
        check_file(file)?;
    }
    let request = request(arguments)?;
    let fetcher = Fetcher::new(settings::of(arguments)?);
    let runtime = runtime()?;
    if arguments.robots {
        let permission = runtime.block_on(fetcher.permission(&request));
        return show_permission(arguments, &request, &fetcher, permission);
    }
    let answer = runtime.block_on(fetcher.fetch(&request));
    let text = if arguments.json { String::new() } else { summary::text(&answer) };
    match &answer.outcome {
        Outcome::Content(content) if body_to_stdout => {
            note(text.trim_end());
            print_bytes(&content.body)?;
        }
        Outcome::Content(content) if arguments.body.is_some() => {
            let path = arguments.body.as_deref().unwrap_or(Path::new("-"));
            write_atomic(path, |out| out.write_all(&content.body))?;
            show(arguments, &answer, &text)?;
        }
        _ if body_to_stdout => note(text.trim_end()),
        _ => show(arguments, &answer, &text)?,
    }
    if let Some(hint) = hint(&answer).or_else(|| quotes(arguments, &answer)) {
        note(&format!("\nhint: {hint}"));
    }
    Ok(match answer.outcome {
        Outcome::Content(_) | Outcome::NotModified => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}

fn runtime() -> Result<Runtime, Failure> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Failure::new(format!("cannot start to fetch: {error}")))
}

fn show(arguments: &FetchArguments, answer: &Answer, text: &str) -> Result<(), Failure> {
    if arguments.json {
        print_json(&report::Report::of(&arguments.url, answer))
    } else {
        print_text(text)
    }
}

fn show_permission(
    arguments: &FetchArguments,
    request: &Request,
    fetcher: &Fetcher,
    permission: Result<Permission, Refusal>,
) -> Result<ExitCode, Failure> {
    let allowed = permission.as_ref().is_ok_and(|it| it.allowed);
    if arguments.json {
        print_json(&report::RobotsReport::of(&permission))?;
    } else {
        print_text(&summary::robots(request.url(), fetcher.settings().agent(), &permission))?;
    }
    if let Err(refusal) = &permission {
        note(&format!("\nhint: {}", way_past(refusal)));
    }
    Ok(if allowed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn request(arguments: &FetchArguments) -> Result<Request, Failure> {
    let mut request = Request::new(&arguments.url).map_err(|error| invalid(&error, arguments))?;
    for header in &arguments.header {
        let Some((name, value)) = header.split_once(':') else {
            // It may be a secret whose name was forgotten.
            return Err(Failure::new("a header has no value")
                .hint("give it as `--header 'Accept-Language: en'`"));
        };
        request = request
            .header(name.trim(), value.trim())
            .map_err(|error| invalid(&error, arguments))?;
    }
    if arguments.etag.is_some() || arguments.modified.is_some() {
        let (etag, modified) = (arguments.etag.as_deref(), arguments.modified.as_deref());
        let validators = Validators::new(request.url(), etag, modified);
        request = request.since(validators.map_err(|error| invalid(&error, arguments))?);
    }
    Ok(if arguments.head { request.head() } else { request })
}

fn invalid(error: &InvalidRequest, arguments: &FetchArguments) -> Failure {
    let failure = Failure::new(error);
    match error {
        InvalidRequest::Url { .. } if !arguments.url.contains(['/', '@', ':']) => {
            failure.hint(format!("give the whole URL, such as `https://{}`", arguments.url))
        }
        InvalidRequest::Url { .. } => {
            failure.hint("give the whole URL, such as `https://example.com/`")
        }
        InvalidRequest::Userinfo { .. } => failure.hint(
            "keep passwords out of URLs: `--settings FILE` with a rule that has `basic`, see \
             docs/fetch.md",
        ),
        InvalidRequest::Header { .. } => failure
            .hint("freshet sets some headers itself; conditions are `--etag` and `--modified`"),
        InvalidRequest::HeaderName => failure.hint("give it as `--header 'Accept-Language: en'`"),
        InvalidRequest::Etag => {
            failure.hint("give it as the host does, with its quotes: `--etag '\"abc\"'`")
        }
        InvalidRequest::Date { .. } => {
            failure.hint("give it as the host does: `--modified 'Sun, 06 Nov 1994 08:49:37 GMT'`")
        }
    }
}

/// The way out, where there is one.
pub(crate) fn hint(answer: &Answer) -> Option<String> {
    match &answer.outcome {
        // `localhost:8080` is a URL whose scheme is `localhost`.
        Outcome::Refused(Refusal::Scheme { .. })
            if answer.trace.final_url().is_some_and(is_host_with_port) =>
        {
            let url = answer.trace.final_url().map(ToString::to_string).unwrap_or_default();
            Some(format!("give the whole URL: `http://{url}`"))
        }
        Outcome::Refused(refusal) => Some(way_past(refusal)),
        Outcome::Disallowed(permission) if matches!(permission.because, Because::Rules(_)) => {
            Some("`--robots` says why; for a page of your own, use `--no-robots`".to_owned())
        }
        Outcome::Failed(error) => match error.name() {
            "downgrade" => Some("to follow it, set `downgrade = true` in --settings".to_owned()),
            "too-large" => Some("the limits can be raised in --settings".to_owned()),
            "timeout" => Some("the limits can be raised in --settings".to_owned()),
            "proxy" => Some(
                "a proxy that only connects to names it resolves itself needs `trusted = true`"
                    .to_owned(),
            ),
            _ => None,
        },
        _ => None,
    }
}

/// A version without quotes is hardly the one that the host gave.
fn quotes(arguments: &FetchArguments, answer: &Answer) -> Option<String> {
    let etag = arguments.etag.as_ref().filter(|it| !it.ends_with('"'))?;
    matches!(answer.outcome, Outcome::Content(_))
        .then(|| format!("ETags have quotes, which are part of them: `--etag '\"{etag}\"'`"))
}

fn is_host_with_port(url: &impl Display) -> bool {
    let text = url.to_string();
    text.split_once(':').is_some_and(|(_, rest)| rest.starts_with(|it: char| it.is_ascii_digit()))
}

fn way_past(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Address { host, .. } | Refusal::Public { host, .. } => {
            let quote = if host.starts_with('[') { "'" } else { "" };
            format!("if that is meant, open it with `--allow {quote}{host}{quote}`")
        }
        Refusal::Scheme { scheme } if scheme == "file" => {
            "open directories with `files = [\"/some/directory\"]` in --settings".to_owned()
        }
        Refusal::Scheme { scheme } if scheme == "exec" => {
            "name commands with `commands = { name = [\"program\"] }` in --settings".to_owned()
        }
        Refusal::Scheme { .. } => {
            "give the whole URL, such as `https://example.com/`: only http and https are fetched"
                .to_owned()
        }
        Refusal::Redirect { .. } => {
            "a redirect is the host's choice, not yours: if you want what it \
             leads to, ask for that itself"
                .to_owned()
        }
        Refusal::File { .. } => "open its directory with `files` in --settings".to_owned(),
        Refusal::Command { .. } => "name it under `commands` in --settings".to_owned(),
    }
}
