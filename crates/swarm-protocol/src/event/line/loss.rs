//! A loss of records, in the words that every front end uses.

use crate::event::Event;

/// Which records a loss took and what is left of them; none for any other event.
pub fn loss_words(event: &Event) -> Option<String> {
    let Event::LedgerLoss { last_good_seq, quarantine, known_seq, known_by, .. } = event else { return None };
    let first = last_good_seq.saturating_add(1);
    let (which, are) = match known_seq {
        Some(last) if *last > first => (format!("records {first} to {last}"), "are"),
        Some(_) => (format!("record {first}"), "is"),
        None => (format!("records after {last_good_seq}"), "are"),
    };
    Some(match (quarantine.as_str(), known_by) {
        ("", None) => format!("{which} {are} missing"),
        ("", Some(who)) => format!("{which} {are} missing, which {who} knows of"),
        (files, None) => format!("{which} were damaged and lie in {files}"),
        (files, Some(_)) => {
            let were = if are == "is" { "was" } else { "were" };
            format!("{which} {were} lost; what is left lies in {files}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_names_its_records_and_never_an_empty_file() {
        let words = |quarantine: &str, known: Option<(u64, &str)>| {
            let loss = Event::LedgerLoss {
                last_good_seq: 4,
                last_good_hash: String::new(),
                lost_hash: String::new(),
                quarantine: quarantine.into(),
                known_seq: known.map(|(seq, _)| seq),
                known_by: known.map(|(_, who)| who.into()),
            };
            loss_words(&loss).expect("a loss")
        };
        assert_eq!(words("q.1", None), "records after 4 were damaged and lie in q.1");
        assert_eq!(words("q.1", Some((9, "x"))), "records 5 to 9 were lost; what is left lies in q.1");
        assert_eq!(words("", Some((5, "plan.json"))), "record 5 is missing, which plan.json knows of");
        assert_eq!(words("", None), "records after 4 are missing");
    }
}
