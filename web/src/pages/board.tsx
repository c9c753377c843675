// Columns by the groups that the core names. A card is a link; nothing is dragged, since the core decides the stages.
import { useMemo } from "react";
import { useBoard } from "../api/queries";
import type { BoardRow, Group } from "../api/types";
import { useAddress } from "../lib/address";
import { fits } from "../lib/filter";
import { Awaited, Page, Sign, To, taskPath } from "../ui/parts";
import { Filter } from "../ui/filter";
import { Rows } from "../ui/rows";

const COLUMNS: { name: string; groups: Group[]; folded?: boolean }[] = [
  { name: "Needs you", groups: ["needs_you"] },
  { name: "Ready", groups: ["ready", "waits"] },
  { name: "Working", groups: ["works"] },
  { name: "Checking and review", groups: ["in_review"] },
  { name: "Merging", groups: ["merges"] },
  { name: "Done", groups: ["done", "aside"], folded: true },
];

function Card({ row }: { row: BoardRow }) {
  return (
    <To path={taskPath(row.id)} params={{ from: "board" }} className={`taskcard b-${row.group}`} data-task={row.id}>
      <span className="cardtop">
        <span className={`g-${row.group}`}>
          <Sign group={row.group} /> {row.word}
        </span>
        <span className="dim">{row.id}</span>
      </span>
      <span className="cardtitle">{row.title}</span>
      {row.detail || row.agent ? <span className="dim carddetail">{[row.agent, row.detail].filter(Boolean).join(" · ")}</span> : null}
      {row.conflicts_with?.length ? (
        <span className="warn">conflict foreseen with {row.conflicts_with.map((one) => one.with).join(", ")}</span>
      ) : null}
    </To>
  );
}

export function BoardPage() {
  const { data, error } = useBoard();
  const { get, set } = useAddress();
  const filter = get("q");
  const rows = useMemo(() => (data?.view.rows ?? []).filter((row) => fits(row, filter)), [data, filter]);
  const doneOpen = get("done") === "open";
  return (
    <Page title="Board" side={<Filter />}>
      {data ? null : <Awaited error={error} what="the board" />}
      <div className="board">
        {COLUMNS.map(({ name, groups, folded }) => {
          const own = groups.flatMap((group) => rows.filter((row) => row.group === group));
          const waits = own.filter((row) => row.group === "waits").length;
          const closed = folded === true && !doneOpen;
          return (
            <section key={name} className={`column${closed ? " folded" : own.length ? "" : " nobody"}`} aria-label={name}>
              <h2>
                {folded ? (
                  <button type="button" className="fold" aria-expanded={!closed} onClick={() => set({ done: closed ? "open" : null })}>
                    {closed ? "▸" : "▾"} {name} <span className="dim">{own.length}</span>
                  </button>
                ) : (
                  <>
                    {name}{" "}
                    <span className="dim">
                      {own.length - waits}
                      {waits ? ` · ${waits} waiting` : ""}
                    </span>
                  </>
                )}
              </h2>
              {closed ? null : <Rows items={own} id={(row) => row.id} label={name} height={86} row={(row) => <Card row={row} />} />}
            </section>
          );
        })}
      </div>
    </Page>
  );
}
