//! Output: tables and JSON to files and standard output, notes to standard error.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use freshet_tables::{Format, Table, write, write_to};
use serde::Serialize;

use crate::failure::Failure;
use crate::terminal;

/// Prints text for people on standard error. Errors are ignored: there is nowhere else to report them.
pub(crate) fn print_note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", terminal::sanitize_text(text));
}

/// Fails early if an output file could not be written later.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match directory {
        Some(directory) if !directory.is_dir() => Err(Failure::new(format!(
            "cannot write {}: there is no directory {}",
            path.display(),
            directory.display()
        ))
        .with_hint("create it, or choose another path")),
        _ if path.is_dir() => {
            Err(Failure::new(format!("cannot write {}: it is a directory", path.display())))
        }
        _ => Ok(()),
    }
}

/// Fails if an output path is the same file as an input. Paths that do not exist are never the same.
pub(crate) fn check_not_input(path: &Path, input: &Path) -> Result<(), Failure> {
    let is_same = match (path.canonicalize(), input.canonicalize()) {
        (Ok(path), Ok(input)) => path == input && input.is_file(),
        _ => false,
    };
    if !is_same {
        return Ok(());
    }
    let fact = format!("{} is an input and cannot be overwritten", path.display());
    Err(Failure::new(fact).with_hint("write to another file"))
}

/// Fails early if an output directory could not be created later.
pub(crate) fn check_directory(path: &Path) -> Result<(), Failure> {
    let existing = path.ancestors().find(|it| it.as_os_str().is_empty() || it.exists());
    match existing {
        Some(existing) if !existing.as_os_str().is_empty() && !existing.is_dir() => {
            let (path, existing) = (path.display(), existing.display());
            Err(Failure::new(format!("cannot write to {path}: {existing} is not a directory"))
                .with_hint("choose another path"))
        }
        _ => Ok(()),
    }
}

/// Fails early if the name of a table has no known format, or if it could not be written later.
pub(crate) fn check_table(path: &Path) -> Result<(), Failure> {
    if path != Path::new("-") {
        Format::of(path)?;
        check_file(path)?;
    }
    Ok(())
}

/// Writes a table to a file, or to standard output for `-`.
pub(crate) fn write_table(path: &Path, table: &Table<'_>) -> Result<(), Failure> {
    if path == Path::new("-") {
        write_stdout(|out| write_to(out, Format::CSV, table))
    } else {
        Ok(write(path, table)?)
    }
}

/// Prints a value as JSON: indented on a terminal, on one line otherwise.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = match io::stdout().is_terminal() {
        true => serde_json::to_string_pretty(value),
        false => serde_json::to_string(value),
    };
    let text = text.map_err(|error| Failure::new(format!("cannot write as JSON: {error}")))?;
    write_stdout(|out| writeln!(out, "{}", terminal::escape_json(&text)))
}

/// Prints text on standard output, without control characters if it is a terminal.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    let shown = io::stdout().is_terminal().then(|| terminal::sanitize_text(text));
    write_stdout(|out| out.write_all(shown.as_deref().unwrap_or(text).as_bytes()))
}

/// Prints one or more lines on standard output and flushes. Returns false if the reader has closed it.
pub(crate) fn print_line(line: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(true),
    }
}

/// Prints a value as one line of JSON and flushes. Returns false if the reader has closed the output.
pub(crate) fn print_json_line(value: &impl Serialize) -> Result<bool, Failure> {
    print_line(&to_json_line(value)?)
}

/// Serializes a value as one line of JSON.
pub(crate) fn to_json_line(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::new(format!("cannot write as JSON: {error}")))?;
    Ok(terminal::escape_json(&text))
}

/// Prints bytes as they are on standard output.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    write_stdout(|out| out.write_all(bytes))
}

fn write_stdout(
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout());
    match fill(&mut out).and_then(|()| out.flush()) {
        // The reader has closed the pipe, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}
