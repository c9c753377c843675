// Rounds of a review beside one another, and from a line of trunk to what brought it: by mouse and by keyboard alone.
import assert from "node:assert/strict";
import { until } from "./swarm.mjs";

const link = (page, name) => page.getByRole("link", { name, exact: true });
const names = (page) => page.locator("[data-file]").evaluateAll((files) => files.map((file) => file.dataset.file));

const rounds = (swarm) => swarm.view("review show 2.1").rounds.length;

/** Until 2.1 was submitted three times, which the story before may have seen to. */
async function threeRounds(swarm) {
  for (let had = rounds(swarm); had < 3; had = rounds(swarm)) {
    swarm.swarm("review", "needs-changes", "2.1", "from elsewhere");
    await until(() => {
      try {
        return rounds(swarm) > had;
      } catch {
        return false;
      }
    }, "another round");
  }
}

export async function sinceRoundOne({ page, base, swarm }) {
  await threeRounds(swarm);
  await page.goto(`${base}/tasks/2.1?tab=diff`);
  await link(page, "Since round 1").click();
  await until(async () => String(await names(page)) === "chapters/4.md", "only what changed since round one");
  assert.match(page.url(), /since=1/);
  const file = page.getByRole("region", { name: "chapters/4.md", exact: true });
  await file.getByText("Line 1 of chapter 4, on worktrees and merging.").first().waitFor();
  await link(page, "Round 1: needs changes").click();
  await until(async () => (await names(page)).includes("contents.md"), "all of round one");
  await page.getByText("What was asked for in round 1").click();
  await page.getByText("from elsewhere").waitFor();
  await link(page, "Round 3").click();
  await link(page, "Since round 2").click();
  await until(async () => String(await names(page)) === "chapters/4.md", "what changed since round two");
  await link(page, "Now").click();
  await link(page, "All of it").click();
  await until(async () => (await names(page)).length === 3, "the whole work");
}

export async function sinceRoundOneByKeys({ page, base, swarm }) {
  await threeRounds(swarm);
  await page.goto(`${base}/tasks/2.1?tab=diff`);
  await link(page, "Since round 1").focus();
  await page.keyboard.press("Enter");
  await until(async () => String(await names(page)) === "chapters/4.md", "only what changed since round one");
  // What comes in beside it may draw the page anew: a person presses again.
  await until(async () => {
    await page.keyboard.press("]");
    return page.evaluate(() => document.activeElement?.hasAttribute("data-hunk"));
  }, "the first hunk");
}

export async function fromLineToCause({ page, base }) {
  await page.goto(`${base}/trunk`);
  await page.getByRole("link", { name: "README.md" }).click();
  await page.getByRole("button", { name: "Why is line 1 there" }).click();
  const card = page.getByRole("complementary", { name: "Why line 1 is there" });
  await card.getByText("docs: chapter two").waitFor();
  await card.getByRole("link", { name: "1.2" }).waitFor();
  await card.getByText(/goes to \S+, attempt 1/).waitFor();
  await card.getByText(/^on main at/).waitFor();
  await card.getByRole("link", { name: /^1 in the log of r\d+/ }).click();
  await page.getByRole("heading", { name: /^Run r\d+/ }).waitFor();
  await page.locator(".logline.here").getByText("iteration 1 begins").waitFor();
  await page.getByRole("region", { name: "Prompt of iteration 1" }).getByText("Chapter on worktrees").first().waitFor();
  await page.goBack();
  await card
    .getByRole("link", { name: /^record \d+/ })
    .first()
    .click();
  await page
    .getByText(/goes to \S+, attempt 1/)
    .first()
    .waitFor();
  await page.goto(`${base}/trunk?path=nowhere`);
  await page.getByText("There is no nowhere on main").waitFor();
  await page.goto(`${base}/trunk?path=${encodeURIComponent("../../etc/passwd")}`);
  await page.getByText(/is not a path of the repository/).waitFor();
}

export async function fromLineToCauseByKeys({ page, base }) {
  await page.goto(`${base}/board`);
  await page.getByText(/^live · record/).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.getByRole("heading", { name: "Trunk" }).waitFor();
  await page.getByRole("link", { name: "contents.md" }).waitFor();
  const here = (text) => page.evaluate((text) => document.activeElement?.matches("a") && document.activeElement.textContent.includes(text), text);
  await until(async () => {
    if (await here("contents.md")) return true;
    await page.keyboard.press("j");
    return false;
  }, "contents.md to be selected");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Why is line 1 there" }).waitFor();
  await until(async () => {
    if (await page.evaluate(() => document.activeElement?.getAttribute("aria-label") === "Why is line 1 there")) return true;
    await page.keyboard.press("j");
    return false;
  }, "line 1 to be selected");
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: "Why line 1 is there" }).getByText("docs: contents").waitFor();
}

/** What will conflict is shown while both are at work: on the board, in the graph, on the task, in the handoff. */
export async function conflictsAhead({ page, base, swarm }) {
  await until(() => swarm.view("status").conflicts?.some(({ files }) => files.includes("names.md")), "the conflict to be foreseen");
  await page.goto(`${base}/board`);
  await page.getByText("conflict foreseen with 1.3").or(page.getByText("conflict foreseen with 2.3")).first().waitFor();
  await page.goto(`${base}/plan?view=graph`);
  await page.getByText("dashed: conflict foreseen").waitFor();
  assert.equal(await page.locator("path.edge.conflict").count(), 1);
  await page.goto(`${base}/tasks/2.3?tab=summary`);
  await page.getByRole("main").getByText("names.md").first().waitFor();
  await page.getByRole("main").getByRole("link", { name: /^1\.3/ }).first().waitFor();
  await page.goto(`${base}/handoff`);
  await page.getByRole("region", { name: "Conflicts ahead" }).getByText("names.md").waitFor();
}
