//! `swarm trace export`.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use swarm_core::trace::{Span, TraceId, request};
use swarm_protocol::ids::TaskId;
use tempfile::NamedTempFile;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::Output;
use crate::swarm::Swarm;

/// Write the history as OpenTelemetry spans
///
/// The spans are computed from the ledger, so nothing has to run while agents work. Each span appears once and always has the
/// same id, even if a coordinator was killed. The output is JSON lines, each one OTLP request, as the file exporter of the
/// OpenTelemetry Collector writes them. It contains no prompts, output or file names.
///
/// Example: swarm trace export --output trace.jsonl
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only the spans of this task, and the runs of the swarm around them
    #[arg(long, value_name = "TASK")]
    pub task: Option<TaskId>,
    /// Include unfinished spans, as if they ended with the last record; marked with `swarm.unfinished`
    #[arg(long)]
    pub unfinished: bool,
    /// File to write instead of stdout
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub at: At,
}

/// Spans of one line, so that a line stays below what collectors take at once.
const LINE_SPANS: usize = 128;

pub fn run(args: &Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let mut wanted = Wanted { task: args.task.as_ref(), around: None };
    let mut lines = Lines { spans: Vec::new(), to: To::open(args.output.as_deref(), cx.out)? };
    let ledger = swarm.spans(args.at.at, args.unfinished, &mut |ledger, span| {
        if wanted.wants(&span) { lines.take(ledger, span) } else { Ok(()) }
    })?;
    lines.end(&ledger)
}

struct Wanted<'a> {
    task: Option<&'a TaskId>,
    /// The run of the swarm that holds a span of the task; it ends after all that it holds.
    around: Option<TraceId>,
}

impl Wanted<'_> {
    fn wants(&mut self, span: &Span) -> bool {
        let Some(task) = self.task else { return true };
        if span.task.as_ref() == Some(task) {
            self.around = Some(span.trace);
            return true;
        }
        span.parent.is_none() && self.around == Some(span.trace)
    }
}

struct Lines {
    spans: Vec<Span>,
    to: To,
}

impl Lines {
    fn take(&mut self, ledger: &str, span: Span) -> Result<(), CliError> {
        self.spans.push(span);
        if self.spans.len() < LINE_SPANS { Ok(()) } else { self.write(ledger) }
    }

    fn write(&mut self, ledger: &str) -> Result<(), CliError> {
        let line = request(&self.spans, ledger, env!("CARGO_PKG_VERSION"));
        self.spans.clear();
        self.to.line(&line)
    }

    fn end(mut self, ledger: &str) -> Result<(), CliError> {
        if !self.spans.is_empty() {
            self.write(ledger)?;
        }
        self.to.end()
    }
}

/// Where the lines go. A file appears when all of them are in it.
enum To {
    Stdout { out: Output, read: bool },
    File { beside: BufWriter<NamedTempFile>, file: PathBuf },
}

impl To {
    fn open(file: Option<&Path>, out: Output) -> Result<Self, CliError> {
        let Some(file) = file else { return Ok(Self::Stdout { out, read: true }) };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
        let beside = beside.map_err(|error| unwritten(file, error))?;
        Ok(Self::File { beside: BufWriter::new(beside), file: file.to_path_buf() })
    }

    fn line(&mut self, line: &str) -> Result<(), CliError> {
        match self {
            // `swarm trace export | head` is no error.
            Self::Stdout { read: false, .. } => Ok(()),
            Self::Stdout { out, read } => {
                *read = out.stream(line, "\n")?;
                Ok(())
            }
            Self::File { beside, file } => writeln!(beside, "{line}").map_err(|error| unwritten(file, error)),
        }
    }

    fn end(self) -> Result<(), CliError> {
        let Self::File { beside, file } = self else { return Ok(()) };
        let whole = beside.into_inner().map_err(|error| unwritten(&file, error.into_error()))?;
        whole.persist(&file).map_err(|error| unwritten(&file, error.error))?;
        Ok(())
    }
}

fn unwritten(file: &Path, error: std::io::Error) -> CliError {
    CliError::environment(format!("Cannot write {}", file.display())).because(error)
}
