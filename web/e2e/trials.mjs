// What the pages bear: strange words, lost answers, a dead coordinator, many tabs, those who may only look.
import assert from "node:assert/strict";
import { until } from "./swarm.mjs";

const button = (page, name) => page.getByRole("button", { name });
const foot = (page) => page.locator(".foot .result");
const task = (swarm, id) => swarm.tasks().find((one) => one.id === id);

export const trials = {
  async "text of agents and people is text"({ page, base }) {
    for (const path of ["/board", "/plan", "/tasks/1.3?tab=summary", "/tasks/1.3", "/agents", "/history"]) {
      await page.goto(base + path);
      await page.getByText("<script>").first().waitFor();
      assert.equal(await page.locator("main script, main img, main b:text('bold?')").count(), 0, path);
    }
    // Names of files, messages of commits, and Markdown that would be a link.
    const strange = [
      ["/trunk", "<img"],
      [`/trunk?path=${encodeURIComponent("<img/src=x")}`, "onerror=alert(6)>.md"],
      ["/trunk?path=README.md&line=1", "docs: chapter two <img src=x onerror=alert(7)>"],
      ["/trunk?path=README.md&line=1", "[click](javascript:alert(10))"],
      ["/tasks/1.2?tab=diff", "<img/src=x/onerror=alert(6)>.md"],
    ];
    for (const [path, words] of strange) {
      await page.goto(base + path);
      await page.getByText(words).first().waitFor();
      assert.equal(await page.locator("main script, main img, a[href^='javascript:']").count(), 0, path);
    }
  },

  async "a command whose answer was lost is asked again by its id, and done once"({ page, base, swarm }) {
    await page.goto(`${base}/tasks/3.2`);
    await page.getByRole("heading", { name: "3.2 Chapter on hooks" }).waitFor();
    const ids = [];
    await page.route(
      "**/v1/commands",
      async (route) => {
        ids.push(route.request().postDataJSON().id);
        await route.fetch();
        await route.abort("connectionreset");
      },
      { times: 1 },
    );
    await page.keyboard.press("Shift+P");
    await foot(page).getByText("no answer came").waitFor();
    await foot(page)
      .getByText(/operation \d+/)
      .waitFor();
    const done = swarm.view("op log").filter((op) => op.id === ids[0]);
    assert.equal(done.length, 1);
    await page.keyboard.press("z");
    await until(() => task(swarm, "3.2").status === "pending", "the undo");
  },

  async "a viewer looks and commands nothing"({ browser, door, open }) {
    if (!door.viewer) return;
    const context = await browser.newContext();
    const page = await open(context, await door.viewer());
    await page.getByText("This session may only look").waitFor();
    assert.equal(await button(page, "Pause").first().getAttribute("aria-disabled"), "true");
    await page.keyboard.press("Space");
    await foot(page).getByText("This session may only look").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    await context.close();
  },

  async "signing out ends the session in every tab"({ browser, door, open }) {
    const context = await browser.newContext();
    const page = await open(context, await door.another());
    const other = await context.newPage();
    await other.goto(door.base);
    await other.getByText(/^live · record/).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("sign out");
    await page.keyboard.press("Enter");
    await page.getByText("swarm web", { exact: true }).waitFor();
    await other.getByText("Your session has ended").waitFor();
    await context.close();
  },

  async "the past has no commands, plays as a film, and t returns"({ page, base }) {
    await page.goto(`${base}/board?at=20`);
    await page.getByText("record 20 of").waitFor();
    assert.equal(await page.locator(".in-past").count(), 1);
    assert.equal(await button(page, "Pause").first().getAttribute("aria-disabled"), "true");
    // A key that comes before the page listens is nobody's.
    await until(async () => {
      await page.keyboard.press(">");
      return Number(new URL(page.url()).searchParams.get("at")) > 20;
    }, "one record forth");
    await page.getByLabel("Speed of the film").selectOption("600");
    await button(page, "Play").click();
    await until(async () => Number(new URL(page.url()).searchParams.get("at")) > 26, "the film to move");
    await button(page, "Halt").click();
    await page.locator("main").click();
    await page.keyboard.press("t");
    await until(() => !page.url().includes("at="), "the present");
    await page.goto(`${base}/history?a=20&b=77`);
    await page.getByText("From record 20 to 77").waitFor();
    const compared = page.getByRole("region", { name: "From record 20 to 77" });
    await compared.getByText("agent at work").first().waitFor();
    await page.goto(`${base}/history`);
    await button(page, "Watch the film").click();
    await until(async () => Number(new URL(page.url()).searchParams.get("at")) > 5, "the film to run from its beginning");
    await button(page, "Halt").click();
    await button(page, "Compare").click();
    await page.getByText(/^From record \d+ to \d+/).waitFor();
  },

  async "an address that leads nowhere says so, and the other pages are a click away"({ page, base }) {
    for (const [path, words] of [
      ["/tasks/9.9", "There is no task 9.9"],
      ["/tasks/%E0%A4%A", "is not a task id"],
      ["/runs/%E0%A4%A", "There is no such run"],
      ["/operations/%E0", "is not a"],
      ["/checkpoints/none", "There is no such checkpoint"],
      ["/board?at=99999999", "There is no record 99999999 yet"],
      ["/trunk?path=README.md&line=99999", "none from 99501 on"],
      ["/runs/r1?iteration=99", "No prompt of iteration 99"],
      ["/nowhere", "No page has this address"],
    ]) {
      await page.goto(base + path);
      await page.getByRole("main").getByText(words).first().waitFor();
      assert.ok(await page.getByRole("navigation", { name: "Pages" }).isVisible(), path);
    }
    await page.getByRole("link", { name: "To the overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  },

  async "the coordinator is killed and comes back; the page needs no reload"({ page, base, swarm }) {
    await page.goto(`${base}/board`);
    await page.getByText(/^live · record/).waitFor();
    await page.evaluate(() => (window.sameVisit = true));
    process.kill(swarm.coordinatorPid(), "SIGKILL");
    await page.getByText(/No coordinator runs|Connection lost/).waitFor();
    await page.getByText(/^live · record/).waitFor({ timeout: 20_000 });
    await until(async () => (await page.locator(".banner.bad").count()) === 0, "the banner to go", 20_000);
    const before = Number(/record (\d+)/.exec(await page.locator(".since").innerText())[1]);
    swarm.swarm("checkpoint", "create", "from-the-shell");
    await until(async () => Number(/record (\d+)/.exec(await page.locator(".since").innerText())[1]) > before, "the page to follow");
    assert.equal(await page.evaluate(() => window.sameVisit), true);
  },

  async "offline and back: what was typed stays, nothing can be sent, and it goes on without a reload"({ browser, door, open, base }) {
    const context = await browser.newContext();
    let cut = false;
    const sockets = new Set();
    await context.routeWebSocket(/\/live$/, (socket) => {
      if (cut) return void socket.close();
      socket.connectToServer();
      sockets.add(socket);
    });
    const page = await open(context, await door.another());
    await page.goto(`${base}/tasks/2.3?tab=messages`);
    await page.getByText(/^live · record/).waitFor();
    await page.evaluate(() => (window.sameVisit = true));
    const write = button(page, "Write a message …");
    const field = page.getByRole("dialog").getByRole("textbox");
    await until(async () => (await write.getAttribute("aria-disabled")) !== "true", "the button to know what is allowed");
    await write.click();
    await field.fill("words that must not be lost");
    cut = true;
    await context.setOffline(true);
    for (const socket of sockets) await socket.close();
    await page.getByText(/Connection lost/).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await button(page, "Pause").first().getAttribute("aria-disabled"), "true");
    await page.keyboard.press("Space");
    await foot(page).getByText("The connection is lost; nothing can be sent now").waitFor();
    cut = false;
    await context.setOffline(false);
    await page.getByText(/^live · record/).waitFor();
    await until(async () => (await page.locator(".banner.bad").count()) === 0, "the banner to go");
    await write.click();
    assert.equal(await field.inputValue(), "words that must not be lost");
    assert.equal(await page.evaluate(() => window.sameVisit), true);
    await context.close();
  },

  async "nine tabs follow at once"({ context, base, swarm }) {
    const tabs = await Promise.all(
      Array.from({ length: 9 }, async () => {
        const tab = await context.newPage();
        await tab.goto(`${base}/checkpoints`);
        await tab.getByText(/^live · record/).waitFor();
        return tab;
      }),
    );
    swarm.swarm("checkpoint", "create", "for-all-tabs");
    await Promise.all(tabs.map((tab) => tab.getByRole("link", { name: "for-all-tabs" }).waitFor()));
    await Promise.all(tabs.map((tab) => tab.close()));
  },
};
