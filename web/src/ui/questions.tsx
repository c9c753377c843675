// Whatever is asked now.
import { question } from "../lib/dialogs";
import { Answer, Edit, Message, NewCheckpoint, Pause } from "./asking";
import { CommandForm } from "./command-form";
import { Block, Confirm, Redirect } from "./confirm";
import { Help, Palette } from "./palette";

export default function Questions({ run }: { run: (action: string, task: string | null) => void }) {
  const asked = question.use();
  switch (asked?.kind) {
    case undefined:
      return null;
    case "confirm":
      return <Confirm key={asked.title} asked={asked} />;
    case "block":
      return <Block task={asked.task} />;
    case "edit":
      return <Edit task={asked.task} />;
    case "message":
      return <Message task={asked.task} />;
    case "redirect":
      return <Redirect task={asked.task} />;
    case "pause":
      return <Pause />;
    case "checkpoint":
      return <NewCheckpoint />;
    case "answer":
      return <Answer asked={asked} />;
    case "form":
      return <CommandForm key={asked.command} command={asked.command} task={asked.task} />;
    case "palette":
      return <Palette task={asked.task} run={run} />;
    case "help":
      return <Help />;
  }
}
