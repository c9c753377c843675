// Questions that want words: messages, answers, edits, names; and the pause.
import { useEffect, useState } from "react";
import { useBoard, useTask } from "../api/queries";
import type { TaskPatch } from "../api/types";
import { sentence } from "../lib/actions";
import { filled } from "../lib/command";
import { shut, type Question } from "../lib/dialogs";
import { count } from "../lib/said";
import { say, send, type Wish } from "../lib/wishes";
import { Buttons, Dialog, OtherWay } from "./dialog";
import { dropDraft, Field } from "./field";

/** What was refused was not said: the words are there when the dialog is opened again. */
const dropUnlessRefused = (draft: string) => (wish: Wish) => {
  if (wish.state !== "refused") dropDraft(draft);
};

export function Message({ task }: { task: string }) {
  const [text, setText] = useState("");
  const draft = `message:${task}`;
  const confirm = () => {
    if (!text.trim()) return;
    shut();
    void send({ do: "message_agent", task, text: text.trim() }).then(dropUnlessRefused(draft));
  };
  return (
    <Dialog title={`Tell whoever works on ${task}`} onSubmit={confirm}>
      <Field label="Message, given at the next boundary" value={text} set={setText} draft={draft} lines={4} focus />
      <Buttons button={`Send to ${task}`} lacks={text.trim() ? null : "Write the message first"} />
    </Dialog>
  );
}

export function Answer({ asked }: { asked: Extract<Question, { kind: "answer" }> }) {
  const [text, setText] = useState("");
  const { choice, what, draft } = asked;
  const confirm = () => {
    if (!text.trim()) return;
    shut();
    void send(filled(choice.command, text.trim())).then(dropUnlessRefused(draft));
  };
  return (
    <Dialog title={sentence(choice.label)} onSubmit={confirm}>
      <p className="quoted">{what}</p>
      <Field label={sentence(choice.asks_for ?? "Words")} value={text} set={setText} draft={draft} lines={3} focus />
      <Buttons button={sentence(choice.label)} lacks={text.trim() ? null : `Still missing: ${choice.asks_for ?? "words"}`} />
    </Dialog>
  );
}

export function Edit({ task }: { task: string }) {
  const { data } = useTask(task);
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  /** What the person began with: only what they changed of it is sent. */
  const [base, begin] = useState<{ title: string; description: string } | null>(null);
  useEffect(() => {
    if (!data || base) return;
    const { title, description } = data.view;
    setTitle(title);
    setDescription(description);
    begin({ title, description });
  }, [data, base]);
  const elsewhere = base && data && (data.view.title !== base.title || data.view.description !== base.description);
  const confirm = () => {
    if (!base || !title.trim()) return;
    const patch: TaskPatch = {};
    if (title.trim() !== base.title) patch.title = title.trim();
    if (description !== base.description) patch.description = description;
    shut();
    if (Object.keys(patch).length === 0) return say("Nothing was changed");
    void send({ do: "edit_task", task, patch });
  };
  return (
    <Dialog title={`Edit ${task}`} wide onSubmit={confirm}>
      <Field label="Title" value={title} set={setTitle} focus />
      <Field label="Description; an agent sees it next iteration" value={description} set={setDescription} lines={12} />
      {elsewhere ? <p className="warn">It was edited elsewhere since this was opened. What you change here takes the place of that.</p> : null}
      <Buttons button={`Save ${task}`} lacks={!base ? "The task is still being read" : title.trim() ? null : "Still missing: Title"} />
    </Dialog>
  );
}

export function NewCheckpoint() {
  const [name, setName] = useState("");
  const confirm = () => {
    shut();
    void send({ do: "make_checkpoint", name: name.trim() || null });
  };
  return (
    <Dialog title="Make a checkpoint" onSubmit={confirm}>
      <Field label="Name; empty: named by the moment" value={name} set={setName} focus />
      <p className="dim">Ledger position, trunk, every task branch and uncommitted work, under one name.</p>
      <Buttons button={name.trim() ? `Make ${name.trim()}` : "Make checkpoint"} lacks={null} />
    </Dialog>
  );
}

export function Pause() {
  const board = useBoard().data?.view;
  const mine = board?.pauses.find((pause) => pause.reason === "user");
  const running = board?.agents.filter((agent) => !agent.held) ?? [];
  const wish = (force: boolean) => {
    shut();
    void send({ do: "pause", reason: "user", why: "", force });
  };
  const resume = () => {
    shut();
    void send({ do: "resume", reason: "user" });
  };
  return (
    <Dialog title={mine ? "Paused" : "Pause the swarm?"} onSubmit={mine ? resume : () => wish(false)}>
      <p>
        {mine
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
      <Buttons button={mine ? "Resume" : "Pause"} lacks={null}>
        {running.length > 0 ? <OtherWay onAct={() => wish(true)}>Force: stop {count(running.length, "agent")} now</OtherWay> : null}
      </Buttons>
    </Dialog>
  );
}
