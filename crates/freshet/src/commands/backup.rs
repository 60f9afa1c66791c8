//! `freshet backup`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::commands::instance::{ConfigArguments, Instance};
use crate::commands::status::format_bytes;
use crate::failure::Failure;
use crate::output::{check_file, print_note};

/// Back up the store
///
/// Writes a consistent copy of the store to one file, also while the daemon runs. To restore it, stop the
/// daemon and replace the store with the copy.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet backup freshet-$(date +%F).db
  freshet backup /backup/freshet.db --force")]
pub(crate) struct BackupArguments {
    /// File to write
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &BackupArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let file = arguments.file.as_path();
    check_file(file)?;
    if file.exists() && !arguments.force {
        return Err(Failure::new(format!("{} already exists", file.display()))
            .with_hint("choose another file, or overwrite it with --force"));
    }
    instance.reader()?.backup(file, arguments.force)?;
    let bytes = file.metadata().map_or(0, |it| it.len());
    print_note(&format!("wrote {}, {}", file.display(), format_bytes(bytes as f64)));
    Ok(ExitCode::SUCCESS)
}
