//! The weather table: each program in each kind of bad weather, from recordings, and what the swarm makes of it. Nobody is out of service
//! for weather, and a person is asked only where a person is needed.

use swarm_agents::{AgentEvent, Circles, Conclusion, Patience, Seen};
use swarm_protocol::failure::{Consequence, FailureClass};

use crate::agents_captures::{agents, recording};

/// Weather, and what may be concluded from it.
fn recovery(weather: &str) -> &'static [Consequence] {
    use Consequence::{Crash, Loop, Overflow, Quota, Setup, Silence, Timeout, Transient};
    match weather {
        "server_error" | "dns" | "conn_refused" | "rate_limit" | "drop" => &[Transient],
        // Where nobody says until when, a service that words it like throttling is believed.
        "quota" | "quota_plain" => &[Quota, Transient],
        "auth" | "billing" | "unknown_flag" => &[Setup],
        "overflow" => &[Overflow],
        "hang" => &[Silence, Transient],
        "loop" => &[Loop, Timeout],
        "killed" => &[Crash],
        other => panic!("there is no weather {other}"),
    }
}

/// `weather program recording`, one cell a line.
fn cells() -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(agents().join("weather.txt")).expect("weather.txt");
    let rows = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    rows.map(|row| match row.split_whitespace().collect::<Vec<_>>().as_slice() {
        [weather, program, name, ..] => ((*weather).into(), (*program).into(), (*name).into()),
        _ => panic!("not a cell: {row}"),
    })
    .collect()
}

/// What follows from a recording as it would have gone live.
fn follows(name: &str, weather: &str) -> Result<Consequence, String> {
    let recording = recording(name);
    let concluded = match weather {
        "hang" => recording.live(),
        // The swarm did not send the signal.
        "killed" => recording.killed_by_another(),
        _ => match recording.live() {
            Conclusion::Interrupted => recording.as_recorded(true),
            concluded => concluded,
        },
    };
    match concluded {
        Conclusion::Failed(failure) => Ok(failure.class.consequence()),
        other => Err(format!("{other:?}")),
    }
}

/// Whether its calls are noticed to go round.
fn goes_round(name: &str) -> bool {
    let recording = recording(name);
    let mut reading = recording.reading();
    let mut circles = Circles::new(Patience { note: 5, stop: 10 });
    for (stream, line) in recording.lines() {
        reading.line(stream, line, false);
        for event in reading.heard.events.drain(..) {
            let (AgentEvent::ToolStarted { name, input, same: Some(same) }
            | AgentEvent::ToolKnown { name, input, same }) = event
            else {
                continue;
            };
            if matches!(circles.called(same, &format!("{name} {input}")), Seen::Enough(_)) {
                return true;
            }
        }
    }
    false
}

#[test]
fn every_program_in_every_weather_is_recovered_as_the_table_says() {
    let cells = cells();
    let mut wrong = Vec::new();
    for (weather, program, name) in cells.iter().filter(|(_, _, name)| name != "-") {
        if weather == "loop" && goes_round(name) {
            continue;
        }
        match follows(name, weather) {
            Ok(found) if recovery(weather).contains(&found) => {}
            found => wrong.push(format!("{program} in {weather} ({name}): {found:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), cells.len(), wrong.join("\n"));
}

#[test]
fn the_weather_table_has_a_cell_for_each_program_in_each_weather_and_few_are_empty() {
    let cells = cells();
    let programs: std::collections::BTreeSet<&String> = cells.iter().map(|(_, program, _)| program).collect();
    let weathers: std::collections::BTreeSet<&String> = cells.iter().map(|(weather, ..)| weather).collect();
    assert_eq!((programs.len(), weathers.len()), (9, 14));
    assert_eq!(cells.len(), 9 * 14, "a cell stands twice or is missing");
    let empty: Vec<_> = cells.iter().filter(|(_, _, name)| name == "-").collect();
    assert!(empty.len() <= 12, "{} cells have no recording: {empty:?}", empty.len());
}

/// No class that follows from weather takes an agent out of service or burns a retry.
#[test]
fn weather_is_nobodys_crash() {
    use FailureClass::{Network, Overloaded, Quota, Throttled};
    for class in [Network, Overloaded, Throttled, Quota] {
        assert!(!matches!(class.consequence(), Consequence::Crash | Consequence::Silence), "{class:?}");
    }
}
