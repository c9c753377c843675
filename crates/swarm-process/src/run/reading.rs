//! What a child says, read within bounds.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Ended, Excess, Running};

/// How long the pipes of a child that has ended may stay open because a grandchild holds them.
const PIPE_GRACE: Duration = Duration::from_secs(2);

pub(super) enum Stop {
    TooMuch,
    Io(std::io::Error),
}

pub(super) struct AbortOnDrop<T>(pub(super) tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) type Reading = AbortOnDrop<Result<(Vec<u8>, bool), Stop>>;

pub(super) async fn collect(
    running: &mut Running,
    mut out: Reading,
    mut err: Reading,
) -> Result<Ended, Stop> {
    let joined = |read: Result<Result<(Vec<u8>, bool), Stop>, tokio::task::JoinError>| {
        read.unwrap_or_else(|error| Err(Stop::Io(std::io::Error::other(error))))
    };
    let mut early = None;
    let status = tokio::select! {
        status = running.wait() => status.map_err(Stop::Io)?,
        read = &mut out.0 => {
            match joined(read) {
                Ok(done) => early = Some(done),
                Err(stop) => { running.end_group().await; return Err(stop); }
            }
            running.wait().await.map_err(Stop::Io)?
        }
    };
    let (stdout, stdout_cut) = match early {
        Some(done) => done,
        None => match tokio::time::timeout(PIPE_GRACE, &mut out.0).await {
            Ok(read) => joined(read)?,
            Err(_) => return Err(Stop::Io(std::io::Error::other("a grandchild keeps its output open"))),
        },
    };
    let stderr_tail = match tokio::time::timeout(PIPE_GRACE, &mut err.0).await {
        Ok(read) => joined(read).map(|(bytes, _)| bytes).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    Ok(Ended { status, stdout, stdout_cut, stderr_tail })
}

pub(super) async fn read_bounded(
    mut from: impl AsyncRead + Unpin,
    limit: usize,
    excess: Excess,
) -> Result<(Vec<u8>, bool), Stop> {
    let (mut kept, mut cut) = (Vec::new(), false);
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let n = from.read(&mut chunk).await.map_err(Stop::Io)?;
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&chunk[..n]);
        match excess {
            Excess::Refuse if kept.len() > limit => return Err(Stop::TooMuch),
            // Cut only when twice the bound is reached: otherwise each chunk would move the whole tail.
            Excess::KeepTail if kept.len() > 2 * limit => {
                kept.drain(..kept.len() - limit);
                cut = true;
            }
            _ => {}
        }
    }
    if excess == Excess::KeepTail && kept.len() > limit {
        kept.drain(..kept.len() - limit);
        cut = true;
    }
    Ok((kept, cut))
}
