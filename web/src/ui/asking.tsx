// Questions that want words: messages, answers, edits, names; and the pause.
import { useEffect, useState } from "react";
import { useBoard, useTask } from "../api/queries";
import type { TaskPatch } from "../api/types";
import { sentence } from "../lib/actions";
import { filled } from "../lib/command";
import { shut, type Question } from "../lib/dialogs";
import { count } from "../lib/said";
import { say, send } from "../lib/wishes";
import { Buttons, Dialog, useArmed } from "./dialog";
import { dropDraft, Field } from "./field";

export function Message({ task }: { task: string }) {
  const [text, setText] = useState("");
  const draft = `message:${task}`;
  const confirm = () => {
    if (!text.trim()) return;
    shut();
    dropDraft(draft);
    void send({ do: "message_agent", task, text: text.trim() });
  };
  return (
    <Dialog title={`Tell whoever works on ${task}`} onSubmit={confirm}>
      <Field label="Message, given at the next boundary" value={text} set={setText} draft={draft} lines={4} focus />
      <Buttons button={`Send to ${task}`} ready={text.trim() !== ""} />
    </Dialog>
  );
}

export function Answer({ asked }: { asked: Extract<Question, { kind: "answer" }> }) {
  const [text, setText] = useState("");
  const { choice, what, draft } = asked;
  const confirm = () => {
    if (!text.trim()) return;
    shut();
    dropDraft(draft);
    void send(filled(choice.command, text.trim()));
  };
  return (
    <Dialog title={sentence(choice.label)} onSubmit={confirm}>
      <p className="quoted">{what}</p>
      <Field label={sentence(choice.asks_for ?? "Words")} value={text} set={setText} draft={draft} lines={3} focus />
      <Buttons button={sentence(choice.label)} ready={text.trim() !== ""} />
    </Dialog>
  );
}

export function Edit({ task }: { task: string }) {
  const { data } = useTask(task);
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  const [loaded, load] = useState(false);
  useEffect(() => {
    if (!data || loaded) return;
    setTitle(data.view.title);
    setDescription(data.view.description);
    load(true);
  }, [data, loaded]);
  const confirm = () => {
    if (!data || !title.trim()) return;
    const patch: TaskPatch = {};
    if (title.trim() !== data.view.title) patch.title = title.trim();
    if (description !== data.view.description) patch.description = description;
    shut();
    if (Object.keys(patch).length === 0) return say("Nothing was changed");
    void send({ do: "edit_task", task, patch });
  };
  return (
    <Dialog title={`Edit ${task}`} wide onSubmit={confirm}>
      <Field label="Title" value={title} set={setTitle} focus />
      <Field label="Description; an agent sees it next iteration" value={description} set={setDescription} lines={12} />
      <Buttons button={`Save ${task}`} ready={loaded && title.trim() !== ""} />
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
      <Buttons button={name.trim() ? `Make ${name.trim()}` : "Make checkpoint"} ready />
    </Dialog>
  );
}

export function Pause() {
  const board = useBoard().data?.view;
  const armed = useArmed();
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
      <div className="buttons">
        <button type="button" className="button" onClick={shut}>
          Cancel
        </button>
        {running.length > 0 ? (
          <button type="button" className="button bad" disabled={!armed} onClick={() => wish(true)}>
            Force: stop {count(running.length, "agent")} now
          </button>
        ) : null}
        <button type="submit" className="button good" disabled={!armed}>
          {mine ? "Resume" : "Pause"}
        </button>
      </div>
    </Dialog>
  );
}
