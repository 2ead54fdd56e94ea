//! Parts of a file that are generated, between two lines of comment:
//!
//! ```text
//! # gen:python/errors.j2 (make gen; do not edit)
//! …
//! # gen:end
//! ```
//!
//! (In Go without the space: tools take such a line for a directive, and leave it out of the documentation.) What is generated takes the indentation of the first line. All other lines of the file are left as they are.

/// What the last line has.
pub const END: &str = "gen:end";

/// What the first line has.
pub fn begin(template: &str) -> String {
    format!("gen:{template} ")
}

/// The text with another part; `None` when it has no place for one.
pub fn replaced(text: &str, template: &str, part: &str) -> Option<String> {
    let begin = begin(template);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = lines.iter().position(|line| line.contains(&begin))?;
    let end = first + lines.iter().skip(first).position(|line| line.trim_end().trim_end_matches(" -->").ends_with(END))?;
    let (before, rest) = lines.split_at_checked(first + 1)?;
    let (_, after) = rest.split_at_checked(end - first - 1)?;
    let head = before.last()?;
    let indent = &head[..head.len() - head.trim_start().len()];
    let mut result = before.concat();
    for line in part.lines() {
        if !line.is_empty() {
            result.push_str(indent);
            result.push_str(line);
        }
        result.push('\n');
    }
    result.push_str(&after.concat());
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "a\n  // gen:go/x.j2 -- made\n  old\n\n  old\n  // gen:end\nb\n";

    #[test]
    fn only_the_part_changes_and_it_is_indented() {
        let changed = replaced(FILE, "go/x.j2", "new\n\n  deeper\n").unwrap();
        assert_eq!(changed, "a\n  // gen:go/x.j2 -- made\n  new\n\n    deeper\n  // gen:end\nb\n");
    }

    #[test]
    fn the_lines_may_be_comments_of_html() {
        let changed = replaced("<!-- gen:t (x) -->\nold\n<!-- gen:end -->\n", "t", "new").unwrap();
        assert_eq!(changed, "<!-- gen:t (x) -->\nnew\n<!-- gen:end -->\n");
    }

    #[test]
    fn it_may_be_empty_before() {
        assert_eq!(replaced("# gen:t \n# gen:end", "t", "x").unwrap(), "# gen:t \nx\n# gen:end");
    }

    #[test]
    fn a_file_without_the_lines_has_no_place() {
        assert_eq!(replaced(FILE, "go/y.j2", "x"), None);
        assert_eq!(replaced("// gen:go/x.j2 \n", "go/x.j2", "x"), None);
    }

    #[test]
    fn nothing_changes_the_second_time() {
        let once = replaced(FILE, "go/x.j2", "new").unwrap();
        assert_eq!(replaced(&once, "go/x.j2", "new").unwrap(), once);
    }
}
