// Money and tokens by task, agent and outcome; burn-down; agents over time.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { allRecords, useBoard } from "../api/queries";
import { useLive } from "../live/live";
import { useAddress } from "../lib/address";
import { burn, sums } from "../lib/burn";
import type { LedgerRecord } from "../lib/events";
import { money, spent, tokens } from "../lib/said";
import { Chart } from "../ui/chart";
import { Awaited, Page, TaskLink, Tabs, useNow } from "../ui/parts";
import { Rows } from "../ui/rows";

const WAYS = ["outcome", "task", "agent"] as const;

const SAYS: Record<string, string> = {
  merged: "is on trunk",
  open: "under way",
  redone: "had to be done again",
  lost: "lost to crashes and time-outs",
  "rolled back": "was taken back",
};

export default function CostPage() {
  const { get, at } = useAddress();
  const seq = useLive().seq;
  const end = at ?? seq ?? 0;
  // Charts need not move with every record: once for ten of them is enough.
  const upTo = at ?? Math.ceil(end / 10) * 10;
  const { data, error } = useQuery({
    queryKey: ["records", "all", upTo],
    queryFn: () => allRecords(upTo),
    enabled: end > 0,
    placeholderData: keepPreviousData,
  });
  const board = useBoard().data?.view;
  const now = useNow();
  const counted = useMemo(() => burn(((data ?? []) as LedgerRecord[]).filter((record) => record.seq <= (at ?? Infinity))), [data, at]);
  const by = WAYS.find((way) => way === get("by")) ?? "outcome";
  const list = sums(counted.spent, by);
  const most = Math.max(1, ...list.map((one) => one.micros || one.tokens));
  const usage = board?.status.usage;
  const titles = new Map(board?.rows.map((row) => [row.id, row.title]));
  return (
    <Page
      title="Money"
      side={
        usage ? (
          <span>
            {spent(usage)} · {tokens((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))} tokens
          </span>
        ) : null
      }
    >
      {data ? null : <Awaited error={error} what="the records" />}
      <div className="charts">
        <Chart label="Open tasks" points={counted.open} show={(value) => String(Math.round(value * 10) / 10)} end={now} />
        <Chart label="Money" points={counted.money} show={(value) => money(value)} end={now} />
        <Chart label="Agents at work" points={counted.agents} show={(value) => String(Math.round(value * 10) / 10)} end={now} />
      </div>
      <Tabs
        label="Sums by"
        now={by}
        tabs={WAYS.map((way) => ({ id: way, text: `By ${way}`, path: "/cost", params: { by: way === "outcome" ? null : way } }))}
      />
      <Rows
        items={list}
        id={(one) => one.name}
        label={`Spent by ${by}`}
        height={40}
        className="lines"
        row={(one) => (
          <div className="line sum">
            <span className="name grow">
              {by === "task" && one.name ? (
                <TaskLink id={one.name} title={titles.get(one.name) ?? ""} />
              ) : by === "outcome" ? (
                <>
                  {one.name} <span className="dim">{SAYS[one.name]}</span>
                </>
              ) : (
                one.name
              )}
            </span>
            <meter value={one.micros || one.tokens} max={most} aria-label={`Share of ${one.name}`} />
            <span className="number">{money(one.micros)}</span>
            <span className="number dim">{tokens(one.tokens)}</span>
          </div>
        )}
      />
      {data && list.length === 0 ? <p className="empty">No agent has told what it cost yet.</p> : null}
    </Page>
  );
}
