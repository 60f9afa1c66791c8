//! What a file is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use clap::ValueEnum;
use flate2::read::MultiGzDecoder;
use freshet_tables::ListFormat;

use crate::failure::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One URL on each line
    Urls,
    /// The source table of `freshet plan`
    Table,
    /// What `freshet export --format json` wrote
    Json,
    /// Feeds, as readers export them
    Opml,
    /// `sitemap.xml`
    Sitemap,
    /// `url-watches.json`
    Changedetection,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Urls => "URLs",
            Self::Table => "a table",
            Self::Json => "an export",
            Self::Opml => "OPML",
            Self::Sitemap => "a sitemap",
            Self::Changedetection => "changedetection.io's export",
        }
    }
}

/// Bytes at the beginning of a file that tell what it is.
const BEGINNING: u64 = 4096;

/// A file to be read from the beginning, decompressed.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    let fault = |error: io::Error| {
        Failure::new(format!("cannot read {}: {error}", path.display()))
            .hint("give the path of a file; `freshet add -` reads URLs from standard input")
    };
    // It is read twice: first to see whether all of it is good.
    match path.metadata() {
        Ok(it) if it.is_dir() => return Err(fault(io::ErrorKind::IsADirectory.into())),
        Ok(it) if !it.is_file() => return Err(fault(io::Error::other("not a file"))),
        _ => {}
    }
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(fault)?);
    let packed = file.fill_buf().map_err(fault)?.starts_with(&[0x1f, 0x8b]);
    if packed {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file))));
    }
    Ok(Box::new(file))
}

/// Something in the file could not be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot read {}: {error}", path.display()))
}

/// What a file seems to be, by its name and its beginning.
pub(crate) fn detect(path: &Path) -> Result<Format, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "csv" | "tsv" | "parquet" => return Ok(Format::Table),
        "opml" => return Ok(Format::Opml),
        _ => {}
    }
    let mut beginning = Vec::new();
    let mut file = open(path)?.take(BEGINNING);
    file.read_to_end(&mut beginning).map_err(|error| unreadable(path, &error))?;
    let text = String::from_utf8_lossy(&beginning);
    Ok(match (extension, of_text(&text)) {
        ("jsonl" | "ndjson", Format::Json) => Format::Json,
        ("jsonl" | "ndjson", _) => Format::Table,
        (_, format) => format,
    })
}

fn of_text(text: &str) -> Format {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match ListFormat::of_beginning(text) {
        ListFormat::Opml => return Format::Opml,
        ListFormat::Sitemap => return Format::Sitemap,
        ListFormat::Urls => {}
    }
    if text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"url\"")) {
        return Format::Json;
    }
    if text.starts_with('{') || text.starts_with('[') {
        return Format::Changedetection;
    }
    let head = text.lines().next().unwrap_or_default();
    match head.contains("change_rate") && head.contains([',', '\t']) {
        true => Format::Table,
        false => Format::Urls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_tells() {
        let cases = [
            ("https://a.example/\n", Format::Urls),
            ("# mine\nhttps://a.example/\n", Format::Urls),
            ("id,change_rate\nx,1\n", Format::Table),
            ("\u{feff}<?xml version='1.0'?>\n<opml version='2.0'>", Format::Opml),
            ("<?xml version='1.0'?><urlset>", Format::Sitemap),
            ("{\"watching\": {}}", Format::Changedetection),
            ("{\"url\":\"https://a.example/\",\"host\"", Format::Json),
        ];
        for (text, format) in cases {
            assert_eq!(of_text(text), format, "{text}");
        }
    }
}
