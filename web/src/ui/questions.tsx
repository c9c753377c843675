// Whatever is asked now.
import { numberOf, question } from "../lib/dialogs";
import { Answer, Edit, Message, NewCheckpoint, Pause } from "./asking";
import { CommandForm } from "./command-form";
import { Block, Confirm, Redirect } from "./confirm";
import { Help, Palette } from "./palette";

export default function Questions({ run }: { run: (action: string, task: string | null) => void }) {
  const asked = question.use();
  if (!asked) return null;
  const key = numberOf(asked);
  switch (asked.kind) {
    case "confirm":
      return <Confirm key={key} asked={asked} />;
    case "block":
      return <Block key={key} task={asked.task} />;
    case "edit":
      return <Edit key={key} task={asked.task} />;
    case "message":
      return <Message key={key} task={asked.task} />;
    case "redirect":
      return <Redirect key={key} task={asked.task} />;
    case "pause":
      return <Pause key={key} />;
    case "checkpoint":
      return <NewCheckpoint key={key} />;
    case "answer":
      return <Answer key={key} asked={asked} />;
    case "form":
      return <CommandForm key={key} command={asked.command} task={asked.task} />;
    case "palette":
      return <Palette key={key} task={asked.task} run={run} />;
    case "help":
      return <Help key={key} />;
  }
}
