//! `freshet backup`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::commands::instance::{ConfigArguments, Home};
use crate::commands::status::megabytes;
use crate::failure::Failure;
use crate::output::{check_file, note};

/// Write a copy of the store, also while the daemon runs
///
/// The copy is the store as it is at this moment, as one file. To go back to it, stop the daemon and put
/// it where the store is.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet backup freshet-$(date +%F).db
  freshet backup /backup/freshet.db --force")]
pub(crate) struct BackupArguments {
    /// The file to write
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &BackupArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let file = arguments.file.as_path();
    check_file(file)?;
    if file.exists() && !arguments.force {
        return Err(Failure::new(format!("{} exists already", file.display()))
            .hint("name another file, or replace it with --force"));
    }
    home.reader()?.backup(file, arguments.force)?;
    let bytes = file.metadata().map_or(0, |it| it.len());
    note(&format!("wrote {}, {}", file.display(), megabytes(bytes as f64)));
    Ok(ExitCode::SUCCESS)
}
