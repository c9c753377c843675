//! Tables without borders: columns that line up, cut by nobody when the output goes to a file.

use std::io::IsTerminal;

use comfy_table::{ContentArrangement, Table, presets};

use super::harmless;

/// Rows under a head, as text with no blanks at line ends.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| harmless(cell)).collect::<Vec<_>>());
    }
    if let Some(columns) = terminal_columns() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    }
    let last = head.len().saturating_sub(1);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if at == last { 0 } else { 2 }));
    }
    table.trim_fmt()
}

fn terminal_columns() -> Option<u16> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    (size.ws_col >= 40).then_some(size.ws_col)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let text = table(
            &["task", "title"],
            [vec!["1.1".into(), "a".into()], vec!["long-id".into(), "b\u{1b}[2J".into()]],
        );
        assert_eq!(text, "task     title\n1.1      a\nlong-id  b\\u{1b}[2J");
    }
}
