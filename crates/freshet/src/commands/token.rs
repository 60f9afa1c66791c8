//! `freshet token`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use freshet_daemon::{Answer, Call};
use freshet_server::{Scope, Scopes, Secret};
use freshet_store::Token;
use serde::Serialize;

use crate::clock;
use crate::commands::instance::{ConfigArguments, Editor, Home, ask, odd};
use crate::failure::Failure;
use crate::output::{note, print_json, print_text};
use crate::time_format::{last, rfc3339};

/// Say who may ask the service, and for what
///
/// Programs send a token with each request, as `Authorization: Bearer TOKEN`. While there is none, the
/// service answers on this machine alone, and without asking.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    Add(AddArguments),
    Ls(LsArguments),
    Rm(RmArguments),
}

/// Make a token, and show it once
///
/// Only a hash of it is kept. As soon as there is a token, the service asks everybody for one, also on this
/// machine. A token of the same name is replaced, and does not count any more.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Scopes:
  read   see everything but tokens
  write  change sources, settings and destinations
  claim  claim sources to fetch, and report what came
  admin  all of that, and tokens
Each allows that and no more: who writes and looks as well needs `--scope read,write`.

Examples:
  freshet token add dashboard
  freshet token add crawler --scope claim
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7343/v1/status")]
pub(crate) struct AddArguments {
    /// A name to know it by
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// What it allows: read, write, claim, admin; several with commas
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "read")]
    pub(crate) scope: Vec<Scope>,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// List tokens, without what is secret of them
#[derive(Debug, Args)]
pub(crate) struct LsArguments {
    /// Print them as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Take a token back: it does not count any more
///
/// Exit code 0: done; 1: there is no such token.
#[derive(Debug, Args)]
pub(crate) struct RmArguments {
    /// What it is called
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
        let fact = format!("{name:?} cannot be the name of a token");
        return Err(Failure::new(fact).hint("give one line of 1 to 100 bytes without `/`"));
    }
    let home = Home::open(&arguments.config)?;
    let secret = Secret::random().map_err(|why| Failure::new(format!("no randomness: {why}")))?;
    let scopes: Scopes = arguments.scope.iter().copied().collect();
    let (hash, scopes) = (secret.hash(), scopes.bits());
    match home.editor()? {
        Editor::Daemon(mut client) => {
            match ask(&mut client, Call::PutToken { name, hash, scopes })? {
                Answer::Done => {}
                _ => return Err(odd()),
            }
        }
        Editor::Alone(mut store) => {
            store.upsert_token(&Token {
                name,
                hash,
                scopes,
                created_at: clock::millis(),
                used_at: None,
            })?;
        }
    }
    print_text(&format!("{}\n", secret.reveal()))?;
    note("it is not shown again; the service asks for a token from now on");
    Ok(ExitCode::SUCCESS)
}

/// A token as programs read it.
#[derive(Serialize)]
struct Row {
    name: String,
    scopes: Vec<&'static str>,
    made: String,
    used: Option<String>,
}

fn ls(arguments: &LsArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let tokens = match home.reader_if_any()? {
        Some(reader) => reader.tokens()?,
        None => Vec::new(),
    };
    if arguments.json {
        let rows = tokens.into_iter().map(|it| Row {
            scopes: Scopes::from_bits(it.scopes).iter().map(Scope::name).collect(),
            made: rfc3339(it.created_at),
            used: it.used_at.map(rfc3339),
            name: it.name,
        });
        print_json(&rows.collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if tokens.is_empty() {
        note("no tokens: the service is open to this machine, and to no other");
        return Ok(ExitCode::SUCCESS);
    }
    let now = clock::millis();
    let longest = tokens.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for it in &tokens {
        let scopes = Scopes::from_bits(it.scopes).to_string();
        let name = &it.name;
        text.push_str(&format!("{name:longest$}  {scopes:20}  used {}\n", last(it.used_at, now)));
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn rm(arguments: &RmArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let name = &arguments.name;
    let was = match home.editor()? {
        Editor::Daemon(mut client) => match ask(&mut client, Call::RemoveToken(name.clone()))? {
            Answer::Done => true,
            Answer::Nothing => false,
            _ => return Err(odd()),
        },
        Editor::Alone(mut store) => store.remove_token(name)?,
    };
    if !was {
        note(&format!("there is no token {name:?}"));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}
