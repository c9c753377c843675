import { describe, expect, it } from "vitest";
import type { DiffView, ReviewView } from "../api/types";
import { diffOf, holding, NOTHING_HELD, overtaken, settled, taken } from "./held";

const round = (n: number, more: Partial<ReviewView> = {}): ReviewView =>
  ({ task: "2.1", round: n, submitted: `tip${n}`, tree: `tree${n}00000`, reviewer: "human", stage: "review", ...more }) as ReviewView;

const diff = (to: string): DiffView => ({ task: "2.1", from: "base", to, patch: "" });

describe("a reviewer's page", () => {
  const opened = holding(NOTHING_HELD, round(1));
  it("takes up what waits", () => {
    expect(opened.review?.round).toBe(1);
    expect(overtaken(round(1), round(1))).toBeNull();
  });
  it("stays with the round that was opened when another arrives, and says so", () => {
    const between = holding(opened, undefined);
    const after = holding(between, round(2));
    expect([between.review?.round, after.review?.round]).toEqual([1, 1]);
    expect(overtaken(round(1), undefined)?.message).toContain("does not wait");
    expect(overtaken(round(1), round(2))?.message).toBe("A newer submission has arrived: round 2, tree tree200");
    expect(taken(after, round(2)).review?.round).toBe(2);
  });
  it("knows the same commit of another round from the one before", () => {
    const again = round(2, { submitted: "tip1" });
    expect(holding(opened, again).review?.round).toBe(1);
    expect(overtaken(round(1), again)).not.toBeNull();
  });
  it("takes in what is new about the same submission", () => {
    const spoken = round(1, { stage: "review, one has spoken" });
    expect(holding(opened, spoken).review).toBe(spoken);
  });
  it("goes on after its own verdict, and takes up the next round", () => {
    const done = settled(round(1));
    const waiting = holding(done, round(1));
    expect(waiting.review).toBeNull();
    expect(holding(waiting, undefined).review).toBeNull();
    expect(holding(holding(waiting, undefined), round(2)).review?.round).toBe(2);
    // The verdict was undone: the same submission waits once more.
    expect(holding(holding(waiting, undefined), round(1)).review?.round).toBe(1);
  });
  it("follows what others review", () => {
    const agent = (n: number) => round(n, { reviewer: "agent" });
    expect(holding(holding(NOTHING_HELD, agent(1)), agent(2)).review?.round).toBe(2);
  });
  it("keeps the diff of what is decided about", () => {
    expect(diffOf(round(1), diff("tip1"), diff("tip2"))?.to).toBe("tip1");
    expect(diffOf(round(2), diff("tip1"), diff("tip2"))?.to).toBe("tip2");
    expect(diffOf(null, diff("tip1"), diff("tip2"))?.to).toBe("tip2");
  });
});
