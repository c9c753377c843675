// The plan as a file that can be edited: checked as one types, and shown before it is saved.
import { useMemo } from "react";
import { usePlan } from "../api/queries";
import type { PlanFile, TaskFile } from "../api/types";
import { askFor } from "../lib/actions";
import { useAddress } from "../lib/address";
import { drift, problems } from "../lib/drift";
import { cycle } from "../lib/layers";
import { elsewhere, usePlanDraft } from "../lib/plan-draft";
import { count } from "../lib/said";
import { Act, Awaited, Empty, Page, To } from "../ui/parts";

interface Checked {
  plan: PlanFile | null;
  wrong: string[];
}

export function checked(text: string): Checked {
  let plan: PlanFile;
  try {
    plan = JSON.parse(text) as PlanFile;
  } catch (thrown) {
    return { plan: null, wrong: [`No JSON: ${thrown instanceof Error ? thrown.message : ""}`] };
  }
  if (!Array.isArray(plan?.phases)) return { plan: null, wrong: ["The plan has no phases"] };
  const wrong = problems(plan);
  const tasks = plan.phases.flatMap((phase) => ((phase.tasks ?? []) as TaskFile[]).map((task) => ({ id: task.id, depends: task.depends ?? [] })));
  const round = cycle(tasks);
  if (round) wrong.push(`Tasks wait for one another: ${round.join(" → ")}`);
  return { plan, wrong };
}

export default function PlanEditPage() {
  const { at } = useAddress();
  if (at === null) return <Editor />;
  return (
    <Page title="Edit the plan" side={<To path="/plan">the plan at record {at}</To>}>
      <Empty>The plan of the past stays what it was: t returns to the present, where it can be edited.</Empty>
    </Page>
  );
}

function Editor() {
  const { data, error } = usePlan();
  const draft = usePlanDraft(data?.view);
  const { text } = draft;
  // An editor in which nobody has written follows the plan by itself.
  const base = text === draft.base ? null : draft.base;
  const { plan, wrong } = useMemo(() => checked(text ?? "{}"), [text]);
  const changes = useMemo(() => (plan && data ? drift(data.view, plan) : []), [plan, data]);
  const theirs = useMemo(() => (plan && data ? elsewhere(base, data.view, plan) : []), [base, plan, data]);
  const save = () => {
    if (!plan) return;
    askFor({
      title: theirs.length ? "Save the plan over what was edited elsewhere?" : "Save the plan?",
      button: `Save the plan: ${count(changes.length, "task")} differ`,
      command: { do: "save_plan", plan, kind: "save", source: "web", reset_statuses: false },
      // Whoever thinks better of it, or is refused, still has what they wrote.
      done: draft.saved,
    });
  };
  if (!data || text === null)
    return (
      <Page title="Edit the plan">
        <Awaited error={error} what="the plan" />
      </Page>
    );
  return (
    <Page title="Edit the plan" side={<To path="/plan">back to the plan</To>}>
      <div className="planedit">
        <p className="field">
          <label htmlFor="plan-text">Plan file</label>
          <textarea id="plan-text" className="codefield" value={text} spellCheck={false} onChange={(event) => draft.change(event.target.value)} />
        </p>
        <div>
          <div role="status" className={wrong.length ? "refused" : "fine"}>
            {wrong.length ? (
              <ul>
                {wrong.slice(0, 20).map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            ) : (
              "No fault found."
            )}
          </div>
          {theirs.length ? (
            <div role="alert" className="refused">
              Edited elsewhere since you began; what you save takes that back:
              <ul>
                {theirs.slice(0, 20).map((one) => (
                  <li key={one.id}>
                    {one.id} {one.what}
                    {one.members.length ? `: ${one.members.join(", ")}` : ""}
                  </li>
                ))}
              </ul>
            </div>
          ) : null}
          <h2>{changes.length === 0 ? "As it stands in the ledger" : `${count(changes.length, "task")} differ`}</h2>
          <ul className="plainlist">
            {changes.slice(0, 100).map((one) => (
              <li key={one.id}>
                {one.id} {one.what}
                {one.members.length ? `: ${one.members.join(", ")}` : ""}
              </li>
            ))}
          </ul>
          <div className="verbs">
            <Act
              tone="good"
              onAct={save}
              refused={
                wrong.length
                  ? { message: "The plan has faults", hint: wrong[0] ?? "" }
                  : changes.length === 0 && plan?.goal === data.view.goal
                    ? { message: "Nothing was changed", hint: "" }
                    : null
              }
            >
              Save …
            </Act>
            <button type="button" className="button" onClick={draft.startOver}>
              Start over
            </button>
          </div>
        </div>
      </div>
    </Page>
  );
}
