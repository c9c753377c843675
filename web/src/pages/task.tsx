// One task: what it changes, what happened to it, what its agents print, what people said.
import { useEffect, useMemo, useRef, useState } from "react";
import { useBoard, useDiff, useTask } from "../api/queries";
import type { DiffView, MessageView, ReviewView, TaskView } from "../api/types";
import { useLive } from "../live/live";
import { useAddress } from "../lib/address";
import { selected } from "../lib/dialogs";
import { fits } from "../lib/filter";
import { diffOf, holding, NOTHING_HELD, overtaken, settled, submission, taken } from "../lib/held";
import { useTaskRecords, type TaskRecords } from "../lib/records";
import { age, clock, count, short } from "../lib/said";
import { Awaited, Empty, Page, Tabs, To, VerbButton, Word, taskPath, useNow } from "../ui/parts";
import { Log } from "../ui/log";
import { Diff, type Notes } from "./diff";
import { partAsked, Rounds } from "./rounds";
import { Late, Protected, Review, useNotes, Verdict, type Shown } from "./review";
import { Summary, Verbs } from "./summary";
import { Timeline } from "./timeline";

/** Previous and next in the list one came from. */
function Neighbours({ id }: { id: string }) {
  const { get } = useAddress();
  const rows = useBoard().data?.view.rows ?? [];
  const list = useMemo(() => rows.filter((row) => row.id === id || fits(row, get("q"))), [rows, id, get]);
  const at = list.findIndex((row) => row.id === id);
  const params = { q: get("q"), tab: get("tab"), from: get("from") };
  const [before, after] = [list[at - 1], list[at + 1]];
  return (
    <span className="neighbours">
      {before ? (
        <To path={taskPath(before.id)} params={params} aria-label={`Previous: ${before.id}`}>
          ‹ {before.id}
        </To>
      ) : null}
      {after ? (
        <To path={taskPath(after.id)} params={params} aria-label={`Next: ${after.id}`}>
          {after.id} ›
        </To>
      ) : null}
    </span>
  );
}

