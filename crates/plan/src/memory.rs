//! Allocation of large columns.

/// Returns a column of zeros on huge pages where the system offers them. With small pages, the first
/// access to a column takes longer than all computation on it (`docs/benchmarks.md`).
pub(crate) fn zeros(n: usize) -> Vec<f64> {
    let column = vec![0.0; n];
    #[cfg(target_os = "linux")]
    advise(&column);
    column
}

/// Requests huge pages for `column`.
#[cfg(target_os = "linux")]
fn advise(column: &[f64]) {
    const LARGE: usize = 1 << 21;
    let start = (column.as_ptr() as usize).next_multiple_of(LARGE);
    let end = column.as_ptr() as usize + size_of_val(column);
    if end > start + LARGE {
        // SAFETY: the range lies within memory that `column` owns and starts on a page boundary.
        // The advice changes how the system backs that memory, never what is in it, and a refusal
        // is harmless.
        #[allow(unsafe_code)]
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}
