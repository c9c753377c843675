//! Files for oneself, for a while: asked for, given back, and asked about when work comes to trunk.

use swarm_protocol::event::Event;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::reservation::{Overlap, Reservation};

use super::command::Outcome;
use super::conflict::lies_there_again;
use super::validate;
use crate::limits::{RESERVATION_SECS_MAX, RESERVATIONS_MAX, RESERVED_GLOBS_MAX};
use crate::reservations::{Wanted, in_the_way, means};
use crate::state::{State, Task};

/// What a person or a tool asks for.
pub(super) struct Wish {
    pub files: Vec<String>,
    pub shared: bool,
    pub secs: Option<u64>,
    pub reason: Option<String>,
    pub by: String,
}

pub(super) fn reserve(state: &State, wish: Wish) -> Result<Outcome, Refusal> {
    if state.plan.is_none() {
        return Err(Refusal::NoPlan);
    }
    validate::globs("The files to reserve", &wish.files, RESERVED_GLOBS_MAX)?;
    wish.reason.as_deref().map_or(Ok(()), validate::reason)?;
    let secs = wish.secs.unwrap_or(state.policy.reservation_secs);
    if !(1..=RESERVATION_SECS_MAX).contains(&secs) {
        let why = format!("it must be 1 second to {} days", RESERVATION_SECS_MAX / 86_400);
        return Err(Refusal::BadValue { what: "The time of a reservation".into(), why });
    }
    let of_people = state.reservations.values().filter(|one| one.task.is_none()).count();
    if of_people >= RESERVATIONS_MAX {
        let (limit, got) = (RESERVATIONS_MAX as u64, of_people as u64 + 1);
        return Err(Refusal::TooLarge { what: "The reservations of people and tools".into(), limit, got });
    }
    let (files, shared) = if wish.shared { (vec![], wish.files) } else { (wish.files, vec![]) };
    let wanted = Wanted { files: &files, shared: &shared };
    let beside: Vec<u64> = in_the_way(state, None, wanted).collect();
    if let Some(number) = beside.first().filter(|_| state.policy.overlap != Overlap::Warn) {
        return Err(taken(state, *number));
    }
    let number = state.reservations_ever + 1;
    let what = files.iter().chain(&shared).cloned().collect::<Vec<_>>().join(", ");
    let time = match secs {
        secs if secs.is_multiple_of(3_600) => format!("{} h", secs / 3_600),
        secs if secs.is_multiple_of(60) => format!("{} min", secs / 60),
        secs => format!("{secs} s"),
    };
    let mut answer = format!("Reserved {what} for {time} (reservation {number})");
    if !beside.is_empty() {
        answer.push_str("; somebody else has reserved some of it too");
    }
    let by = Some(wish.by);
    let reason = wish.reason;
    let granted = Event::ReservationGranted { task: None, number, by, files, shared, secs, reason, beside };
    Ok(Outcome::new(vec![granted], answer))
}

fn taken(state: &State, number: u64) -> Refusal {
    let Some(found) = state.reservations.get(&number) else { return Refusal::UnknownReservation { number } };
    let files = found.files.iter().chain(&found.shared).cloned().collect::<Vec<_>>().join(", ");
    Refusal::FilesReserved { files, holder: found.holder(), number }
}

pub(super) fn release(state: &State, number: u64) -> Result<Outcome, Refusal> {
    let found = state.reservations.get(&number).ok_or(Refusal::UnknownReservation { number })?;
    let answer = format!("Released reservation {number} of {}", found.holder());
    let (task, why) = (found.task.clone(), "a person released it".into());
    Ok(Outcome::new(vec![Event::ReservationReleased { task, number, why }], answer))
}

/// What others have reserved of the files that are about to be merged.
pub(super) struct Reserved {
    pub reservations: Vec<u64>,
    pub paths: Vec<String>,
}

/// Whoever reserved before the task did, so that no two tasks wait for each other, whatever their agents changed; and people
/// whenever they did: they wait for nobody.
pub(super) fn reserved_by_others(state: &State, task: &Task, changed: &[String]) -> Option<Reserved> {
    let id = &task.spec.id;
    let own = state.reservations.iter().find(|(_, one)| one.task.as_ref() == Some(id));
    let (first, beside) = own.map_or((u64::MAX, [].as_slice()), |(number, one)| (*number, &one.beside));
    let mut reserved = Reserved { reservations: vec![], paths: vec![] };
    let counts = |(number, other): &(&u64, &Reservation)| {
        (**number < first || other.task.is_none()) && !beside.contains(number)
    };
    for (number, other) in state.reservations.iter().filter(counts) {
        let theirs = |path: &&String| other.files.iter().any(|glob| means(glob, path));
        let mut hit = changed.iter().filter(theirs).peekable();
        if hit.peek().is_some() {
            reserved.reservations.push(*number);
            reserved.paths.extend(hit.take(SHOWN_MAX).cloned());
        }
    }
    reserved.paths.truncate(SHOWN_MAX);
    (!reserved.reservations.is_empty()).then_some(reserved)
}

/// Files that are named; more would be a page.
const SHOWN_MAX: usize = 20;

/// What becomes of a merge into reserved files: a word about it, or its end for now.
pub(super) fn merge_into(state: &State, task: &Task, reserved: Reserved) -> Result<Event, Vec<Event>> {
    let Reserved { reservations, paths } = reserved;
    let id = task.spec.id.clone();
    let holders: Vec<String> = reservations
        .iter()
        .filter_map(|number| {
            Some(format!("{} (reservation {number})", state.reservations.get(number)?.holder()))
        })
        .collect();
    let file = match paths.as_slice() {
        [one] => one.clone(),
        [first, ..] => format!("{first} and {} more", paths.len() - 1),
        [] => String::new(),
    };
    let (verb, holders) = (if paths.len() == 1 { "is" } else { "are" }, holders.join(", "));
    let why = format!("{file} {verb} reserved by {holders}");
    match state.policy.overlap {
        Overlap::Warn => Ok(Event::ReservationPassed { task: id, reservations, paths }),
        Overlap::Wait => {
            Err(vec![Event::MergeHeld { task: id, status: Status::Merging, reservations, paths, why }])
        }
        Overlap::Deny => {
            let next = Next::Blocked { block: BlockKind::Reserved, why: why.clone() };
            let again = lies_there_again(task, &id);
            let failed = Event::MergeFailed { task: id, status: next.status(), why, paths, next };
            Err(std::iter::once(failed).chain(again).collect())
        }
    }
}
