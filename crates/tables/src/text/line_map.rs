//! Mapping from rows to lines.

/// Lines of rows, stored only where a row does not directly follow the previous one.
#[derive(Debug, Default)]
pub(crate) struct LineMap {
    jumps: Vec<(usize, u64)>,
}

impl LineMap {
    /// Records the line of `row`, which must be after all earlier rows.
    #[inline]
    pub(crate) fn note(&mut self, row: usize, line: u64) {
        let follows =
            self.jumps.last().is_some_and(|&(first, at)| at + (row - first) as u64 == line);
        if !follows {
            self.jumps.push((row, line));
        }
    }

    pub(crate) fn line(&self, row: usize) -> u64 {
        let next = self.jumps.partition_point(|&(first, _)| first <= row);
        next.checked_sub(1).map_or(0, |at| {
            let (first, line) = self.jumps[at];
            line + (row - first) as u64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_lines_in_little_space() {
        let lines = [2, 3, 4, 9, 10, 15];
        let mut map = LineMap::default();
        for (row, &line) in lines.iter().enumerate() {
            map.note(row, line);
        }
        for (row, &line) in lines.iter().enumerate() {
            assert_eq!(map.line(row), line);
        }
        assert_eq!(map.jumps.len(), 3);
    }
}
