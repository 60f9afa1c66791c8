//! Exact canonical form of numbers: `1.50`, `15e-1` and `1.5` are the same.

/// Appends the number at an offset, and returns its end.
pub(crate) fn push_number(text: &str, at: usize, out: &mut String) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes[from.min(bytes.len())..].iter().take_while(|it| it.is_ascii_digit()).count()
    };
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let whole_end = digits(start);
    let zero_first = bytes.get(start) == Some(&b'0');
    if whole_end == start || zero_first && whole_end > start + 1 {
        return None;
    }
    let mut end = whole_end;
    let mut fraction = "";
    if bytes.get(end) == Some(&b'.') {
        let to = digits(end + 1);
        fraction = &text[end + 1..to];
        if fraction.is_empty() {
            return None;
        }
        end = to;
    }
    let mut exponent = 0_i64;
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let to = digits(end + 1 + sign);
        if to == end + 1 + sign {
            return None;
        }
        // All exponents beyond this limit are the same.
        exponent = text[end + 1..to].trim_start_matches('+').parse().unwrap_or(MAX_EXPONENT);
        exponent = exponent.clamp(-MAX_EXPONENT, MAX_EXPONENT);
        end = to;
    }
    push_decimal(start > at, &text[start..whole_end], fraction, exponent, out);
    Some(end)
}

const MAX_EXPONENT: i64 = 1 << 40;

/// Numbers with up to this many digits before the point are written without an exponent.
const MAX_PLAIN_DIGITS: i64 = 24;

fn push_decimal(negative: bool, whole: &str, fraction: &str, exponent: i64, out: &mut String) {
    let digits_and_zeros: String = [whole, fraction].concat();
    let significant = digits_and_zeros.trim_start_matches('0');
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        out.push('0');
        return;
    }
    if negative {
        out.push('-');
    }
    // The value is 0.kept × 10^point.
    let leading = (digits_and_zeros.len() - significant.len()) as i64;
    let point = whole.len() as i64 - leading + exponent;
    let length = digits.len() as i64;
    if (0..=MAX_PLAIN_DIGITS).contains(&point) || (-6..0).contains(&point) {
        if point <= 0 {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
            out.push_str(digits);
        } else if point >= length {
            out.push_str(digits);
            out.extend(std::iter::repeat_n('0', (point - length) as usize));
        } else {
            let (before, after) = digits.split_at(point as usize);
            out.push_str(before);
            out.push('.');
            out.push_str(after);
        }
    } else {
        out.push_str("0.");
        out.push_str(digits);
        out.push('e');
        out.push_str(&point.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let mut out = String::new();
        let end = push_number(text, 0, &mut out);
        assert_eq!((out.as_str(), end), (expect, Some(text.len())), "{text}");
    }

    #[test]
    fn equal_numbers_have_one_form() {
        check("0", "0");
        check("-0.0", "0");
        check("1.50", "1.5");
        check("15e-1", "1.5");
        check("1E2", "100");
        check("100", "100");
        check("0.001", "0.001");
        check("1e-3", "0.001");
        check("-12.340e1", "-123.4");
        check("12345678901234567890", "12345678901234567890");
        check("1e400", "0.1e401");
        check("10e399", "0.1e401");
        check("1e99999999999999999999", "0.1e1099511627777");
    }
}
