// Questions that want words: messages, answers, edits, names; and the pause.
import { useEffect, useState } from "react";
import { useBoard, useTask } from "../api/queries";
import type { TaskPatch } from "../api/types";
import { sentence } from "../lib/actions";
import { filled } from "../lib/command";
import { shut, type Question } from "../lib/dialogs";
import { count } from "../lib/said";
import { say } from "../lib/wishes";
import { Buttons, Dialog, OtherWay } from "./dialog";
import { dropDraft, Field } from "./field";
import { useSending } from "./sending";

export function Message({ task }: { task: string }) {
  const [text, setText] = useState("");
  const sending = useSending();
  const draft = `message:${task}`;
  const confirm = () => {
    if (text.trim()) sending.send({ do: "message_agent", task, text: text.trim() }, () => dropDraft(draft));
  };
  return (
    <Dialog title={`Tell whoever works on ${task}`} onSubmit={confirm}>
      <Field label="Message, given at the next boundary" value={text} set={setText} draft={draft} lines={4} focus />
      <Buttons button={`Send to ${task}`} lacks={sending.lacks ?? (text.trim() ? null : "Write the message first")} told={sending.told} />
    </Dialog>
  );
}

export function Answer({ asked }: { asked: Extract<Question, { kind: "answer" }> }) {
  const [text, setText] = useState("");
  const sending = useSending();
  const { choice, what, draft } = asked;
  const confirm = () => {
    if (text.trim()) sending.send(filled(choice.command, text.trim()), () => dropDraft(draft));
  };
  return (
    <Dialog title={sentence(choice.label)} onSubmit={confirm}>
      <p className="quoted">{what}</p>
      <Field label={sentence(choice.asks_for ?? "Words")} value={text} set={setText} draft={draft} lines={3} focus />
      <Buttons
        button={sentence(choice.label)}
        lacks={sending.lacks ?? (text.trim() ? null : `Still missing: ${choice.asks_for ?? "words"}`)}
        told={sending.told}
      />
    </Dialog>
  );
}

export function Edit({ task }: { task: string }) {
  const { data } = useTask(task);
  const sending = useSending();
  /** What the person has written, which nothing that arrives takes away. */
  const [typed, type] = useState<{ title?: string; description?: string }>({});
  /** What they began with: only what they changed of it is sent. */
  const [base, begin] = useState<{ title: string; description: string } | null>(null);
  useEffect(() => {
    if (data && !base) begin({ title: data.view.title, description: data.view.description });
  }, [data, base]);
  const title = typed.title ?? base?.title ?? "";
  const description = typed.description ?? base?.description ?? "";
  const elsewhere = base && data && (data.view.title !== base.title || data.view.description !== base.description);
  const confirm = () => {
    if (!base || !title.trim()) return;
    const patch: TaskPatch = {};
    if (title.trim() !== base.title) patch.title = title.trim();
    if (description !== base.description) patch.description = description;
    if (Object.keys(patch).length > 0) return sending.send({ do: "edit_task", task, patch });
    shut();
    say("Nothing was changed");
  };
  const write = (part: { title?: string; description?: string }) => {
    type((now) => ({ ...now, ...part }));
    sending.forget();
  };
  return (
    <Dialog title={`Edit ${task}`} wide onSubmit={confirm}>
      <Field label="Title" value={title} set={(title) => write({ title })} focus />
      <Field label="Description; an agent sees it next iteration" value={description} set={(description) => write({ description })} lines={12} />
      {elsewhere ? <p className="warn">It was edited elsewhere since this was opened. What you change here takes the place of that.</p> : null}
      <Buttons
        button={`Save ${task}`}
        lacks={sending.lacks ?? (!base ? "The task is still being read" : title.trim() ? null : "Still missing: Title")}
        told={sending.told}
      />
    </Dialog>
  );
}

export function NewCheckpoint() {
  const [name, setName] = useState("");
  const sending = useSending();
  const confirm = () => sending.send({ do: "make_checkpoint", name: name.trim() || null });
  return (
    <Dialog title="Make a checkpoint" onSubmit={confirm}>
      <Field label="Name; empty: named by the moment" value={name} set={setName} focus />
      <p className="dim">Ledger position, trunk, every task branch and uncommitted work, under one name.</p>
      <Buttons button={name.trim() ? `Make ${name.trim()}` : "Make checkpoint"} lacks={sending.lacks} told={sending.told} />
    </Dialog>
  );
}

export function Pause() {
  const board = useBoard().data?.view;
  const sending = useSending();
  const mine = board?.pauses.some((pause) => pause.reason === "user");
  /** What is asked is what was asked when it was opened, whoever pauses or resumes meanwhile. */
  const [resumes, hold] = useState(mine);
  if (resumes === undefined && mine !== undefined) hold(mine);
  // The records may be quicker than the answer: while ours is under way it is we who have done it.
  const overtaken = !sending.lacks && mine !== undefined && resumes !== undefined && mine !== resumes;
  const lacks = mine === undefined ? "The swarm is still being read" : overtaken ? "It is so already" : null;
  const running = board?.agents.filter((agent) => !agent.held) ?? [];
  const wish = (force: boolean) => sending.send({ do: "pause", reason: "user", why: "", force });
  const resume = () => sending.send({ do: "resume", reason: "user" });
  const confirm = () => (lacks ? undefined : resumes ? resume() : wish(false));
  return (
    <Dialog title={resumes ? "Paused" : "Pause the swarm?"} onSubmit={confirm}>
      {overtaken ? <p className="warn">{mine ? "Somebody has paused it" : "Somebody has resumed it"} since this was opened.</p> : null}
      <p>
        {resumes
          ? `Nothing new starts. ${running.length === 0 ? "Every agent stands at its boundary." : `${count(running.length, "agent")} still on the way to the boundary: ${running.map((one) => one.agent).join(", ")}.`}`
          : running.length === 0
            ? "Nothing new will start."
            : `Nothing new will start. ${running.map((one) => `${one.agent} on ${one.task}`).join(", ")} will end the iteration and wait there.`}
      </p>
      {board?.pauses
        .filter((pause) => pause.reason !== "user")
        .map((pause) => (
          <p key={pause.reason} className="dim">
            Also paused ({pause.reason}): {pause.why}. {pause.ended_by}
          </p>
        ))}
      <Buttons button={resumes ? "Resume" : "Pause"} lacks={sending.lacks ?? lacks} told={sending.told}>
        {running.length > 0 ? <OtherWay onAct={() => wish(true)}>Force: stop {count(running.length, "agent")} now</OtherWay> : null}
      </Buttons>
    </Dialog>
  );
}
