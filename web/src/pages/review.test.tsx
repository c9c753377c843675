import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it, vi } from "vitest";
import { queries } from "../api/queries";
import type { DiffView, ReviewView } from "../api/types";
import { live } from "../live/live";
import { Verdict } from "./review";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const review = { task: "2.1", round: 1, rounds: 3, submitted: "tip1", tree: "tree100000", reviewer: "human", stage: "review" } as ReviewView;
const diff = { task: "2.1", from: "base", to: "tip1", patch: "" } as DiffView;

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it("a verdict that is refused says so beside its buttons, and what was written stays", async () => {
  vi.spyOn(live, "snapshot").mockReturnValue({ ...live.snapshot(), phase: "live", role: "operator", coordinator: true, seq: 1 });
  const refused = { error: { kind: "wrong_status", message: "2.1 is not in review", hint: "swarm task show 2.1" } };
  vi.stubGlobal("fetch", async (path: string) => {
    if (path.startsWith("/v1/commands")) return new Response(JSON.stringify(refused), { status: 409 });
    if (path.startsWith("/v1/board")) return new Response(JSON.stringify({ seq: 1, view: { reviews: [review] } }));
    return new Response(JSON.stringify({ seq: 1, view: [] }));
  });
  const done = vi.fn();
  const notes = { all: [{ text: "shorter, please" }], add: () => {}, drop: vi.fn() };
  const box = document.createElement("div");
  document.body.append(box);
  await act(async () =>
    createRoot(box).render(
      <QueryClientProvider client={queries}>
        <Verdict shown={{ review, diff, late: null, renew: () => {}, done }} notes={notes} />
      </QueryClientProvider>,
    ),
  );
  for (const name of ["Approve", "Needs changes"]) {
    await act(async () => {
      [...box.querySelectorAll("button")].find((button) => button.textContent?.startsWith(name))?.click();
      await new Promise((next) => setTimeout(next));
    });
    expect(box.querySelector("[role=alert]")?.textContent).toContain("2.1 is not in review");
  }
  expect([done.mock.calls.length, notes.drop.mock.calls.length]).toEqual([0, 0]);
});
