// The one polite live region: attention and results, never log lines.
import { store } from "./store";

export const spoken = store<{ text: string; n: number }>({ text: "", n: 0 });

export function announce(text: string): void {
  spoken.set((before) => ({ text, n: before.n + 1 }));
}
