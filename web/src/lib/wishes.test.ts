import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { askAgain, wishes, type Wish } from "./wishes";

let asked: string[] = [];
let answer: () => unknown = () => null;

const states = () => wishes.get().map(({ state }) => state);
const lost = (id: string): Wish => ({ id, command: { do: "reset_plan" }, state: "lost" });

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  wishes.set([lost("a"), lost("b")]);
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    const body = JSON.stringify(answer());
    return { ok: true, status: 200, text: async () => body };
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("however many answers were lost, there is one look for all of them", async () => {
  answer = () => {
    throw new Error("nobody there");
  };
  await askAgain();
  for (const times of [4, 6, 8]) {
    await vi.advanceTimersByTimeAsync(2000);
    expect(asked).toHaveLength(times);
  }
  answer = () => ({ state: "landed", answer: { id: "x", seq: 2, text: "Done" } });
  await vi.advanceTimersByTimeAsync(2000);
  expect(states()).toEqual(["landed", "landed"]);
});

it("what is still on its way is asked for until it has landed", async () => {
  answer = () => ({ state: "queued" });
  await askAgain();
  expect(states()).toEqual(["lost", "lost"]);
  answer = () => ({ state: "landed", answer: { id: "x", seq: 2, text: "Done" } });
  await vi.advanceTimersByTimeAsync(2000);
  expect(states()).toEqual(["landed", "landed"]);
});
