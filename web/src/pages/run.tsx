// One run with permalinks: `#n1234` is a line.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { errorOf } from "../api/client";
import { promptOf, useBoard } from "../api/queries";
import { useAddress } from "../lib/address";
import type { Mark } from "../lib/journal";
import { isRun, ownerOf, type Owner } from "../lib/runs";
import { useLive } from "../live/live";
import { Empty, Page, TaskLink, To } from "../ui/parts";
import { Log } from "../ui/log";

const lineIn = (hash: string): number | null => {
  const found = /^#n(\d{1,12})$/.exec(hash);
  return found ? Number(found[1]) : null;
};

/** Who ran it: the board while it runs, the ledger afterwards. None: there is no such run; undefined: it is looked for. */
function useOwner(run: string): { owner: (Owner & { title?: string }) | null | undefined; runs: boolean } {
  const board = useBoard().data?.view;
  const seq = useLive().seq;
  const agent = board?.agents.find((one) => one.run === run);
  const { data } = useQuery({
    queryKey: ["run", run],
    queryFn: () => ownerOf(run, seq ?? 0),
    enabled: isRun(run) && board !== undefined && !agent && (seq ?? 0) > 0,
    // A run that is not there yet may begin; one that was will always have been.
    staleTime: (query) => (query.state.data ? Infinity : 0),
  });
  if (agent) return { owner: { task: agent.task, agent: agent.agent, title: agent.title }, runs: true };
  if (!isRun(run)) return { owner: null, runs: false };
  const title = board?.rows.find((row) => row.id === data?.task)?.title;
  return { owner: data ? { ...data, ...(title ? { title } : {}) } : data, runs: false };
}

function Whose({ owner, runs }: { owner: Owner & { title?: string }; runs: boolean }) {
  return (
    <span>
      {owner.agent ? `${owner.agent} · ` : ""}
      {owner.task ? <TaskLink id={owner.task} title={owner.title ?? ""} /> : null}
      {runs ? null : <span className="dim">{owner.agent || owner.task ? " · " : ""}over</span>}
    </span>
  );
}

/** What the agent was told at the beginning of an iteration. */
function Prompt({ run, iteration }: { run: string; iteration: number }) {
  const { data, error } = useQuery({ queryKey: ["prompt", run, iteration], queryFn: () => promptOf(run, iteration), retry: false });
  return (
    <details className="prompt card" open>
      <summary>Prompt of iteration {iteration}</summary>
      {data ? (
        <pre tabIndex={0} role="region" aria-label={`Prompt of iteration ${iteration}`}>
          {data.text}
        </pre>
      ) : (
        <p className="empty" aria-busy={!error}>
          {error ? `${errorOf(error).message}. ${errorOf(error).hint}` : "Reading it …"}
        </p>
      )}
      {data?.cut ? <p className="warn">It was longer than what is kept of it.</p> : null}
    </details>
  );
}

export default function RunPage({ run }: { run: string }) {
  const { owner, runs } = useOwner(run);
  const [line, setLine] = useState(() => lineIn(window.location.hash));
  useEffect(() => {
    const moved = () => setLine(lineIn(window.location.hash));
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  const { get } = useAddress();
  const iteration = /^[1-9]\d{0,5}$/.test(get("iteration")) ? Number(get("iteration")) : null;
  const mark = useMemo<Mark | null>(() => (line !== null ? { line } : iteration !== null ? { iteration } : null), [line, iteration]);
  if (owner === null)
    return (
      <Page title={`Run ${run}`}>
        <Empty>
          There is no such run. Those at work are listed under <To path="/agents">Agents</To>, those of a task on its Log tab.
        </Empty>
      </Page>
    );
  return (
    <Page title={`Run ${run}`} side={owner ? <Whose owner={owner} runs={runs} /> : null}>
      {iteration !== null ? <Prompt key={iteration} run={run} iteration={iteration} /> : null}
      <Log key={JSON.stringify(mark)} run={run} label={`Log of run ${run}`} tall mark={mark} permalinks />
    </Page>
  );
}
