// The smallest store that React can read.
import { useSyncExternalStore } from "react";

export interface Store<T> {
  get(): T;
  set(next: T | ((now: T) => T)): void;
  use(): T;
}

export function store<T>(first: T): Store<T> {
  let now = first;
  const listeners = new Set<() => void>();
  const subscribe = (tell: () => void) => {
    listeners.add(tell);
    return () => listeners.delete(tell);
  };
  const get = () => now;
  return {
    get,
    set(next) {
      const value = typeof next === "function" ? (next as (now: T) => T)(now) : next;
      if (Object.is(value, now)) return;
      now = value;
      listeners.forEach((tell) => tell());
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}
