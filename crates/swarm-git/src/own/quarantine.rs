//! Copies of what an agent's own repository holds, in a folder that only we write. Git reads these and never the
//! agent's folder: no list of other repositories, no index of a pack, no pipe in place of an object reaches it, and
//! nothing changes between our looking and its reading.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush};

use super::beneath::Beneath;
use super::take::Limits;

/// Objects that lie in one folder; of 256 folders.
pub(super) const OBJECTS_MAX: usize = 20_000;
/// Packs. An ordinary agent makes none; in a partial clone each fetch of what is missing there makes one.
const PACKS_MAX: usize = 500;
/// A pack has up to five, and a git that was killed leaves more.
const FILES_OF_PACKS_MAX: usize = 8 * PACKS_MAX;
/// A folder or a commit of this size is none that a tool made.
const STRUCTURE_BYTES_MAX: u64 = 32 << 20;
/// In these the kind and the size of an object stand.
const HEAD_BYTES: usize = 64;

/// What was copied, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Copied {
    pub packs: Vec<PathBuf>,
    pub objects: usize,
    /// By object: how large it is.
    pub too_large: BTreeMap<String, u64>,
    bytes: u64,
}

/// Copies every object of `own` that the person's store does not hold. An error of kind `FileTooLarge`: all of it
/// together is more than is taken.
pub(super) fn copy(own: &Beneath, known: &Path, into: &Path, limits: Limits) -> io::Result<Copied> {
    let objects = into.join("objects");
    for folder in ["objects/info", "objects/pack", "checked/pack", "checked/info"] {
        std::fs::create_dir_all(into.join(folder))?;
    }
    let mut copied = Copied::default();
    for n in 0..=0xff_u8 {
        let folder = format!("{n:02x}");
        for name in own.names(&Path::new("objects").join(&folder), OBJECTS_MAX)? {
            let Some(name) = name.to_str().filter(|name| is_object(name)) else { continue };
            if known.join(&folder).join(name).is_file() {
                continue;
            }
            let below = Path::new("objects").join(&folder).join(name);
            let Some(mut file) = own.file(&below)? else { continue };
            let Some((kind, size)) = head_of(&mut file) else { continue };
            let most = if kind == "blob" { limits.file_bytes } else { STRUCTURE_BYTES_MAX };
            // A deflated object is a little longer than what is in it at most.
            if size > most || file.metadata()?.len() > size + size / 8 + 1024 {
                copied.too_large.insert(format!("{folder}{name}"), size);
                continue;
            }
            copied.take(&mut file, &objects.join(&folder), name, limits)?;
            copied.objects += 1;
        }
    }
    for name in own.names(Path::new("objects/pack"), FILES_OF_PACKS_MAX)? {
        let Some(name) = name.to_str().filter(|name| is_pack(name)) else { continue };
        if copied.packs.len() == PACKS_MAX {
            let text = format!("it has more than {PACKS_MAX} packs: `git repack -adl` makes one of them");
            return Err(io::Error::other(text));
        }
        let Some(mut file) = own.file(&Path::new("objects/pack").join(name))? else { continue };
        copied.take(&mut file, &objects.join("pack"), name, limits)?;
        copied.packs.push(objects.join("pack").join(name));
    }
    Ok(copied)
}

impl Copied {
    fn take(&mut self, file: &mut File, folder: &Path, name: &str, limits: Limits) -> io::Result<()> {
        let left = limits.all_bytes.saturating_sub(self.bytes);
        if file.metadata()?.len() > left {
            let text = format!("it holds more than {} MB", limits.all_bytes >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        std::fs::create_dir_all(folder)?;
        let mut to = File::options().write(true).create_new(true).mode(0o444).open(folder.join(name))?;
        // No more than it had when its size was asked for.
        self.bytes += io::copy(&mut file.take(left), &mut to)?;
        to.flush()
    }
}

pub(super) fn is_object(name: &str) -> bool {
    matches!(name.len(), 38 | 62) && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_pack(name: &str) -> bool {
    let hash = name.strip_prefix("pack-").and_then(|rest| rest.strip_suffix(".pack"));
    hash.is_some_and(|hash| hash.len() <= 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Kind and size of a loose object; the file is at its beginning again afterwards.
fn head_of(file: &mut File) -> Option<(String, u64)> {
    use std::io::Seek;
    let mut packed = [0; 4 * HEAD_BYTES];
    let mut filled = 0;
    while filled < packed.len() {
        match file.read(&mut packed[filled..]).ok()? {
            0 => break,
            n => filled += n,
        }
    }
    file.rewind().ok()?;
    let mut head = [0; HEAD_BYTES];
    let mut state = InflateState::new_boxed(DataFormat::Zlib);
    let written = inflate(&mut state, &packed[..filled], &mut head, MZFlush::None).bytes_written;
    let end = head[..written].iter().position(|byte| *byte == 0)?;
    let (kind, size) = std::str::from_utf8(&head[..end]).ok()?.split_once(' ')?;
    Some((kind.to_owned(), size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_copied_as_a_partial_clone_makes_them_and_too_many_say_what_to_do() {
        let dir = tempfile::tempdir().expect("a folder");
        let packs = dir.path().join("own/objects/pack");
        std::fs::create_dir_all(&packs).expect("made");
        let make = |n: usize| {
            for end in ["pack", "idx", "rev", "promisor"] {
                std::fs::write(packs.join(format!("pack-{n:040}.{end}")), "x").expect("written");
            }
        };
        let copied = |into: &str| {
            let own = Beneath::open(&dir.path().join("own")).expect("opened");
            copy(&own, &dir.path().join("known"), &dir.path().join(into), Limits::of_files(1 << 20))
        };
        (0..100).for_each(make);
        assert_eq!(copied("some").expect("copied").packs.len(), 100);
        (100..=PACKS_MAX).for_each(make);
        let why = copied("many").expect_err("too many").to_string();
        assert!(why.contains("500 packs") && why.contains("`git repack -adl`"), "{why}");
    }
}
