import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LedgerRecord } from "./events";
import { useTaskRecords, type TaskRecords } from "./records";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let [root, shown] = [null as Root | null, null as TaskRecords | null];
/** Records that a page has at most, however many are asked for. */
let most = 1000;
let broken = false;

const record = (seq: number): LedgerRecord => ({ seq, ts: "2026-01-13T10:00:00Z", type: "iteration", by: "swarm", taskId: "1.1" });

function Shows({ end }: { end: number | null }) {
  shown = useTaskRecords("1.1", end);
  return null;
}

const show = (end: number | null) => act(async () => root?.render(<Shows end={end} />));

async function until(holds: () => boolean): Promise<void> {
  const limit = Date.now() + 5000;
  while (!holds()) {
    if (Date.now() > limit) throw new Error(`it never came: ${JSON.stringify({ ...shown, records: shown?.records.length })}`);
    await act(async () => new Promise((next) => setTimeout(next)));
  }
}

const seqs = () => shown?.records.map(({ seq }) => seq) ?? [];
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n);

beforeEach(() => {
  [shown, most, broken] = [null, 1000, false];
  vi.stubGlobal("fetch", async (path: string) => {
    if (broken) throw new Error("gone");
    const ask = new URLSearchParams(path.split("?")[1]);
    const from = Number(ask.get("from"));
    const size = Math.min(most, Number(ask.get("limit")));
    const records = Array.from({ length: size }, (_, n) => record(from + n));
    return new Response(JSON.stringify({ seq: 5000, records, next: from + size }));
  });
  root = createRoot(document.createElement("div"));
});

afterEach(async () => {
  await act(async () => root?.unmount());
  vi.unstubAllGlobals();
});

it("a page that is shorter than was asked for is no end", async () => {
  most = 30;
  await show(100);
  await until(() => shown?.reading === false);
  expect(seqs()).toEqual(down(100, 1));
});

it("the past has no record of what came after it, and the present has it again", async () => {
  await show(3000);
  await until(() => shown?.reading === false);
  expect(seqs()[0]).toBe(3000);
  await show(50);
  await until(() => shown?.reading === false && seqs().length === 50);
  expect(seqs()).toEqual(down(50, 1));
  await show(60);
  await until(() => seqs().length === 60);
  expect(seqs()).toEqual(down(60, 1));
});

it("what is still being read, or could not be, is not told as nothing", async () => {
  await show(null);
  expect(shown?.reading).toBe(true);
  broken = true;
  await show(10);
  await until(() => shown?.error !== null);
  broken = false;
  await show(11);
  await until(() => shown?.error === null && seqs().length === 11);
});
