import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { queries } from "../api/queries";
import type { BoardView } from "../api/types";
import { question, type Question } from "../lib/dialogs";
import { askAgain, wishes } from "../lib/wishes";
import { live } from "../live/live";
import Questions from "./questions";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

type Answer = { status: number; body: unknown } | "lost";

const rows = (...ids: string[]) => ids.map((id) => ({ id, title: `Task ${id}` }));
const board = (part: Partial<BoardView> = {}) =>
  ({
    rows: rows("1.1", "1.2"),
    agents: [],
    pauses: [],
    attention: [],
    operations: [],
    status: { phases: [], profile: {} },
    ...part,
  }) as unknown as BoardView;

/** What the coordinator would answer, by path. */
let answers: Record<string, Answer> = {};
let sent: { path: string; body: { command?: { do: string; task?: string } } }[] = [];
let root: Root;

const show = (view: BoardView) => act(async () => void queries.setQueryData(["now", "/v1/board"], { seq: 1, view }));
const ask = (asked: Question) => act(async () => question.set(asked));
const dialog = () => document.querySelector("dialog");
const field = () => document.querySelector<HTMLInputElement & HTMLTextAreaElement>("dialog textarea, dialog input[type=text]");
const button = () => document.querySelector<HTMLButtonElement>("dialog button[type=submit]");
const told = () => document.querySelector("dialog .refused")?.textContent ?? "";

