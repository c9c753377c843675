// What is selected, filtered and shown lives in the address, so that any state can be sent as a link.
import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";

export type Params = Record<string, string | number | null | undefined>;

/** The search part with some members changed; an empty member goes. Sorted, so that equal states have equal links. */
export function changed(search: string, change: Params): string {
  const params = new URLSearchParams(search);
  for (const [key, value] of Object.entries(change)) {
    if (value === null || value === undefined || value === "") params.delete(key);
    else params.set(key, String(value));
  }
  params.sort();
  return params.toString();
}

/** The record that a page looks at; none: the present. */
export function moment(search: string): number | null {
  const text = new URLSearchParams(search).get("at");
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

/** A link that stays in the moment one looks at. */
export function href(path: string, at: number | null, params: Params = {}): string {
  const search = changed("", { ...params, at });
  return search ? `${path}?${search}` : path;
}

export interface Address {
  path: string;
  at: number | null;
  get(key: string): string;
  /** Changes the search part; `push` makes it a step of its own for the browser's Back. */
  set(change: Params, push?: boolean): void;
  go(path: string, params?: Params): void;
}

export function useAddress(): Address {
  const [path, navigate] = useLocation();
  const search = useSearch();
  const at = moment(search);
  const set = useCallback(
    (change: Params, push = false) => {
      const next = changed(window.location.search, change);
      navigate(next ? `${window.location.pathname}?${next}` : window.location.pathname, { replace: !push });
    },
    [navigate],
  );
  const go = useCallback((to: string, params: Params = {}) => navigate(href(to, moment(window.location.search), params)), [navigate]);
  return useMemo(() => ({ path, at, set, go, get: (key: string) => new URLSearchParams(search).get(key) ?? "" }), [path, at, set, go, search]);
}
