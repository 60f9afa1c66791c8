//! The `freshet` command: arguments in; messages, files and exit codes out. Contains no mathematics.

mod arguments;
mod clock;
mod commands;
mod failure;
mod help;
mod number;
mod output;
mod progress;
mod source_table;
mod terminal;
mod time_format;

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::arguments::{Arguments, Command};
use crate::commands::{crew, curve, demo, detect, fetch, lab, plan, simulate, trace};
use crate::failure::Failure;

fn main() -> ExitCode {
    let mut command = help::command();
    let parsed = command.try_get_matches_from_mut(std::env::args_os()).and_then(|matches| {
        Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    });
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            let text = error.render().to_string();
            if text == terminal::sanitize_text(&text) {
                error.exit()
            }
            output::print_note(text.trim_end());
            return ExitCode::from(2);
        }
    };
    match run(arguments) {
        Ok(code) => code,
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    match arguments.command {
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Curve(arguments) => curve::run(&arguments),
        Command::Crew(arguments) => crew::run(&arguments),
        // Commands with exit codes of their own.
        Command::Detect(arguments) => return detect::run(&arguments),
        Command::Lab(arguments) => return lab::run(&arguments),
        Command::Demo(arguments) => return demo::run(&arguments),
        Command::Instance(command) => return commands::run(&command),
        Command::Fetch(arguments) => return fetch::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Trace(command) => trace::run(&command),
    }?;
    Ok(ExitCode::SUCCESS)
}
