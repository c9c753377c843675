//! The ways on after an abort or a failure.

use swarm_protocol::view::RetryOptions;

use crate::state::State;

/// None: there is nothing to try again.
pub fn retry_options(state: &State) -> Option<RetryOptions> {
    crate::react::retry(state).is_ok().then(RetryOptions::default)
}
