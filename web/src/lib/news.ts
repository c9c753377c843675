// What agents say of themselves between two records. It is told to whoever listens, and the board has the last of it, too.
import type { AgentNews } from "../api/types";

/** Runs whose news are kept: more than can be at work at once. Those that are over say nothing more. */
export const NEWS_MAX = 200;

export type News = Map<string, AgentNews>;

/** With this one in place of what its run said before; the run that has said nothing for longest gives way. */
export function withNews(all: News, news: AgentNews): News {
  const next = new Map(all);
  next.delete(news.run);
  next.set(news.run, news);
  const oldest = next.keys().next().value;
  if (next.size > NEWS_MAX && oldest !== undefined) next.delete(oldest);
  return next;
}

/** Of what was heard here and what the board says, the later: who was away for a while has heard the older one. */
export function later(heard: AgentNews | undefined, told: AgentNews | null | undefined): AgentNews | null {
  if (!heard || !told) return heard ?? told ?? null;
  return Date.parse(told.heard) > Date.parse(heard.heard) ? told : heard;
}
