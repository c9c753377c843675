// Everything about one task, in facts.
import type { ReactNode } from "react";
import { useBoard } from "../api/queries";
import type { BoardRow, TaskView } from "../api/types";
import { count, short, spent, tokens } from "../lib/said";
import { TaskLink, VerbButton } from "../ui/parts";

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const list = (ids: string[]) =>
  ids.map((id, n) => (
    <span key={id}>
      {n ? ", " : ""}
      <TaskLink id={id} />
    </span>
  ));

/** Every verb; those that would be refused are dim and say why. */
export function Verbs({ task }: { task: string }) {
  return (
    <div className="verbs" role="group" aria-label={`What can be done with ${task}`}>
      <VerbButton verb="start" task={task} hideRefused tone="good">
        Start
      </VerbButton>
      <VerbButton verb="unblock" task={task} hideRefused tone="good">
        Unblock
      </VerbButton>
      <VerbButton verb="message" task={task}>
        Tell …
      </VerbButton>
      <VerbButton verb="edit" task={task}>
        Edit …
      </VerbButton>
      <VerbButton verb="stop" task={task}>
        Stop …
      </VerbButton>
      <VerbButton verb="redirect" task={task}>
        Redirect …
      </VerbButton>
      <VerbButton verb="kill" task={task}>
        Kill …
      </VerbButton>
      <VerbButton verb="block" task={task}>
        Block …
      </VerbButton>
      <VerbButton verb="defer" task={task}>
        Defer
      </VerbButton>
      <VerbButton verb="cancel" task={task}>
        Cancel task
      </VerbButton>
      <VerbButton verb="rollback_task" task={task} tone="bad">
        Roll back …
      </VerbButton>
    </div>
  );
}

export function Summary({ view, row }: { view: TaskView; row: BoardRow | undefined }) {
  const { usage } = view;
  const board = useBoard().data?.view;
  return (
    <div className="summary">
      <dl className="facts">
        <Fact name="Stage">{view.stage}</Fact>
        {view.why ? <Fact name="Why">{view.why}</Fact> : null}
        {view.failure ? (
          <Fact name="Last failure">
            {view.failure.text} {view.failure.hint ? <code>{view.failure.hint}</code> : null}
          </Fact>
        ) : null}
        <Fact name="Phase">{view.phase}</Fact>
        <Fact name="Branch">
          <code>{view.branch}</code>
        </Fact>
        {row?.commit ? (
          <Fact name="On trunk">
            <code>{short(row.commit)}</code>
          </Fact>
        ) : null}
        {view.agent ? <Fact name="Agent">{view.agent}</Fact> : null}
        <Fact name="Attempts">
          {view.attempts}
          {view.retries ? `, ${count(view.retries, "retry").replace("retrys", "retries")}` : ""}
          {view.review_rounds ? `, ${count(view.review_rounds, "review round")}` : ""}
        </Fact>
        <Fact name="Reviewed by">{view.reviewer ?? "none"}</Fact>
        <Fact name="Cost">
          {spent(usage)}, {tokens((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))} tokens
        </Fact>
        {view.depends.length ? <Fact name="Depends on">{list(view.depends)}</Fact> : null}
        {view.unblocks.length ? <Fact name="Unblocks">{list(view.unblocks)}</Fact> : null}
        {view.parent ? (
          <Fact name="Part of">
            <TaskLink id={view.parent} />
          </Fact>
        ) : null}
        {view.parts?.length ? <Fact name="Parts">{list(view.parts)}</Fact> : null}
        {view.tags.length ? <Fact name="Tags">{view.tags.join(", ")}</Fact> : null}
        {view.files.length ? <Fact name="Files">{view.files.join(", ")}</Fact> : null}
        <Fact name="Priority">
          {view.priority}
          {view.size ? `, size ${view.size}` : ""}
        </Fact>
        {view.conflicts_with?.map((one) => (
          <Fact key={one.with} name="Conflict foreseen">
            with {board?.rows.some(({ id }) => id === one.with) ? <TaskLink id={one.with} /> : one.with} in {one.files.join(", ")}
          </Fact>
        ))}
        {view.waived.length ? <Fact name="Waived">{view.waived.join(", ")}</Fact> : null}
      </dl>
      {view.acceptance.length ? (
        <section>
          <h2>Accepted when</h2>
          <ul>
            {view.acceptance.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      ) : null}
      {view.description ? (
        <section>
          <h2>Description</h2>
          <pre className="prose" tabIndex={0}>
            {view.description}
          </pre>
        </section>
      ) : null}
    </div>
  );
}
