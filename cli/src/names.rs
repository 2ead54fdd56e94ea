//! Names that were mistyped: which one was meant.

/// The known name that is nearest to a word, when it is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = word.chars().count() / 3;
    let (distance, name) = known.into_iter().map(|name| (distance(word, name), name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= near.max(1)).then_some(name)
}

/// `did you mean 'mail'?`, or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|name| format!("did you mean '{name}'?"))
}

/// How many letters have to be inserted, removed, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let at = |line: &[usize], place: usize| line.get(place).copied().unwrap_or(usize::MAX / 2);
            let mut least =
                (at(&above, column) + usize::from(letter != other)).min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
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
        assert_eq!(nearest("retires", ["retry", "retries", "queue"]), Some("retries"));
        assert_eq!(nearest("mial", ["default", "mail"]), Some("mail"), "two neighbours changed places");
        assert_eq!(nearest("Mail", ["mail"]), Some("mail"));
        assert_eq!(nearest("nosuch", ["default", "mail"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
