import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import { execFileSync } from "node:child_process";
import { mover, Rows, VIRTUAL_FROM } from "./rows";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

async function drawn(count: number): Promise<HTMLElement> {
  const box = document.createElement("div");
  document.body.append(box);
  const items = Array.from({ length: count }, (_, n) => ({ id: `t${n}` }));
  await act(async () =>
    createRoot(box).render(<Rows items={items} id={(one) => one.id} label="Tasks" height={30} row={(one) => <a href="#x">{one.id}</a>} />),
  );
  return box;
}

it("a short list has every row, and j moves in it", async () => {
  const box = await drawn(VIRTUAL_FROM);
  expect(box.querySelectorAll("a")).toHaveLength(VIRTUAL_FROM);
  await act(async () => {
    mover.get()?.move(1);
    await new Promise((next) => requestAnimationFrame(next));
  });
  expect(document.activeElement?.textContent).toBe("t0");
});

it("ten thousand rows are not in the page", async () => {
  const box = await drawn(10_000);
  expect(box.querySelectorAll("a").length).toBeLessThan(400);
});

it("the types are those of openapi.json", () => {
  expect(execFileSync("node", ["scripts/types.mjs", "--check"], { encoding: "utf8" })).toBe("");
});
