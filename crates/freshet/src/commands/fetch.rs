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
    FetchOutcome, FetchRequest, FetchResponse, Fetcher, GuardRefusal, InvalidRequest,
    RobotsPermission, RobotsReason, Validators,
};
use freshet_tables::write_atomic;
use tokio::runtime::Runtime;

pub(crate) use crate::commands::fetch::arguments::FetchArguments;
pub(crate) use crate::commands::fetch::document::document;
pub(crate) use crate::commands::fetch::summary::text as summary_of;

use crate::failure::Failure;
use crate::output::{check_file, print_bytes, print_json, print_note, print_text};

pub(crate) fn run(arguments: &FetchArguments) -> Result<ExitCode, Failure> {
    let body_to_stdout = arguments.body.as_deref() == Some(Path::new("-"));
    if arguments.json && body_to_stdout {
        return Err(Failure::new("only one of --json and --body - can use standard output")
            .with_hint("write the body to a file: --body page.html"));
    }
    if let Some(file) = arguments.body.as_deref().filter(|_| !body_to_stdout) {
        check_file(file)?;
    }
    let request = new_request(arguments)?;
    let fetcher = Fetcher::new(settings::load(arguments)?);
    let runtime = runtime()?;
    if arguments.robots {
        let permission = runtime.block_on(fetcher.check_robots(&request));
        return print_permission(arguments, &request, &fetcher, permission);
    }
    let answer = runtime.block_on(fetcher.fetch(&request));
    let text = if arguments.json { String::new() } else { summary::text(&answer) };
    match &answer.outcome {
        FetchOutcome::Content(content) if body_to_stdout => {
            print_note(text.trim_end());
            print_bytes(&content.body)?;
        }
        FetchOutcome::Content(content) if arguments.body.is_some() => {
            let path = arguments.body.as_deref().unwrap_or(Path::new("-"));
            write_atomic(path, |out| out.write_all(&content.body))?;
            print_answer(arguments, &answer, &text)?;
        }
        _ if body_to_stdout => print_note(text.trim_end()),
        _ => print_answer(arguments, &answer, &text)?,
    }
    if let Some(hint) = hint(&answer).or_else(|| missing_quotes_hint(arguments, &answer)) {
        print_note(&format!("\nhint: {hint}"));
    }
    Ok(match answer.outcome {
        FetchOutcome::Content(_) | FetchOutcome::NotModified => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    })
}

fn runtime() -> Result<Runtime, Failure> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Failure::new(format!("cannot start to fetch: {error}")))
}

fn print_answer(
    arguments: &FetchArguments,
    answer: &FetchResponse,
    text: &str,
) -> Result<(), Failure> {
    if arguments.json {
        print_json(&report::FetchReport::new(&arguments.url, answer))
    } else {
        print_text(text)
    }
}

