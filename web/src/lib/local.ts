// Small things that this browser remembers: theme, drafts, what was seen. Losing them must never break a page.

const PREFIX = "swarm:";

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string | null): void {
  try {
    if (value === null || value === "") localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // A full or forbidden store only means that nothing is remembered.
  }
}
