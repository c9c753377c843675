// What pages ask the coordinator. The present is asked again when a record arrives; the past never changes.
import { keepPreviousData, QueryClient, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useAddress } from "../lib/address";
import { get, Refused } from "./client";
import type {
  AllowedView,
  ApprovedPlanView,
  BoardView,
  CheckpointView,
  Choice,
  DiffView,
  DoctorView,
  HandoffView,
  HistoryPage,
  LogPage,
  OperationView,
  OverTimeView,
  PlanFile,
  GivenPrompt,
  TaskView,
  TrunkView,
} from "./types";

export interface Seen<T> {
  seq: number;
  view: T;
}

const retry = (failures: number, error: Error): boolean => failures < 2 && error instanceof Refused && (error.status === 0 || error.status === 503);

export const queries = new QueryClient({
  defaultOptions: { queries: { retry, refetchOnWindowFocus: false, refetchOnReconnect: false, staleTime: Infinity, gcTime: 120_000 } },
});

/** Keys that begin with this are about the present. */
const NOW = "now";

// At most one round of questions is under way, and the next waits as long as the last one took: a plan of
// 10,000 tasks must not keep the browser busy with nothing but asking.
let [due, busy] = [false, false];

export async function refresh(): Promise<void> {
  due = true;
  if (busy) return;
  busy = true;
  while (due) {
    due = false;
    const began = performance.now();
    await queries.invalidateQueries({ queryKey: [NOW] }, { cancelRefetch: false });
    const took = performance.now() - began;
    await new Promise((next) => setTimeout(next, Math.max(150, took)));
  }
  busy = false;
}

/** A view of this moment. */
export function useView<T>(path: string, enabled = true): UseQueryResult<Seen<T>, Error> {
  const { at } = useAddress();
  const url = at === null ? path : `${path}${path.includes("?") ? "&" : "?"}at=${at}`;
  return useQuery({
    queryKey: at === null ? [NOW, path] : ["past", at, path],
    queryFn: ({ signal }) => get<Seen<T>>(url, signal),
    enabled,
    // The frame before stays until the next one is there, so that nothing flickers while time runs.
    placeholderData: ((before: unknown, query?: { queryKey: readonly unknown[] }) => (query?.queryKey.at(-1) === path ? before : undefined)) as never,
  });
}

const id = encodeURIComponent;

export const useBoard = () => useView<BoardView>("/v1/board");
export const useTask = (task: string) => useView<TaskView>(`/v1/tasks/${id(task)}`, task !== "");
export const useAllowed = (task: string | null, enabled = true) =>
  useView<AllowedView[]>(task ? `/v1/allowed?task=${id(task)}` : "/v1/allowed", enabled);
export const useOperations = () => useView<OperationView[]>("/v1/operations");
export const useOperation = (operation: string) => useView<OperationView>(`/v1/operations/${id(operation)}`);
export const useCheckpoints = () => useView<CheckpointView[]>("/v1/checkpoints");
export const usePlan = () => useView<PlanFile>("/v1/plan");
export const useApproved = () => useView<ApprovedPlanView>("/v1/plan/approved");
export const useHandoff = () => useView<HandoffView>("/v1/handoff");
export const useRedirects = (task: string) => useView<Choice[]>(`/v1/tasks/${id(task)}/redirect`);

/** Which part of a task's work: as it was submitted the nth time, or since then; none: all of it, as it is now. */
export interface Part {
  round: number | null;
  since: number | null;
}

export const WHOLE: Part = { round: null, since: null };

export function useDiff(task: string, enabled: boolean, { round, since }: Part = WHOLE) {
  const asked = [round === null ? "" : `round=${round}`, since === null ? "" : `since=${since}`].filter(Boolean).join("&");
  return useQuery({
    // What was submitted once stays what it was.
    queryKey: round === null ? [NOW, "diff", task, asked] : ["diff", task, asked],
    queryFn: ({ signal }) => get<DiffView>(`/v1/tasks/${id(task)}/diff${asked ? `?${asked}` : ""}`, signal),
    enabled,
  });
}

/** Many programs and files are looked at: only when the page is opened, or asked to look again. */
export const useDoctor = (enabled: boolean) =>
  useQuery({ queryKey: ["doctor"], queryFn: ({ signal }) => get<DoctorView>("/v1/doctor", signal), enabled, refetchOnMount: "always", gcTime: 0 });

export function useTrunk(path: string, from: number, enabled: boolean) {
  const asked = new URLSearchParams({ path, from: String(from) }).toString();
  return useQuery({ queryKey: [NOW, "trunk", path, from], queryFn: ({ signal }) => get<TrunkView>(`/v1/trunk?${asked}`, signal), enabled });
}

/** How far the plan came and what it cost, up to the moment that is looked at. */
export function useUsage() {
  const { at } = useAddress();
  return useQuery({
    queryKey: at === null ? [NOW, "/v1/usage"] : ["past", at, "/v1/usage"],
    queryFn: ({ signal }) => get<OverTimeView>(at === null ? "/v1/usage" : `/v1/usage?at=${at}`, signal),
    placeholderData: keepPreviousData,
  });
}

/** Records from this one on. A full page never changes. */
export function useHistory(from: number, limit: number, full: boolean, enabled = true) {
  return useQuery({
    queryKey: full ? ["records", from, limit] : [NOW, "records", from, limit],
    queryFn: ({ signal }) => get<HistoryPage>(`/v1/history?from=${from}&limit=${limit}`, signal),
    enabled,
    placeholderData: keepPreviousData,
  });
}

export const logPage = (run: string, from: number, limit: number): Promise<LogPage> => get(`/v1/runs/${id(run)}/log?from=${from}&limit=${limit}`);

export const promptOf = (run: string, iteration: number): Promise<GivenPrompt> => get(`/v1/runs/${id(run)}/prompts/${iteration}`);
