//! How far two words are from each other: what was typed, and what was probably meant.

/// Letters to change, add, drop or swap to make one word the other; capitals count for nothing.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j - 1] + change).min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// The name that was probably meant: at most two edits away, or a third of its length.
pub fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (text.chars().count() / 3).clamp(1, 3);
    let near = names.filter(|name| name.len().abs_diff(text.len()) <= most);
    near.map(|name| (distance(text, name), name)).filter(|(d, _)| *d <= most).min().map(|(_, name)| name)
}
