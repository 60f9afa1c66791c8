//! `freshet token`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use freshet_daemon::{ControlRequest, ControlResponse};
use freshet_server::{Scope, Scopes, TokenSecret};
use freshet_store::Token;
use serde::Serialize;

use crate::clock;
use crate::commands::instance::{ConfigArguments, Editor, Instance, call_daemon, unexpected_reply};
use crate::failure::Failure;
use crate::output::{print_json, print_note, print_text};
use crate::time_format::{format_last, rfc3339};

/// Manage API tokens
///
/// Programs send a token with each request, as `Authorization: Bearer TOKEN`. As long as there is no token,
/// the service accepts requests from this machine only, without a token.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    Add(AddArguments),
    Ls(LsArguments),
    Rm(RmArguments),
}

/// Create a token and print it once
///
/// Only a hash of the token is stored. Once there is a token, the service requires one for every request,
/// also from this machine. An existing token with the same name is replaced and becomes invalid.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Scopes:
  read   read everything except tokens
  write  edit sources, settings and destinations
  claim  claim sources to fetch, and report the results
  admin  all of the above, and manage tokens
Apart from `admin`, no scope includes another: use `--scope read,write` to read and write.

Examples:
  freshet token add dashboard
  freshet token add crawler --scope claim
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7343/v1/status")]
pub(crate) struct AddArguments {
    /// Name of the token
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Scopes, separated by commas: read, write, claim, admin
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "read")]
    pub(crate) scope: Vec<Scope>,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// List tokens, without their secrets
#[derive(Debug, Args)]
pub(crate) struct LsArguments {
    /// Print the tokens as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Revoke a token
///
/// Exit code 0: the token was revoked; 1: there is no such token.
#[derive(Debug, Args)]
pub(crate) struct RmArguments {
    /// Name of the token
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(command: &TokenCommand) -> Result<ExitCode, Failure> {
    match command {
        TokenCommand::Add(arguments) => add(arguments),
        TokenCommand::Ls(arguments) => ls(arguments),
        TokenCommand::Rm(arguments) => rm(arguments),
    }
}

fn add(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    let name = arguments.name.clone();
    if name.is_empty() || name.len() > 100 || name.contains(|it: char| it.is_control() || it == '/')
    {
        let fact = format!("{name:?} is not a valid name of a token");
        return Err(Failure::new(fact).with_hint("use 1 to 100 bytes on one line, without `/`"));
    }
    let instance = Instance::open(&arguments.config)?;
    let secret = TokenSecret::random()
        .map_err(|why| Failure::new(format!("cannot read random bytes: {why}")))?;
    let scopes: Scopes = arguments.scope.iter().copied().collect();
    let (hash, scopes) = (secret.hash(), scopes.bits());
    match instance.editor()? {
        Editor::Daemon(mut client) => {
            match call_daemon(&mut client, ControlRequest::PutToken { name, hash, scopes })? {
                ControlResponse::Done => {}
                _ => return Err(unexpected_reply()),
            }
        }
        Editor::Store(mut store) => {
            store.upsert_token(&Token {
                name,
                hash,
                scopes,
                created_at: clock::now_millis(),
                used_at: None,
            })?;
        }
    }
    print_text(&format!("{}\n", secret.reveal()))?;
    print_note("the token is not shown again; the service now requires a token");
    Ok(ExitCode::SUCCESS)
}

/// JSON object of a token.
#[derive(Serialize)]
struct TokenRow {
    name: String,
    scopes: Vec<&'static str>,
    made: String,
    used: Option<String>,
}

fn ls(arguments: &LsArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let tokens = match instance.reader_if_any()? {
        Some(reader) => reader.tokens()?,
        None => Vec::new(),
    };
    if arguments.json {
        let rows = tokens.into_iter().map(|it| TokenRow {
            scopes: Scopes::from_bits(it.scopes).iter().map(Scope::name).collect(),
            made: rfc3339(it.created_at),
            used: it.used_at.map(rfc3339),
            name: it.name,
        });
        print_json(&rows.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if tokens.is_empty() {
        print_note("no tokens: the service accepts requests from this machine only");
        return Ok(ExitCode::SUCCESS);
    }
    let now = clock::now_millis();
    let width = tokens.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for it in &tokens {
        let scopes = Scopes::from_bits(it.scopes).to_string();
        let name = &it.name;
        text.push_str(&format!(
            "{name:width$}  {scopes:20}  last used {}\n",
            format_last(it.used_at, now)
        ));
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn rm(arguments: &RmArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let name = &arguments.name;
    let existed = match instance.editor()? {
        Editor::Daemon(mut client) => {
            match call_daemon(&mut client, ControlRequest::RemoveToken(name.clone()))? {
                ControlResponse::Done => true,
                ControlResponse::NotFound => false,
                _ => return Err(unexpected_reply()),
            }
        }
        Editor::Store(mut store) => store.remove_token(name)?,
    };
    if !existed {
        print_note(&format!("there is no token {name:?}"));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}
