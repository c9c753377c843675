// The plan as a list and a graph, and whether it is what somebody agreed to.
import { useMemo } from "react";
import { useApproved, useBoard, usePlan } from "../api/queries";
import type { BoardRow, BoardView, PhaseView, PlanFile } from "../api/types";
import { askFor } from "../lib/actions";
import { useAddress } from "../lib/address";
import { selected } from "../lib/dialogs";
import { drift } from "../lib/drift";
import { fits } from "../lib/filter";
import { count, short } from "../lib/said";
import { Act, Awaited, Empty, Page, TaskLink, To, Word, taskPath } from "../ui/parts";
import { Filter } from "../ui/filter";
import { Rows } from "../ui/rows";
import { Graph } from "./graph";

type Line = { phase: PhaseView; row: null } | { phase: null; row: BoardRow };

function lines(board: BoardView, filter: string, folded: Set<number>): Line[] {
  const rows = board.rows.filter((row) => fits(row, filter));
  return board.status.phases.flatMap((phase): Line[] => {
    const own = rows.filter((row) => row.phase === phase.id);
    if (own.length === 0 && filter) return [];
    return [{ phase, row: null }, ...(folded.has(phase.id) ? [] : own.map((row) => ({ phase: null, row })))];
  });
}

function Approval({ board }: { board: BoardView }) {
  const { approved } = board.status;
  const agreed = useApproved().data?.view;
  const plan = usePlan().data?.view;
  const changes = useMemo(
    () => (approved.drifted && agreed?.plan && plan ? drift(agreed.plan as PlanFile, plan) : []),
    [approved.drifted, agreed, plan],
  );
  const approve = () => askFor({ title: "", button: "", command: { do: "approve_plan" } });
  return (
    <section className="approval" aria-label="Approval">
      <p>
        {approved.approved ? (
          approved.drifted ? (
            <span className="warn">The plan has changed since it was approved</span>
          ) : (
            "Approved as it is"
          )
        ) : (
          "Nobody has approved this plan"
        )}{" "}
        <code title={approved.structure_hash}>{short(approved.structure_hash)}</code>{" "}
        {approved.approved && !approved.drifted ? null : (
          <Act small onAct={approve} tone="good">
            Approve plan {short(approved.structure_hash)}
          </Act>
        )}
      </p>
      {changes.length ? (
        <ul className="plainlist">
          {changes.slice(0, 50).map((change) => (
            <li key={change.id}>
              <TaskLink id={change.id} /> {change.what}
              {change.members.length ? `: ${change.members.join(", ")}` : ""}
            </li>
          ))}
          {changes.length > 50 ? <li className="dim">and {changes.length - 50} more</li> : null}
        </ul>
      ) : null}
    </section>
  );
}

function PhaseRow({ phase, closed, toggle }: { phase: PhaseView; closed: boolean; toggle: () => void }) {
  return (
    <div className="line phase">
      <button type="button" className="fold" aria-expanded={!closed} onClick={toggle}>
        {closed ? "▸" : "▾"} {phase.id} {phase.name}
      </button>
      <progress value={phase.done} max={Math.max(1, phase.total)} aria-label={`Phase ${phase.id}`} />
      <span className="dim">
        {phase.done}/{phase.total}
        {phase.complete ? " complete" : ""}
      </span>
    </div>
  );
}

function TaskRow({ row, q }: { row: BoardRow; q: string }) {
  return (
    <To path={taskPath(row.id)} params={{ q, from: "plan" }} className="line task" data-task={row.id}>
      <span className="id">{row.id}</span>
      <span className="title" title={row.title}>
        <span>{row.title}</span>
      </span>
      <span className="state">
        <Word group={row.group} word={row.word} detail={[row.agent, row.detail].filter(Boolean).join(" ")} />
      </span>
    </To>
  );
}

export default function PlanPage() {
  const { data, error } = useBoard();
  const { get, set } = useAddress();
  const chosen = selected.use();
  const filter = get("q");
  const folded = useMemo(() => new Set(get("fold").split(",").filter(Boolean).map(Number)), [get]);
  const board = data?.view;
  const list = useMemo(() => (board ? lines(board, filter, folded) : []), [board, filter, folded]);
  const view = get("view") || "both";
  const toggle = (phase: number) => {
    const next = new Set(folded);
    if (!next.delete(phase)) next.add(phase);
    set({ fold: [...next].join(",") });
  };
  if (!board)
    return (
      <Page title="Plan">
        <Awaited error={error} what="the plan" />
      </Page>
    );
  return (
    <Page title="Plan" side={<Filter />}>
      <p className="goal">{board.status.goal}</p>
      <div className="verbs">
        <To path="/plan/edit" className="button plain">
          Edit the plan
        </To>
        <span className="switch" role="group" aria-label="How the plan is shown">
          {["list", "both", "graph"].map((name) => (
            <button
              key={name}
              type="button"
              className="button small"
              aria-pressed={view === name}
              onClick={() => set({ view: name === "both" ? null : name })}
            >
              {name === "both" ? "List and graph" : name === "list" ? "List" : "Graph"}
            </button>
          ))}
        </span>
        <span className="dim">{count(board.rows.length, "task")}</span>
      </div>
      <Approval board={board} />
      <div className={`planviews ${view}`}>
        {view === "graph" ? null : (
          <div>
            <Rows
              items={list}
              id={(line) => (line.phase ? `phase ${line.phase.id}` : line.row.id)}
              label="Tasks by phase"
              height={38}
              className="lines plan"
              row={(line) =>
                line.phase ? (
                  <PhaseRow phase={line.phase} closed={folded.has(line.phase.id)} toggle={() => toggle(line.phase.id)} />
                ) : (
                  <TaskRow row={line.row} q={filter} />
                )
              }
            />
            {list.length === 0 ? <Empty>No task fits.</Empty> : null}
          </div>
        )}
        {view === "list" ? null : <Graph board={board} centre={chosen ?? ""} />}
      </div>
    </Page>
  );
}
