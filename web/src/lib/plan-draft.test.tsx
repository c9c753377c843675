import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { PlanFile } from "../api/types";
import { editable, elsewhere, usePlanDraft, type PlanDraft } from "./plan-draft";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let [root, draft] = [null as Root | null, null as PlanDraft | null];

const plan = (...titles: string[]): PlanFile =>
  ({ goal: "A book", phases: [{ id: 1, name: "One", tasks: titles.map((title, n) => ({ id: `1.${n + 1}`, title })) }] }) as unknown as PlanFile;

function Shows({ view }: { view: PlanFile | undefined }) {
  draft = usePlanDraft(view);
  return null;
}

const show = (view: PlanFile | undefined) => act(async () => root?.render(<Shows view={view} />));
const change = (text: string) => act(async () => draft?.change(text));

beforeEach(() => {
  localStorage.clear();
  root = createRoot(document.createElement("div"));
});

afterEach(() => act(async () => root?.unmount()));

it("an editor in which nobody has written follows the plan", async () => {
  await show(undefined);
  await show(plan("a", "b"));
  await show(plan("a", "B"));
  expect(draft?.text).toBe(editable(plan("a", "B")));
});

it("a draft stays, and knows what others have changed since it began", async () => {
  const mine = plan("A", "b");
  await show(plan("a", "b"));
  await change(editable(mine));
  await show(plan("a", "B"));
  expect(draft?.text).toBe(editable(mine));
  expect(elsewhere(draft?.base ?? null, plan("a", "B"), mine)).toEqual([{ id: "1.2", what: "changed", members: ["title"] }]);
  // The page is opened anew.
  await act(async () => root?.unmount());
  root = createRoot(document.createElement("div"));
  await show(plan("a", "B"));
  expect([draft?.text, draft?.base]).toEqual([editable(mine), editable(plan("a", "b"))]);
  await change(editable(plan("a", "b")));
  expect(draft?.text).toBe(editable(plan("a", "B")));
});

it("what was saved is no edit of somebody else, and the editor follows the plan again", async () => {
  await show(plan("a", "b"));
  await change(editable(plan("A", "b")));
  await act(async () => draft?.saved());
  expect(draft?.text).toBe(editable(plan("A", "b")));
  await show(plan("A", "b"));
  expect(elsewhere(draft?.base ?? null, plan("A", "b"), plan("AA", "b"))).toEqual([]);
  await show(plan("A", "B"));
  expect(draft?.text).toBe(editable(plan("A", "B")));
});
