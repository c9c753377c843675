// What people and the swarm did: every fact before and after, whether it can be taken back, and what stands in the way.
import { useOperation, useOperations } from "../api/queries";
import type { OperationView } from "../api/types";
import { askFor, undo } from "../lib/actions";
import { useAddress } from "../lib/address";
import { who } from "../lib/events";
import { age, clock, count, day, value } from "../lib/said";
import { Act, Awaited, Empty, Page, To, VerbButton, useNow } from "../ui/parts";
import { Filter } from "../ui/filter";
import { Rows } from "../ui/rows";

const path = (id: string) => `/operations/${encodeURIComponent(id)}`;

const STATES = { under_way: "under way", waits: "waits for an answer", done: "done", undone: "undone", failed: "failed" } as const;

function UndoButton({ op, small }: { op: OperationView; small?: boolean }) {
  const refused = op.canBeUndone ? null : { message: op.whyNot ?? "It cannot be undone", hint: op.hint ?? "" };
  if (op.state === "undone" && op.undoneBy) {
    const redo = () => askFor({ title: `Redo: ${op.text}?`, button: "Redo", command: { do: "redo", operation: op.undoneBy ?? null } });
    return (
      <Act small={small ?? false} onAct={redo}>
        Redo …
      </Act>
    );
  }
  // On its own page the dialog opens all the same: it says what stands in the way, and what could be left or set aside.
  return (
    <Act small={small ?? false} onAct={() => undo(op)} refused={small || op.state !== "done" ? refused : null}>
      {refused ? "Undo …" : "Undo"}
    </Act>
  );
}

function One({ op, now }: { op: OperationView; now: number }) {
  return (
    <Page title={op.text || op.kind} side={<To path="/operations">all operations</To>}>
      <p className="taskstate">
        operation {op.seq} · {op.kind}
        {op.subject ? ` of ${op.subject}` : ""} · {STATES[op.state]}
        {op.step ? `: ${op.step}` : ""} · {who(op.by)} · {day(op.at)} {clock(op.at)} ({age(now, op.at)})
      </p>
      <div className="verbs">
        <UndoButton op={op} />
        {op.checkpoint ? (
          <To path={`/checkpoints/${encodeURIComponent(op.checkpoint)}`} className="button plain">
            Checkpoint {op.checkpoint}
          </To>
        ) : null}
        <To path="/" params={{ at: op.seq }} className="button plain">
          Look at the swarm then
        </To>
      </div>
      {op.canBeUndone || op.state === "undone" ? null : (
        <div className="refused">
          <p>{op.whyNot ?? "It cannot be undone."}</p>
          {op.hint ? <p className="dim">{op.hint}</p> : null}
        </div>
      )}
      {op.undoes ? (
        <p>
          It took back <To path={path(op.undoes)}>another operation</To>.
        </p>
      ) : null}
      {op.undoneBy ? (
        <p>
          It was taken back by <To path={path(op.undoneBy)}>another operation</To>.
        </p>
      ) : null}
      <h2>{count(op.facts.length, "fact")} changed</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="Facts before and after">
        <table className="factstable">
          <thead>
            <tr>
              <th>Fact</th>
              <th>Before</th>
              <th>After</th>
            </tr>
          </thead>
          <tbody>
            {op.facts.map((fact) => (
              <tr key={fact.fact}>
                <td>
                  <code>{fact.fact}</code>
                </td>
                <td className="before">{value(fact.before)}</td>
                <td className="after">→ {value(fact.after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Page>
  );
}

function OnePage({ id }: { id: string }) {
  const { data, error } = useOperation(id);
  const now = useNow();
  if (!data)
    return (
      <Page title="Operation">
        <Awaited error={error} what="the operation" />
      </Page>
    );
  return <One op={data.view} now={now} />;
}

function Row({ op, now }: { op: OperationView; now: number }) {
  return (
    <div className="line">
      <span className="dim seq">{op.seq}</span>
      <To path={path(op.id)} className="name grow">
        {op.text || op.kind}
      </To>
      <span className={op.state === "failed" ? "warn" : "dim"}>{STATES[op.state]}</span>
      <span className="dim">
        {who(op.by)}, {age(now, op.at)}
      </span>
      <UndoButton op={op} small />
    </div>
  );
}

function AllPage() {
  const { data, error } = useOperations();
  const { get } = useAddress();
  const now = useNow();
  const words = get("q").toLowerCase();
  const all = (data?.view ?? []).filter((op) =>
    [op.text, op.kind, op.by, op.subject ?? "", op.state].some((text) => text.toLowerCase().includes(words)),
  );
  return (
    <Page title="Operations" side={<Filter hint="words, person, undone" />}>
      <div className="verbs">
        <VerbButton verb="undo" task={null}>
          Undo the newest
        </VerbButton>
        <VerbButton verb="redo" task={null}>
          Redo …
        </VerbButton>
      </div>
      {data ? null : <Awaited error={error} what="the operations" />}
      {data && all.length === 0 ? <Empty>Nobody has done anything yet.</Empty> : null}
      <Rows items={all} id={(op) => op.id} label="Operations, newest first" height={44} className="lines" row={(op) => <Row op={op} now={now} />} />
    </Page>
  );
}

export default function OperationsPage({ id }: { id: string | null }) {
  return id === null ? <AllPage /> : <OnePage key={id} id={id} />;
}
