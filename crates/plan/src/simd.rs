//! Runs a loop over columns with the widest vector instructions of the machine.
//!
//! Loop bodies are branch-free `f64` arithmetic that the compiler vectorises. Fused
//! multiplications and additions are written as `mul_add`, which rounds once on every
//! machine: results are bit-identical everywhere, only slower without such
//! an instruction.

/// `(a, b)[i] = f(x[i], y[i])` for all `i`. The slices have equal length.
#[inline(always)]
pub(crate) fn map2(
    x: &[f64],
    y: &[f64],
    a: &mut [f64],
    b: &mut [f64],
    f: impl Fn(f64, f64) -> (f64, f64),
) {
    run(
        #[inline(always)]
        || {
            let n = x.len();
            let (y, a, b) = (&y[..n], &mut a[..n], &mut b[..n]);
            for i in 0..n {
                (a[i], b[i]) = f(x[i], y[i]);
            }
        },
    );
}

/// Calls `job`, compiled for AVX2 and FMA where the machine has them.
#[inline(always)]
pub(crate) fn run<R>(job: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        #[target_feature(enable = "avx2,fma")]
        fn with_avx2<R>(job: impl FnOnce() -> R) -> R {
            job()
        }
        // SAFETY: the only requirement of `with_avx2` is that the processor has AVX2 and FMA, and
        // the lines above have just checked that.
        #[allow(unsafe_code)]
        return unsafe { with_avx2(job) };
    }
    job()
}