fn print_permission(
    arguments: &FetchArguments,
    request: &FetchRequest,
    fetcher: &Fetcher,
    permission: Result<RobotsPermission, GuardRefusal>,
) -> Result<ExitCode, Failure> {
    let allowed = permission.as_ref().is_ok_and(|it| it.allowed);
    if arguments.json {
        print_json(&report::RobotsReport::new(&permission))?;
    } else {
        print_text(&summary::robots(
            request.url(),
            fetcher.settings().user_agent_text(),
            &permission,
        ))?;
    }
    if let Err(refusal) = &permission {
        print_note(&format!("\nhint: {}", refusal_hint(refusal)));
    }
    Ok(if allowed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn new_request(arguments: &FetchArguments) -> Result<FetchRequest, Failure> {
    let mut request =
        FetchRequest::new(&arguments.url).map_err(|error| invalid_request(&error, arguments))?;
    for header in &arguments.header {
        let Some((name, value)) = header.split_once(':') else {
            // The text is not repeated: it may be a secret without its header name.
            return Err(Failure::new("a header has no value")
                .with_hint("write it as `--header 'Accept-Language: en'`"));
        };
        request = request
            .with_header(name.trim(), value.trim())
            .map_err(|error| invalid_request(&error, arguments))?;
    }
    if arguments.etag.is_some() || arguments.modified.is_some() {
        let (etag, modified) = (arguments.etag.as_deref(), arguments.modified.as_deref());
        let validators = Validators::new(request.url(), etag, modified);
        request = request
            .with_validators(validators.map_err(|error| invalid_request(&error, arguments))?);
    }
    Ok(if arguments.head { request.head_only() } else { request })
}

fn invalid_request(error: &InvalidRequest, arguments: &FetchArguments) -> Failure {
    let failure = Failure::new(error);
    match error {
        InvalidRequest::Url { .. } if !arguments.url.contains(['/', '@', ':']) => {
            failure.with_hint(format!("give the full URL, such as `https://{}`", arguments.url))
        }
        InvalidRequest::Url { .. } => {
            failure.with_hint("give the full URL, such as `https://example.com/`")
        }
        InvalidRequest::Userinfo { .. } => failure.with_hint(
            "keep passwords out of URLs: use `--settings FILE` with a rule that has `basic`, see \
             docs/reference/fetching.md",
        ),
        InvalidRequest::Header { .. } => failure.with_hint(
            "freshet sets some headers itself; for conditions use `--etag` and `--modified`",
        ),
        InvalidRequest::HeaderName => {
            failure.with_hint("write it as `--header 'Accept-Language: en'`")
        }
        InvalidRequest::Etag => {
            failure.with_hint("give it as in the response, with its quotes: `--etag '\"abc\"'`")
        }
        InvalidRequest::Date { .. } => failure
            .with_hint("give it as in the response: `--modified 'Sun, 06 Nov 1994 08:49:37 GMT'`"),
    }
}

/// Returns a hint for the outcome of a fetch.
pub(crate) fn hint(answer: &FetchResponse) -> Option<String> {
    match &answer.outcome {
        // `localhost:8080` is a URL with the scheme `localhost`.
        FetchOutcome::Refused(GuardRefusal::Scheme { .. })
            if answer.trace.final_url().is_some_and(is_host_with_port) =>
        {
            let url = answer.trace.final_url().map(ToString::to_string).unwrap_or_default();
            Some(format!("give the full URL: `http://{url}`"))
        }
        FetchOutcome::Refused(refusal) => Some(refusal_hint(refusal)),
        FetchOutcome::Disallowed(permission)
            if matches!(permission.reason, RobotsReason::Rules(_)) =>
        {
            Some("`--robots` shows the rule; for your own pages, use `--no-robots`".to_owned())
        }
        FetchOutcome::Failed(error) => match error.name() {
            "downgrade" => Some("to follow it, set `downgrade = true` in --settings".to_owned()),
            "too-large" => Some("raise the limit in --settings".to_owned()),
            "timeout" => Some("raise the limit in --settings".to_owned()),
            "proxy" => {
                Some("a proxy that resolves names itself requires `trusted = true`".to_owned())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns a hint if an ETag was given without its quotes.
fn missing_quotes_hint(arguments: &FetchArguments, answer: &FetchResponse) -> Option<String> {
    let etag = arguments.etag.as_ref().filter(|it| !it.ends_with('"'))?;
    matches!(answer.outcome, FetchOutcome::Content(_))
        .then(|| format!("the quotes are part of an ETag: `--etag '\"{etag}\"'`"))
}

fn is_host_with_port(url: &impl Display) -> bool {
    let text = url.to_string();
    text.split_once(':').is_some_and(|(_, rest)| rest.starts_with(|it: char| it.is_ascii_digit()))
}

fn refusal_hint(refusal: &GuardRefusal) -> String {
    match refusal {
        GuardRefusal::Address { host, .. } | GuardRefusal::Public { host, .. } => {
            let quote = if host.starts_with('[') { "'" } else { "" };
            format!("if this is intended, allow it with `--allow {quote}{host}{quote}`")
        }
        GuardRefusal::Scheme { scheme } if scheme == "file" => {
            "allow directories with `files = [\"/some/directory\"]` in --settings".to_owned()
        }
        GuardRefusal::Scheme { scheme } if scheme == "exec" => {
            "define commands with `commands = { name = [\"program\"] }` in --settings".to_owned()
        }
        GuardRefusal::Scheme { .. } => {
            "give the full URL, such as `https://example.com/`: only http and https are fetched"
                .to_owned()
        }
        GuardRefusal::Redirect { .. } => {
            "a redirect is chosen by the host: to fetch its target, give the URL of the target \
             yourself"
                .to_owned()
        }
        GuardRefusal::File { .. } => "allow its directory with `files` in --settings".to_owned(),
        GuardRefusal::Command { .. } => "define it under `commands` in --settings".to_owned(),
    }
}
