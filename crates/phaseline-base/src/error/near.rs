//! "did you mean": the names nearest to one that is unknown.

/// Up to three of `known` that are near to `name`, nearest first.
pub fn near_misses<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let length = name.chars().count();
    let limit = (length.max(3) / 3).min(length.saturating_sub(1));
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|other| {
            let plain = distance(name, other);
            let part = name.len() >= 3 && (other.starts_with(name) || name.starts_with(other));
            let score = if part { plain.min(limit) } else { plain };
            (score <= limit).then_some((score, other))
        })
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, other)| other).collect()
}

/// The end of a message about an unknown name: `; did you mean 'a' or 'b'?`, else nothing.
pub fn suggestion_only<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = near_misses(name, known);
    let quoted: Vec<String> = near.iter().map(|other| format!("'{other}'")).collect();
    if quoted.is_empty() {
        return String::new();
    }
    format!("; did you mean {}?", quoted.join(" or "))
}

/// The end of a message about an unknown name: the near ones, else the known ones if they are few.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near = suggestion_only(name, known.iter().copied());
    if !near.is_empty() {
        return near;
    }
    match known.len() {
        0 => String::new(),
        1..=12 => format!("; known: {}", known.join(", ")),
        _ => String::new(),
    }
}

/// Edit distance in which swapping two neighbouring letters counts once.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let width = b.len() + 1;
    let mut table = vec![0_usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let cost = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + cost);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["conv", "conv_transpose", "relu", "max_pool", "matmul"];
        assert_eq!(near_misses("cnov", known), ["conv"]);
        assert_eq!(near_misses("maxpool", known), ["max_pool"]);
        assert_eq!(near_misses("conv", known).first(), Some(&"conv"));
        assert!(near_misses("softmax", known).is_empty());
        assert_eq!(suggestion("rleu", known), "; did you mean 'relu'?");
        assert!(suggestion("zzz", known).starts_with("; known: conv, "));
    }
}
