//! How long lists are, before they are read.

/// How many elements each list has, by the order in which they begin.
pub(super) fn lengths(text: &str) -> Vec<u64> {
    let mut lengths: Vec<u64> = Vec::new();
    // The lists around, by their place in `lengths`; none for objects.
    let mut around: Vec<Option<usize>> = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        let inner = around.last().copied().flatten();
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            b']' | b'}' => {
                around.pop();
                continue;
            }
            b',' => {
                if let Some(list) = inner {
                    lengths[list] += 1;
                }
                continue;
            }
            _ => {}
        }
        if let Some(list) = inner {
            lengths[list] = lengths[list].max(1);
        }
        match byte {
            b'"' => quoted = true,
            b'{' => around.push(None),
            b'[' => {
                around.push(Some(lengths.len()));
                lengths.push(0);
            }
            _ => {}
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::lengths;

    #[test]
    fn lists_in_order() {
        assert_eq!(lengths(r#"{"a":[1,[2,3],{}],"b":[],"c":["],[\"",4]}"#), [3, 2, 0, 2]);
        assert_eq!(lengths("[[[]]]"), [1, 1, 0]);
        assert_eq!(lengths("]}[,\""), [1]);
    }
}
