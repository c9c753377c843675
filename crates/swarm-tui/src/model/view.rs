//! The views of the board, in the order of their digits.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    Attention,
    #[default]
    Plan,
    Agents,
    Events,
    Checkpoints,
    Operations,
}

impl View {
    pub const ALL: [Self; 6] =
        [Self::Attention, Self::Plan, Self::Agents, Self::Events, Self::Checkpoints, Self::Operations];

    pub fn title(self) -> &'static str {
        match self {
            Self::Attention => "Attention",
            Self::Plan => "Plan",
            Self::Agents => "Agents",
            Self::Events => "Events",
            Self::Checkpoints => "Checkpoints",
            Self::Operations => "Operations",
        }
    }

    pub fn index(self) -> usize {
        Self::ALL.iter().position(|view| *view == self).unwrap_or_default()
    }
}
