// Columns by the groups that the core names. A card is a link; nothing is dragged, since the core decides the stages.
import { useMemo } from "react";
import { useBoard } from "../api/queries";
import type { AttentionEntry, BoardRow } from "../api/types";
import { useAddress } from "../lib/address";
import { cardsOf, COLUMNS, withoutCard } from "../lib/columns";
import { fits } from "../lib/filter";
import { Awaited, Page, Sign, To, taskPath } from "../ui/parts";
import { Filter } from "../ui/filter";
import { Rows } from "../ui/rows";

function Card({ row }: { row: BoardRow }) {
  return (
    <To path={taskPath(row.id)} params={{ from: "board" }} className={`taskcard b-${row.group}`} data-task={row.id}>
      <span className="cardtop">
        <span className={`g-${row.group}`}>
          <Sign group={row.group} /> {row.word}
        </span>
        <span className="dim">{row.id}</span>
      </span>
      <span className="cardtitle" title={row.title}>
        {row.title}
      </span>
      {row.detail || row.agent ? <span className="dim carddetail">{[row.agent, row.detail].filter(Boolean).join(" · ")}</span> : null}
      {row.conflicts_with?.length ? (
        <span className="warn">conflict foreseen with {row.conflicts_with.map((one) => one.with).join(", ")}</span>
      ) : null}
    </To>
  );
}

/** Something that waits for a person and is no task's. */
function Waiting({ entry }: { entry: AttentionEntry }) {
  return (
    <To path="/attention" params={{ entry: entry.id }} className="taskcard b-needs_you">
      <span className="cardtop">
        <span className="g-needs_you">
          <Sign group="needs_you" /> {entry.kind === "start" ? "start" : entry.kind === "other" ? "look" : entry.kind}
        </span>
      </span>
      <span className="cardtitle">{entry.what}</span>
      {entry.why ? <span className="dim carddetail">{entry.why}</span> : null}
    </To>
  );
}

export function BoardPage() {
  const { data, error } = useBoard();
  const { get, set } = useAddress();
  const filter = get("q");
  const rows = useMemo(() => (data?.view.rows ?? []).filter((row) => fits(row, filter)), [data, filter]);
  const others = useMemo(() => (data && !filter ? withoutCard(data.view.attention, data.view.rows) : []), [data, filter]);
  const doneOpen = get("done") === "open";
  return (
    <Page title="Board" side={<Filter />}>
      {data ? null : <Awaited error={error} what="the board" />}
      <div className="board">
        {COLUMNS.map((column) => {
          const { name, folded } = column;
          const own = cardsOf(column, rows);
          const more = name === "Needs you" ? others : [];
          const waits = own.filter((row) => row.group === "waits").length;
          const closed = folded === true && !doneOpen;
          return (
            <section key={name} className={`column${closed ? " folded" : own.length + more.length ? "" : " nobody"}`} aria-label={name}>
              <h2>
                {folded ? (
                  <button type="button" className="fold" aria-expanded={!closed} onClick={() => set({ done: closed ? "open" : null })}>
                    {closed ? "▸" : "▾"} {name} <span className="dim">{own.length}</span>
                  </button>
                ) : (
                  <>
                    {name}{" "}
                    <span className="dim">
                      {own.length + more.length - waits}
                      {waits ? ` · ${waits} waiting` : ""}
                    </span>
                  </>
                )}
              </h2>
              {more.length ? (
                <ul className="rows others" aria-label="Waits for you beside tasks">
                  {more.map((entry) => (
                    <li key={entry.id}>
                      <Waiting entry={entry} />
                    </li>
                  ))}
                </ul>
              ) : null}
              {closed ? null : <Rows items={own} id={(row) => row.id} label={name} height={86} row={(row) => <Card row={row} />} />}
            </section>
          );
        })}
      </div>
    </Page>
  );
}
