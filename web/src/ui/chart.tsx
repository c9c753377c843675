// A line of steps over time. What it says stands beside it in words.
import type { Point } from "../lib/burn";
import { clock } from "../lib/said";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [600, 180, 44, 22, 10];

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
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line className="grid" x1={LEFT} x2={WIDTH - 8} y1={y(most * part)} y2={y(most * part)} />
            <text x={LEFT - 6} y={y(most * part) + 4} textAnchor="end">
              {show(most * part)}
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
