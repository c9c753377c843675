// Whose run it was, found in the ledger: runs are over, their records stay.
import type { LedgerRecord } from "./events";
import { recordsOf } from "./records";

export interface Owner {
  task: string | null;
  agent: string | null;
}

const PAGE = 1000;
/** A ledger of a hundred thousand records is searched to its beginning; nobody waits for more. */
const PAGES_MAX = 100;

export const isRun = (name: string): boolean => /^r\d{1,12}$/.test(name);

/** What these records, oldest first, say of the run; `begins`: nothing older says more. */
export function ownerIn(records: LedgerRecord[], run: string): { owner: Owner; begins: boolean } | null {
  const own = records.filter((record) => record.data?.["run"] === run || JSON.stringify(record.data ?? {}).includes(`"${run}"`));
  if (own.length === 0) return null;
  const task = own.find((record) => record.taskId && record.data?.["run"] === run)?.taskId ?? null;
  const agent = own.map(({ data }) => data?.["agent"]).find((name) => typeof name === "string");
  return { owner: { task, agent: typeof agent === "string" ? agent : null }, begins: own.some(({ type }) => /_(claimed|started)$/.test(type)) };
}

/** None: no record tells of such a run. */
export async function ownerOf(run: string, newest: number): Promise<Owner | null> {
  let found = null as Owner | null;
  for (let [to, pages] = [newest, 0]; to > 0 && pages < PAGES_MAX; to -= PAGE, pages++) {
    const from = Math.max(1, to - PAGE + 1);
    const here = ownerIn(await recordsOf(from, to), run);
    if (!here) continue;
    found = { task: here.owner.task ?? found?.task ?? null, agent: here.owner.agent ?? found?.agent ?? null };
    if (here.begins) break;
  }
  return found;
}
