//! `freshet init`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use freshet_tables::write_atomic;

use crate::failure::Failure;
use crate::output::{check_file, note, print_text};

/// A file with every setting, its default, and why one would change it.
const TEMPLATE: &str = include_str!("init/freshet.toml");

/// Write a configuration with every setting, its default and why one would change it
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet init
  freshet init watch/freshet.toml
  freshet init - | less")]
pub(crate) struct InitArguments {
    /// The file to write, `-` for standard output
    #[arg(value_name = "FILE", default_value = "freshet.toml")]
    pub(crate) file: PathBuf,

    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(arguments: &InitArguments) -> Result<ExitCode, Failure> {
    let file = arguments.file.as_path();
    if file == Path::new("-") {
        print_text(TEMPLATE)?;
        return Ok(ExitCode::SUCCESS);
    }
    check_file(file)?;
    let name = file.display();
    if file.exists() && !arguments.force {
        return Err(Failure::new(format!("{name} exists already"))
            .hint("replace it with --force, or see a fresh one with `freshet init -`"));
    }
    write_atomic(file, |out| out.write_all(TEMPLATE.as_bytes()))?;
    let config =
        if file == Path::new("freshet.toml") { String::new() } else { format!(" --config {name}") };
    note(&format!(
        "wrote {name}\nnext: `freshet add{config} https://example.com/`, then `freshet run{config}`"
    ));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use freshet_daemon::{ConcurrencySetting, Config};

    use super::*;

    #[test]
    fn every_setting_can_be_taken_as_it_stands() {
        let parse = |text: &str| Config::parse(text, Path::new("somewhere/freshet.toml"));
        let plain = parse(TEMPLATE).unwrap();
        let all: String = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let all = parse(&all).unwrap();
        // What the comments say is the default is the default.
        assert_eq!((plain.bytes, all.bytes), (None, Some(2e9)));
        assert_eq!((all.store.to_str(), all.crew), (plain.store.to_str(), plain.crew));
        assert_eq!(plain.crew, ConcurrencySetting::Auto(Config::FETCHERS));
        assert_eq!(all.retention, plain.retention);
        assert_eq!((all.gap, all.connections), (plain.gap, plain.connections));
        assert_eq!((all.objective, all.profile), (plain.objective, plain.profile));
        assert_eq!(all.fetch.limits(), plain.fetch.limits());
        assert_eq!(all.fetch.obeys_robots(), plain.fetch.obeys_robots());
        assert_eq!(all.watch.failures, plain.watch.failures);
        let tried =
            |config: &Config| (config.notify.attempts, config.notify.wait, config.notify.limit);
        assert_eq!(tried(&all), tried(&plain));
        let none = parse("").unwrap();
        assert_eq!((none.budget, none.gap), (plain.budget, plain.gap));
    }
}
