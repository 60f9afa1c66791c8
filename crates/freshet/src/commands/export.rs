//! `freshet export`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use freshet_daemon::beliefs;
use freshet_model::Strings;
use freshet_store::{Reader, Source, SourceQuery};
use freshet_tables::{Table, write_atomic};

use crate::clock;
use crate::commands::instance::{ConfigArguments, Home};
use crate::commands::ls::{HostOf, Rates, Row};
use crate::failure::Failure;
use crate::number::plural;
use crate::output::{check_file, check_not_input, check_table, note, write_table};

/// Write all sources to a file
///
/// As a table that `freshet plan`, `curve` and `simulate` read, with the change rates that were learnt;
/// as URLs; or as JSON lines with all that is known. `freshet import` takes each of them: JSON brings
/// back all that was said of the sources; a table importance, cost, intervals or whether they are
/// paused, and change rates; URLs only themselves.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet export -o sources.csv
  freshet export --format urls | wc -l
  freshet export --format json -o sources.jsonl && freshet import -c other.toml sources.jsonl
  freshet export -o sources.parquet && freshet curve sources.parquet")]
pub(crate) struct ExportArguments {
    /// What is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) format: ExportFormat,

    /// The file to write [default: standard output]. The extension of a table names its format
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Id, importance, change rate, host, cost and limits; those of paused sources are 0
    Table,
    /// One URL on each line
    Urls,
    /// One object on each line, with all that was said and is known
    Json,
}

/// Sources that are looked up at once.
const PAGE: usize = 10_000;

pub(crate) fn run(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let out = arguments.out.as_path();
    for input in [&home.config.store, &arguments.config.config] {
        check_not_input(out, input)?;
    }
    let reader = home.reader()?;
    let sources = reader.count_sources(&SourceQuery::default())? as usize;
    match arguments.format {
        ExportFormat::Table => {
            check_table(out)?;
            table(&home, &reader, out)?;
        }
        ExportFormat::Urls => lines(&reader, out, |sources, out| {
            for source in sources {
                writeln!(out, "{}", source.url)?;
            }
            Ok(())
        })?,
        ExportFormat::Json => {
            let now = clock::millis();
            let rates = Rates::of_all(&home, &reader, now)?;
            lines(&reader, out, |sources, out| {
                for source in sources {
                    let rate = rates.of(source);
                    let host = HostOf::find(&reader, source.host).map_err(other)?;
                    serde_json::to_writer(&mut *out, &Row::of(source, &host, rate, now))?;
                    out.write_all(b"\n")?;
                }
                Ok(())
            })?;
        }
    }
    if out != Path::new("-") {
        note(&format!("wrote {} to {}", plural(sources, "source", "sources"), out.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn other(failure: Failure) -> io::Error {
    io::Error::other(failure.fact().to_owned())
}

/// All sources, some at a time.
fn each(reader: &Reader, mut some: impl FnMut(&[Source]) -> io::Result<()>) -> io::Result<()> {
    let mut query = SourceQuery { limit: PAGE, ..SourceQuery::default() };
    loop {
        let page = reader.list_sources(&query).map_err(io::Error::other)?;
        some(&page.sources)?;
        query.after = page.next;
        if query.after.is_none() {
            return Ok(());
        }
    }
}

fn lines(
    reader: &Reader,
    path: &Path,
    mut fill: impl FnMut(&[Source], &mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path != Path::new("-") {
        check_file(path)?;
        write_atomic(path, |out| each(reader, |some| fill(some, out)))?;
        return Ok(());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    match each(reader, |some| fill(some, &mut out)).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}

#[derive(Default)]
struct Columns {
    numbers: Vec<u32>,
    ids: Strings,
    hosts: Vec<u32>,
    importance: Vec<f64>,
    cost: Vec<f64>,
    min_rate: Vec<f64>,
    max_rate: Vec<f64>,
    complete: Vec<f64>,
}

fn table(home: &Home, reader: &Reader, path: &Path) -> Result<(), Failure> {
    let mut columns = Columns::default();
    let collected = each(reader, |sources| {
        for source in sources {
            columns.numbers.push(source.id);
            columns.ids.push(&source.url);
            columns.hosts.push(source.host);
            columns.importance.push(source.importance);
            columns.cost.push(source.cost);
            let (least, most) = (source.min_interval, source.max_interval);
            // What is left alone may never be fetched.
            let (fewest, most) = match source.paused {
                true => (0.0, 0.0),
                false => (
                    if most.is_finite() { 1.0 / most } else { 0.0 },
                    if least > 0.0 { 1.0 / least } else { f64::INFINITY },
                ),
            };
            columns.min_rate.push(fewest);
            columns.max_rate.push(most);
            columns.complete.push(f64::from(u8::from(source.observed)));
        }
        Ok(())
    });
    collected.map_err(Failure::new)?;
    let mut change_rate = vec![0.0; columns.numbers.len()];
    beliefs(&home.config, reader, clock::millis(), None, |id, it| {
        if let Ok(place) = columns.numbers.binary_search(&id) {
            change_rate[place] = it.belief.mean();
        }
    })?;
    let mut names: Vec<String> = Vec::new();
    reader.for_each_host(|host| {
        let place = host.id as usize;
        names.resize(names.len().max(place + 1), String::new());
        names[place] = host.name;
    })?;
    let mut hosts = Strings::new();
    for host in &columns.hosts {
        hosts.push(names.get(*host as usize).map_or("", String::as_str));
    }
    let mut table = Table::new(columns.numbers.len())
        .names("id", Some(&columns.ids))
        .numbers("importance", &columns.importance)
        .numbers("change_rate", &change_rate);
    if columns.complete.contains(&1.0) {
        table = table.numbers("complete", &columns.complete);
    }
    let table = table
        .names("host", Some(&hosts))
        .numbers("cost", &columns.cost)
        .numbers("min_rate", &columns.min_rate)
        .numbers("max_rate", &columns.max_rate);
    write_table(path, &table)
}
