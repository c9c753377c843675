// What a fresh agent or person needs to go on: goal, phase, what is open, what waits, what will conflict, what was decided.
import { useHandoff } from "../api/queries";
import type { HandoffView, TaskRow } from "../api/types";
import { clock, count, day } from "../lib/said";
import { Commands } from "../ui/commands";
import { Awaited, Empty, Page, TaskLink, To } from "../ui/parts";

function Tasks({ rows }: { rows: TaskRow[] }) {
  return (
    <ul className="plainlist">
      {rows.map((row) => (
        <li key={row.id}>
          <TaskLink id={row.id} title={row.title} />{" "}
          <span className="dim">
            {row.stage}
            {row.agent ? `, ${row.agent}` : ""}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Conflicts({ view }: { view: HandoffView }) {
  return (
    <ul className="plainlist">
      {view.conflicts?.map(({ task, with: other, files }) => (
        <li key={`${task} ${other}`}>
          <TaskLink id={task} /> with {view.open.some(({ id }) => id === other) ? <TaskLink id={other} /> : other}
          {files.length ? (
            <>
              {" in "}
              <code>{files.join(" ")}</code>
            </>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

/** A part is there where there is something to say. */
function Part({ title, there, children }: { title: string; there: boolean; children: React.ReactNode }) {
  if (!there) return null;
  return (
    <section className="card after" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Handoff({ view }: { view: HandoffView }) {
  const { phase, execution_profile: profile, approved, more = [], conflicts = [] } = view;
  return (
    <>
      <section className="card" aria-label="Goal">
        <p className="handoffgoal">{view.goal}</p>
        <dl className="facts">
          <div>
            <dt>Phase</dt>
            <dd>{phase ? `${phase.id} ${phase.name}, ${phase.done} of ${phase.total} done` : "all are complete"}</dd>
          </div>
          <div>
            <dt>Tasks at once</dt>
            <dd>{profile.parallelization_enabled === false ? 1 : (profile.max_concurrent_tasks ?? "as many as fit")}</dd>
          </div>
          <div>
            <dt>Plan</dt>
            <dd>
              {approved.approved ? (approved.drifted ? "approved, and changed since" : "approved as it is") : "not approved"}{" "}
              <To path="/plan">look at it</To>
            </dd>
          </div>
        </dl>
      </section>
      <Part title="Needs a person" there={view.attention.length > 0}>
        <ul className="plainlist">
          {view.attention.map(({ what, why, since }) => (
            <li key={`${what} ${since}`}>
              <strong>{what}</strong> <span className="dim">{why}</span>
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Open tasks" there={view.open.length > 0}>
        <Tasks rows={view.open} />
      </Part>
      <Part title="Waits for a review" there={view.pending_reviews.length > 0}>
        <Tasks rows={view.pending_reviews} />
      </Part>
      <Part title="Conflicts ahead" there={conflicts.length > 0}>
        <Conflicts view={view} />
      </Part>
      <Part title="Decisions" there={view.decisions.length > 0}>
        <ol className="decisions">
          {view.decisions.map(({ at, event, details }, n) => (
            <li key={n}>
              <time dateTime={at}>
                {day(at)} {clock(at)}
              </time>
              <span>
                <strong>{event}</strong> {details}
              </span>
            </li>
          ))}
        </ol>
      </Part>
      <Part title="Not shown" there={more.length > 0}>
        <ul className="plainlist">
          {more.map(({ what, count: n, command }) => (
            <li key={what}>
              {count(n, what.replace(/s$/, ""))}: <code>{command}</code>
            </li>
          ))}
        </ul>
      </Part>
      {view.open.length + view.pending_reviews.length + view.attention.length === 0 ? <Empty>Nothing is left to do.</Empty> : null}
      <Commands lines={[`swarm handoff --at ${view.seq}`]} />
    </>
  );
}

export default function HandoffPage() {
  const { data, error } = useHandoff();
  return (
    <Page title="Handoff" side={<span className="dim">what a fresh agent or person needs to go on</span>}>
      {data ? <Handoff view={data.view} /> : <Awaited error={error} what="the handoff" />}
    </Page>
  );
}
