// Dark and light follow the system until somebody chooses.
import { remember, remembered } from "./local";
import { store } from "./store";

export type Theme = "system" | "dark" | "light";

const read = (): Theme => {
  const kept = remembered("theme");
  return kept === "dark" || kept === "light" ? kept : "system";
};

export const theme = store<Theme>(read());

export function showTheme(): void {
  const chosen = theme.get();
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}

export function nextTheme(): Theme {
  const order: Theme[] = ["system", "dark", "light"];
  const next = order[(order.indexOf(theme.get()) + 1) % order.length] ?? "system";
  theme.set(next);
  remember("theme", next === "system" ? null : next);
  showTheme();
  return next;
}
