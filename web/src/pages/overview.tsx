// Attention, agents, progress, money, events of interest.
import { useMemo } from "react";
import { useBoard, useHistory } from "../api/queries";
import type { BoardView } from "../api/types";
import { useLive, useNews } from "../live/live";
import { said, who, type LedgerRecord } from "../lib/events";
import { useAddress } from "../lib/address";
import { later } from "../lib/news";
import { age, clock, money, spent, tokens } from "../lib/said";
import { Awaited, Empty, Page, TaskLink, To, useNow } from "../ui/parts";
import { Entry } from "./attention";

function Agents({ board, now }: { board: BoardView; now: number }) {
  const news = useNews();
  const { at } = useAddress();
  if (board.agents.length === 0) return <Empty>Nobody works now.</Empty>;
  return (
    <table className="agents">
      <thead>
        <tr>
          <th>Agent</th>
          <th>Task</th>
          <th>Iteration</th>
          <th>Since</th>
          <th>At</th>
        </tr>
      </thead>
      <tbody>
        {board.agents.map((agent) => {
          const latest = later(at === null ? news.get(agent.run) : undefined, agent.news);
          return (
            <tr key={agent.run} data-task={agent.task}>
              <td>
                <To path={`/runs/${agent.run}`}>{agent.agent}</To>
              </td>
              <td className="grow">
                <TaskLink id={agent.task} title={agent.title} />
              </td>
              <td>
                {agent.iteration}/{agent.iterations_max}
              </td>
              <td>{age(now, agent.since)}</td>
              <td className="dim">
                {typeof latest?.percent === "number" ? `${latest.percent} %, ` : ""}
                {agent.held ? "held at its boundary" : (latest?.doing ?? agent.doing)}
                {latest ? `, heard ${age(now, latest.heard)}` : ""}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Progress({ board }: { board: BoardView }) {
  return (
    <ul className="phases">
      {board.status.phases.map((phase) => (
        <li key={phase.id}>
          <span className="phasename">
            {phase.id} {phase.name}
          </span>
          <progress value={phase.done} max={Math.max(1, phase.total)} aria-label={`Phase ${phase.id}`} />
          <span className="dim">
            {phase.done}/{phase.total}
            {phase.complete ? " complete" : ""}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Money({ board }: { board: BoardView }) {
  const { usage, budget } = board.status;
  return (
    <dl className="facts">
      <div>
        <dt>Spent</dt>
        <dd>
          {spent(usage)}
          {budget?.cost_micros_max ? ` of ${money(budget.cost_micros_max)}` : ""}
        </dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>
          {tokens((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))}
          {budget?.tokens_max ? ` of ${tokens(budget.tokens_max)}` : ""}
        </dd>
      </div>
      <div>
        <dt>More</dt>
        <dd>
          <To path="/cost">burn-down and outcomes</To>
        </dd>
      </div>
    </dl>
  );
}

const LOOKED_AT = 120;

function Events() {
  const { at } = useAddress();
  const newest = useLive().seq;
  const end = at ?? newest;
  const from = Math.max(1, (end ?? 1) - LOOKED_AT + 1);
  const { data } = useHistory(from, LOOKED_AT, at !== null, end !== null);
  const lines = useMemo(() => {
    const records = ((data?.records ?? []) as LedgerRecord[]).filter((record) => at === null || record.seq <= at);
    // An operation tells in one line what its other records tell in several.
    const told = new Set(records.filter((record) => record.type === "operation").map((record) => record["batch"]));
    return records
      .filter((record) => record.type === "operation" || !told.has(record["batch"]))
      .flatMap((record) => {
        const words = said(record);
        return words ? [{ record, words }] : [];
      })
      .reverse()
      .slice(0, 14);
  }, [data, at]);
  return (
    <ol className="events" aria-label="Newest events">
      {lines.map(({ record, words }) => (
        <li key={record.seq}>
          <time dateTime={record.ts}>{clock(record.ts)}</time>
          <span className="about">{record.taskId ? <TaskLink id={record.taskId} /> : <span className="dim">{who(record.by)}</span>}</span>
          <span className="words">{words}</span>
        </li>
      ))}
    </ol>
  );
}

export function OverviewPage() {
  const { data, error } = useBoard();
  const now = useNow();
  if (!data)
    return (
      <Page title="Overview">
        <Awaited error={error} what="the swarm" />
      </Page>
    );
  const board = data.view;
  const [first] = board.attention;
  return (
    <Page title="Overview" side={<span className="dim goal">{board.status.goal}</span>}>
      <div className="overview">
        <section className="card attention" aria-label="Attention">
          <h2>
            Needs you{" "}
            {board.attention.length > 1 ? (
              <To path="/attention" className="more">
                all {board.attention.length}
              </To>
            ) : null}
          </h2>
          {first ? (
            <Entry entry={first} now={now} title={board.rows.find((row) => row.id === first.task)?.title} brief />
          ) : (
            <Empty>Nothing waits for you.</Empty>
          )}
        </section>
        <div className="stack">
          <section className="card" aria-label="Agents">
            <h2>
              Agents{" "}
              <To path="/agents" className="more">
                live logs
              </To>
            </h2>
            <div className="scroll" tabIndex={0} role="region" aria-label="Agents at work">
              <Agents board={board} now={now} />
            </div>
          </section>
          <section className="card" aria-label="Events">
            <h2>
              Events{" "}
              <To path="/history" className="more">
                history
              </To>
            </h2>
            <Events />
          </section>
        </div>
        <div className="stack">
          <section className="card" aria-label="Progress">
            <h2>Progress</h2>
            <Progress board={board} />
          </section>
          <section className="card" aria-label="Money">
            <h2>Money</h2>
            <Money board={board} />
          </section>
          {board.status.next.length > 0 ? (
            <section className="card" aria-label="Next">
              <h2>Next</h2>
              <ul className="plainlist">
                {board.status.next.slice(0, 6).map((next) => (
                  <li key={next.task}>
                    <TaskLink id={next.task} title={next.title} />{" "}
                    <span className="dim">
                      {next.because}
                      {next.waits_for_start ? ", waits for your start" : ""}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          ) : null}
        </div>
      </div>
    </Page>
  );
}
