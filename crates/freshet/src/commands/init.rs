//! `freshet init`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use freshet_tables::write_atomic;

use crate::failure::Failure;
use crate::output::{check_file, print_note, print_text};

/// Configuration file with every setting, its default and an explanation.
const TEMPLATE: &str = include_str!("init/freshet.toml");

/// Create a configuration file
///
/// The file lists every setting with its default and an explanation.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet init
  freshet init watch/freshet.toml
  freshet init - | less")]
pub(crate) struct InitArguments {
    /// File to write; `-` for standard output
    #[arg(value_name = "FILE", default_value = "freshet.toml")]
    pub(crate) file: PathBuf,

    /// Overwrite an existing file
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
        return Err(Failure::new(format!("{name} already exists"))
            .with_hint("overwrite it with --force, or print a new one with `freshet init -`"));
    }
    write_atomic(file, |out| out.write_all(TEMPLATE.as_bytes()))?;
    let config =
        if file == Path::new("freshet.toml") { String::new() } else { format!(" --config {name}") };
    print_note(&format!(
        "wrote {name}\nnext: `freshet add{config} https://example.com/`, then `freshet run{config}`"
    ));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use freshet_daemon::{ConcurrencySetting, Config};

    use super::*;

    #[test]
    fn every_setting_of_the_template_is_valid_and_its_default() {
        let parse = |text: &str| Config::parse(text, Path::new("somewhere/freshet.toml"));
        let defaults = parse(TEMPLATE).unwrap();
        let all: String = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let all = parse(&all).unwrap();
        // The values in the template are the defaults.
        assert_eq!((defaults.bytes_per_day, all.bytes_per_day), (None, Some(2e9)));
        assert_eq!(
            (all.store.to_str(), all.fetch_concurrency),
            (defaults.store.to_str(), defaults.fetch_concurrency)
        );
        assert_eq!(
            defaults.fetch_concurrency,
            ConcurrencySetting::Auto(Config::DEFAULT_MAX_FETCHERS)
        );
        assert_eq!(all.retention, defaults.retention);
        assert_eq!(
            (all.host_gap_days, all.host_connections),
            (defaults.host_gap_days, defaults.host_connections)
        );
        assert_eq!((all.objective, all.profile), (defaults.objective, defaults.profile));
        assert_eq!(all.fetch.limits(), defaults.fetch.limits());
        assert_eq!(all.fetch.obeys_robots(), defaults.fetch.obeys_robots());
        assert_eq!(
            all.alert_thresholds.failures_in_a_row,
            defaults.alert_thresholds.failures_in_a_row
        );
        let tried = |config: &Config| {
            (
                config.notify.max_attempts,
                config.notify.first_retry_delay,
                config.notify.command_timeout,
            )
        };
        assert_eq!(tried(&all), tried(&defaults));
        let none = parse("").unwrap();
        assert_eq!((none.budget, none.host_gap_days), (defaults.budget, defaults.host_gap_days));
    }
}
