// Every command: where it is given in these pages, and a form for those that have no page of their own.
import type { Command } from "../api/types";
import { question, selected } from "../lib/dialogs";
import { PLACES, type Group } from "../lib/places";
import { Act, Page } from "../ui/parts";

const GROUPS: Group[] = ["Plan", "Task", "Swarm", "Agents", "Files and quotas"];

const all = Object.entries(PLACES) as [Command["do"], (typeof PLACES)[Command["do"]]][];

const spaced = (command: string): string => command.replaceAll("_", " ");

export default function CommandsPage() {
  const task = selected.use();
  return (
    <Page title="Commands">
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
