// A line of steps over time. What it says stands beside it in words.
import type { Point } from "../lib/burn";
import { clock } from "../lib/said";

// About as wide as it is drawn, so that its words are as large as those around it.
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [340, 150, 52, 22, 10];

/** Nothing, half and most; what would read the same stands there once. */
export function ticks(most: number, show: (value: number) => string): { value: number; text: string }[] {
  const all = [0, 0.5, 1].map((part) => ({ value: most * part, text: show(most * part) }));
  return all.filter((tick, n) => all.findIndex(({ text }) => text === tick.text) === n);
}

export function Chart({ points, label, show, end }: { points: Point[]; label: string; show: (value: number) => string; end: number }) {
  const first = points[0];
  if (!first) return <p className="empty">Nothing to draw yet.</p>;
  const from = first.at;
  const to = Math.max(end, from + 1000);
  const most = Math.max(1, ...points.map((point) => point.value));
  const x = (at: number) => LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - 8);
  const y = (value: number) => TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM);
  const path =
    points
      .map((point, n) =>
        n === 0 ? `M${x(point.at).toFixed(1)},${y(point.value).toFixed(1)}` : `H${x(point.at).toFixed(1)}V${y(point.value).toFixed(1)}`,
      )
      .join("") + `H${x(to).toFixed(1)}`;
  const last = points.at(-1) ?? first;
  const words = `${label}: from ${show(first.value)} to ${show(last.value)}, at most ${show(most)}`;
  return (
    <figure className="chart">
      <figcaption>
        {label} <span className="dim">now {show(last.value)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        {ticks(most, show).map(({ value, text }) => (
          <g key={text}>
            <line className="grid" x1={LEFT} x2={WIDTH - 8} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 4} textAnchor="end">
              {text}
            </text>
          </g>
        ))}
        <path className="area" d={`${path}V${y(0)}H${x(from)}Z`} />
        <path className="curve" d={path} />
        <text x={LEFT} y={HEIGHT - 4}>
          {clock(new Date(from).toISOString())}
        </text>
        <text x={WIDTH - 8} y={HEIGHT - 4} textAnchor="end">
          {clock(new Date(to).toISOString())}
        </text>
      </svg>
    </figure>
  );
}
