// The one WebSocket of this tab: carries out what the machine says, and hands frames to whoever listens.
import { useSyncExternalStore } from "react";
import type { AgentNews } from "../api/types";
import { withNews, type News } from "../lib/news";
import { FIRST, step, type Effect, type Frame, type Input, type LiveState } from "./machine";

export interface LogLine {
  n: number;
  ts: string;
  stream: string;
  text: string;
}

export interface Shown extends LiveState {
  /** When something was last heard, for the banner. */
  heard: number;
}

/** There may be more, the run is over, or nobody can tell any more. */
export type Going = "on" | "over" | "lost";

type Follower = (lines: LogLine[], going: Going) => void;

class Live {
  private state: LiveState = FIRST;
  private shown: Shown = { ...FIRST, heard: Date.now() };
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private listeners = new Set<() => void>();
  private follows = new Map<string, { cursor: number | null; followers: Set<Follower> }>();
  private news: News = new Map();
  private newsListeners = new Set<() => void>();
  onRefresh: () => void = () => {};
  onAnew: () => void = () => {};
  onBack: () => void = () => {};
  onLost: () => void = () => {};

  start(): void {
    const again = () => this.input({ in: "again" });
    window.addEventListener("online", again);
    window.addEventListener("pageshow", again);
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && again());
    this.connect();
  }

  again = (): void => this.input({ in: "again" });

  private connect(): void {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/live`);
    this.socket = socket;
    socket.onopen = () => this.input({ in: "opened" });
    socket.onmessage = (event) => this.heard(String(event.data));
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.input({ in: "closed" });
      this.onLost();
    };
  }

  private heard(text: string): void {
    let frame: Frame;
    try {
      frame = JSON.parse(text) as Frame;
    } catch {
      return;
    }
    const before = this.state.phase;
    if (frame.type === "log") this.log(frame.run, frame.lines as LogLine[], frame.cursor);
    else if (frame.type === "log_end") this.follows.get(frame.run)?.followers.forEach((tell) => tell([], "over"));
    else if (frame.type === "log_lost") this.follows.get(frame.run)?.followers.forEach((tell) => tell([], "lost"));
    else if (frame.type === "agent") this.agent(frame.news as AgentNews);
    else this.input({ in: "frame", frame });
    if (frame.type === "hello" && before !== "live") {
      this.follows.forEach((follow, run) => this.say({ type: "follow", run, from: follow.cursor }));
      this.onBack();
    }
    if (frame.type === "coordinator" && frame.up) this.onBack();
  }

  private input(input: Input): void {
    const [state, effects] = step(this.state, input);
    const moved = state !== this.state;
    this.state = state;
    for (const effect of effects) this.carryOut(effect);
    if (!moved) return;
    this.shown = { ...state, heard: input.in === "frame" ? Date.now() : this.shown.heard };
    this.listeners.forEach((tell) => tell());
  }

  private carryOut(effect: Effect): void {
    switch (effect.do) {
      case "connect":
        return this.connect();
      case "hello":
        return this.say({ type: "hello", from: effect.from, ledger: effect.ledger });
      case "wait": {
        // Many tabs must not come back in the same moment.
        const ms = effect.ms * (0.8 + Math.random() * 0.4);
        this.timer = setTimeout(() => this.input({ in: "again" }), ms);
        return;
      }
      case "refresh":
        return this.onRefresh();
      case "anew":
        // Runs are numbered from one again: what the old ones said is not about them.
        this.tell(new Map());
        return this.onAnew();
    }
  }

  private say(words: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(words));
  }

  /** Hears the lines of a run's journal from this byte on, until the returned function is called. */
  follow(run: string, from: number | null, tell: Follower): () => void {
    let follow = this.follows.get(run);
    if (!follow) {
      follow = { cursor: from, followers: new Set() };
      this.follows.set(run, follow);
      this.say({ type: "follow", run, from });
    }
    follow.followers.add(tell);
    return () => {
      follow.followers.delete(tell);
      if (follow.followers.size === 0) {
        this.follows.delete(run);
        this.say({ type: "unfollow", run });
      }
    };
  }

  private log(run: string, lines: LogLine[], cursor: number): void {
    const follow = this.follows.get(run);
    if (!follow) return;
    follow.cursor = cursor;
    follow.followers.forEach((tell) => tell(lines, "on"));
  }

  private agent(news: AgentNews): void {
    this.tell(withNews(this.news, news));
  }

  private tell(news: News): void {
    this.news = news;
    this.newsListeners.forEach((tell) => tell());
  }

  subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  snapshot = (): Shown => this.shown;

  subscribeNews = (tell: () => void): (() => void) => {
    this.newsListeners.add(tell);
    return () => this.newsListeners.delete(tell);
  };

  newsSnapshot = (): News => this.news;
}

export const live = new Live();

export const useLive = (): Shown => useSyncExternalStore(live.subscribe, live.snapshot);

export const useNews = (): News => useSyncExternalStore(live.subscribeNews, live.newsSnapshot);
