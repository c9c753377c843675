// What an action of the key table does.
import { useCallback } from "react";
import { useLocation } from "wouter";
import { errorOf, signOut } from "../api/client";
import type { Command } from "../api/types";
import { act, boardNow, choose, off } from "../lib/actions";
import { href, moment, useAddress } from "../lib/address";
import { announce } from "../lib/announce";
import { question } from "../lib/dialogs";
import { KEYS } from "../lib/keys";
import { remember, remembered } from "../lib/local";
import { store } from "../lib/store";
import { nextTheme } from "../lib/theme";
import { waysOn } from "../lib/ways";
import { say } from "../lib/wishes";
import { live } from "../live/live";
import { film } from "./past";
import { mover } from "./rows";
import { taskPath } from "./parts";

export const wrap = store(remembered("wrap") === "yes");
export const machinery = store(false);

/** Pages listen to keys that only they understand. */
export const pageKeys = new EventTarget();

const toPage = (action: string) => pageKeys.dispatchEvent(new CustomEvent("action", { detail: action }));

function copyLink(): void {
  const at = moment(window.location.search) ?? live.snapshot().seq;
  const url = new URL(window.location.href);
  if (at !== null) url.searchParams.set("at", String(at));
  const done = navigator.clipboard?.writeText(url.href) ?? Promise.reject(new Error("no clipboard"));
  done.then(
    () => say(`Copied a link to this page at record ${at ?? "?"}`),
    () => say(url.href),
  );
}

export function useRun(): (action: string, task: string | null) => void {
  const [path, navigate] = useLocation();
  const { at, set } = useAddress();
  return useCallback(
    (action: string, task: string | null) => {
      const go = (to: string, params = {}) => navigate(href(to, moment(window.location.search), params));
      const attention = boardNow()?.attention ?? [];
      if (action.startsWith("go:")) return go(action.slice("go:".length));
      if (action.startsWith("form:")) {
        const why = off();
        return why ? say(why) : question.set({ kind: "form", command: action.slice("form:".length) as Command["do"], task });
      }
      if (action.startsWith("digit:")) {
        const entry = attention.find((one) => one.id === document.activeElement?.closest<HTMLElement>("[data-entry]")?.dataset["entry"]);
        const way = entry ? waysOn(entry)[Number(action.slice("digit:".length)) - 1] : undefined;
        if (way?.kind === "review") return go(taskPath(way.task), { tab: "review" });
        if (entry && way) choose(entry, way.choice);
        return;
      }
      switch (action) {
        case "down":
        case "up":
          return mover.get()?.move(action === "down" ? 1 : -1);
        case "first":
        case "last":
          toPage(action);
          return mover.get()?.edge(action === "last");
        case "open":
          return task ? go(taskPath(task)) : undefined;
        case "back": {
          const filter = document.querySelector<HTMLInputElement>("input[data-filter]");
          if (filter?.value) return set({ q: null });
          return path !== "/" ? window.history.back() : undefined;
        }
        case "attention": {
          if (attention.length === 0 && boardNow()) return say("Nothing waits for you");
          if (path !== "/attention") return go("/attention", { entry: attention[0]?.id ?? "first" });
          const here = document.activeElement?.closest<HTMLElement>("[data-entry]")?.dataset["entry"];
          const next = attention[(attention.findIndex((one) => one.id === here) + 1) % attention.length];
          return set({ entry: next?.id });
        }
        case "filter": {
          const field = document.querySelector<HTMLInputElement>("input[data-filter]");
          if (field) return field.focus();
          go("/plan");
          requestAnimationFrame(() => document.querySelector<HTMLInputElement>("input[data-filter]")?.focus());
          return;
        }
        case "palette":
          return question.set({ kind: "palette", task: path.startsWith("/tasks/") ? task : null });
        case "panel":
          return question.set({ kind: "palette", task });
        case "help":
          return question.set({ kind: "help" });
        case "copy":
          return copyLink();
        case "log":
        case "diff":
          return task ? go(taskPath(task), { tab: action }) : say("Select a task first: j and k move, Enter opens");
        case "review":
          return task ? go(taskPath(task), { tab: "review" }) : say("Select a task first: j and k move, Enter opens");
        case "back:record":
          return set({ at: Math.max(1, (at ?? live.snapshot().seq ?? 2) - 1) });
        case "forth:record":
          return at === null ? undefined : set({ at: at >= (live.snapshot().seq ?? at) ? null : at + 1 });
        case "film":
          // From where one is; from the beginning where that is the present.
          film.set(at === null || !film.get());
          return at === null ? navigate(href(path === "/history" ? "/" : path, 1)) : undefined;
        case "present":
          return set({ at: null });
        case "wrap":
          wrap.set(!wrap.get());
          remember("wrap", wrap.get() ? "yes" : null);
          return;
        case "machinery":
          return machinery.set(!machinery.get());
        case "signout":
          return void signOut().then(
            () => window.location.reload(),
            (thrown: unknown) => say(errorOf(thrown).message),
          );
        case "theme":
          return announce(`Theme: ${nextTheme()}`);
        default: {
          const verb = KEYS.find((binding) => binding.action === action)?.verb;
          if (verb) void act(verb, task);
          else if (action === "pause") void act("pause", null);
          else toPage(action);
        }
      }
    },
    [path, navigate, at, set],
  );
}
