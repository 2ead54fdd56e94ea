//! Lists of columns in the statements of `.sql` files. The compiler fills them in, so a statement is a constant.
use std::mem;

use crate::store::record::Table;

/// What a placeholder `{NAME}` stands for: the columns of a table, in the order of its declaration.
pub type Lists = &'static [(&'static str, &'static Table)];

/// A text that is being written.
struct Out<'a> {
    left: &'a mut [u8],
    written: usize,
}

impl Out<'_> {
    #[expect(clippy::mem_replace_with_default, reason = "mem::take is no const fn for slices")]
    const fn push(&mut self, byte: u8) {
        self.written += 1;
        if let Some((slot, left)) = mem::replace(&mut self.left, &mut []).split_first_mut() {
            *slot = byte;
            self.left = left;
        }
    }

    const fn push_all(&mut self, mut text: &[u8]) {
        while let [first, rest @ ..] = text {
            self.push(*first);
            text = rest;
        }
    }
}

/// Writes a statement with its placeholders filled in, as far as there is room; returns how many bytes it has.
#[must_use]
pub const fn fill(text: &str, lists: Lists, room: &mut [u8]) -> usize {
    let mut out = Out { left: room, written: 0 };
    let mut text = text.as_bytes();
    while let [first, rest @ ..] = text {
        text = rest;
        if *first == b'{' {
            let (name, behind) = until(text, b'}');
            text = behind;
            push_list(&mut out, name, lists);
        } else {
            out.push(*first);
        }
    }
    out.written
}

/// Writes a list of columns, each with the alias that the placeholder has.
const fn push_list(out: &mut Out<'_>, name: &[u8], mut lists: Lists) {
    let (start, behind) = until(name, b'.');
    let (alias, name): (&[u8], &[u8]) = if behind.is_empty() { (&[], start) } else { (start, behind) };
    let mut found = false;
    while let [(own, table), rest @ ..] = lists {
        lists = rest;
        if is_equal(own.as_bytes(), name) {
            found = true;
            let mut columns = table.columns;
            let mut between: &[u8] = b"";
            while let [column, rest @ ..] = columns {
                columns = rest;
                out.push_all(between);
                if !alias.is_empty() {
                    out.push_all(alias);
                    out.push(b'.');
                }
                out.push_all(column.name.as_bytes());
                between = b", ";
            }
        }
    }
    assert!(found, "a statement names columns that are not declared");
}

/// Splits a text at the first such byte and leaves the byte out. Without one the second part is empty.
const fn until(text: &[u8], byte: u8) -> (&[u8], &[u8]) {
    let mut rest = text;
    let mut length = 0;
    while let [first, behind @ ..] = rest {
        if *first == byte {
            return (text.split_at(length).0, behind);
        }
        rest = behind;
        length += 1;
    }
    (text, &[])
}

const fn is_equal(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, left @ ..], [y, right @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (left, right);
    }
    a.is_empty() && b.is_empty()
}

/// A text with its placeholders filled in, as a constant.
macro_rules! filled {
    ($text:expr) => {{
        const TEXT: &str = $text;
        const LENGTH: usize = $crate::store::row::fill::fill(TEXT, $crate::store::lists::LISTS, &mut []);
        const BYTES: [u8; LENGTH] = {
            let mut bytes = [0; LENGTH];
            let _ = $crate::store::row::fill::fill(TEXT, $crate::store::lists::LISTS, &mut bytes);
            bytes
        };
        const FILLED: &str = match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => "",
        };
        FILLED
    }};
}
pub(crate) use filled;

#[cfg(test)]
mod tests {
    #[test]
    fn placeholders_become_the_columns_of_their_row_type() {
        assert_eq!(filled!("SELECT {HISTORY} FROM h"), "SELECT errors, result FROM h");
        assert_eq!(filled!("SELECT x, {h.HISTORY}, ü"), "SELECT x, h.errors, h.result, ü");
        assert_eq!(filled!("SELECT 1"), "SELECT 1");
    }
}
