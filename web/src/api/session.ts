// The key in the fragment becomes a session; without one the page says how to get it.
import { errorOf, get, post, type Session } from "./client";
import type { ApiError } from "./types";

export type First = { session: Session } | { refused: ApiError };

/** The key that `swarm web` put behind the `#`; a permalink such as `#n1234` is none. */
export function keyIn(hash: string): string | null {
  const text = hash.startsWith("#") ? hash.slice(1) : hash;
  return /^[A-Za-z0-9_-]{20,128}$/.test(text) ? text : null;
}

export async function signIn(key: string | null): Promise<First> {
  let refused: ApiError | null = null;
  if (key) {
    try {
      await post("/session", { key });
    } catch (thrown) {
      refused = errorOf(thrown);
    }
  }
  try {
    // A key that was used before does no harm to whoever is signed in already.
    return { session: await get<Session>("/session") };
  } catch (thrown) {
    return { refused: refused ?? errorOf(thrown) };
  }
}
