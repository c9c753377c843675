//! The table itself: every key with what it does.

use swarm_protocol::board::Verb;

use super::{Action, Binding, Part};
use crate::input::Key;

const fn key(
    keys: &'static [Key],
    shown: &'static str,
    action: Action,
    word: &'static str,
    help: &'static str,
    part: Part,
) -> Binding {
    Binding { keys, shown, action, word, help, part, verb: None, footer: None }
}

impl Binding {
    const fn asks(mut self, verb: Verb) -> Self {
        self.verb = Some(verb);
        self
    }

    const fn foot(mut self, rank: u8) -> Self {
        self.footer = Some(rank);
        self
    }
}

use Action as A;
use Key::{BackTab, Char, Ctrl, Down, End, Enter, Esc, Home, Left, PageDown, PageUp, Right, Tab, Up};
use Part::{Agent, Looking, Moving, Swarm, Task};

/// Every key outside of fields and dialogs.
pub const KEYS: &[Binding] = &[
    key(
        &[Char('s')],
        "s",
        A::Stop,
        "stop",
        "Stop the agent: its task goes back to the queue, its work is kept",
        Agent,
    )
    .asks(Verb::Stop)
    .foot(3),
    key(&[Char('r')], "r", A::Redirect, "redirect", "Give the agent another task", Agent)
        .asks(Verb::Redirect)
        .foot(4),
    key(
        &[Char('x')],
        "x",
        A::Kill,
        "kill",
        "Stop the agent at once; this iteration's changes go to a ref",
        Agent,
    )
    .asks(Verb::Kill)
    .foot(5),
    key(
        &[Char('M')],
        "M",
        A::Message,
        "tell",
        "Send a message to the agent, delivered at its next boundary",
        Agent,
    )
    .asks(Verb::Message)
    .foot(9),
    key(&[Char('l')], "l", A::Log, "log", "Show the log of the agent", Agent).foot(12),
    key(
        &[Char('L')],
        "L",
        A::Wall,
        "logs",
        "Show the logs of all agents beside one another, or of those whose tasks are marked",
        Agent,
    ),
    key(&[Char('f')], "f", A::Full, "full", "Show the log on the whole screen, and back", Agent),
    key(&[Char('d')], "d", A::Debug, "debug", "Open the worktree in $VISUAL or $EDITOR", Agent),
    key(&[Char('b')], "b", A::Block, "block", "Block the task with a reason; its agent stops", Task)
        .asks(Verb::Block)
        .foot(6),
    key(&[Char('u')], "u", A::Unblock, "unblock", "Put the task back into the queue", Task)
        .asks(Verb::Unblock)
        .foot(7),
    key(
        &[Char('e')],
        "e",
        A::Edit,
        "edit",
        "Edit title and description; an agent sees it next iteration",
        Task,
    )
    .asks(Verb::Edit)
    .foot(8),
    key(
        &[Char('S')],
        "S",
        A::Start,
        "start",
        "Start the task, in semi-auto mode (also Enter on a ready task)",
        Task,
    )
    .asks(Verb::Start)
    .foot(2),
    key(&[Char('P')], "P", A::Defer, "defer", "Put the task aside until it is unblocked", Task)
        .asks(Verb::Defer),
    key(
        &[Char('R')],
        "R",
        A::RollbackTask,
        "roll back",
        "Take the work of the task out of trunk, or off its branch",
        Task,
    )
    .asks(Verb::RollbackTask)
    .foot(10),
    key(&[Char('D')], "D", A::Diff, "diff", "Show what the task changes", Task).foot(11),
    key(&[Char('v')], "v", A::Review, "review", "Approve submitted work, or ask for changes", Task)
        .asks(Verb::Review)
        .foot(1),
    key(
        &[Char(' ')],
        "Space",
        A::Pause,
        "pause",
        "Pause at the next boundary; again: force, then resume",
        Swarm,
    )
    .foot(0),
    key(&[Char('i')], "i", A::Panel, "panel", "Open the intervention panel", Swarm).foot(12),
    key(&[Char('m')], "m", A::Mode, "mode", "Switch between semi-auto and autopilot", Swarm).asks(Verb::Mode),
    key(&[Char('c')], "c", A::Checkpoint, "checkpoint", "Make a checkpoint with a name", Swarm)
        .asks(Verb::Checkpoint)
        .foot(13),
    key(&[Char('C')], "C", A::Checkpoints, "checkpoints", "List checkpoints and roll back to one", Swarm)
        .foot(14),
    key(
        &[Ctrl('r')],
        "Ctrl+R",
        A::RollbackSession,
        "session rollback",
        "Roll back to the beginning of the session",
        Swarm,
    )
    .asks(Verb::RollbackSession),
    key(&[Char('z')], "z", A::Undo, "undo", "Undo your newest operation", Swarm).asks(Verb::Undo),
    key(&[Char('Z')], "Z", A::Redo, "redo", "Redo what was undone last", Swarm).asks(Verb::Redo),
    key(&[Char('q')], "q", A::Quit, "quit", "Leave; with agents at work it asks what becomes of them", Swarm)
        .foot(15),
    key(
        &[Char('a')],
        "a",
        A::Attention,
        "answer",
        "Go to the next thing that waits for you; a digit chooses there",
        Looking,
    ),
    key(
        &[Char('/')],
        "/",
        A::Filter,
        "filter",
        "Filter: words, stage:review, tag:docs, !not; in a log: search",
        Looking,
    ),
    key(&[Char('n')], "n", A::NextMatch, "next", "Next task that matches the filter", Looking),
    key(&[Char('N')], "N", A::PreviousMatch, "previous", "Previous task that matches the filter", Looking),
    key(
        &[Char(':')],
        ":",
        A::Palette,
        "commands",
        "Find any command or task by name; takes whatever `swarm` takes",
        Looking,
    )
    .foot(16),
    key(
        &[Char('!')],
        "!",
        A::Hint,
        "what helps",
        "Look at the command that a refusal names, or start a run",
        Looking,
    ),
    key(&[Char('p')], "p", A::Graph, "graph", "Show which task waits for which", Looking),
    key(&[Char('U')], "U", A::Usage, "usage", "Show tasks that are left and money spent, over time", Looking),
    key(&[Char('?')], "?", A::Help, "all keys", "Show all keys", Looking).foot(17),
    key(
        &[Char('[')],
        "[",
        A::PreviousMark,
        "previous mark",
        "Previous hunk of the diff, previous tool call of the log",
        Looking,
    ),
    key(&[Char(']')], "]", A::NextMark, "next mark", "Next hunk or tool call", Looking),
    key(&[Char('{')], "{", A::PreviousFile, "previous file", "Previous file of the diff", Looking),
    key(&[Char('}')], "}", A::NextFile, "next file", "Next file of the diff", Looking),
    key(
        &[Char('(')],
        "(",
        A::PreviousPart,
        "previous part",
        "Previous part of the work in the diff",
        Looking,
    ),
    key(
        &[Char(')')],
        ")",
        A::NextPart,
        "next part",
        "Next part of the work in the diff: since the last submission, since earlier ones, each as submitted",
        Looking,
    ),
    key(
        &[Char('y')],
        "y",
        A::Copy,
        "copy",
        "Copy the id of the task, or the line you are at, to the clipboard",
        Looking,
    ),
    key(
        &[Char('Y')],
        "Y",
        A::ShowBlock,
        "show in editor",
        "Open the part of the log or the file of the diff that you are at in $VISUAL or $EDITOR",
        Looking,
    ),
    key(
        &[Char('*')],
        "*",
        A::Mark,
        "mark",
        "Mark the task, or take its mark away: S starts all that are marked, L shows their logs, y copies their ids",
        Looking,
    ),
    key(&[Char('<')], "<", A::RecordBack, "past", "Look at the swarm one record earlier", Looking),
    key(&[Char('>')], ">", A::RecordForth, "later", "One record later", Looking),
    key(&[Char('t')], "t", A::Present, "present", "Back to the present", Looking),
    key(&[Char('+')], "+", A::Enlarge, "enlarge", "Give the focused view the whole screen", Looking),
    key(&[Char('_')], "_", A::Shrink, "shrink", "Give the other views their places back", Looking),
    key(&[Char('w')], "w", A::Wrap, "wrap", "Wrap long lines, or cut them", Looking),
    key(&[Char('.')], ".", A::Machinery, "machinery", "Show or hide events of the machinery", Looking),
    key(&[Ctrl('l')], "Ctrl+L", A::Redraw, "redraw", "Draw the screen anew", Looking),
    key(&[Char('j'), Down], "j ↓", A::Down, "down", "Down", Moving),
    key(&[Char('k'), Up], "k ↑", A::Up, "up", "Up", Moving),
    key(&[Char('g'), Home], "g Home", A::First, "first", "To the beginning", Moving),
    key(&[Char('G'), End], "G End", A::Last, "last", "To the end; follows a log again", Moving),
    key(&[Ctrl('d')], "Ctrl+D", A::HalfDown, "half down", "Half a page down", Moving),
    key(&[Ctrl('u')], "Ctrl+U", A::HalfUp, "half up", "Half a page up", Moving),
    key(&[PageDown], "PgDn", A::PageDown, "page down", "A page down", Moving),
    key(&[PageUp], "PgUp", A::PageUp, "page up", "A page up", Moving),
    key(&[Tab], "Tab", A::NextPane, "next view", "Next view", Moving),
    key(&[BackTab], "Shift+Tab", A::PreviousPane, "previous view", "Previous view", Moving),
    key(&[Char('1')], "1", A::View(1), "attention", "What waits for you", Moving),
    key(&[Char('2')], "2", A::View(2), "plan", "The plan", Moving),
    key(&[Char('3')], "3", A::View(3), "agents", "Agents", Moving),
    key(&[Char('4')], "4", A::View(4), "events", "Events", Moving),
    key(&[Char('5')], "5", A::View(5), "checkpoints", "Checkpoints", Moving),
    key(&[Char('6')], "6", A::View(6), "operations", "Operations", Moving),
    key(
        &[Enter, Right],
        "Enter →",
        A::Open,
        "open",
        "Open or unfold; Enter starts a ready task in semi-auto mode",
        Moving,
    ),
    key(&[Left], "←", A::Fold, "fold", "Fold a phase, or a log to its landmarks", Moving),
    key(&[Esc], "Esc", A::Back, "back", "One step back; never quits", Moving),
    key(&[Ctrl('z')], "Ctrl+Z", A::Suspend, "suspend", "Back to the shell; `fg` returns", Moving),
    key(
        &[Ctrl('c')],
        "Ctrl+C",
        A::Interrupt,
        "leave",
        "Leave; the coordinator and its agents go on. In the screen of `swarm run`: stop them first",
        Moving,
    ),
];
