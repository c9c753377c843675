// Everybody at work, with what each prints, side by side.
import { useBoard } from "../api/queries";
import type { BoardAgent } from "../api/types";
import { useNews } from "../live/live";
import { useAddress } from "../lib/address";
import { atWork } from "../lib/columns";
import { later } from "../lib/news";
import { age, spent, tokens } from "../lib/said";
import { Awaited, Empty, Page, TaskLink, To, VerbButton, useNow } from "../ui/parts";
import { Log } from "../ui/log";

/** Logs that are followed at once; the door allows sixteen. */
const TILES = 12;

function Tile({ agent, now, past, follow }: { agent: BoardAgent; now: number; past: boolean; follow: boolean }) {
  const heard = useNews().get(agent.run);
  const news = later(past ? undefined : heard, agent.news);
  const { usage } = agent;
  return (
    <section className="tile" aria-label={`${agent.agent} on ${agent.task}`} data-task={agent.task}>
      <h2>
        <To path={`/runs/${agent.run}`}>{agent.agent}</To> · <TaskLink id={agent.task} title={agent.title} />
      </h2>
      <p className="dim">
        iteration {agent.iteration}/{agent.iterations_max} · {age(now, agent.since)}
        {typeof news?.percent === "number" ? ` · ${news.percent} %` : ""} · {agent.held ? "held at its boundary" : (news?.doing ?? agent.doing)}
        {news ? ` · heard ${age(now, news.heard)}` : ""}
        {usage.steps ? ` · ${tokens((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))} ${spent(usage)}` : ""}
      </p>
      {past ? null : follow ? <Log run={agent.run} label={`Log of ${agent.agent}`} /> : <Empty>Open its page for the log.</Empty>}
      {past ? null : (
        <div className="verbs">
          <VerbButton verb="stop" task={agent.task}>
            Stop …
          </VerbButton>
          <VerbButton verb="redirect" task={agent.task}>
            Redirect …
          </VerbButton>
          <VerbButton verb="message" task={agent.task}>
            Tell …
          </VerbButton>
          <VerbButton verb="kill" task={agent.task}>
            Kill …
          </VerbButton>
        </div>
      )}
    </section>
  );
}

export default function AgentsPage() {
  const { data, error } = useBoard();
  const { at } = useAddress();
  const now = useNow();
  const board = data?.view;
  const slots = board?.status.profile.parallelization_enabled ? board.status.profile.max_concurrent_tasks : 1;
  return (
    <Page
      title="Agents"
      side={
        board ? (
          <span className="dim">
            {atWork(board.agents, board.rows).length} of {slots} at work
          </span>
        ) : null
      }
    >
      {board ? null : <Awaited error={error} what="the agents" />}
      {board && board.agents.length === 0 ? <Empty>Nobody works now.</Empty> : null}
      <div className="tiles">
        {board?.agents.map((agent, n) => (
          <Tile key={agent.run} agent={agent} now={now} past={at !== null} follow={n < TILES} />
        ))}
      </div>
      {board?.status.degraded?.length ? (
        <section>
          <h2>Out of service</h2>
          <ul className="plainlist">
            {board.status.degraded.map((agent) => (
              <li key={agent.agent}>
                {agent.agent}{" "}
                <span className="dim">
                  {agent.why}, {age(now, agent.since)}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </Page>
  );
}
