//! Updates that stay available until a number of further changes has occurred.
//!
//! In units of the belief's days, `c` is Gamma(a, 1), and after `u` the source has changed `N`
//! times, negative binomial: with `p = 1/(1+u)`, `q = u/(1+u)`, `P(N = k) = (a)ₖ/k! pᵃ qᵏ`.
//! Weighting by the rate increases the shape by one: `E[c P(Poisson(cu) < n)] = a P(M < n)`, with
//! `M` distributed as `N` but with `a + 1`. The integral is `E[min(N, n)] = a u P(M < n−1) + n P(N
//! ≥ n)`, in which nothing cancels.

/// Up to this many changes the sum is at least as fast as the continued fraction.
const MAX_SUMMED_CHANGES: u32 = 64;

/// Probabilities of the two distributions from which the value and its derivatives follow.
struct DistributionParts {
    /// `P(M < n−1)/p`.
    below: f64,
    /// `P(M = n−1)/p`.
    edge: f64,
    /// `P(N ≥ n)`.
    rest: f64,
}

/// Value of the captured updates with its first and second derivative.
#[derive(Clone, Copy)]
pub(super) struct CaptureDerivatives {
    pub(super) value: f64,
    pub(super) slope: f64,
    pub(super) curvature: f64,
}

/// Returns `E[min(N, n)]` at a finite `u`, its slope `a P(M < n)` and the slope of that.
#[inline]
pub(super) fn captured_updates(n: u32, a: f64, u: f64) -> CaptureDerivatives {
    let (p, q) = success_probabilities(u);
    let DistributionParts { below, edge, rest } = parts(n, a, u);
    let count = f64::from(n);
    CaptureDerivatives {
        value: (a * q).mul_add(below, count * rest).min(count),
        slope: a * p * (below + edge),
        curvature: -a * (a + count) * p * (p * edge),
    }
}

/// Returns `p` and `q`.
#[inline]
fn success_probabilities(u: f64) -> (f64, f64) {
    let p = 1.0 / (1.0 + u);
    (p, u * p)
}

#[inline]
fn parts(n: u32, a: f64, u: f64) -> DistributionParts {
    match n {
        0 => DistributionParts { below: 0.0, edge: 0.0, rest: 0.0 },
        1 => {
            let (none, seen) = exp_and_complement(a * u.ln_1p());
            DistributionParts { below: 0.0, edge: none, rest: seen }
        }
        _ if n <= MAX_SUMMED_CHANGES => parts_by_summation(n, a, u),
        _ => parts_by_continued_fraction(f64::from(n), a, u),
    }
}

/// Returns `e^(−x)` and `1 − e^(−x)`, both at full precision.
#[inline]
fn exp_and_complement(x: f64) -> (f64, f64) {
    if x < 0.5 {
        let complement = -(-x).exp_m1();
        (1.0 - complement, complement)
    } else {
        let none = (-x).exp();
        (none, 1.0 - none)
    }
}

/// Sums the terms `P(M = k)/p`, from which `P(N = k+1) = a q P(M = k)/(p (k+1))`.
///
/// `P(N ≥ n)` is `P(N ≥ 1)` minus the terms. `P(N ≥ 1)` is at most `E[min(N, n)]`, which therefore
/// loses no more than a factor `n` of its precision.
fn parts_by_summation(n: u32, a: f64, u: f64) -> DistributionParts {
    let (_, q) = success_probabilities(u);
    let (mut term, mut rest) = exp_and_complement(a * u.ln_1p());
    let mut below = 0.0;
    for k in 1..n {
        let k = f64::from(k);
        let next = term * (q / k);
        below += term;
        rest -= a * next;
        term = next * (a + k);
    }
    DistributionParts { below, edge: term, rest: rest.max(0.0) }
}

