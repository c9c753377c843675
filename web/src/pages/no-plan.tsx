// Shown in place of every page while there is no plan.
import { Commands } from "../ui/commands";
import { Page } from "../ui/parts";

export function NoPlan() {
  return (
    <Page title="There is no plan yet">
      <p>Make one from a goal, or save one that you have written:</p>
      <Commands lines={["swarm plan make GOAL", "swarm plan save FILE"]} />
      <p className="dim after">These pages fill by themselves as soon as there is one.</p>
    </Page>
  );
}
