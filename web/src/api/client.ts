// Requests to the door. Every error has the API's shape, also when nobody answered.
import type { ApiError, Command, Delivery, PreviewView } from "./types";

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly error: ApiError,
  ) {
    super(error.message);
  }
}

const LOST: ApiError = { kind: "lost", message: "No answer came", hint: "It is asked again when the connection is back" };

/** Told when the session has ended; the whole page then shows how to get a new one. */
export const session = { onEnd: (): void => {} };

async function answered(response: Response): Promise<unknown> {
  const text = await response.text();
  let body: unknown = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    body = null;
  }
  if (response.ok) return body;
  if (response.status === 401) session.onEnd();
  const error = (body as { error?: ApiError } | null)?.error;
  throw new Refused(response.status, error ?? { kind: "http", message: `The answer was ${response.status}`, hint: "swarm status" });
}

async function ask(path: string, init?: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch {
    throw new Refused(0, LOST);
  }
  return answered(response);
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => ask(path, signal ? { signal } : {}) as Promise<T>;

export function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { "content-type": "application/json", "swarm-web": "1" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body) }) as Promise<T>;
}

export const preview = (command: Command): Promise<PreviewView> => post("/v1/preview", command);

export const command = (id: string, wish: Command): Promise<Delivery> => post("/v1/commands", { id, by: "person:web", command: wish });

export const delivery = (id: string): Promise<Delivery> => get(`/v1/commands/${encodeURIComponent(id)}`);

export interface Session {
  role: string;
  ledger: string | null;
  place: string;
  version: string;
  trunk: string | null;
}

export async function signOut(): Promise<void> {
  await ask("/session", { method: "DELETE", headers: { "swarm-web": "1" } });
}

/** What could not be done, in the API's shape, whatever was thrown. */
export function errorOf(thrown: unknown): ApiError {
  if (thrown instanceof Refused) return thrown.error;
  return { kind: "page", message: thrown instanceof Error ? thrown.message : String(thrown), hint: "" };
}
