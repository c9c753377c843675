// Every command: where it is given in these pages, and a form for those that have no page of their own.
import { useBoard } from "../api/queries";
import type { Command } from "../api/types";
import { askFor } from "../lib/actions";
import { question, selected } from "../lib/dialogs";
import { PLACES, type Group } from "../lib/places";
import { age, count } from "../lib/said";
import { Act, Page, useNow } from "../ui/parts";

const GROUPS: Group[] = ["Plan", "Task", "Swarm", "Agents", "Files and quotas"];

const all = Object.entries(PLACES) as [Command["do"], (typeof PLACES)[Command["do"]]][];

const spaced = (command: string): string => command.replaceAll("_", " ");

/** What these commands are about, as far as there is any of it now. */
function Standing() {
  const status = useBoard().data?.view.status;
  const now = useNow();
  const [reservations, quotas, degraded] = [status?.reservations ?? [], status?.quotas ?? [], status?.degraded ?? []];
  if (reservations.length + quotas.length + degraded.length === 0) return null;
  const ask = (title: string, command: Command) => askFor({ title: `${title}?`, button: title, command });
  return (
    <section className="card after">
      <h2>Now</h2>
      <ul className="plainlist standing">
        {reservations.map(({ number, holder, files, reason, since }) => (
          <li key={`r${number}`}>
            <span>
              reservation {number} of {holder}, {age(now, since)}: <code>{files.join(" ")}</code> {reason}
            </span>
            <Act small onAct={() => ask(`Release ${number}`, { do: "release_reservation", number })}>
              Release {number}
            </Act>
          </li>
        ))}
        {quotas.map(({ group, why, held, waiting }) => (
          <li key={`q${group}`}>
            <span>
              quota of {group} {held ? "held" : "used up"}: {why}, {count(waiting, "task")} waiting
            </span>
            <Act small onAct={() => ask(`Open ${group}`, { do: "open_quota", group })}>
              Open {group}
            </Act>
          </li>
        ))}
        {degraded.map(({ agent, why }) => (
          <li key={`d${agent}`}>
            <span>
              {agent} is out of service: {why}
            </span>
            <Act small onAct={() => ask(`Revive ${agent}`, { do: "revive_agent", agent })}>
              Revive {agent}
            </Act>
          </li>
        ))}
      </ul>
    </section>
  );
}

export default function CommandsPage() {
  const task = selected.use();
  return (
    <Page title="Commands">
      <Standing />
      {GROUPS.map((group) => (
        <section key={group} className="card after">
          <h2>{group}</h2>
          <dl className="commandlist">
            {all.map(([command, place]) =>
              place.at === "form" && place.group === group ? (
                <div key={command}>
                  <dt>
                    <Act onAct={() => question.set({ kind: "form", command, task })}>{place.form.title} …</Act>
                  </dt>
                  <dd>
                    {place.form.help} <code className="dim">{place.form.line}</code>
                  </dd>
                </div>
              ) : null,
            )}
          </dl>
        </section>
      ))}
      <section className="card after">
        <h2>Elsewhere in these pages</h2>
        <dl className="facts">
          {all.map(([command, place]) =>
            place.at === "page" || place.at === "inbox" ? (
              <div key={command}>
                <dt>{spaced(command)}</dt>
                <dd>{place.at === "page" ? place.where : `the inbox, when ${place.when}`}</dd>
              </div>
            ) : null,
          )}
        </dl>
      </section>
      <section className="card after">
        <h2>Only on the command line</h2>
        <dl className="facts">
          {all.map(([command, place]) =>
            place.at === "nowhere" ? (
              <div key={command}>
                <dt>{spaced(command)}</dt>
                <dd>{place.why}</dd>
              </div>
            ) : null,
          )}
        </dl>
      </section>
    </Page>
  );
}
