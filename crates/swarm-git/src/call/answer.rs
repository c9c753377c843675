//! What became of a call: its output, a word, or why there is none.

use super::error::{failed, fell};
use super::{GitCall, GitError};

impl GitCall {
    /// Runs it; anything but exit code 0 is an error. Answers with the output.
    pub async fn ok(self) -> Result<Vec<u8>, GitError> {
        let command = self.shown();
        let ended = self.any().await?;
        if ended.status.success() { Ok(ended.stdout) } else { Err(failed(command, &ended)) }
    }

    /// For a look that fails where something is wrong in the repository: true when all is well. A git that came to no
    /// answer is an error.
    pub async fn is_sound(self) -> Result<bool, GitError> {
        Ok(self.judged().await?.0)
    }

    /// The same, with what it said beside.
    pub async fn judged(self) -> Result<(bool, String), GitError> {
        let command = self.shown();
        let ended = self.any().await?;
        let is_sound = ended.status.success();
        if !is_sound && !fell(ended.status) {
            let error = failed(command, &ended);
            if error.is_no_answer() {
                return Err(error);
            }
        }
        Ok((is_sound, String::from_utf8_lossy(&ended.stderr_tail).into_owned()))
    }

    /// As `ok`, for output of one line of text.
    pub async fn line(self) -> Result<String, GitError> {
        let command = self.shown();
        let output = self.ok().await?;
        let text = String::from_utf8(output)
            .map_err(|_| GitError::Unreadable { command, what: "not UTF-8".into() })?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// For commands whose exit code 1 means *no*, not failure.
    pub async fn if_yes(self) -> Result<Option<Vec<u8>>, GitError> {
        let command = self.shown();
        let ended = self.any().await?;
        match ended.status.code() {
            Some(0) => Ok(Some(ended.stdout)),
            Some(1) => Ok(None),
            _ => Err(failed(command, &ended)),
        }
    }
}
