//! Stories in which somebody sets the calendar of the machine between one coordinator and the next.

use super::story::{Story, Summary};
use crate::rng::Rng;

/// Beside the chances of the story itself, which stay what they are.
const OF_THE_CALENDAR: u64 = 0x00CA_1E4D;

/// The story of a seed, by calendars that leap. The rule that was broken, where one was.
pub fn over_leaps(seed: u64) -> Result<Summary, String> {
    let mut story = Story::new(seed, None, 0);
    story.agenda.leap(Rng::new(seed ^ OF_THE_CALENDAR));
    story.play().map_err(|b| format!("seed {seed}: broken: {}: {}", b.rule, b.text))
}
