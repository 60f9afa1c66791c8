//! Tables as delimiter-separated values and JSON lines.

use std::io::{self, Write};

use crate::write::table::{Cell, Table};

/// Size of a write in bytes.
const CHUNK: usize = 64 << 10;

pub(super) fn separated(out: &mut dyn Write, separator: u8, table: &Table<'_>) -> io::Result<()> {
    let mut line = Vec::with_capacity(2 * CHUNK);
    let only = table.columns().len() == 1;
    for (place, (name, _)) in table.columns().iter().enumerate() {
        if place > 0 {
            line.push(separator);
        }
        quote(&mut line, name, separator);
    }
    line.push(b'\n');
    for row in 0..table.rows() {
        for (place, (_, cells)) in table.columns().iter().enumerate() {
            if place > 0 {
                line.push(separator);
            }
            match cells.at(row) {
                Cell::Text(text) => quote(&mut line, text, separator),
                Cell::Row(number) => line.extend_from_slice(number.to_string().as_bytes()),
                Cell::Number(f64::INFINITY) => line.extend_from_slice(b"inf"),
                Cell::Number(f64::NEG_INFINITY) => line.extend_from_slice(b"-inf"),
                Cell::Number(value) => number(&mut line, value),
                // Most readers skip an empty line.
                Cell::Nothing if only => line.extend_from_slice(b"\"\""),
                Cell::Nothing => {}
            }
        }
        line.push(b'\n');
        flush(out, &mut line, CHUNK)?;
    }
    flush(out, &mut line, 0)
}

pub(super) fn json_lines(out: &mut dyn Write, table: &Table<'_>) -> io::Result<()> {
    let mut line = Vec::with_capacity(2 * CHUNK);
    let mut keys = Vec::new();
    for (name, _) in table.columns() {
        keys.push(serde_json::to_vec(name)?);
    }
    for row in 0..table.rows() {
        line.push(b'{');
        for (place, ((_, cells), key)) in table.columns().iter().zip(&keys).enumerate() {
            if place > 0 {
                line.push(b',');
            }
            line.extend_from_slice(key);
            line.push(b':');
            match cells.at(row) {
                Cell::Text(text) => serde_json::to_writer(&mut line, text)?,
                Cell::Row(number) => write!(line, "\"{number}\"")?,
                Cell::Number(value) if value.is_finite() => number(&mut line, value),
                Cell::Number(_) | Cell::Nothing => line.extend_from_slice(b"null"),
            }
        }
        line.extend_from_slice(b"}\n");
        flush(out, &mut line, CHUNK)?;
    }
    flush(out, &mut line, 0)
}

fn flush(out: &mut dyn Write, line: &mut Vec<u8>, above: usize) -> io::Result<()> {
    if line.len() > above {
        out.write_all(line)?;
        line.clear();
    }
    Ok(())
}

/// The shortest text that reads back as the same number.
fn number(line: &mut Vec<u8>, value: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    line.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Writes a cell as in RFC 4180, quoted if necessary.
fn quote(line: &mut Vec<u8>, text: &str, separator: u8) {
    let bytes = text.as_bytes();
    let special = |&b: &u8| b == separator || matches!(b, b'"' | b'\n' | b'\r');
    // Quotes a leading byte order mark, which readers would drop.
    if !bytes.iter().any(special) && !text.starts_with('\u{feff}') {
        line.extend_from_slice(bytes);
        return;
    }
    line.push(b'"');
    for &byte in bytes {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}
