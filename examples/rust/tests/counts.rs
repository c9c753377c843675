use textstat::{lines, words};

#[test]
fn a_last_line_without_a_newline_counts() {
    assert_eq!(lines::count("one\ntwo"), 2);
}

#[test]
fn white_space_at_the_ends_is_no_word() {
    assert_eq!(words::count("  one two\n"), 2);
}
