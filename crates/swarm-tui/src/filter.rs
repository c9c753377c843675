//! What is typed behind `/`: words, `stage:review`, `tag:docs`, and `!` before any of them.

use swarm_protocol::board::BoardRow;

use crate::field::Field;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub field: Field,
}

impl Filter {
    /// All of the words have to fit.
    pub fn fits(&self, row: &BoardRow) -> bool {
        self.field.text().to_lowercase().split_whitespace().all(|word| fits(row, word))
    }
}

fn fits(row: &BoardRow, word: &str) -> bool {
    if let Some(rest) = word.strip_prefix('!') {
        return rest.is_empty() || !fits(row, rest);
    }
    if let Some(stage) = word.strip_prefix("stage:") {
        let named = [row.row.status.word(), row.word.as_str()];
        return named.iter().any(|name| name.starts_with(stage));
    }
    if let Some(tag) = word.strip_prefix("tag:") {
        return row.tags.iter().any(|name| name.to_lowercase().starts_with(tag));
    }
    let agent = row.row.agent.as_ref().map(|agent| agent.to_string()).unwrap_or_default();
    [row.row.id.as_str(), &row.row.title, &row.word, &row.detail, &agent]
        .iter()
        .any(|text| text.to_lowercase().contains(word))
}
