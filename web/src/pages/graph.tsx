// The plan as a graph. The list beside it holds the same, for keyboards and screen readers.
import { useEffect, useMemo, useRef, useState } from "react";
import type { BoardView } from "../api/types";
import { useAddress } from "../lib/address";
import { DRAWN_MAX, layout, neighbourhood, NODE_H, NODE_W, type Placed } from "../lib/layers";
import { Empty, Sign, To, taskPath } from "../ui/parts";

const HOPS = 2;

function bow(from: Placed, to: Placed): string {
  const [x1, y1, x2, y2] = [from.x + NODE_W, from.y + NODE_H / 2, to.x, to.y + NODE_H / 2];
  const bend = Math.max(24, Math.abs(x2 - x1) / 2);
  return `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
}

export function Graph({ board, centre }: { board: BoardView; centre: string }) {
  const { get, set } = useAddress();
  const [chosen, zoom] = useState<number | null>(null);
  const [room, setRoom] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const folded = useMemo(() => new Set(get("fold").split(",").filter(Boolean).map(Number)), [get]);
  const near = get("all") !== "yes" && board.rows.length > DRAWN_MAX;
  const drawn = useMemo(() => {
    const start = centre || board.rows.find((row) => row.group === "needs_you" || row.group === "works")?.id || board.rows[0]?.id || "";
    const within = near ? neighbourhood(board.rows, start, HOPS) : null;
    return board.rows.filter((row) => !within || within.has(row.id)).slice(0, 1000);
  }, [board.rows, near, centre]);
  const placed = useMemo(() => layout(drawn, folded), [drawn, folded]);
  const at = useMemo(() => new Map(placed.nodes.map((node) => [node.id, node])), [placed]);
  const rows = useMemo(() => new Map(drawn.map((row) => [row.id, row])), [drawn]);
  const conflicts = (board.status.conflicts ?? []).flatMap((one) => {
    const [a, b] = [at.get(one.task), at.get(one.with)];
    return a && b ? [{ key: `${one.task} ${one.with}`, d: `M${a.x + NODE_W / 2},${a.y + NODE_H / 2}L${b.x + NODE_W / 2},${b.y + NODE_H / 2}` }] : [];
  });
  // As large as fits, but never too small to read; whoever zooms decides.
  const scale = chosen ?? Math.max(0.7, Math.min(1, room > 0 ? room / placed.width : 1));
  useEffect(() => {
    const node = box.current;
    if (!node) return;
    const watch = new ResizeObserver(() => setRoom(node.clientWidth));
    watch.observe(node);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const node = at.get(centre);
    if (node && box.current) box.current.scrollTo({ left: node.x * scale - 200, top: node.y * scale - 120 });
  }, [centre, at, scale]);
  const fold = (phase: number) => {
    const next = new Set(folded);
    if (!next.delete(phase)) next.add(phase);
    set({ fold: [...next].join(",") });
  };
  if (drawn.length === 0) return <Empty>The plan is empty.</Empty>;
  return (
    <div className="graph">
      <div className="graphbar">
        <button type="button" className="button small" onClick={() => zoom(Math.max(0.4, scale - 0.2))} aria-label="Smaller">
          −
        </button>
        <button type="button" className="button small" onClick={() => zoom(Math.min(1.6, scale + 0.2))} aria-label="Larger">
          +
        </button>
        {board.rows.length > DRAWN_MAX ? (
          <button type="button" className="button small" aria-pressed={near} onClick={() => set({ all: near ? "yes" : null })}>
            {near ? `Two steps around ${centre || "the work"}: ${drawn.length} of ${board.rows.length}` : `All, the first ${drawn.length}`}
          </button>
        ) : null}
        {conflicts.length ? <span className="dim">dashed: conflict foreseen</span> : null}
      </div>
      <div className="graphbox" ref={box} tabIndex={0} role="region" aria-label="Graph of the plan">
        <div style={{ width: placed.width * scale, height: placed.height * scale }}>
          <div className="canvas" style={{ width: placed.width, height: placed.height, transform: `scale(${scale})` }}>
            <svg width={placed.width} height={placed.height} aria-hidden="true">
              {placed.edges.map(({ from, to }) => {
                const [a, b] = [at.get(from), at.get(to)];
                return a && b ? (
                  <path key={`${from} ${to}`} className={from === centre || to === centre ? "edge lit" : "edge"} d={bow(a, b)} />
                ) : null;
              })}
              {conflicts.map(({ key, d }) => (
                <path key={key} className="edge conflict" d={d} />
              ))}
            </svg>
            {placed.phases.map((phase) => (
              <button
                key={phase.id}
                type="button"
                className="phasehead"
                aria-expanded={!phase.folded}
                style={{ left: phase.x, width: phase.width }}
                onClick={() => fold(phase.id)}
              >
                {phase.folded ? "▸" : "▾"} {phase.id}{" "}
                {phase.folded ? `${phase.count} tasks` : board.status.phases.find((one) => one.id === phase.id)?.name}
              </button>
            ))}
            {placed.nodes.map((node) => {
              const row = rows.get(node.id);
              if (!row) return null;
              return (
                <To
                  key={node.id}
                  path={taskPath(node.id)}
                  className={`node b-${row.group}${node.id === centre ? " here" : ""}`}
                  data-task={node.id}
                  style={{ left: node.x, top: node.y }}
                  title={`${row.title} · ${row.word} ${row.detail}`}
                >
                  <span className={`g-${row.group}`}>
                    <Sign group={row.group} /> {row.id} {row.word}
                  </span>
                  <span className="nodetitle">{row.title}</span>
                </To>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}