function Messages({ view, now }: { view: TaskView; now: number }) {
  const messages = view.messages ?? [];
  const where = (message: MessageView) => {
    if (message.landed) return `landed in ${message.landed.run}, iteration ${message.landed.iteration}, ${clock(message.landed.at)}`;
    return message.undelivered ? `not delivered: ${message.undelivered}` : "queued: given at the next boundary";
  };
  return (
    <div className="messages">
      <p>
        <VerbButton verb="message" task={view.id} tone="good">
          Write a message …
        </VerbButton>
      </p>
      {messages.length === 0 ? <Empty>Nobody has said anything to it.</Empty> : null}
      <ul className="plainlist">
        {messages.map((message) => (
          <li key={message.id}>
            <p className="quoted">{message.text}</p>
            <p className="dim">
              {message.by}, {age(now, message.at)} · {where(message)}
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Runs of the task, newest first. */
function runsOf(records: TaskRecords, current: string | undefined): { run: string; words: string }[] {
  const claimed = records.records.filter((record) => record.type === "task_claimed");
  const known = claimed.map(({ data = {} }) => ({
    run: String(data["run"]),
    words: `attempt ${String(data["attempt"])}, ${String(data["agent"])} (${String(data["run"])})`,
  }));
  return current && !known.some(({ run }) => run === current) ? [{ run: current, words: `now (${current})` }, ...known] : known;
}

function Logs({ id, records }: { id: string; records: TaskRecords }) {
  const { get, set } = useAddress();
  const current = useBoard().data?.view.agents.find((agent) => agent.task === id)?.run;
  const runs = runsOf(records, current);
  const run = get("run") || runs[0]?.run;
  if (!run && (records.error || records.reading)) return <Awaited error={records.error} what="its runs" />;
  if (!run) return <Empty>No agent has worked on it yet.</Empty>;
  return (
    <>
      <p className="logpick">
        <label>
          Run{" "}
          <select value={run} onChange={(event) => set({ run: event.target.value })}>
            {runs.map((one) => (
              <option key={one.run} value={one.run}>
                {one.words}
              </option>
            ))}
          </select>
        </label>{" "}
        <To path={`/runs/${run}`}>on a page of its own</To>
      </p>
      <Log key={run} run={run} label={`Log of ${run}`} tall />
    </>
  );
}

/** The submission that was opened, with its diff, until somebody asks for what came after it. */
function useShown(id: string, now: ReviewView | undefined, holds: boolean): { shown: Shown | null; diff: DiffView | undefined; error: Error | null } {
  const { at } = useAddress();
  const [before, hold] = useState(NOTHING_HELD);
  const held = holds ? holding(before, now) : taken(NOTHING_HELD, now);
  if (holds && held !== before) hold(held);
  const { data, error } = useDiff(id, at === null);
  const kept = useRef<DiffView>(undefined);
  const diff = diffOf(held.review, kept.current, data);
  useEffect(() => {
    kept.current = diff;
  }, [diff]);
  const { review } = held;
  if (!review) return { shown: null, diff, error };
  const late = holds ? overtaken(review, now) : null;
  return { shown: { review, diff, late, renew: () => hold(taken(held, now)), done: () => hold(settled(review)) }, diff, error };
}

/** The diff of the whole work, or of the submission that the address names. */
function WorkDiff({
  id,
  whole,
  error,
  notes,
  guarded,
}: {
  id: string;
  whole: DiffView | undefined;
  error: Error | null;
  notes: Notes | null;
  guarded: string[];
}) {
  const { get, at } = useAddress();
  const part = partAsked(get("round"), get("since"), whole?.rounds);
  const asked = part.round !== null || part.since !== null;
  const some = useDiff(id, asked && at === null, part);
  const data = asked ? some.data : whole;
  const keep = { q: get("q"), from: get("from"), tab: get("tab"), view: get("view") };
  return (
    <>
      {whole?.rounds?.length && at === null ? <Rounds rounds={whole.rounds} part={part} path={taskPath(id)} keep={keep} /> : null}
      {data?.mixed ? (
        <p className="warn" role="note">
          Trunk was merged in between and conflicts with round {part.since}: what came with it is shown, too.
        </p>
      ) : null}
      <Diff
        task={id}
        data={data}
        error={asked ? some.error : error}
        // A note stands at a line of what the verdict is about.
        notes={part.round === null || data?.to === whole?.to ? notes : null}
        guarded={guarded}
        past={at !== null}
        none={part.since === null ? "Its branch changes nothing so far." : `Nothing is another than in round ${part.since}.`}
      />
    </>
  );
}

export default function TaskPage({ id }: { id: string }) {
  const { data, error } = useTask(id);
  const board = useBoard().data?.view;
  const { get, at } = useAddress();
  const seq = useLive().seq;
  const now = useNow();
  const records = useTaskRecords(id, at ?? seq);
  const row = board?.rows.find((one) => one.id === id);
  const waiting = board?.reviews.find((one) => one.task === id);
  // The past stands still, and on other tabs nothing is decided.
  const holds = board !== undefined && at === null && ["", "diff", "review"].includes(get("tab"));
  const { shown, diff, error: noDiff } = useShown(id, waiting, holds);
  const review = shown?.review;
  const notes = useNotes(id, review?.submitted ?? "none");
  useEffect(() => {
    selected.set(id);
    return () => {
      if (selected.get() === id) selected.set(null);
    };
  }, [id]);
  if (!data)
    return (
      <Page title={`Task ${id}`}>
        <Awaited error={error} what={`task ${id}`} />
      </Page>
    );
  const view = data.view;
  const tab = get("tab") || (view.attempts > 0 && at === null ? "diff" : "summary");
  const path = taskPath(id);
  const keep = { q: get("q"), from: get("from") };
  const tabs = [
    ["summary", "Summary"],
    ["timeline", "Timeline"],
    ["diff", "Diff"],
    ["review", review ? `Review, round ${review.round}` : "Review"],
    ["log", "Log"],
    ["messages", view.messages?.length ? `Messages ${view.messages.length}` : "Messages"],
  ].map(([name = "", text = ""]) => ({ id: name, text, path, params: { ...keep, tab: name } }));
  const noting = review && at === null ? notes : null;
  return (
    <div data-task={id}>
      <Page title={`${view.id} ${view.title}`} side={<Neighbours id={id} />}>
        <p className="taskstate">
          {row ? <Word group={row.group} word={row.word} detail={row.detail} /> : view.stage}
          {waiting ? <span className="dim"> · tree {short(waiting.tree)}</span> : null}
          {notes.all.length ? <span className="dim"> · {count(notes.all.length, "note")} not sent</span> : null}
        </p>
        {at === null ? <Verbs task={id} /> : null}
        <Tabs label="About the task" tabs={tabs} now={tab} />
        {tab === "summary" ? <Summary view={view} row={row} /> : null}
        {tab === "timeline" ? <Timeline records={records} /> : null}
        {tab === "diff" || tab === "review" ? (
          <>
            {shown ? <Late {...shown} /> : null}
            <Protected paths={review?.protected} />
            {tab === "review" ? <Review shown={shown} notes={notes} /> : null}
            {tab === "diff" || review ? <WorkDiff id={id} whole={diff} error={noDiff} notes={noting} guarded={review?.protected ?? []} /> : null}
            {tab === "diff" && shown && at === null ? <Verdict key={submission(shown.review)} shown={shown} notes={notes} bar /> : null}
          </>
        ) : null}
        {tab === "log" ? <Logs id={id} records={records} /> : null}
        {tab === "messages" ? <Messages view={view} now={now} /> : null}
      </Page>
    </div>
  );
}
