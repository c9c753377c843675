//! Files for oneself, for a while: asked for, given back, and asked about when work comes to trunk.

use swarm_protocol::event::Event;
use swarm_protocol::plan::Status;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::reservation::{Overlap, Reservation};
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::task::wrong;
use super::validate;
use crate::limits::{RESERVATION_SECS_MAX, RESERVATIONS_MAX, RESERVED_GLOBS_MAX};
use crate::reservations::{
    TIME_IS_OVER, Wanted, has_agent, in_the_way, is_over, means, shares_the_tree, waits_for,
};
use crate::state::{State, Task};

/// What a person or a tool asks for.
pub(super) struct Wish {
    pub files: Vec<String>,
    pub shared: bool,
    pub secs: Option<u64>,
    pub reason: Option<String>,
    pub by: String,
}

pub(super) fn reserve(state: &State, wish: Wish, now: Timestamp) -> Result<Outcome, Refusal> {
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
    let is_same = |one: &Reservation| {
        one.task.is_none()
            && one.by.as_ref() == Some(&wish.by)
            && (&one.files, &one.shared) == (&files, &shared)
    };
    let ends = |number: &u64| {
        state.reservations.get(number).is_some_and(|one| is_same(one) || is_over(state, one, now))
    };
    let (ended, beside): (Vec<u64>, Vec<u64>) = in_the_way(state, None, wanted).partition(ends);
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
    let (by, reason) = (Some(wish.by.clone()), wish.reason);
    let ended = ended.into_iter().filter_map(|number| {
        let one = state.reservations.get(&number)?;
        let why = if is_over(state, one, now) { TIME_IS_OVER } else { "it was renewed" };
        Some(Event::ReservationReleased { task: one.task.clone(), number, why: why.into() })
    });
    let ended: Vec<Event> = ended.collect();
    let granted = Event::ReservationGranted { task: None, number, by, files, shared, secs, reason, beside };
    Ok(Outcome::new(ended.into_iter().chain([granted]).collect(), answer))
}

pub(super) fn taken(state: &State, number: u64) -> Refusal {
    let Some(found) = state.reservations.get(&number) else { return Refusal::UnknownReservation { number } };
    let files = found.files.iter().chain(&found.shared).cloned().collect::<Vec<_>>().join(", ");
    Refusal::FilesReserved { files, holder: found.holder(), number }
}

pub(super) fn release(state: &State, number: u64) -> Result<Outcome, Refusal> {
    let found = state.reservations.get(&number).ok_or(Refusal::UnknownReservation { number })?;
    let holder = found.task.as_ref().and_then(|id| state.task(id));
    // In one tree the next one would write into the files under its hands.
    if let Some(task) = holder.filter(|task| shares_the_tree(state, task) && has_agent(state, &task.spec.id))
    {
        return Err(wrong(state, &task.spec.id, task, "left without its files in the shared tree"));
    }
    let answer = format!("Released reservation {number} of {}", found.holder());
    let (task, why) = (found.task.clone(), "a person released it".into());
    Ok(Outcome::new(vec![Event::ReservationReleased { task, number, why }], answer))
}

/// What others have reserved of the files that are about to be merged.
pub(super) struct Reserved {
    pub reservations: Vec<u64>,
    pub paths: Vec<String>,
}

/// Everybody who has some of them, whenever they did: but for tasks whose own finished work waits for this one. Otherwise two
/// tasks whose agents strayed into each other's files would wait for each other.
pub(super) fn reserved_by_others(state: &State, task: &Task, changed: &[String]) -> Option<Reserved> {
    let id = &task.spec.id;
    let own = state.reservations.iter().find(|(_, one)| one.task.as_ref() == Some(id));
    let beside = own.map_or([].as_slice(), |(_, one)| &one.beside);
    let mut reserved = Reserved { reservations: vec![], paths: vec![] };
    let counts = |(number, other): &(&u64, &Reservation)| {
        let waits = other.task.as_ref().is_some_and(|holder| holder == id || waits_for(state, holder, id));
        !waits && !beside.contains(number) && !other.beside.iter().any(|n| own.is_some_and(|(o, _)| o == n))
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
pub(super) fn merge_into(state: &State, task: &Task, reserved: Reserved) -> Result<Event, Event> {
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
        // Also where a start would be denied: what is finished and approved is not done again for the sake of a clock.
        Overlap::Wait | Overlap::Deny => {
            Err(Event::MergeHeld { task: id, status: Status::Merging, reservations, paths, why })
        }
    }
}
