// What a verb does when it is pressed, clicked or chosen in the palette.
import { get } from "../api/client";
import { queries, type Seen } from "../api/queries";
import type { AllowedView, AttentionChoice, AttentionEntry, BoardView, Command, OperationView, Verb } from "../api/types";
import { moment } from "./address";
import { verbCommand, weight, type Asked } from "./command";
import { question } from "./dialogs";
import { live } from "../live/live";
import { store } from "./store";
import { answeredAll, say, send } from "./wishes";

export const boardNow = (): BoardView | undefined => queries.getQueryData<Seen<BoardView>>(["now", "/v1/board"])?.view;

/** The board as it is in this moment, whatever is on the screen. */
export const boardAsked = async (): Promise<BoardView> =>
  (await queries.fetchQuery({ queryKey: ["now", "/v1/board"], queryFn: () => get<Seen<BoardView>>("/v1/board"), staleTime: 0 })).view;

/**
 * The board after everything that this page has had done: what the screen shows may be older, and the newest operation
 * on it another one than the person has just seen land.
 */
async function boardWithMine(): Promise<{ board: BoardView; lost: boolean }> {
  const { seq, lost } = await answeredAll();
  const known = queries.getQueryData<Seen<BoardView>>(["now", "/v1/board"]);
  // Not through the cache: a question on its way there may be older than the answer.
  const board = known && known.seq >= seq ? known.view : (await get<Seen<BoardView>>("/v1/board")).view;
  return { board, lost };
}

async function undoNewest(): Promise<void> {
  const { board, lost } = await boardWithMine();
  if (lost) return say("What became of your last command is not known yet", "Undo it when its answer is there");
  undo(board.operations.find((op) => op.canBeUndone && op.by.startsWith("person") && op.state === "done"));
}

/** Why no command can be given now; none: it can. */
export function off(): string | null {
  if (moment(window.location.search) !== null) return "This is the past: t returns to the present";
  const { phase, role } = live.snapshot();
  if (phase === "connecting") return "Not connected yet; nothing can be sent now";
  if (phase === "lost") return "The connection is lost; nothing can be sent now";
  if (role !== "operator") return "This session may only look";
  return null;
}

/** Shows what it would do where something is at stake; sends it at once where nothing is. */
export function askFor(asked: Asked): void {
  const why = off();
  if (why) return say(why);
  const stake = weight(asked.command, boardNow());
  if (stake === "free") void send(asked.command, asked.done);
  else question.set({ kind: "confirm", weight: stake, ...asked });
}

/** What the page has heard at the record that it shows needs no question: the dialog is there with the next picture. */
async function refusal(verb: Verb, task: string | null) {
  const path = task ? `/v1/allowed?task=${encodeURIComponent(task)}` : "/v1/allowed";
  const queryKey = ["now", path];
  const heard = queries.getQueryData<Seen<AllowedView[]>>(queryKey);
  const known =
    heard && heard.seq === live.snapshot().seq
      ? heard
      : await queries.fetchQuery({ queryKey, queryFn: () => get<Seen<AllowedView[]>>(path), staleTime: 0 });
  return known.view.find((one) => one.verb === verb)?.refused ?? null;
}

/** Keys that were pressed and of which it is not known yet what they lead to. Until then no other one is listened to. */
export const asking = store(0);

const NEEDS_TASK: Verb[] = ["start", "stop", "kill", "redirect", "block", "unblock", "edit", "message", "defer", "cancel", "rollback_task", "review"];

/** Runs a verb, or says why it would be refused and what would help. */
export async function act(verb: Verb, task: string | null): Promise<void> {
  asking.set((n) => n + 1);
  try {
    await ask(verb, task);
  } finally {
    asking.set((n) => n - 1);
  }
}

async function ask(verb: Verb, task: string | null): Promise<void> {
  const why = off();
  if (why) return say(why);
  if (NEEDS_TASK.includes(verb) && !task) return say("Select a task first: j and k move, Enter opens");
  if (verb === "pause" || verb === "resume") return question.set({ kind: "pause" });
  let board: BoardView;
  try {
    if (verb === "undo" || verb === "redo") await answeredAll();
    // A key may be quicker than the first board, and what a verb means depends on it.
    board = boardNow() ?? (await boardAsked());
    const refused = await refusal(verb, NEEDS_TASK.includes(verb) ? task : null);
    if (refused) return say(refused.message, refused.hint);
  } catch {
    return say("The coordinator does not answer");
  }
  const id = task ?? "";
  switch (verb) {
    case "block":
    case "edit":
    case "message":
    case "redirect":
      return question.set({ kind: verb, task: id });
    case "checkpoint":
      return question.set({ kind: "checkpoint" });
    case "undo":
      return undoNewest().catch(() => say("The coordinator does not answer"));
    default: {
      const asked = verbCommand(verb, id, board);
      if (asked) askFor(asked);
    }
  }
}

/** Free operations are taken back at once; one that moved git or the plan is looked at first. */
export function undo(operation: OperationView | undefined): void {
  const why = off();
  if (why) return say(why);
  const command: Command = { do: "undo", operation: operation?.id ?? null, partial: false };
  const movesGit = !operation?.canBeUndone || operation.checkpoint || operation.facts.some(({ fact }) => /^(ref|worktree)\//.test(fact));
  if (!movesGit) void send(command);
  else
    question.set({
      kind: "confirm",
      weight: "moves",
      title: operation ? `Undo: ${operation.text}?` : "Undo your newest operation?",
      button: operation ? `Undo ${operation.kind.replaceAll("_", " ")}` : "Undo",
      command,
    });
}

/** A way on of the attention list. */
export function choose(entry: AttentionEntry, choice: AttentionChoice): void {
  const why = off();
  if (why) return say(why);
  if (choice.asks_for) return question.set({ kind: "answer", what: entry.why || entry.what, choice, draft: `answer:${entry.id}:${choice.label}` });
  askFor({ title: `${entry.what}: ${choice.label}?`, button: sentence(choice.label), command: choice.command });
}

export const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
