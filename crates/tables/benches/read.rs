//! Rows a second of each format on one core, against a plain scan of the same bytes.
//!
//! `cargo bench -p freshet-tables --bench read [-- ROWS] [FILE]`; the table has an id of about 60 bytes, importance,
//! change_rate and complete.

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::time::Instant;

use freshet_model::{PackedStrings, SourceTable};
use freshet_tables::{Input, ReadOptions, Table, read, write};

const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows: usize =
        arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(2_000_000);
    let directory = tempfile::tempdir()?;
    let table = generate(rows);
    println!("{rows} rows, best of {ROUNDS}");
    println!("{:>12} {:>8} {:>12} {:>12} {:>8}", "file", "MB", "rows/s", "scan rows/s", "ratio");
    let files = ["plain.csv", "quoted.csv", "plain.jsonl", "plain.parquet"];
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    let all = !files.into_iter().any(named);
    for name in files.into_iter().filter(|name| all || named(name)) {
        let path = directory.path().join(name);
        match name {
            "quoted.csv" => write_quoted(&path, &table)?,
            _ => write_table(&path, &table)?,
        }
        let input = Input::File(path.clone());
        let options = ReadOptions { ignore_extra: false, estimate: &|_| 0.0 };
        assert_eq!(read(&input, &options, &mut |_| {})?.table, table);
        let took = best(|| {
            drop(read(&input, &options, &mut |_| {})?);
            Ok(())
        })?;
        let scan = best(|| scan(&path))?;
        let megabytes = path.metadata()?.len() as f64 / 1e6;
        println!(
            "{name:>13} {megabytes:>8.0} {:>12.0} {:>12.0} {:>8.1}",
            rows as f64 / took,
            rows as f64 / scan,
            took / scan
        );
    }
    Ok(())
}

/// Returns a table that looks like a crawl: hosts of very different sizes, long paths.
fn generate(rows: usize) -> SourceTable {
    let mut state = 1u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut ids = PackedStrings::new();
    let (mut importance, mut change_rate, mut complete) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let host = (random().powi(4) * 100_000.0) as u32;
        ids.push(&format!(
            "https://www.host-{host}.example.org/articles/2026/11/page-{row:07}.html"
        ));
        importance.push(1.0 / (1.0 - random()));
        change_rate.push(-random().max(1e-9).ln() * 0.3);
        complete.push(random() < 0.04);
    }
    SourceTable {
        ids: Some(ids),
        importance,
        change_rate,
        observed: Some(complete),
        ..SourceTable::default()
    }
}

fn write_table(path: &Path, table: &SourceTable) -> Result<(), Box<dyn Error>> {
    let complete: Vec<f64> =
        table.observed.iter().flatten().map(|&flag| f64::from(u8::from(flag))).collect();
    let table = Table::new(table.len())
        .names("id", table.ids.as_ref())
        .numbers("importance", &table.importance)
        .numbers("change_rate", &table.change_rate)
        .numbers("complete", &complete);
    Ok(write(path, &table)?)
}

/// Every id in quotes, as some programs write text.
fn write_quoted(path: &Path, table: &SourceTable) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "id,importance,change_rate,complete")?;
    let ids = table.ids.iter().flat_map(PackedStrings::iter);
    for (row, id) in ids.enumerate() {
        let complete = table.observed.as_ref().is_some_and(|complete| complete[row]);
        let (importance, rate) = (table.importance[row], table.change_rate[row]);
        writeln!(out, "\"{id}\",{importance},{rate},{}", u8::from(complete))?;
    }
    Ok(out.flush()?)
}

fn scan(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 << 10];
    let mut lines = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            std::hint::black_box(lines);
            return Ok(());
        }
        lines += memchr::memchr_iter(b'\n', &buffer[..read]).count();
    }
}

fn best(mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
