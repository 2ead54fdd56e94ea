//! Fingerprints of errors: the same for errors that differ only in ids, numbers and quoted values.
use sha2::{Digest, Sha256};

/// Bytes of the digest that are kept: enough that two errors of one server practically never share a fingerprint.
const BYTES: usize = 8;

/// The fingerprint of an error: 16 hexadecimal digits that depend on its type and on its message without ids, numbers
/// and quoted text.
#[must_use]
pub fn fingerprint(kind: &str, message: &str) -> String {
    let digest = Sha256::digest(format!("{kind}\n{}", general(message)));
    ojs_model::hex::encode(digest.get(..BYTES).unwrap_or_default())
}

/// A message with `#` for each word that has a digit, and `?` for each quoted text.
fn general(message: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(message.len()), message);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = behind_quotation(first, rest) {
            out.push('?');
            rest = after;
        } else if is_of_word(first) {
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            out.push_str(if word.bytes().any(|byte| byte.is_ascii_digit()) { "#" } else { word });
            rest = after;
        } else {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// Letters, digits, and what stands inside ids, versions and addresses. The apostrophe of `can't` is part of its word.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '\'' | '’')
}

/// What follows the quotation at the beginning of a text.
fn behind_quotation(first: char, text: &str) -> Option<&str> {
    let mark = matches!(first, '"' | '\'' | '`').then_some(first)?;
    let (_, after) = text.strip_prefix(mark)?.split_once(mark)?;
    Some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_differ_in_values_have_one_fingerprint() {
        let one = fingerprint("Timeout", "order 4711 of 'ada': no answer from 10.0.0.7:5432 after 2.5s");
        let other = fingerprint("Timeout", "order 9 of 'bob': no answer from 10.0.0.81:5432 after 31s");
        assert_eq!(one, other);
        assert_eq!(one.len(), 16);
        let uuid = |id| fingerprint("E", &format!("job {id} is gone"));
        assert_eq!(uuid("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), uuid("019461a8-ffff-7c3d-8e4f-5a6b7c8d9e0f"));
    }

    #[test]
    fn errors_of_another_type_or_text_have_another_one() {
        assert_ne!(fingerprint("A", "no answer"), fingerprint("B", "no answer"));
        assert_ne!(fingerprint("A", "no answer"), fingerprint("A", "no route"));
        assert_eq!(general("it's 5 o'clock, said `Ann`: \"late\"."), "it's # o'clock, said ?: ?.");
        assert_eq!(general("an open 'quotation"), "an open 'quotation");
    }
}
