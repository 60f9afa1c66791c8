//! Counts the elements of lists before they are converted.

/// Returns the number of elements of each list, by the order in which the lists begin.
pub(super) fn list_lengths(text: &str) -> Vec<u64> {
    let mut lengths: Vec<u64> = Vec::new();
    // Index of each open list; none for objects.
    let mut open_lists: Vec<Option<usize>> = Vec::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        let innermost = open_lists.last().copied().flatten();
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            b']' | b'}' => {
                open_lists.pop();
                continue;
            }
            b',' => {
                if let Some(list) = innermost {
                    lengths[list] += 1;
                }
                continue;
            }
            _ => {}
        }
        if let Some(list) = innermost {
            lengths[list] = lengths[list].max(1);
        }
        match byte {
            b'"' => in_string = true,
            b'{' => open_lists.push(None),
            b'[' => {
                open_lists.push(Some(lengths.len()));
                lengths.push(0);
            }
            _ => {}
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::list_lengths;

    #[test]
    fn lengths_are_in_the_order_of_the_lists() {
        assert_eq!(list_lengths(r#"{"a":[1,[2,3],{}],"b":[],"c":["],[\"",4]}"#), [3, 2, 0, 2]);
        assert_eq!(list_lengths("[[[]]]"), [1, 1, 0]);
        assert_eq!(list_lengths("]}[,\""), [1]);
    }
}
