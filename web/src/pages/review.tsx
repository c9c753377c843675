// A person's verdict about submitted work: bound to one commit, with notes at lines.
import { useCallback, useState } from "react";
import { useAllowed, useDiff } from "../api/queries";
import type { ReviewNote, ReviewView } from "../api/types";
import { off } from "../lib/actions";
import { noteWords } from "../lib/command";
import { remember, remembered } from "../lib/local";
import { count, short } from "../lib/said";
import { say, send } from "../lib/wishes";
import { Field } from "../ui/field";
import { Act, Empty } from "../ui/parts";
import type { Notes } from "./diff";

/** Notes are kept in this browser until they are sent, for this round of this task. */
export function useNotes(task: string, tip: string): Notes {
  const key = `notes:${task}:${tip}`;
  const read = (): ReviewNote[] => {
    try {
      const kept = JSON.parse(remembered(key) ?? "[]") as unknown;
      return Array.isArray(kept) ? (kept as ReviewNote[]) : [];
    } catch {
      return [];
    }
  };
  const [held, set] = useState(() => ({ key, all: read() }));
  const all = held.key === key ? held.all : read();
  const keep = useCallback(
    (next: ReviewNote[]) => {
      remember(key, next.length ? JSON.stringify(next) : null);
      set({ key, all: next });
    },
    [key],
  );
  return { all, add: (note) => keep([...all, note]), drop: (n) => keep(n < 0 ? [] : all.filter((_, index) => index !== n)) };
}

export function Verdict({ review, notes, bar }: { review: ReviewView; notes: Notes; bar?: boolean }) {
  const { task } = review;
  const diff = useDiff(task, true).data;
  const refused = useAllowed(task).data?.view.find((one) => one.verb === "review")?.refused;
  const [general, setGeneral] = useState("");
  const stale =
    diff && diff.to !== review.submitted
      ? { message: `The diff shown is not of the submitted commit ${short(review.submitted)}`, hint: "Wait a moment: it is read again" }
      : null;
  const approve = () => void send({ do: "review", task, verdict: { approve: { tip: review.submitted } } });
  const wanted: ReviewNote[] = [...(general.trim() ? [{ text: general.trim() }] : []), ...notes.all];
  const needsChanges = async () => {
    if (wanted.length === 0) return say("Say what is to be changed: a note at a line, or in the field below");
    const wish = await send({ do: "review", task, verdict: { needs_changes: { notes: wanted } } });
    if (wish.state !== "landed") return;
    notes.drop(-1);
    setGeneral("");
  };
  return (
    <section className={bar ? "verdict bar" : "verdict"} aria-label="Your verdict">
      <p>
        Round {review.round} of {review.rounds}
        {bar ? (
          ""
        ) : (
          <>
            , commit <code>{short(review.submitted)}</code>, tree <code>{short(review.tree)}</code>
          </>
        )}
      </p>
      {notes.all.length > 0 && !bar ? (
        <ul className="notes">
          {notes.all.map((note, n) => (
            <li key={n}>
              <span>{noteWords(note)}</span>
              <button type="button" className="button small" onClick={() => notes.drop(n)}>
                Discard
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <Field
        label={bar ? "What is to be changed" : "What is to be changed; notes at lines come with it"}
        value={general}
        set={setGeneral}
        draft={`review:${task}`}
        {...(bar ? {} : { lines: 2 })}
      />
      <div className="buttons">
        <Act tone="good" onAct={approve} refused={refused ?? stale}>
          Approve tree {short(review.tree)}
        </Act>
        <Act onAct={() => void needsChanges()} refused={refused}>
          Needs changes: {count(wanted.length, "note")}
        </Act>
      </div>
    </section>
  );
}

export function Review({ review, notes }: { review: ReviewView | undefined; notes: Notes }) {
  if (!review) return <Empty>Nothing of it waits for a review.</Empty>;
  return (
    <>
      {off() ? null : <Verdict review={review} notes={notes} />}
      {review.council?.length ? (
        <section>
          <h2>Council</h2>
          <ul className="plainlist">
            {review.council.map((member) => (
              <li key={member.member}>
                <strong>{member.member}</strong> {member.voice ?? "has not spoken"} <span className="dim">{member.said}</span>
                <ul>
                  {member.notes.map((note, n) => (
                    <li key={n}>{noteWords(note)}</li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  );
}
