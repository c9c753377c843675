//! Bounds on what a plan may hold, each with its reason.

/// Tasks of one plan. Ten thousand must work well; twice that is a mistake in somebody's script.
pub const TASKS_MAX: usize = 20_000;
pub const PHASES_MAX: usize = 1_000;
/// A title is one line on a screen.
pub const TITLE_MAX: usize = 500;
/// A description goes into every prompt of the task; 64 KiB are about 16,000 tokens.
pub const DESCRIPTION_MAX: usize = 64 * 1024;
pub const GOAL_MAX: usize = 64 * 1024;
/// Entries of a list (depends, acceptance, files, tags).
/// Globs of one reservation, and reservations of people and tools.
pub const RESERVED_GLOBS_MAX: usize = 64;
pub const RESERVATIONS_MAX: usize = 64;
pub const RESERVATION_SECS_MAX: u64 = 30 * 86_400;
pub const LIST_MAX: usize = 1_000;
/// Bytes of one entry of a list.
pub const ENTRY_MAX: usize = 4 * 1024;
/// A whole task as JSON; well below the ledger's limit of one record.
pub const TASK_BYTES_MAX: usize = 512 * 1024;
/// A reason or note of a person.
pub const REASON_MAX: usize = 4 * 1024;
/// Bytes of the facts of one operation; above it the state before is kept as a checkpoint instead.
pub const FACTS_MAX: usize = 256 * 1024;
/// Bytes of the facts of all operations that are remembered.
pub const FACTS_KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Operations of people that are remembered; those that can still be undone stay longest.
pub const OPERATIONS_KEPT: usize = 1_000;
/// Operations of the swarm's own that are remembered: merges.
pub const AUTOMATIC_KEPT: usize = 200;
/// Bytes of the plan of an operation; a record holds at most a megabyte.
pub const PLAN_BYTES_MAX: usize = 900 * 1024;
/// Lines of each kind, and new commits, that are remembered of what an operation did with git.
pub const DEEDS_KEPT: usize = 40;
/// Files of a conflict that are remembered with the operation that met it.
pub const CONFLICTS_SHOWN: usize = 20;
/// Bytes of the paths that one record names. A conflict may be in each file of a large repository: git has them all.
pub const PATHS_BYTES_MAX: usize = 64 * 1024;
/// Hooks that ended and are remembered.
pub const HOOKS_ENDED_KEPT: usize = 50;
/// Checkpoints that wait to be made.
pub const DUE_MAX: usize = 100;
/// Command ids whose answers are remembered.
pub const ANSWERS_KEPT: usize = 1_000;
/// Entries of a task's audit log in the state; the ledger has them all.
pub const AUDIT_KEPT: usize = 50;
/// Decisions of people in the state.
pub const DECISIONS_KEPT: usize = 50;
/// Proposals that wait for a person, and as many that were decided and are remembered.
pub const PROPOSALS_MAX: usize = 20;
/// What a proposal says to a person, in bytes.
pub const PROPOSAL_SAYS_MAX: usize = 32 * 1024;
/// Seconds for which a proposal waits: the night and the morning after it.
pub const PROPOSAL_SECS: u64 = 24 * 3_600;
/// Output of a failed check that goes into the next prompt.
pub const OUTPUT_KEPT: usize = 16 * 1024;
/// Failures of git or the disk in a row before a merge waits for a person.
pub const EFFECT_FAILURES_MAX: u32 = 5;
/// Failures in a row of what is owed before a swarm that was told to stop ends without it: with the rests between them three
/// seconds, and the next coordinator begins anew.
pub const STOP_TRIES_MAX: u32 = 5;
/// Answers of a reviewing agent that were no verdict, in a row, before the task waits for a person: one more than this.
pub const REVIEW_TRIES: u32 = 2;
/// Bytes of what a person or a council remarks together: a record holds at most a megabyte, and nine may answer at length.
pub const VERDICT_NOTES_MAX: usize = 512 * 1024;
/// Reviews that broke before they had a verdict, in a row, before the task waits for a person.
pub const REVIEWS_LOST_MAX: u32 = 10;
/// Approvals that a change of the branch made void, before the task waits for a person.
pub const VOIDS_MAX: u32 = 3;
/// Reviews at once. They take no slot of an agent, but each is a build of the whole tree.
pub const REVIEWS_AT_ONCE: usize = 4;
/// Equal failures to set a worktree up, over all tasks, before the swarm pauses.
pub const SETUP_FAILURES_MAX: u32 = 3;
/// Agents taken out of service within the window of crashes before the swarm pauses.
pub const DEGRADED_MAX: usize = 3;
/// Messages of a task that wait to be delivered, and as many that were.
pub const MESSAGES_MAX: usize = 20;
/// Seconds for which the closing of a plan keeps work from starting. Whoever closes it waits two minutes for agents to
/// stop; if that process died, work goes on after this.
pub const CLOSE_HOLD_SECS: u64 = 300;
/// Bytes of one message: it goes into a prompt.
pub const MESSAGE_MAX: usize = 16 * 1024;
/// Lines that one attempt may add to the history beside its own.
pub const NOTES_MAX: usize = 20;
/// Parts of one task.
pub const PARTS_MAX: usize = 50;
/// A part may be split again, and its parts may not.
pub const SPLIT_DEPTH_MAX: usize = 2;
/// The longest wait a service may ask for: a weekly allowance and a day.
pub const RESETS_MAX_SECS: u64 = 8 * 24 * 3600;
/// Seconds between two probes of an allowance that is back at a named moment, until then.
pub const SELDOM_SECS: u64 = 3600;
/// Commits that are remembered as green.
pub const GREEN_KEPT: usize = 32;
/// Oversteps of a task that are recorded until a person has seen them; after these everybody knows.
pub const OVERSTEPS_MAX: u32 = 20;
/// Bytes of a program's session name; a longer one is none.
pub const SESSION_MAX: usize = 512;
/// Seconds after which a waiting publish is tried again even if nobody saw the checkout change.
pub const CHECKOUT_RETRY_SECS: u64 = 60;
