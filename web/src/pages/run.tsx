// One run with permalinks: `#n1234` is a line.
import { useEffect, useState } from "react";
import { useBoard } from "../api/queries";
import { Page, TaskLink } from "../ui/parts";
import { Log } from "../ui/log";

const lineIn = (hash: string): number | null => {
  const found = /^#n(\d{1,12})$/.exec(hash);
  return found ? Number(found[1]) : null;
};

export default function RunPage({ run }: { run: string }) {
  const agent = useBoard().data?.view.agents.find((one) => one.run === run);
  const [line, setLine] = useState(() => lineIn(window.location.hash));
  useEffect(() => {
    const moved = () => setLine(lineIn(window.location.hash));
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  return (
    <Page
      title={`Run ${run}`}
      side={
        agent ? (
          <span>
            {agent.agent} · <TaskLink id={agent.task} title={agent.title} />
          </span>
        ) : (
          <span className="dim">over</span>
        )
      }
    >
      <Log run={run} label={`Log of run ${run}`} tall at={line} permalinks />
    </Page>
  );
}
