// Checkpoints with what changed since, and the way back: a preview that is a contract.
import { useBoard, useCheckpoints } from "../api/queries";
import type { CheckpointView } from "../api/types";
import { askFor } from "../lib/actions";
import { fits } from "../lib/filter";
import { useAddress } from "../lib/address";
import { age, clock, count, day, short } from "../lib/said";
import { Act, Awaited, Empty, Page, TaskLink, To, VerbButton, useNow } from "../ui/parts";
import { Filter } from "../ui/filter";
import { Rows } from "../ui/rows";

const path = (name: string) => `/checkpoints/${encodeURIComponent(name)}`;

function rollback(name: string, at: string): void {
  askFor({ title: `Roll back to ${name} (${clock(at)})?`, button: `Roll back to ${name}`, command: { do: "rollback", to: name } });
}

function since(point: CheckpointView): string {
  return point.mergedSince.length ? `${count(point.mergedSince.length, "task")} merged since` : "nothing merged since";
}

function One({ point, now }: { point: CheckpointView; now: number }) {
  const dirty = Object.keys(point.dirty ?? {});
  return (
    <Page title={`Checkpoint ${point.name}`} side={<To path="/checkpoints">all checkpoints</To>}>
      <div className="verbs">
        <Act tone="bad" onAct={() => rollback(point.name, point.at)}>
          Roll back to {point.name} …
        </Act>
        <Act
          onAct={() => askFor({ title: "", button: "", command: { do: "delete_checkpoint", name: point.name } })}
          refused={point.needed ? { message: `It cannot be deleted: ${point.needed}`, hint: "" } : null}
        >
          Delete
        </Act>
        <To path="/" params={{ at: point.seq }} className="button plain">
          Look at the swarm then
        </To>
      </div>
      <dl className="facts">
        <div>
          <dt>Made</dt>
          <dd>
            {day(point.at)} {clock(point.at)} ({age(now, point.at)}), {point.auto ? "by the swarm" : "by you"}: {point.trigger}
          </dd>
        </div>
        <div>
          <dt>Record</dt>
          <dd>
            <To path="/history" params={{ record: point.seq }}>
              {point.seq}
            </To>
          </dd>
        </div>
        {point.trunk ? (
          <div>
            <dt>Trunk</dt>
            <dd>
              {point.branch ?? ""} <code>{short(point.trunk)}</code>
            </dd>
          </div>
        ) : null}
        <div>
          <dt>Holds</dt>
          <dd>{point.full ? "ledger, trunk, task branches and uncommitted work" : "ledger, trunk and task branches"}</dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>
            {point.mergedSince.length
              ? point.mergedSince.map((id, n) => (
                  <span key={id}>
                    {n ? ", " : ""}
                    <TaskLink id={id} />
                  </span>
                ))
              : "nothing was merged"}
          </dd>
        </div>
        {dirty.length ? (
          <div>
            <dt>Uncommitted</dt>
            <dd>{dirty.join(", ")}</dd>
          </div>
        ) : null}
        {point.moving?.length ? (
          <div>
            <dt>Moving</dt>
            <dd>agents were writing in {point.moving.join(", ")} while it was made</dd>
          </div>
        ) : null}
        {point.needed ? (
          <div>
            <dt>Kept</dt>
            <dd>{point.needed}</dd>
          </div>
        ) : null}
      </dl>
      {point.tips && Object.keys(point.tips).length ? <h2>Task branches then</h2> : null}
      <ul className="plainlist columns">
        {Object.entries(point.tips ?? {}).map(([task, tip]) => (
          <li key={task}>
            <TaskLink id={task} /> <code>{short(tip)}</code>
          </li>
        ))}
      </ul>
    </Page>
  );
}

function Row({ point, now }: { point: CheckpointView; now: number }) {
  return (
    <div className="line">
      <To path={path(point.name)} className="name">
        {point.name}
      </To>
      <span className="dim grow">
        {point.auto ? "auto" : "yours"} · {point.trigger} · record {point.seq} · {short(point.trunk)}
      </span>
      <span>{since(point)}</span>
      <span className="dim">{age(now, point.at)}</span>
      <Act small onAct={() => rollback(point.name, point.at)}>
        Roll back …
      </Act>
    </div>
  );
}

export default function CheckpointsPage({ name }: { name: string | null }) {
  const { data, error } = useCheckpoints();
  const board = useBoard().data?.view;
  const { get } = useAddress();
  const now = useNow();
  const points = (data?.view ?? []).filter((point) => !point.deleted);
  if (name !== null && data) {
    const point = points.find((one) => one.name === name);
    return point ? (
      <One point={point} now={now} />
    ) : (
      <Page title={`Checkpoint ${name}`}>
        <Empty>There is no such checkpoint.</Empty>
      </Page>
    );
  }
  const shown = points.filter((point) =>
    fits({ id: point.name, title: point.trigger, status: "pending", word: point.auto ? "auto" : "yours", detail: "", tags: [] }, get("q")),
  );
  return (
    <Page title="Checkpoints" side={<Filter hint="name, auto, yours" />}>
      <div className="verbs">
        <VerbButton verb="checkpoint" task={null} tone="good">
          Make a checkpoint …
        </VerbButton>
        <VerbButton verb="rollback_session" task={null} tone="bad">
          Roll back the session …
        </VerbButton>
        {board?.status.paused.includes("abort") ? (
          <Act onAct={() => askFor({ title: "Try again?", button: "Retry", command: { do: "retry" } })}>Retry …</Act>
        ) : null}
      </div>
      {data ? null : <Awaited error={error} what="the checkpoints" />}
      {data && shown.length === 0 ? <Empty>No checkpoint fits.</Empty> : null}
      <Rows
        items={shown}
        id={(point) => point.name}
        label="Checkpoints, newest first"
        height={44}
        className="lines"
        row={(point) => <Row point={point} now={now} />}
      />
    </Page>
  );
}
