import { describe, expect, it } from "vitest";
import { backoff, FIRST, step, type Effect, type Frame, type Input, type LiveState } from "./machine";

function play(inputs: Input[], from: LiveState = FIRST): [LiveState, Effect[]] {
  let [state, last] = [from, [] as Effect[]];
  for (const input of inputs) [state, last] = step(state, input);
  return [state, last];
}

const frame = (frame: Frame): Input => ({ in: "frame", frame });
const hello = (seq: number): Input => frame({ type: "hello", ledger: "L", seq, coordinator: true, role: "operator" });
const record = (seq: number): Input => frame({ type: "record", seq, event: "x", record: {} });

describe("the live connection", () => {
  it("begins in the present and resumes behind the last record it heard", () => {
    expect(play([{ in: "opened" }])[1]).toEqual([{ do: "hello", from: null, ledger: null }]);
    const lost = play([{ in: "opened" }, hello(10), record(11), record(12), { in: "closed" }, { in: "again" }]);
    expect(lost[1]).toEqual([{ do: "connect" }]);
    expect(step(lost[0], { in: "opened" })[1]).toEqual([{ do: "hello", from: 13, ledger: "L" }]);
  });
  it("takes no record twice and none back", () => {
    const [state] = play([{ in: "opened" }, hello(10), record(12), record(11), record(12)]);
    expect(state.seq).toBe(12);
    expect(step(state, record(12))[1]).toEqual([]);
  });
  it("does not skip what a reconnect still has to bring", () => {
    const [state] = play([{ in: "opened" }, hello(10), { in: "closed" }, { in: "again" }, { in: "opened" }, hello(50)]);
    expect(state.seq).toBe(10);
  });
  it("backs off from one second to thirty, and forgets it when it is back", () => {
    expect([1, 2, 3, 5, 6, 20].map(backoff)).toEqual([1000, 2000, 4000, 16000, 30000, 30000]);
    const down: Input[] = [{ in: "closed" }, { in: "again" }];
    const [state] = play([...down, ...down, ...down]);
    expect(step(state, { in: "closed" })[1]).toEqual([{ do: "wait", ms: 8000 }]);
    expect(play([{ in: "opened" }, hello(1)], state)[0]).toMatchObject({ tries: 0, phase: "live" });
  });
  it("tries at once when asked to, but not while it stands", () => {
    expect(play([{ in: "closed" }, { in: "again" }])[1]).toEqual([{ do: "connect" }]);
    expect(play([{ in: "opened" }, hello(1), { in: "again" }])[1]).toEqual([]);
  });
  it("closed twice is lost once", () => {
    expect(play([{ in: "closed" }, { in: "closed" }])[1]).toEqual([]);
  });
  it("starts over with another ledger", () => {
    const [state, effects] = play([{ in: "opened" }, hello(10), frame({ type: "another_ledger", ledger: "M" })]);
    expect(effects).toEqual([{ do: "anew" }]);
    expect([state.seq, state.ledger]).toEqual([null, null]);
  });
  it("goes on where it was cut", () => {
    const [state] = play([{ in: "opened" }, hello(10), frame({ type: "cut", resume: 31 }), { in: "closed" }, { in: "again" }]);
    expect(step(state, { in: "opened" })[1]).toEqual([{ do: "hello", from: 31, ledger: "L" }]);
  });
  it("says when the coordinator goes and comes", () => {
    const [gone] = play([{ in: "opened" }, hello(1), frame({ type: "coordinator", up: false })]);
    expect(gone).toMatchObject({ phase: "live", coordinator: false });
    expect(step(gone, frame({ type: "coordinator", up: true }))[1]).toEqual([{ do: "refresh" }]);
  });
});
