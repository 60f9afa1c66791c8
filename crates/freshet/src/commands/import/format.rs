//! Formats of imported files, and their detection.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use clap::ValueEnum;
use flate2::read::MultiGzDecoder;
use freshet_tables::ListFormat;

use crate::failure::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// One URL per line
    Urls,
    /// Source table of `freshet plan`
    Table,
    /// Export of `freshet export --format json`
    Json,
    /// Feed list exported by a feed reader
    Opml,
    /// `sitemap.xml`
    Sitemap,
    /// `url-watches.json` from a changedetection.io backup
    Changedetection,
}

impl ImportFormat {
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

/// Number of bytes from which the format is detected.
const DETECTION_LEN: u64 = 4096;

/// Opens a file, decompressing gzip.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    let failure = |error: io::Error| {
        Failure::new(format!("cannot read {}: {error}", path.display()))
            .with_hint("give the path of a file; `freshet add -` reads URLs from standard input")
    };
    // The file is read twice, so it must be a regular file.
    match path.metadata() {
        Ok(it) if it.is_dir() => return Err(failure(io::ErrorKind::IsADirectory.into())),
        Ok(it) if !it.is_file() => return Err(failure(io::Error::other("not a file"))),
        _ => {}
    }
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failure)?);
    let packed = file.fill_buf().map_err(failure)?.starts_with(&[0x1f, 0x8b]);
    if packed {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file))));
    }
    Ok(Box::new(file))
}

/// Returns the failure for a read error.
pub(crate) fn read_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot read {}: {error}", path.display()))
}

/// Detects the format of a file by its name and its beginning.
pub(crate) fn detect(path: &Path) -> Result<ImportFormat, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "csv" | "tsv" | "parquet" => return Ok(ImportFormat::Table),
        "opml" => return Ok(ImportFormat::Opml),
        _ => {}
    }
    let mut beginning = Vec::new();
    let mut file = open(path)?.take(DETECTION_LEN);
    file.read_to_end(&mut beginning).map_err(|error| read_failure(path, &error))?;
    let text = String::from_utf8_lossy(&beginning);
    Ok(match (extension, detect_text(&text)) {
        ("jsonl" | "ndjson", ImportFormat::Json) => ImportFormat::Json,
        ("jsonl" | "ndjson", _) => ImportFormat::Table,
        (_, format) => format,
    })
}

fn detect_text(text: &str) -> ImportFormat {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match ListFormat::of_beginning(text) {
        ListFormat::Opml => return ImportFormat::Opml,
        ListFormat::Sitemap => return ImportFormat::Sitemap,
        ListFormat::Urls => {}
    }
    if text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"url\"")) {
        return ImportFormat::Json;
    }
    if text.starts_with('{') || text.starts_with('[') {
        return ImportFormat::Changedetection;
    }
    let head = text.lines().next().unwrap_or_default();
    match head.contains("change_rate") && head.contains([',', '\t']) {
        true => ImportFormat::Table,
        false => ImportFormat::Urls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_detected_from_the_beginning() {
        let cases = [
            ("https://a.example/\n", ImportFormat::Urls),
            ("# mine\nhttps://a.example/\n", ImportFormat::Urls),
            ("id,change_rate\nx,1\n", ImportFormat::Table),
            ("\u{feff}<?xml version='1.0'?>\n<opml version='2.0'>", ImportFormat::Opml),
            ("<?xml version='1.0'?><urlset>", ImportFormat::Sitemap),
            ("{\"watching\": {}}", ImportFormat::Changedetection),
            ("{\"url\":\"https://a.example/\",\"host\"", ImportFormat::Json),
        ];
        for (text, format) in cases {
            assert_eq!(detect_text(text), format, "{text}");
        }
    }
}
