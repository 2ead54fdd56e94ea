//! Names that were mistyped: which one was meant.

/// Longest word that is compared: a longer one is no slip, and the comparison is quadratic.
const LONGEST: usize = 64;

/// The known name that is nearest to a word, when at most half of its letters differ. Only letters and digits count, in
/// either case: `maxAttempts` and `max_attempts` are the same.
///
/// ```
/// use ojs_model::spelling::nearest;
/// assert_eq!(nearest("mial", ["default", "mail"]), Some("mail"));
/// assert_eq!(nearest("colour", ["queue", "retry"]), None);
/// ```
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let word = plain(word);
    let near = |name: &'a str| {
        let plain = plain(name);
        let far = distance(&word, &plain);
        (far * 2 <= word.len().max(plain.len())).then_some((far, name))
    };
    let found = known.into_iter().filter(|name| name.len() <= LONGEST).filter_map(near);
    found.min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// What is said of a name that is none of those that there are: the one that was probably meant, and all of them.
/// `kind` is what it should be, `place` what it is in, such as ` of retry`. Every language says it in these words, with
/// the names that it has.
///
/// ```
/// use ojs_model::spelling::unknown;
/// let said = unknown("option", "retires", "", &["queue", "retries"]);
/// assert_eq!(said, "unknown option 'retires'; did you mean 'retries'? There are queue, retries");
/// assert_eq!(unknown("filter", "colour", "", &["queue"]), "unknown filter 'colour'; there are queue");
/// ```
#[must_use]
pub fn unknown(kind: &str, name: &str, place: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown {kind} '{name}'{place}; did you mean '{near}'? There are {all}"),
        None => format!("unknown {kind} '{name}'{place}; there are {all}"),
    }
}

/// The letters and digits of a name, in lower case.
#[must_use]
pub fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters have to be added, dropped, changed or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let at = |line: &[usize], place: usize| line.get(place).copied().unwrap_or(usize::MAX / 2);
    for (row, letter) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let changed = at(&above, column) + usize::from(letter != other);
            let mut least = changed.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            let swapped = row > 0 && column > 0 && a.get(row - 1) == Some(other) && b.get(column - 1) == Some(letter);
            if swapped {
                least = least.min(at(&before, column - 1) + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        for (word, known, near) in [
            ("retires", &["retry", "retries", "queue"][..], Some("retries")),
            ("retries", &["queue", "retry"], Some("retry")),
            ("mial", &["default", "mail"], Some("mail")),
            ("Mail", &["mail"], Some("mail")),
            ("que", &["queue", "tags"], Some("queue")),
            ("delayUntil", &["delay", "delay_until"], Some("delay_until")),
            ("nosuch", &["default", "mail"], None),
            ("colour", &["queue", "retry", "unique", "timeout"], None),
            ("", &["tags"], None),
            ("x", &[], None),
        ] {
            assert_eq!(nearest(word, known.iter().copied()), near, "{word}");
        }
        assert_eq!(nearest(&"q".repeat(100_000), ["queue"]), None);
    }

    #[test]
    fn letters_that_differ_are_counted() {
        for (a, b, far) in [("", "abc", 3), ("kitten", "sitting", 3), ("mial", "mail", 1), ("same", "same", 0)] {
            assert_eq!(distance(&plain(a), &plain(b)), far, "{a} {b}");
        }
    }
}
