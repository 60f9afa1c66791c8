//! Compressed buffer for a document: an unnamed temporary file, which disappears when it is closed.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// Fastest level: the buffer is read once.
const COMPRESSION_LEVEL: i32 = 1;

pub(crate) struct SignalBuffer {
    file: zstd::Encoder<'static, BufWriter<File>>,
}

impl SignalBuffer {
    /// Creates the buffer in the directory of the store, which has more room than memory.
    pub(crate) fn new(beside: &Path) -> io::Result<Self> {
        let folder = beside.parent().filter(|it| !it.as_os_str().is_empty());
        let file = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self { file: zstd::Encoder::new(BufWriter::new(file), COMPRESSION_LEVEL)? })
    }

    /// Returns a reader that starts at the beginning.
    pub(crate) fn into_reader(
        self,
    ) -> io::Result<BufReader<zstd::Decoder<'static, BufReader<File>>>> {
        let mut file = self.file.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::new(zstd::Decoder::new(file)?))
    }
}

impl Write for SignalBuffer {
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
    fn the_buffer_returns_its_content_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut buffer = SignalBuffer::new(&folder.path().join("freshet.db")).unwrap();
        let text = "the same again ".repeat(100_000);
        buffer.write_all(text.as_bytes()).unwrap();
        let mut reader = buffer.into_reader().unwrap();
        let mut out = String::new();
        reader.read_to_string(&mut out).unwrap();
        assert!(out == text);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
