// Where the tasks of a graph stand: phases are columns, and within a phase what depends on something stands to the right of it.

export interface Node {
  id: string;
  phase: number;
  depends: string[];
}

export interface Placed {
  id: string;
  x: number;
  y: number;
}

export interface Edge {
  from: string;
  to: string;
}

export interface PhaseBox {
  id: number;
  x: number;
  width: number;
  count: number;
  folded: boolean;
}

export interface Layout {
  nodes: Placed[];
  edges: Edge[];
  phases: PhaseBox[];
  width: number;
  height: number;
}

export const [NODE_W, NODE_H, GAP_X, GAP_Y, HEAD] = [168, 46, 44, 14, 34];
export const FOLDED_W = 96;

/** So many tasks are drawn at once; above it one begins at the neighbourhood of the selection. */
export const DRAWN_MAX = 150;

/** Those within so many steps of a task, in both directions. */
export function neighbourhood(nodes: Node[], centre: string, hops: number): Set<string> {
  const beside = new Map<string, Set<string>>();
  const join = (a: string, b: string) => (beside.get(a) ?? beside.set(a, new Set()).get(a))?.add(b);
  for (const node of nodes) {
    for (const other of node.depends) {
      join(node.id, other);
      join(other, node.id);
    }
  }
  let edge = new Set([centre]);
  const found = new Set([centre]);
  for (let hop = 0; hop < hops; hop++) {
    const next = new Set<string>();
    edge.forEach((id) => beside.get(id)?.forEach((other) => !found.has(other) && next.add(other)));
    next.forEach((id) => found.add(id));
    edge = next;
  }
  return found;
}

/** Longest way to each task within its phase; a cycle ends where it would begin again. */
function depths(nodes: Node[]): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const depth = new Map<string, number>();
  const open = new Set<string>();
  const visit = (id: string): number => {
    const known = depth.get(id);
    if (known !== undefined || open.has(id)) return known ?? 0;
    open.add(id);
    const node = byId.get(id);
    const own = (node?.depends ?? []).filter((other) => byId.get(other)?.phase === node?.phase);
    const value = own.length ? Math.max(...own.map(visit)) + 1 : 0;
    open.delete(id);
    depth.set(id, value);
    return value;
  };
  nodes.forEach((node) => visit(node.id));
  return depth;
}

/** Tasks of a column in the order of what they depend on, so that lines cross less. */
function ordered(column: Node[], row: Map<string, number>): Node[] {
  const weight = (node: Node) => {
    const known = node.depends.flatMap((id) => row.get(id) ?? []);
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : Number.MAX_SAFE_INTEGER;
  };
  return column
    .map((node, n) => ({ node, n, weight: weight(node) }))
    .sort((a, b) => a.weight - b.weight || a.n - b.n)
    .map(({ node }) => node);
}

export function layout(nodes: Node[], folded: Set<number>): Layout {
  const depth = depths(nodes);
  const placed: Placed[] = [];
  const phases: PhaseBox[] = [];
  const row = new Map<string, number>();
  let [x, tallest] = [16, 0];
  for (const phase of [...new Set(nodes.map((node) => node.phase))].sort((a, b) => a - b)) {
    const own = nodes.filter((node) => node.phase === phase);
    if (folded.has(phase)) {
      phases.push({ id: phase, x, width: FOLDED_W, count: own.length, folded: true });
      x += FOLDED_W + GAP_X;
      continue;
    }
    const start = x;
    const deepest = Math.max(...own.map((node) => depth.get(node.id) ?? 0));
    for (let d = 0; d <= deepest; d++) {
      ordered(
        own.filter((node) => depth.get(node.id) === d),
        row,
      ).forEach((node, n) => {
        row.set(node.id, n);
        placed.push({ id: node.id, x, y: HEAD + n * (NODE_H + GAP_Y) });
        tallest = Math.max(tallest, n + 1);
      });
      x += NODE_W + GAP_X;
    }
    phases.push({ id: phase, x: start, width: x - GAP_X - start, count: own.length, folded: false });
  }
  const there = new Set(placed.map(({ id }) => id));
  const edges = nodes.flatMap((node) =>
    there.has(node.id) ? node.depends.filter((id) => there.has(id)).map((from) => ({ from, to: node.id })) : [],
  );
  return { nodes: placed, edges, phases, width: x, height: HEAD + Math.max(1, tallest) * (NODE_H + GAP_Y) + 16 };
}

/** The path of a cycle, `1.1 → 1.2 → 1.1`; none: there is none. */
export function cycle(nodes: Pick<Node, "id" | "depends">[]): string[] | null {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (id: string): string[] | null => {
    if (done.has(id) || !byId.has(id)) return null;
    if (way.includes(id)) return [...way.slice(way.indexOf(id)), id];
    way.push(id);
    for (const other of byId.get(id)?.depends ?? []) {
      const found = visit(other);
      if (found) return found;
    }
    way.pop();
    done.add(id);
    return null;
  };
  for (const node of nodes) {
    const found = visit(node.id);
    if (found) return found;
  }
  return null;
}
