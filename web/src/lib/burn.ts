// Open tasks, money and agents over time, and what it was spent on: as the coordinator adds them up, made ready to be drawn.
import type { CostRow, MomentView } from "../api/types";

export interface Point {
  at: number;
  value: number;
}

export const points = (moments: MomentView[], value: (moment: MomentView) => number): Point[] =>
  moments.map((moment) => ({ at: Date.parse(moment.at), value: value(moment) }));

export const tokensOf = (row: CostRow): number => (row.inputTokens ?? 0) + (row.outputTokens ?? 0);

/** Those that anything was spent on, the dearest first. */
export function dearest(rows: CostRow[]): CostRow[] {
  const micros = (row: CostRow) => row.costMicros ?? 0;
  return rows.filter((row) => micros(row) || tokensOf(row)).sort((a, b) => micros(b) - micros(a) || tokensOf(b) - tokensOf(a));
}
