// Words for numbers and times, the same as the terminal UI's.

/** `now`, `20s`, `4m`, `2h`, `3d`: one unit is enough to know how old something is. */
export function age(now: number, then: string): string {
  const secs = Math.max(0, Math.floor((now - Date.parse(then)) / 1000));
  if (secs < 10) return "now";
  if (secs < 60) return `${Math.floor(secs / 10) * 10}s`;
  if (secs < 3600) return `${Math.floor(secs / 60)}m`;
  if (secs < 86_400) return `${Math.floor(secs / 3600)}h`;
  return `${Math.floor(secs / 86_400)}d`;
}

/** The time of day, where the reader is. */
export function clock(at: string): string {
  return new Date(at).toLocaleTimeString([], { hour12: false, hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

export function day(at: string): string {
  return new Date(at).toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });
}

export function money(micros: number): string {
  return `$${Math.floor(micros / 1_000_000)}.${String(Math.floor(micros / 10_000) % 100).padStart(2, "0")}`;
}

/** With a sign before it where a part is computed from tokens and prices. */
export function spent(usage: { costMicros?: number; estimatedMicros?: number }): string {
  return `${(usage.estimatedMicros ?? 0) > 0 ? "~" : ""}${money(usage.costMicros ?? 0)}`;
}

export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${Math.floor(count / 1000)}k`;
  return `${Math.floor(count / 1_000_000)}.${Math.floor(count / 100_000) % 10}M`;
}

export function count(n: number, one: string): string {
  return n === 1 ? `1 ${one}` : `${n} ${one}s`;
}

/** The first letters of a commit's or tree's name. */
export function short(oid: string | null | undefined): string {
  return oid ? oid.slice(0, 7) : "";
}

/** A value of a fact in few words: `done`, `75c1308`, `nothing`. */
export function value(fact: unknown): string {
  if (fact === null || fact === undefined) return "nothing";
  if (typeof fact === "string") return /^[0-9a-f]{40}$/.test(fact) ? short(fact) : fact;
  if (typeof fact !== "object") return String(fact);
  if (Array.isArray(fact)) return fact.length ? fact.map(value).join(", ") : "none";
  const { stage, ...rest } = fact as Record<string, unknown>;
  const parts = Object.entries(rest)
    .filter(([, part]) => part !== null && part !== false && typeof part !== "object")
    .map(([key, part]) => (part === true ? key : `${key} ${value(part)}`));
  if (typeof stage === "string") return [stage, ...parts].join(", ");
  return parts.length ? parts.join(", ") : JSON.stringify(fact);
}
