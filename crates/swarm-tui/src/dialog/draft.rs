//! Words that a person wrote for something that was refused or lost: the next dialog that asks the same begins with them.

use super::Kind;

impl Kind {
    /// The person wrote something into it that is worth keeping.
    pub fn has_words(&self) -> bool {
        match self {
            Self::Block { .. } | Self::Message { .. } | Self::Answer { .. } | Self::Edit { .. } => true,
            Self::NewCheckpoint { name } => !name.is_empty(),
            Self::Review { note, .. } => !note.is_empty(),
            _ => false,
        }
    }

    pub fn asks_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Block { task, .. }, Self::Block { task: of, .. })
            | (Self::Message { task, .. }, Self::Message { task: of, .. })
            | (Self::Edit { task, .. }, Self::Edit { task: of, .. })
            | (Self::Review { task, .. }, Self::Review { task: of, .. }) => task == of,
            (Self::Answer { choice, .. }, Self::Answer { choice: of, .. }) => choice == of,
            (Self::NewCheckpoint { .. }, Self::NewCheckpoint { .. }) => true,
            _ => false,
        }
    }

    /// This one, with the words of one that asked the same.
    pub fn with_words_of(mut self, kept: Self) -> Self {
        match (&mut self, kept) {
            (Self::Block { reason: field, .. }, Self::Block { reason: words, .. })
            | (Self::Message { text: field, .. }, Self::Message { text: words, .. })
            | (Self::Answer { text: field, .. }, Self::Answer { text: words, .. })
            | (Self::NewCheckpoint { name: field }, Self::NewCheckpoint { name: words }) => *field = words,
            (Self::Review { note, approve, .. }, Self::Review { note: words, .. }) => {
                (*note, *approve) = (words, false);
            }
            // What the person had not changed is as it is now, whoever has changed it.
            (
                Self::Edit { title, description, .. },
                Self::Edit { title: new_title, description: new_description, before, .. },
            ) => {
                if new_title.text() != before.0 {
                    *title = new_title;
                }
                if new_description.text() != before.1 {
                    *description = new_description;
                }
            }
            _ => {}
        }
        self
    }
}
