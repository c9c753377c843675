// Money and tokens by task, agent and outcome; burn-down; agents over time. All of it as the coordinator adds it up.
import { useMemo } from "react";
import { useBoard, useUsage } from "../api/queries";
import { useAddress } from "../lib/address";
import { dearest, points, tokensOf } from "../lib/burn";
import { money, spent, tokens } from "../lib/said";
import { Chart } from "../ui/chart";
import { Awaited, Page, TaskLink, Tabs, useNow } from "../ui/parts";
import { Rows } from "../ui/rows";

const WAYS = ["outcome", "task", "agent"] as const;

const SAYS: Record<string, string> = {
  merged: "is on trunk",
  under_way: "is not done yet",
  redone: "had to be done again",
  lost: "lost to crashes and time-outs",
  rolled_back: "was taken back",
};

const whole = (value: number): string => String(Math.round(value * 10) / 10);

export default function CostPage() {
  const { get } = useAddress();
  const { data, error } = useUsage();
  const board = useBoard().data?.view;
  const now = useNow();
  const by = WAYS.find((way) => way === get("by")) ?? "outcome";
  const moments = data?.moments ?? [];
  const list = useMemo(() => dearest(data?.costs?.[by] ?? []), [data, by]);
  const most = Math.max(1, ...list.map((one) => one.costMicros || tokensOf(one)));
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
      {data ? null : <Awaited error={error} what="what was spent" />}
      <div className="charts">
        <Chart label="Open tasks" points={points(moments, ({ open }) => open)} show={whole} end={now} />
        <Chart label="Money" points={points(moments, ({ costMicros }) => costMicros ?? 0)} show={(value) => money(value)} end={now} />
        <Chart label="Agents at work" points={points(moments, ({ agents }) => agents ?? 0)} show={whole} end={now} />
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
                  {one.name.replaceAll("_", " ")} <span className="dim">{SAYS[one.name]}</span>
                </>
              ) : (
                one.name
              )}
            </span>
            <meter value={one.costMicros || tokensOf(one)} max={most} aria-label={`Share of ${one.name}`} />
            <span className="number">{money(one.costMicros ?? 0)}</span>
            <span className="number dim">{tokens(tokensOf(one))}</span>
          </div>
        )}
      />
      {data && list.length === 0 ? <p className="empty">No agent has told what it cost yet.</p> : null}
    </Page>
  );
}
