//! What the screen costs: `cargo xtask bench tui`. Frames and bytes are measured in memory; the idle minute in a real terminal,
//! with the binary that `SWARM_BIN` names or that lies beside this one.

#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::{Value, json};
use support::{Stage, ago, board_with};
use swarm_tui::draw::draw;
use swarm_tui::input::{Input, Key, LogLine, Tone};

const SIZE: (u16, u16) = (120, 40);
const FRAMES: usize = 500;

/// A terminal in memory that counts what is written to it.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<u64>>);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        *self.0.lock().expect("one writer") += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Screen {
    terminal: Terminal<CrosstermBackend<Counted>>,
    written: Counted,
}

impl Screen {
    fn new() -> Self {
        let written = Counted::default();
        let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
        let backend = CrosstermBackend::new(written.clone());
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport });
        Self { terminal: terminal.expect("a screen in memory"), written }
    }

    /// Draws it and says how many bytes went out.
    fn draw(&mut self, stage: &Stage) -> u64 {
        let before = *self.written.0.lock().expect("one writer");
        self.terminal.draw(|frame| draw(&stage.model, frame)).expect("it can be drawn on");
        *self.written.0.lock().expect("one writer") - before
    }
}

/// A board of so many tasks.
fn stage_of(tasks: usize) -> Stage {
    let mut stage = Stage::new(SIZE.0, SIZE.1);
    stage.take(Input::Board(Ok(board_with(|board| {
        let sample = board["rows"][8].clone();
        let row = |n: usize| {
            let mut row = sample.clone();
            row["id"] = format!("3.{n}").into();
            row["title"] = format!("Task number {n}").into();
            row
        };
        let more: Vec<Value> = (10..10 + tasks).map(row).collect();
        board["rows"].as_array_mut().expect("rows").extend(more);
        board["status"]["counts"]["total"] = json!(tasks);
    }))));
    stage
}

/// The shortest of many frames of each, taken in turns: whatever else the machine does only makes one longer.
fn shortest(all: &mut [Box<dyn FnMut()>]) -> Vec<Duration> {
    let mut least = vec![Duration::MAX; all.len()];
    for _ in 0..FRAMES {
        for (at, frame) in all.iter_mut().enumerate() {
            let began = Instant::now();
            frame();
            least[at] = least[at].min(began.elapsed());
        }
    }
    least
}

/// Every row of the screen as ready text.
fn bare_frame() -> Box<dyn FnMut()> {
    let line = |y: u16| format!("{y:>3} {}", "a line as long as the screen is wide ".repeat(3));
    let text: Vec<String> = (0..SIZE.1).map(line).collect();
    let mut screen = Screen::new();
    Box::new(move || {
        let drawn = screen.terminal.draw(|frame| {
            for (y, line) in text.iter().enumerate() {
                frame.render_widget(Line::from(line.as_str()), Rect::new(0, y as u16, SIZE.0, 1));
            }
        });
        drawn.expect("it can be drawn on");
    })
}

fn frame_of(tasks: usize) -> Box<dyn FnMut()> {
    let (mut stage, mut screen) = (stage_of(tasks), Screen::new());
    // At the last one, where a search would take longest.
    stage.press(Key::End);
    Box::new(move || {
        screen.draw(&stage);
    })
}

struct Report {
    missed: u32,
}

impl Report {
    fn judge(&mut self, what: &str, is: f64, most: f64, unit: &str) {
        let holds = is <= most;
        self.missed += u32::from(!holds);
        println!("{} {what}: {is:.2}{unit} (at most {most}{unit})", if holds { "holds " } else { "MISSED" });
    }
}

fn frames(report: &mut Report) {
    let mut all = [bare_frame(), frame_of(20), frame_of(1000), frame_of(10_000)];
    let [bare, small, middle, large] = shortest(&mut all)[..] else { return };
    let (columns, rows) = SIZE;
    println!(
        "frame of {columns}x{rows}: bare text {bare:?}, 20 tasks {small:?}, 1,000 {middle:?}, 10,000 {large:?}"
    );
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    report.judge("frame with 1,000 tasks / with the visible rows alone", ratio(middle, small), 2.0, "x");
    report.judge("frame with 10,000 tasks / with 1,000", ratio(large, middle), 1.2, "x");
}

/// One task is done: what the terminal is sent for it.
fn one_change(report: &mut Report) {
    let (mut stage, mut screen) = (Stage::new(SIZE.0, SIZE.1), Screen::new());
    screen.draw(&stage);
    let changed = board_with(|board| {
        let row = &mut board["rows"][7];
        (row["group"], row["word"], row["detail"]) = ("done".into(), "done".into(), "8cf51e8 on main".into());
        board["status"]["counts"]["done"] = 19.into();
        board["status"]["seq"] = 260.into();
    });
    stage.take(Input::Board(Ok(changed)));
    report.judge("bytes for one change of a status", screen.draw(&stage) as f64, 400.0, "");
}