/// Uses the regularised incomplete beta function: `P(M < n−1) = I_p(a+1, n−1)` and `P(N ≥ n) =
/// I_q(n, a)`. The smaller one comes from its continued fraction, in about `√n` steps; the other
/// from `P(N < n) = P(M < n−1) + P(M = n−1)/p`.
fn parts_by_continued_fraction(n: f64, a: f64, u: f64) -> DistributionParts {
    let (p, q) = success_probabilities(u);
    let edge = binomial_term(a, n - 1.0, p, q);
    if (a + 1.0) * q > n * p {
        let lean = (a + 1.0) * q - (n - 1.0) * p;
        let below = if edge > 0.0 {
            edge * (n - 1.0) * beta_continued_fraction(a + 1.0, n - 1.0, p, q, lean)
        } else {
            0.0
        };
        DistributionParts { below, edge, rest: (1.0 - p.mul_add(below, edge)).max(0.0) }
    } else {
        let rest = if edge > 0.0 {
            a * q * edge * beta_continued_fraction(n, a, q, p, n * p - a * q)
        } else {
            0.0
        };
        DistributionParts { below: ((1.0 - rest - edge) / p).max(0.0), edge, rest }
    }
}

/// Returns `I_x(α, β) B(α, β)/(x^α y^β)` with `y = 1 − x` and `lean = αy − βx`, where `lean` is not
/// far below 0: the even part of the continued fraction of DLMF 8.17.22, by Lentz's method.
fn beta_continued_fraction(alpha: f64, beta: f64, x: f64, y: f64, lean: f64) -> f64 {
    let denominator = |m: f64| {
        let even = m * (beta - m) * x / (alpha + 2.0 * m - 1.0);
        m + even + (alpha + m) * (lean + 1.0 + m * (1.0 + y)) / (alpha + 2.0 * m + 1.0)
    };
    let start = alpha * (lean + 1.0) / (alpha + 1.0);
    let (mut value, mut above, mut under) = (start, start, 0.0);
    let mut m = 0.0;
    while m < MAX_STEPS {
        m += 1.0;
        let root = x / (alpha + 2.0 * m - 1.0);
        let numerator = (alpha + m - 1.0) * (alpha + beta + m - 1.0) * m * (beta - m) * root * root;
        let place = denominator(m);
        under = 1.0 / numerator.mul_add(under, place);
        above = place + numerator / above;
        let factor = above * under;
        value *= factor;
        if (factor - 1.0).abs() < 3e-16 {
            break;
        }
    }
    1.0 / value
}

/// Far more steps than any number of changes needs.
const MAX_STEPS: f64 = 1e6;

/// Returns `Γ(x+y+1)/(Γ(x+1) Γ(y+1)) pˣ qʸ` by the saddle-point method (Loader 2000), in which the
/// large terms of the logarithm cancel analytically. Requires `x > 0`, `y ≥ 1`.
fn binomial_term(x: f64, y: f64, p: f64, q: f64) -> f64 {
    let both = x + y;
    let over = x * q - y * p;
    // z ln(z/mean) + mean − z, with `mean = z − over`.
    let deviance = |z: f64, over: f64, mean: f64| {
        let share = over / z;
        if share.abs() < 0.25 {
            -z * ((-share).ln_1p() + share)
        } else {
            z * (z / mean).ln() - over
        }
    };
    let correction = stirling_correction(both) - stirling_correction(x) - stirling_correction(y);
    let exponent = correction - deviance(x, over, both * p) - deviance(y, -over, both * q);
    (both / (std::f64::consts::TAU * x * y)).sqrt() * exponent.exp()
}

/// Returns `ln Γ(x+1) − (x + ½) ln x + x − ½ ln 2π`: recurrence up to 10, then Stirling's series.
fn stirling_correction(x: f64) -> f64 {
    let (mut sum, mut z) = (0.0, x);
    while z < 10.0 {
        sum += (z + 0.5) * (1.0 / z).ln_1p() - 1.0;
        z += 1.0;
    }
    let square = 1.0 / (z * z);
    // B₂ₖ/(2k(2k−1)).
    let series = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    sum + series.iter().rev().fold(0.0_f64, |sum, c| sum.mul_add(square, *c)) / z
}
