//! What has been taken out of trunk already: by reverts that stand, or by whatever else git has noticed.
//!
//! Reverting such a commit once more would conflict, or bring back what somebody wanted gone.

use std::collections::{BTreeMap, BTreeSet};

use super::{Survey, TrunkCommit};
use crate::ids::Oid;

/// The reverts among some commits, as far as they count.
struct Reverts<'a> {
    /// What takes a commit out now.
    by: BTreeMap<&'a Oid, Vec<&'a Oid>>,
    /// Commits whose revert was reverted.
    back: BTreeSet<&'a Oid>,
}

impl<'a> Reverts<'a> {
    /// Newest first: a revert that stands takes its commits out, and one that was reverted itself takes out nothing.
    fn among(commits: impl Iterator<Item = &'a TrunkCommit>) -> Self {
        let (mut by, mut back): (BTreeMap<&Oid, Vec<&Oid>>, BTreeSet<&Oid>) = Default::default();
        for commit in commits {
            if by.contains_key(&commit.oid) {
                back.extend(&commit.reverts);
            } else {
                commit.reverts.iter().for_each(|oid| by.entry(oid).or_default().push(&commit.oid));
            }
        }
        Self { by, back }
    }

    /// Whether the work of a commit that has gone without a word came back by a revert of its revert.
    fn brought_back(&self, oid: &Oid) -> bool {
        self.back.contains(oid) && !self.by.contains_key(oid)
    }
}

impl Survey {
    /// What has to be reverted so that trunk is without these commits: not what has been taken back and stays so, and
    /// neither a revert nor its commit where both are to go. What a revert among these took out of everything else comes
    /// back. `gone`: commits that git did not find on trunk when it looked.
    pub fn still_in_effect(&self, revert: &[Oid], gone: &BTreeSet<Oid>) -> Vec<Oid> {
        let since: BTreeSet<&Oid> = self.since.iter().map(|commit| &commit.oid).collect();
        let goes: BTreeSet<&Oid> = revert.iter().collect();
        let now = Reverts::among(self.since.iter());
        let then = Reverts::among(self.since.iter().filter(|commit| !goes.contains(&commit.oid)));
        let is_gone = |oid: &Oid| gone.contains(oid) && !now.brought_back(oid);
        let is_there = |oid: &Oid| !now.by.contains_key(oid) && !is_gone(oid);
        let is_wanted = |oid: &Oid| !goes.contains(oid) && !then.by.contains_key(oid);
        // A revert is judged by what it reverts, where that is in sight.
        let in_sight = |commit: &&TrunkCommit| {
            commit.reverts.is_empty() || commit.reverts.iter().any(|oid| !since.contains(oid))
        };
        let judged: Vec<&Oid> = self.since.iter().filter(in_sight).map(|commit| &commit.oid).collect();
        let mut out: BTreeSet<&Oid> = BTreeSet::new();
        for oid in judged.iter().copied() {
            match (is_there(oid), is_wanted(oid)) {
                (true, false) => {
                    out.insert(oid);
                }
                (false, true) => {
                    out.extend(now.by.get(oid).into_iter().flatten().filter(|by| goes.contains(*by)));
                }
                _ => {}
            }
        }
        // One revert of several commits brings all of them back.
        for oid in judged {
            let comes = |by: &Vec<&Oid>| by.iter().all(|by| out.contains(by));
            if !is_wanted(oid) && now.by.get(oid).is_some_and(comes) {
                out.insert(oid);
            }
        }
        let stays = |oid: &&Oid| !since.contains(*oid) || out.contains(*oid);
        revert.iter().filter(stays).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: char) -> Oid {
        Oid::new(digit.to_string().repeat(40)).expect("hex digits")
    }

    /// Newest first: each commit with what it reverts.
    fn left_to_do(since: &[(char, &str)], revert: &str, gone: &str) -> String {
        let commit = |(name, reverts): &(char, &str)| TrunkCommit {
            oid: oid(*name),
            subject: String::new(),
            pushed: false,
            reverts: reverts.chars().map(oid).collect(),
        };
        let survey = Survey { since: since.iter().map(commit).collect(), ..Survey::default() };
        let (revert, gone): (Vec<Oid>, BTreeSet<Oid>) =
            (revert.chars().map(oid).collect(), gone.chars().map(oid).collect());
        let left = survey.still_in_effect(&revert, &gone);
        left.iter().filter_map(|oid| oid.as_str().chars().next()).collect()
    }

    #[test]
    fn what_a_revert_that_stays_took_back_is_not_reverted_again() {
        assert_eq!(left_to_do(&[('b', ""), ('a', "")], "ba", ""), "ba");
        assert_eq!(left_to_do(&[('1', "a"), ('b', ""), ('a', "")], "ba", ""), "b");
        assert_eq!(left_to_do(&[('1', "ab"), ('b', ""), ('a', "")], "ba", ""), "");
    }

    #[test]
    fn a_revert_of_a_revert_brings_the_commit_back() {
        let back = [('2', "1"), ('1', "a"), ('a', "")];
        assert_eq!(left_to_do(&back, "a", ""), "a");
        assert_eq!(left_to_do(&back, "1a", ""), "a", "whoever made the reverts");
        assert_eq!(left_to_do(&[('3', "a"), ('2', "1"), ('1', "a"), ('a', "")], "a", ""), "");
        assert_eq!(left_to_do(&[('3', "2"), ('2', "1"), ('1', "a"), ('a', "")], "a", ""), "");
    }

    #[test]
    fn a_revert_and_its_commit_that_both_go_are_left_as_they_are() {
        assert_eq!(left_to_do(&[('1', "a"), ('a', "")], "1a", ""), "");
        assert_eq!(left_to_do(&[('2', "1"), ('1', "a"), ('a', "")], "21a", ""), "a");
        // Ours and ours again, then a person's: reverting the first two would bring it back.
        assert_eq!(left_to_do(&[('3', "a"), ('2', "1"), ('1', "a"), ('a', "")], "21a", ""), "");
    }

    #[test]
    fn what_an_older_commit_lost_comes_back_when_its_revert_goes() {
        assert_eq!(left_to_do(&[('1', "f")], "1", ""), "1");
        assert_eq!(left_to_do(&[('2', "1"), ('1', "f")], "1", ""), "", "it is back already");
        assert_eq!(left_to_do(&[('1', "a"), ('a', "")], "1", ""), "1");
        // One revert of two, of which one is to stay out.
        assert_eq!(left_to_do(&[('1', "fb"), ('b', "")], "1b", ""), "1b");
    }

    #[test]
    fn what_git_has_missed_is_not_reverted_unless_a_revert_of_its_revert_came_since() {
        assert_eq!(left_to_do(&[('b', ""), ('a', "")], "ba", "a"), "b");
        assert_eq!(left_to_do(&[('2', "1"), ('1', "a"), ('a', "")], "a", "a"), "a");
        assert_eq!(left_to_do(&[('b', "")], "bf", "f"), "bf", "what is not in sight is not judged");
    }
}