/// 10,000 lines a second come in as they would, thirty times a second; each frame a key is pressed.
fn keys_in_a_storm(report: &mut Report) {
    let (mut stage, mut screen) = (stage_of(1000), Screen::new());
    let run = stage.model.log.run.clone().unwrap_or_else(|| panic!("a run is followed"));
    let line = LogLine {
        n: 1,
        byte: 0,
        at: ago(0),
        tone: Tone::Said,
        text: "running 14 tests of the parser".into(),
    };
    let mut longest = Duration::ZERO;
    stage.char('l');
    for frame in 0..300 {
        let began = Instant::now();
        for _ in 0..3 {
            stage.take(Input::Log(run.clone(), vec![line.clone(); 111]));
        }
        // The selection stays at the agent, so that its log is the one that is drawn.
        stage.press(if frame % 2 == 0 { Key::PageUp } else { Key::PageDown });
        screen.draw(&stage);
        longest = longest.max(began.elapsed());
    }
    report.judge("key to frame at 10,000 lines/s, longest of 300", longest.as_secs_f64() * 1e3, 50.0, " ms");
}

/// The binary beside us, where the bench was built by `xtask`.
fn binary() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("SWARM_BIN") {
        return Some(named.into());
    }
    let ours = std::env::current_exe().ok()?;
    ours.ancestors().map(|dir| dir.join("swarm")).find(|file| file.is_file())
}

fn run(program: &Path, args: &[&str]) -> String {
    let out = Command::new(program).args(args).env("GIT_CONFIG_NOSYSTEM", "1").output();
    out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default()
}

/// Ticks of the processor (a hundredth of a second each) that a process has had so far.
fn ticks(pid: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields.iter().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Whether somebody coordinates while the screen is left alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    Alone,
    /// A run that is paused: the screen hangs on its feed, and the age of the pause changes by the minute.
    Coordinated,
}

/// A real screen in a real terminal, left alone for a minute.
#[allow(clippy::disallowed_methods, reason = "what is measured is that nothing happens in this time")]
fn idle_minute(report: &mut Report, swarm: &Path, secs: u64, idle: Idle) {
    let dir = std::env::temp_dir().join(format!("swarm-bench-tui-{}", std::process::id()));
    let (repo, socket) = (dir.join("repo"), dir.join("tmux.sock"));
    std::fs::create_dir_all(&repo).expect("a folder");
    let (place, socket) = (repo.display().to_string(), socket.display().to_string());
    let git = Path::new("git");
    run(git, &["init", "--quiet", &place]);
    run(
        git,
        &[
            "-C",
            &place,
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "start",
        ],
    );
    std::fs::write(dir.join("plan.md"), "# Goal\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n").expect("a plan");
    run(swarm, &["-C", &place, "plan", "save", &dir.join("plan.md").display().to_string()]);
    // Nothing waits for anybody: ages of what waits change by the minute, and are meant to.
    run(swarm, &["-C", &place, "mode", "autopilot"]);
    if idle == Idle::Coordinated {
        run(swarm, &["-C", &place, "pause"]);
        run(swarm, &["-C", &place, "run", "--detach", "--agent", "script", "--review", "none"]);
    }
    let tmux = |args: &[&str]| run(Path::new("tmux"), &[&["-S", &socket, "-f", "/dev/null"], args].concat());
    tmux(&["new-session", "-d", "-x", "120", "-y", "40", &swarm.display().to_string(), "-C", &place, "tui"]);
    let until = Instant::now() + Duration::from_secs(20);
    let is_shown =
        |screen: String| screen.contains("Two") && screen.contains("no coordinator") == (idle == Idle::Alone);
    while !is_shown(tmux(&["capture-pane", "-p"])) && Instant::now() < until {
        std::thread::park_timeout(Duration::from_millis(50));
    }
    let pid = tmux(&["list-panes", "-F", "#{pane_pid}"]).trim().to_owned();
    // Ages below a minute still change; then the minute that counts.
    std::thread::sleep(Duration::from_secs(secs.min(5)));
    let heard = dir.join("heard");
    tmux(&["pipe-pane", &format!("cat > {}", heard.display())]);
    let before = ticks(&pid);
    std::thread::sleep(Duration::from_secs(secs));
    let after = ticks(&pid);
    let written = std::fs::metadata(&heard).map_or(0, |meta| meta.len());
    tmux(&["kill-server"]);
    let (who, most) = match idle {
        Idle::Alone => ("without a coordinator", 0.0),
        Idle::Coordinated => {
            run(swarm, &["-C", &place, "stop"]);
            // So many ages can change in this time, and one change costs no more than any other.
            ("beside a coordinator", 400.0 * (secs / 60 + 1) as f64)
        }
    };
    let _ = std::fs::remove_dir_all(&dir);
    report.judge(&format!("bytes written in {secs} idle seconds {who}"), written as f64, most, "");
    let share = (after - before) as f64 / secs as f64;
    report.judge(&format!("processor while idle {who}, percent of one core"), share, 0.1, " %");
}

fn main() -> ExitCode {
    let mut report = Report { missed: 0 };
    frames(&mut report);
    one_change(&mut report);
    keys_in_a_storm(&mut report);
    let secs = std::env::var("SWARM_BENCH_IDLE_SECS").ok().and_then(|secs| secs.parse().ok()).unwrap_or(60);
    match binary() {
        Some(swarm) => {
            for idle in [Idle::Alone, Idle::Coordinated] {
                idle_minute(&mut report, &swarm, secs, idle);
            }
        }
        None => println!("no binary to look at: build swarm-cli, or name one with SWARM_BIN"),
    }
    if report.missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
