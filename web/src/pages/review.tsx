// A person's verdict about submitted work: bound to one commit, with notes at lines.
import { useCallback, useState } from "react";
import { useAllowed } from "../api/queries";
import type { DiffView, ReviewNote, ReviewView } from "../api/types";
import { boardAsked, off } from "../lib/actions";
import { noteWords } from "../lib/command";
import { overtaken, submission } from "../lib/held";
import { remember, remembered } from "../lib/local";
import { count, short } from "../lib/said";
import { say } from "../lib/wishes";
import { Told } from "../ui/dialog";
import { dropDraft, Field } from "../ui/field";
import { Act, Empty } from "../ui/parts";
import { useSending } from "../ui/sending";
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

/** What the page is about, and what has come of it since. */
export interface Shown {
  review: ReviewView;
  diff: DiffView | undefined;
  /** Why no verdict can be given about it any more. */
  late: { message: string; hint: string } | null;
  /** Shows what waits now in its place. */
  renew: () => void;
  /** The verdict has landed. */
  done: () => void;
}

/** Says that the page has stayed behind, and leads on. */
export function Late({ review, late, renew }: Shown) {
  if (!late) return null;
  const newer = late.message.startsWith("A newer");
  return (
    <div className="late" role="alert">
      <p>
        {late.message}. {newer ? `What you see here, and what you wrote, is about round ${review.round}.` : ""}
      </p>
      <button type="button" className="button good" onClick={renew}>
        {newer ? "Show it" : "Show what is there now"}
      </button>
    </div>
  );
}

export function Verdict({ shown, notes, bar }: { shown: Shown; notes: Notes; bar?: boolean }) {
  const { review, diff, late } = shown;
  const { task } = review;
  const refused = useAllowed(task).data?.view.find((one) => one.verb === "review")?.refused;
  const [general, setGeneral] = useState("");
  const draft = `review:${task}:${submission(review)}`;
  const unseen =
    diff?.to !== review.submitted
      ? { message: `The diff of the submitted commit ${short(review.submitted)} is not shown`, hint: "Wait a moment: it is read again" }
      : null;
  const sending = useSending(null);
  const waits = sending.lacks ? { message: sending.lacks, hint: "" } : null;
  const approve = () => sending.send({ do: "review", task, verdict: { approve: { tip: review.submitted } } }, shown.done);
  const wanted: ReviewNote[] = [...(general.trim() ? [{ text: general.trim() }] : []), ...notes.all];
  const needsChanges = async () => {
    if (wanted.length === 0) return say("Say what is to be changed: a note at a line, or in the field below");
    // The command names no commit, so that nothing else would keep these words from another round.
    const now = await boardAsked().catch(() => null);
    if (!now) return say("The coordinator does not answer");
    const passed = overtaken(
      review,
      now.reviews.find((one) => one.task === task),
    );
    if (passed) return say(passed.message, passed.hint);
    sending.send({ do: "review", task, verdict: { needs_changes: { notes: wanted } } }, () => {
      notes.drop(-1);
      dropDraft(draft);
      setGeneral("");
      shown.done();
    });
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
        draft={draft}
        {...(bar ? {} : { lines: 2 })}
      />
      <Told error={sending.told} />
      <div className="buttons">
        <Act tone="good" onAct={approve} refused={waits ?? late ?? refused ?? unseen}>
          Approve tree {short(review.tree)}
        </Act>
        <Act onAct={() => void needsChanges()} refused={waits ?? late ?? refused}>
          Needs changes: {count(wanted.length, "note")}
        </Act>
      </div>
    </section>
  );
}

/** What a reviewer has to know before reading: files that no agent may change without being asked about it. */
export function Protected({ paths }: { paths: string[] | undefined }) {
  if (!paths?.length) return null;
  return (
    <div className="refused" role="note" aria-label="Protected files">
      <p>
        It changes {paths.length === 1 ? "a protected file" : "protected files"}:{" "}
        {paths.map((path, n) => (
          <span key={path}>
            {n ? ", " : ""}
            <code>{path}</code>
          </span>
        ))}
      </p>
    </div>
  );
}

export function Review({ shown, notes }: { shown: Shown | null; notes: Notes }) {
  if (!shown) return <Empty>Nothing of it waits for a review.</Empty>;
  const { review } = shown;
  return (
    <>
      {off() ? null : <Verdict key={submission(review)} shown={shown} notes={notes} />}
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
