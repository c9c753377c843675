// Commands on their way: each wish has an id, and its row says queued, landed, refused or lost. No optimistic fiction.
import { command as post, delivery, errorOf, Refused } from "../api/client";
import type { Answer, ApiError, Command, Delivery } from "../api/types";
import { refresh } from "../api/queries";
import { announce } from "./announce";
import { newWish } from "./command";
import { store } from "./store";

export interface Wish {
  id: string;
  command: Command;
  state: "queued" | "landed" | "refused" | "lost";
  answer?: Answer;
  error?: ApiError;
  /** Called once it is carried out, whatever is on the screen by then. */
  landed?: (() => void) | undefined;
}

const KEPT = 20;
const AGAIN_MS = 2000;

/** Newest first. */
export const wishes = store<Wish[]>([]);

/** A line that is no command's answer: why something was not even asked. */
export const note = store<{ message: string; hint: string } | null>(null);

export function say(message: string, hint = ""): void {
  note.set({ message, hint });
  announce(hint ? `${message}. ${hint}` : message);
}

const change = (id: string, part: Partial<Wish>) => wishes.set((all) => all.map((wish) => (wish.id === id ? { ...wish, ...part } : wish)));

const underWay = new Set<Promise<Wish>>();

/** Sends it at once; what becomes of it stands with the wishes. */
export function begin(command: Command, landed?: () => void): Wish & { done: Promise<Wish> } {
  const wish: Wish = { id: newWish(), command, state: "queued", landed };
  note.set(null);
  wishes.set((all) => [wish, ...all].slice(0, KEPT));
  const done = carryOut(wish);
  underWay.add(done);
  return { ...wish, done: done.finally(() => underWay.delete(done)) };
}

export const send = (command: Command, landed?: () => void): Promise<Wish> => begin(command, landed).done;

/** Once every command of this page has its answer: the record up to which they led, and whether an answer is lost. */
export async function answeredAll(): Promise<{ seq: number; lost: boolean }> {
  await Promise.allSettled(underWay);
  const all = wishes.get();
  return { seq: Math.max(0, ...all.map(({ answer }) => answer?.seq ?? 0)), lost: all.some(({ state }) => state === "lost") };
}

async function carryOut(wish: Wish): Promise<Wish> {
  try {
    return settle(wish, await post(wish.id, wish.command));
  } catch (thrown) {
    return failed(wish, thrown);
  }
}

function failed(wish: Wish, thrown: unknown): Wish {
  const error = errorOf(thrown);
  const lost = !(thrown instanceof Refused) || thrown.status === 0 || thrown.status >= 500;
  // Without an answer nobody knows whether it was done: it is asked again by its id, never sent anew.
  const part: Partial<Wish> = { state: lost ? "lost" : "refused", error };
  change(wish.id, part);
  if (lost) later();
  announce(lost ? "The answer was lost; it is asked again when the connection is back" : `Refused: ${error.message}. ${error.hint}`);
  return { ...wish, ...part };
}

function settle(wish: Wish, answer: Delivery): Wish {
  if (answer.state === "landed") {
    const part: Partial<Wish> = { state: "landed", answer: answer.answer };
    change(wish.id, part);
    wish.landed?.();
    announce(answer.answer.text);
    void refresh();
    return { ...wish, ...part };
  }
  if (answer.state === "refused") return failed(wish, new Refused(409, answer.error));
  // It is on its way to the ledger: nobody tells this page when it is there.
  change(wish.id, { state: "lost" });
  later();
  return { ...wish, state: "lost" };
}

let timer: ReturnType<typeof setTimeout> | null = null;

/** One look for all of them: each that failed would otherwise begin another one for all. */
function later(): void {
  timer ??= setTimeout(() => {
    timer = null;
    void askAgain();
  }, AGAIN_MS);
}

/** The connection is back: what became of the wishes whose answer was lost? */
export async function askAgain(): Promise<void> {
  for (const wish of wishes.get().filter((one) => one.state === "lost")) {
    try {
      const known = await delivery(wish.id);
      if (known.state === "unknown") await carryOut(wish);
      else settle(wish, known);
    } catch {
      // Still nobody there.
      later();
    }
  }
}
