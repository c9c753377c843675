import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { live, type Going, type LogLine } from "../live/live";
import { Log } from "./log";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const line = (n: number): LogLine => ({ n, ts: "2026-01-13T10:00:00.000Z", stream: "out", text: `line ${n}` });
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => line(from + n));

let [root, box] = [null as Root | null, document.body as HTMLElement];
let tell: (lines: LogLine[], going: Going) => void = () => {};
/** Lines that the journal has when it is opened. */
let there = 0;

beforeEach(() => {
  vi.stubGlobal("fetch", async (path: string) => {
    const from = Number(new URLSearchParams(path.split("?")[1]).get("from"));
    const to = Math.min(there, from + 1000);
    return new Response(JSON.stringify({ run: "r1", lines: lines(from + 1, to), cursor: to, end: to === there }));
  });
  vi.spyOn(live, "follow").mockImplementation((_run, _from, heard) => {
    tell = heard;
    return () => {};
  });
  box = document.createElement("div");
  document.body.append(box);
  root = createRoot(box);
});

afterEach(async () => {
  await act(async () => root?.unmount());
  box.remove();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function open(count: number, tall: boolean): Promise<void> {
  there = count;
  await act(async () => root?.render(<Log run="r1" label="the log" tall={tall} />));
  const limit = Date.now() + 5000;
  while (vi.mocked(live.follow).mock.calls.length === 0) {
    if (Date.now() > limit) throw new Error("it was never followed");
    await act(async () => new Promise((next) => setTimeout(next)));
  }
}

it("whoever reads above the end is told of new lines also where the window is full", async () => {
  await open(1000, false);
  const region = box.querySelector<HTMLElement>(".loglines");
  if (!region) throw new Error("no lines");
  Object.defineProperty(region, "scrollHeight", { value: 50_000 });
  region.scrollTop = 0;
  await act(async () => region.dispatchEvent(new Event("scroll")));
  const button = () => box.querySelector(".tofollow")?.textContent;
  expect(button()).toBe("↓ follow");
  await act(async () => tell(lines(1001, 1005), "on"));
  expect(button()).toBe("↓ 5 new");
  await act(async () => tell(lines(1006, 2010), "on"));
  expect(button()).toBe("↓ 1010 new");
});

it("a download of a part of the journal says so, and what cannot be followed is not over", async () => {
  await open(11_000, true);
  const names = () => [...box.querySelectorAll("button")].map((button) => button.textContent);
  expect(names()).toContain("Download these 10000 lines");
  await act(async () => tell([], "lost"));
  expect(box.textContent).toContain("nothing more can be read");
  await act(async () => tell([], "over"));
  expect(box.textContent).toContain(", over");
});
