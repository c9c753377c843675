import { describe, expect, it } from "vitest";
import type { AgentNews, BoardView } from "../api/types";
import { pauseWord } from "./columns";
import { later, NEWS_MAX, withNews, type News } from "./news";

const news = (run: string, heard = "2026-01-13T10:00:00.000Z"): AgentNews => ({ run, task: "1.1", iteration: 1, journal_bytes: 0, heard });

describe("news of agents", () => {
  it("are kept for so many runs, those that spoke last", () => {
    let all: News = new Map();
    for (let n = 1; n <= NEWS_MAX; n++) all = withNews(all, news(`r${n}`));
    all = withNews(withNews(all, news("r1")), news("r999"));
    expect([all.size, all.has("r1"), all.has("r2"), all.has("r999")]).toEqual([NEWS_MAX, true, false, true]);
  });
  it("are the later of what was heard and what the board has", () => {
    const [older, newer] = [news("r1"), news("r1", "2026-01-13T11:00:00.000Z")];
    expect([later(older, newer), later(newer, older), later(undefined, older), later(older, null), later(undefined, undefined)]).toEqual([
      newer,
      newer,
      older,
      older,
      null,
    ]);
  });
});

describe("the button of the pause", () => {
  const board = (paused: string[]) => ({ status: { paused } }) as unknown as BoardView;
  it("resumes what the person has paused, and nothing else", () => {
    expect([pauseWord(undefined), pauseWord(board([])), pauseWord(board(["budget"])), pauseWord(board(["budget", "user"]))]).toEqual([
      "Pause",
      "Pause",
      "Pause",
      "Resume",
    ]);
  });
});
