// Small pieces that every page is made of.
import { useEffect, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { act, off } from "../lib/actions";
import { href, useAddress, type Params } from "../lib/address";
import { keyOf } from "../lib/keys";
import { say } from "../lib/wishes";
import { useAllowed, useBoard } from "../api/queries";
import { errorOf } from "../api/client";
import { live, useLive } from "../live/live";
import type { Group, Verb } from "../api/types";

const SIGNS: Record<Group, string> = { needs_you: "!", works: "»", merges: "=", in_review: "?", waits: "~", ready: "·", done: "✓", aside: "–" };

export const GROUP_WORDS: Record<Group, string> = {
  needs_you: "needs you",
  works: "works",
  merges: "merges",
  in_review: "in review",
  waits: "waits",
  ready: "ready",
  done: "done",
  aside: "aside",
};

/** State is never told by colour alone: a sign, and the word beside it. */
export function Sign({ group }: { group: Group }) {
  return (
    <span className={`sign g-${group}`} aria-hidden="true">
      {SIGNS[group]}
    </span>
  );
}

export function Word({ group, word, detail }: { group: Group; word: string; detail?: string }) {
  return (
    <span className="word">
      <span className={`g-${group}`}>
        <Sign group={group} /> {word}
      </span>
      {detail ? <span className="dim"> {detail}</span> : null}
    </span>
  );
}

/** A link that stays in the moment one looks at. */
export function To({ path, params, children, ...rest }: { path: string; params?: Params; children: ReactNode } & Record<string, unknown>) {
  const { at } = useAddress();
  return (
    <Link href={href(path, at, params)} {...rest}>
      {children}
    </Link>
  );
}

export const taskPath = (id: string): string => `/tasks/${encodeURIComponent(id)}`;

export function TaskLink({ id, title }: { id: string; title?: string }) {
  return (
    <To path={taskPath(id)} className="tasklink" data-task={id}>
      {title ? `${id} ${title}` : id}
    </To>
  );
}

/** Now, by the coordinator's clock; moves every ten seconds, and stands still in the past. */
export function useNow(): number {
  const { data } = useBoard();
  const { at } = useAddress();
  const [now, tick] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => tick(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  const board = data ? Date.parse(data.view.now) : 0;
  return at !== null ? board : Math.max(now, board);
}

/** Why no command can be given now; read again when connection or moment change. */
export function useOff(): string | null {
  useLive();
  useAddress();
  return off();
}

/** A button that says why when it cannot be pressed, instead of keeping silent. */
export function Act({
  children,
  onAct,
  refused,
  tone,
  title,
  small,
}: {
  children: ReactNode;
  onAct: () => void;
  refused?: { message: string; hint: string } | null | undefined;
  tone?: "good" | "bad" | "plain";
  title?: string;
  small?: boolean;
}) {
  const why = useOff();
  const no = why ? { message: why, hint: "" } : refused;
  return (
    <button
      type="button"
      className={`button ${tone ?? "plain"}${small ? " small" : ""}`}
      data-act=""
      aria-disabled={no ? true : undefined}
      title={no ? `${no.message}${no.hint ? `. ${no.hint}` : ""}` : title}
      onClick={() => (no ? say(no.message, no.hint) : onAct())}
    >
      {children}
    </button>
  );
}

/** A verb as a button, dim with its reason where the coordinator would refuse it. */
export function VerbButton({
  verb,
  task,
  children,
  tone,
  hideRefused,
}: {
  verb: Verb;
  task: string | null;
  children: ReactNode;
  tone?: "good" | "bad";
  hideRefused?: boolean;
}) {
  const { data } = useAllowed(task);
  const refused = data?.view.find((one) => one.verb === verb)?.refused;
  if (hideRefused && (refused || !data)) return null;
  const key = keyOf(verb);
  return (
    <Act onAct={() => void act(verb, task)} refused={refused} {...(tone ? { tone } : {})}>
      {children}
      {key ? <kbd aria-hidden="true">{key}</kbd> : null}
    </Act>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <p className="empty">{children}</p>;
}

/** Something is awaited, or could not be had: says which. */
export function Awaited({ error, what }: { error: unknown; what: string }) {
  if (!error)
    return (
      <p className="empty" aria-busy="true">
        Reading {what} …
      </p>
    );
  const { message, hint } = errorOf(error);
  return (
    <div className="refused" role="alert">
      <p>{message}</p>
      {hint ? <p className="dim">{hint}</p> : null}
      <button type="button" className="button" onClick={live.again}>
        Try again
      </button>
    </div>
  );
}

export function Page({ title, children, side }: { title: string; children: ReactNode; side?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · swarm`;
  }, [title]);
  return (
    <>
      <div className="pagehead">
        <h1>{title}</h1>
        {side}
      </div>
      {children}
    </>
  );
}

/** Tabs as links: a tab is an address. */
export function Tabs({ label, tabs, now }: { label: string; tabs: { id: string; text: string; path: string; params?: Params }[]; now: string }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <To key={tab.id} path={tab.path} params={tab.params ?? {}} aria-current={tab.id === now ? "page" : undefined}>
          {tab.text}
        </To>
      ))}
    </nav>
  );
}
