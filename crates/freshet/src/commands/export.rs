//! `freshet export`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use freshet_daemon::explain_each_offline;
use freshet_model::PackedStrings;
use freshet_store::{Reader, Source, SourceQuery};
use freshet_tables::{Table, write_atomic};

use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::commands::ls::{ChangeRates, SourceHost, SourceRow};
use crate::failure::Failure;
use crate::number::pluralize;
use crate::output::{check_file, check_not_input, check_table, print_note, write_table};

/// Export all sources to a file
///
/// Writes a table that `freshet plan`, `curve` and `simulate` read, with the estimated change rates; a list
/// of URLs; or JSON lines with all details. `freshet import` reads all of these: JSON restores
/// all settings; a table restores importance, cost, intervals, paused sources and change rates; a list of
/// URLs restores the URLs only.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet export -o sources.csv
  freshet export --format urls | wc -l
  freshet export --format json -o sources.jsonl && freshet import -c other.toml sources.jsonl
  freshet export -o sources.parquet && freshet curve sources.parquet")]
pub(crate) struct ExportArguments {
    /// Format of the export
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) format: ExportFormat,

    /// File to write; the extension of a table selects its format [default: standard output]
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Id, importance, change rate, host, cost and limits; the limits of paused sources are 0
    Table,
    /// One URL per line
    Urls,
    /// One object per line with all settings and statistics
    Json,
}

/// Number of sources that are read at once.
const PAGE_SIZE: usize = 10_000;

pub(crate) fn run(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let out = arguments.out.as_path();
    for input in [&instance.config.store, &arguments.config.config] {
        check_not_input(out, input)?;
    }
    let reader = instance.reader()?;
    let sources = reader.count_sources(&SourceQuery::default())? as usize;
    match arguments.format {
        ExportFormat::Table => {
            check_table(out)?;
            write_source_table(&instance, &reader, out)?;
        }
        ExportFormat::Urls => write_lines(&reader, out, |sources, out| {
            for source in sources {
                writeln!(out, "{}", source.url)?;
            }
            Ok(())
        })?,
        ExportFormat::Json => {
            let now = clock::now_millis();
            let rates = ChangeRates::for_all(&instance, &reader, now)?;
            write_lines(&reader, out, |sources, out| {
                for source in sources {
                    let rate = rates.get(source);
                    let host = SourceHost::find(&reader, source.host).map_err(to_io_error)?;
                    serde_json::to_writer(&mut *out, &SourceRow::new(source, &host, rate, now))?;
                    out.write_all(b"\n")?;
                }
                Ok(())
            })?;
        }
    }
    if out != Path::new("-") {
        print_note(&format!(
            "wrote {} to {}",
            pluralize(sources, "source", "sources"),
            out.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn to_io_error(failure: Failure) -> io::Error {
    io::Error::other(failure.fact().to_owned())
}

/// Calls a function with all sources, one page at a time.
fn for_each_page(
    reader: &Reader,
    mut visit: impl FnMut(&[Source]) -> io::Result<()>,
) -> io::Result<()> {
    let mut query = SourceQuery { limit: PAGE_SIZE, ..SourceQuery::default() };
    loop {
        let page = reader.list_sources(&query).map_err(io::Error::other)?;
        visit(&page.sources)?;
        query.after = page.next_after;
        if query.after.is_none() {
            return Ok(());
        }
    }
}

fn write_lines(
    reader: &Reader,
    path: &Path,
    mut fill: impl FnMut(&[Source], &mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path != Path::new("-") {
        check_file(path)?;
        write_atomic(path, |out| for_each_page(reader, |sources| fill(sources, out)))?;
        return Ok(());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    match for_each_page(reader, |sources| fill(sources, &mut out)).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}

#[derive(Default)]
struct Columns {
    numbers: Vec<u32>,
    ids: PackedStrings,
    hosts: Vec<u32>,
    importance: Vec<f64>,
    cost: Vec<f64>,
    min_rate: Vec<f64>,
    max_rate: Vec<f64>,
    complete: Vec<f64>,
}

fn write_source_table(instance: &Instance, reader: &Reader, path: &Path) -> Result<(), Failure> {
    let mut columns = Columns::default();
    let collected = for_each_page(reader, |sources| {
        for source in sources {
            columns.numbers.push(source.id);
            columns.ids.push(&source.url);
            columns.hosts.push(source.host);
            columns.importance.push(source.importance);
            columns.cost.push(source.cost);
            let (min_interval, max_interval) = (source.min_interval, source.max_interval);
            // A paused source is never fetched.
            let (min_rate, max_rate) = match source.paused {
                true => (0.0, 0.0),
                false => (
                    if max_interval.is_finite() { 1.0 / max_interval } else { 0.0 },
                    if min_interval > 0.0 { 1.0 / min_interval } else { f64::INFINITY },
                ),
            };
            columns.min_rate.push(min_rate);
            columns.max_rate.push(max_rate);
            columns.complete.push(f64::from(u8::from(source.observed)));
        }
        Ok(())
    });
    collected.map_err(Failure::new)?;
    let mut change_rate = vec![0.0; columns.numbers.len()];
    explain_each_offline(&instance.config, reader, clock::now_millis(), None, |id, it| {
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
    let mut hosts = PackedStrings::new();
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