async function write(text: string): Promise<void> {
  await act(async () => {
    const into = field();
    if (!into) throw new Error("there is no field");
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(into), "value")?.set;
    set?.call(into, text);
    into.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

async function confirm(): Promise<void> {
  await act(async () => {
    document.querySelector("dialog form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await new Promise((next) => setTimeout(next));
  });
}

async function until(holds: () => void): Promise<void> {
  const limit = Date.now() + 5000;
  for (;;) {
    await act(async () => new Promise((next) => setTimeout(next)));
    try {
      return holds();
    } catch (thrown) {
      if (Date.now() > limit) throw thrown;
    }
  }
}

beforeEach(async () => {
  [answers, sent] = [{}, []];
  wishes.set([]);
  queries.clear();
  vi.spyOn(live, "snapshot").mockReturnValue({ ...live.snapshot(), phase: "live", role: "operator", coordinator: true, seq: 1 });
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (init?.method === "POST") sent.push({ path, body: JSON.parse(String(init.body)) });
    const answer = answers[Object.keys(answers).find((known) => path.startsWith(known)) ?? ""] ?? "lost";
    if (answer === "lost") throw new Error("gone");
    return new Response(JSON.stringify(answer.body), { status: answer.status });
  });
  const box = document.createElement("div");
  document.body.append(box);
  root = createRoot(box);
  await show(board());
  await act(async () =>
    root.render(
      <QueryClientProvider client={queries}>
        <Questions run={() => {}} />
      </QueryClientProvider>,
    ),
  );
});

afterEach(async () => {
  await act(async () => {
    question.set(null);
    root.unmount();
  });
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  localStorage.clear();
});

describe("a dialog is about what it was opened for", () => {
  it("words for one task are not meant for another", async () => {
    await ask({ kind: "block", task: "1.1" });
    await write("waits for the designer");
    await ask({ kind: "block", task: "1.2" });
    expect([field()?.value, button()?.textContent]).toEqual(["", "Block 1.2"]);
  });

  it("an edit begins with the task that it is about", async () => {
    const seen = (id: string) => ({ status: 200, body: { seq: 1, view: { id, title: `Title of ${id}`, description: "" } } });
    answers = { "/v1/tasks/1.1": seen("1.1"), "/v1/tasks/1.2": seen("1.2") };
    await ask({ kind: "edit", task: "1.1" });
    await until(() => expect(field()?.value).toBe("Title of 1.1"));
    await ask({ kind: "edit", task: "1.2" });
    await until(() => expect(field()?.value).toBe("Title of 1.2"));
  });

  it("a form stays with its task when the board has it no more, and its words are not those of another task", async () => {
    await ask({ kind: "form", command: "split_task", task: "1.1" });
    await write("3.1 A part");
    await show(board({ rows: rows("1.2") } as Partial<BoardView>));
    const chosen = () => document.querySelector<HTMLSelectElement>("dialog select")?.value;
    expect(chosen()).toBe("1.1");
    await ask({ kind: "form", command: "split_task", task: "1.2" });
    expect([chosen(), field()?.value]).toEqual(["1.2", ""]);
    await ask({ kind: "form", command: "split_task", task: "1.1" });
    expect([chosen(), field()?.value]).toEqual(["1.1", "3.1 A part"]);
  });

  it("whoever was asked whether to pause does not resume", async () => {
    await ask({ kind: "pause" });
    await show(board({ pauses: [{ reason: "user", why: "", ended_by: "" }] } as unknown as Partial<BoardView>));
    expect(button()?.textContent).toBe("Pause");
    await act(async () => void document.querySelector("dialog form")?.dispatchEvent(new Event("input", { bubbles: true })));
    await confirm();
    expect(sent).toEqual([]);
    expect(document.querySelector("dialog")?.textContent).toContain("Somebody has paused it");
  });

  it("who has paused it themselves is not told that somebody else has", async () => {
    await ask({ kind: "pause" });
    await act(async () => void document.querySelector("dialog form")?.dispatchEvent(new Event("input", { bubbles: true })));
    await confirm();
    expect(told()).toContain("not known whether it was done");
    await show(board({ pauses: [{ reason: "user", why: "", ended_by: "" }] } as unknown as Partial<BoardView>));
    expect(document.querySelector("dialog")?.textContent).not.toContain("Somebody");
  });

  it("another best task does not take the place of the one that was shown", async () => {
    const choices = (...ids: string[]) => ({ seq: 1, view: ids.map((task) => ({ task, title: task, why: "" })) });
    answers = { "/v1/tasks/1.1/redirect": { status: 200, body: choices("2.1", "2.2") }, "/v1/preview": "lost" };
    await ask({ kind: "redirect", task: "1.1" });
    await until(() => expect(button()?.textContent).toBe("Redirect to 2.1"));
    await act(async () => void queries.setQueryData(["now", "/v1/tasks/1.1/redirect"], choices("2.3", "2.1")));
    await until(() => expect(dialog()?.textContent).toContain("2.3"));
    expect(button()?.textContent).toBe("Redirect to 2.1");
  });
});

describe("what is written stays until it is done", () => {
  const refused = { error: { kind: "no_agent", message: "Nobody works on 1.1", hint: "swarm run" } };

  it("when data arrive", async () => {
    let arrive: (response: Response) => void = () => {};
    const slow = new Promise<Response>((given) => (arrive = given));
    vi.stubGlobal("fetch", () => slow);
    await ask({ kind: "edit", task: "1.1" });
    await write("A better title");
    await act(async () => {
      arrive(new Response(JSON.stringify({ seq: 1, view: { id: "1.1", title: "The old one", description: "as it was" } })));
      await slow;
    });
    await until(() => expect(document.querySelector<HTMLTextAreaElement>("dialog textarea")?.value).toBe("as it was"));
    expect(document.querySelector<HTMLInputElement>("dialog input[type=text]")?.value).toBe("A better title");
  });

  it("when it is refused, which is said beside the button", async () => {
    answers = { "/v1/commands": { status: 409, body: refused } };
    await ask({ kind: "message", task: "1.1" });
    await write("please use tabs");
    await confirm();
    expect(field()?.value).toBe("please use tabs");
    expect(told()).toContain("Nobody works on 1.1");
    expect(told()).toContain("swarm run");
    expect(localStorage.getItem("swarm:draft:message:1.1")).toBe("please use tabs");
  });

  it("when the connection drops, until it is known what became of it", async () => {
    await ask({ kind: "message", task: "1.1" });
    await write("please use tabs");
    await confirm();
    expect(told()).toContain("not known whether it was done");
    await confirm();
    expect(sent).toHaveLength(1);
    expect([dialog() !== null, field()?.value]).toEqual([true, "please use tabs"]);
    answers = { "/v1/commands/": { status: 200, body: { state: "landed", answer: { id: "x", seq: 2, text: "Sent" } } } };
    await act(() => askAgain());
    expect(dialog()).toBeNull();
    expect(localStorage.getItem("swarm:draft:message:1.1")).toBeNull();
  });

  it("and no longer, also where its dialog was closed before it was known", async () => {
    await ask({ kind: "message", task: "1.1" });
    await write("please use tabs");
    await confirm();
    await act(async () => question.set(null));
    expect(localStorage.getItem("swarm:draft:message:1.1")).toBe("please use tabs");
    answers = { "/v1/commands/": { status: 200, body: { state: "landed", answer: { id: "x", seq: 2, text: "Sent" } } } };
    await act(() => askAgain());
    expect(localStorage.getItem("swarm:draft:message:1.1")).toBeNull();
  });

  it("where nothing can be sent at all", async () => {
    await ask({ kind: "block", task: "1.1" });
    await write("waits");
    vi.spyOn(live, "snapshot").mockReturnValue({ ...live.snapshot(), phase: "lost" });
    await confirm();
    expect([sent.length, field()?.value]).toEqual([0, "waits"]);
    expect(told()).toContain("The connection is lost");
  });
});
