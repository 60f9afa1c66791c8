//! A document that waits to be read: compressed, in a file without a name, which is gone with the last
//! who has it open, however that comes about.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// As fast as possible: it is read once.
const LEVEL: i32 = 1;

pub(crate) struct Spool {
    file: zstd::Encoder<'static, BufWriter<File>>,
}

impl Spool {
    /// In the directory of the store: there is room for more than in memory.
    pub(crate) fn new(beside: &Path) -> io::Result<Self> {
        let folder = beside.parent().filter(|it| !it.as_os_str().is_empty());
        let file = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self { file: zstd::Encoder::new(BufWriter::new(file), LEVEL)? })
    }

    /// From its beginning.
    pub(crate) fn read(self) -> io::Result<BufReader<zstd::Decoder<'static, BufReader<File>>>> {
        let mut file = self.file.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::new(zstd::Decoder::new(file)?))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_was_put_in_comes_out_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(&folder.path().join("freshet.db")).unwrap();
        let text = "the same again ".repeat(100_000);
        spool.write_all(text.as_bytes()).unwrap();
        let mut reader = spool.read().unwrap();
        let mut out = String::new();
        reader.read_to_string(&mut out).unwrap();
        assert!(out == text);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
