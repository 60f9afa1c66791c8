//! Input of a table.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::error::TableError;

/// Input of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input, as CSV.
    Stdin,
    /// A file, in the format of its extension.
    File(PathBuf),
    /// A directory with the files of the PoliteCrawling data set.
    Directory(PathBuf),
}

impl Input {
    /// Interprets a command-line argument: `-` is standard input, anything else is a path.
    #[must_use]
    pub fn from_argument(argument: &Path) -> Self {
        if argument == Path::new("-") {
            Self::Stdin
        } else if argument.is_dir() {
            Self::Directory(argument.to_owned())
        } else {
            Self::File(argument.to_owned())
        }
    }
}

/// Progress of reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Rows read so far.
    pub rows: u64,
    /// Fraction of the input that has been read, from 0 to 1, if its size is known.
    pub fraction: Option<f64>,
}

/// Rows between two reports of progress.
pub(crate) const REPORT_EVERY: usize = 1 << 16;

/// Reader that counts bytes.
pub(crate) struct Source {
    reader: Box<dyn Read>,
    read: Rc<Cell<u64>>,
    total: Option<u64>,
}

impl Source {
    pub(crate) fn stdin() -> Self {
        Self::counted(io::stdin().lock(), None, false)
    }

    pub(crate) fn open(path: &Path, gzip: bool) -> Result<Self, TableError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|source| TableError::read(&name, source))?;
        let about = file.metadata().map_err(|source| TableError::read(&name, source))?;
        let total = about.is_file().then_some(about.len());
        Ok(Self::counted(file, total, gzip))
    }

    fn counted(reader: impl Read + 'static, total: Option<u64>, gzip: bool) -> Self {
        let read = Rc::new(Cell::new(0));
        let counted = Counted { reader, read: Rc::clone(&read) };
        let reader: Box<dyn Read> =
            if gzip { Box::new(MultiGzDecoder::new(counted)) } else { Box::new(counted) };
        Self { reader, read, total }
    }

    pub(crate) fn gauge(&self) -> Gauge {
        Gauge { read: Rc::clone(&self.read), total: self.total }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// Reports how much of the input has been read.
pub(crate) struct Gauge {
    read: Rc<Cell<u64>>,
    total: Option<u64>,
}

impl Gauge {
    pub(crate) fn bytes(&self) -> u64 {
        self.read.get()
    }

    pub(crate) fn progress(&self, rows: usize) -> Progress {
        let fraction = self.total.map(|total| self.bytes() as f64 / total.max(1) as f64);
        Progress { rows: rows as u64, fraction: fraction.map(|part| part.min(1.0)) }
    }
}

struct Counted<R> {
    reader: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}
