//! Where results go: tables and JSON to files and standard output, notes to standard error.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use freshet_tables::{Format, Table, write, write_to};
use serde::Serialize;

use crate::failure::Failure;
use crate::terminal;

/// A line for people, on standard error. If that cannot be written, nobody is there to read it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", terminal::lines(text));
}

/// Refuses an output file early if it could not be written in the end.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match directory {
        Some(directory) if !directory.is_dir() => Err(Failure::new(format!(
            "cannot write {}: there is no directory {}",
            path.display(),
            directory.display()
        ))
        .hint("create it, or choose another place")),
        _ if path.is_dir() => {
            Err(Failure::new(format!("cannot write {}: it is a directory", path.display())))
        }
        _ => Ok(()),
    }
}

/// Refuses to write over what is read. What cannot be found is something else.
pub(crate) fn check_not_input(path: &Path, input: &Path) -> Result<(), Failure> {
    let is_same = match (path.canonicalize(), input.canonicalize()) {
        (Ok(path), Ok(input)) => path == input && input.is_file(),
        _ => false,
    };
    if !is_same {
        return Ok(());
    }
    let fact = format!("{} is read and cannot be written over", path.display());
    Err(Failure::new(fact).hint("write to another file"))
}

/// Refuses a directory early if it could not be made in the end.
pub(crate) fn check_directory(path: &Path) -> Result<(), Failure> {
    let there = path.ancestors().find(|it| it.as_os_str().is_empty() || it.exists());
    match there {
        Some(there) if !there.as_os_str().is_empty() && !there.is_dir() => {
            let (path, there) = (path.display(), there.display());
            Err(Failure::new(format!("cannot write to {path}: {there} is not a directory"))
                .hint("choose another place"))
        }
        _ => Ok(()),
    }
}

/// Refuses a table early if its name tells no format, or it could not be written in the end.
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
        to_stdout(|out| write_to(out, Format::CSV, table))
    } else {
        Ok(write(path, table)?)
    }
}

/// Prints a value as JSON: indented for people, on one line for programs.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = match io::stdout().is_terminal() {
        true => serde_json::to_string_pretty(value),
        false => serde_json::to_string(value),
    };
    let text = text.map_err(|error| Failure::new(format!("cannot write as JSON: {error}")))?;
    to_stdout(|out| writeln!(out, "{}", terminal::json(&text)))
}

/// Prints text on standard output: as it is for programs, and so that it cannot steer a terminal.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    let shown = io::stdout().is_terminal().then(|| terminal::lines(text));
    to_stdout(|out| out.write_all(shown.as_deref().unwrap_or(text).as_bytes()))
}

/// Prints a line, or several, on standard output, at once. Says whether somebody still reads.
pub(crate) fn print_line(line: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(true),
    }
}

/// Prints a value as JSON on a line of its own, at once. Says whether somebody still reads.
pub(crate) fn print_json_line(value: &impl Serialize) -> Result<bool, Failure> {
    print_line(&json_line(value)?)
}

/// A value as JSON on one line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::new(format!("cannot write as JSON: {error}")))?;
    Ok(terminal::json(&text))
}

/// Prints bytes as they are on standard output.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    to_stdout(|out| out.write_all(bytes))
}

fn to_stdout(fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout());
    match fill(&mut out).and_then(|()| out.flush()) {
        // Whoever read it has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}
