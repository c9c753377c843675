// Pages of other sites in the same browser, with the person's cookie in it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";

/** What a page of another origin tries, and what became of each. */
async function attempts(target) {
  const tried = {};
  const body = JSON.stringify({ id: "evil-1", command: { do: "pause", reason: "user", why: "spite" } });
  const send = (init) =>
    fetch(`${target}/v1/commands`, { method: "POST", credentials: "include", body, ...init }).then(
      (answer) => answer.type,
      () => "refused",
    );
  tried.json = await send({ headers: { "content-type": "application/json", "swarm-web": "1" } });
  tried.text = await send({ mode: "no-cors", headers: { "content-type": "text/plain" } });
  tried.read = await fetch(`${target}/v1/board`, { credentials: "include" }).then(
    (answer) => answer.text(),
    () => "refused",
  );
  tried.socket = await new Promise((done) => {
    const socket = new WebSocket(`${target.replace("http", "ws")}/live`);
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
  });
  const element = (name, set) =>
    new Promise((done) => {
      const node = document.createElement(name);
      node.onload = () => done("loaded");
      node.onerror = () => done("refused");
      set(node);
      document.body.append(node);
    });
  tried.script = await element("script", (node) => (node.src = `${target}/v1/board`));
  tried.page = await element("script", (node) => (node.src = `${target}/index.html`));
  tried.picture = await element("img", (node) => (node.src = `${target}/favicon.svg`));
  tried.frame = await new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
      try {
        done(frame.contentDocument ? `readable: ${frame.contentDocument.title}` : "not readable");
      } catch {
        done("not readable");
      }
    };
    frame.src = target;
    document.body.append(frame);
  });
  return tried;
}

/** The session of the person is in the browser all the while, and the coordinator would obey it. */
export async function anotherSite({ browser, door, open, swarm, base }) {
  const site = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>evil</title><body>"));
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const { paused } = swarm.view("status");
  const context = await browser.newContext();
  try {
    await open(context, await door.another());
    const evil = await context.newPage();
    // Below /v1 nothing is put in the place of what a server says: see showDist.
    await evil.goto(`http://127.0.0.1:${site.address().port}/v1/evil`);
    const tried = await evil.evaluate(attempts, base);
    // What the test itself hands out has no door that could refuse it.
    if (process.env.PAGES_FROM) Object.assign(tried, { page: "refused", picture: "refused" });
    assert.deepEqual(
      { ...tried, text: "seen below" },
      {
        json: "refused",
        text: "seen below",
        read: "refused",
        socket: "refused",
        script: "refused",
        page: "refused",
        picture: "refused",
        frame: "not readable",
      },
    );
    const frame = evil.frames().find((one) => one !== evil.mainFrame());
    assert.equal(await frame.getByText("Overview").count(), 0, "the page is not shown in a frame");
    // A form of another site goes where it says, and nothing comes of it.
    await evil.evaluate((target) => {
      const form = document.createElement("form");
      Object.assign(form, { method: "post", action: `${target}/v1/commands`, enctype: "text/plain" });
      document.body.append(form);
      form.submit();
    }, base);
    await evil.waitForURL(`${base}/**`);
    await evil.getByText("cross_site").waitFor();
    assert.equal(
      swarm.view("op log").some((operation) => operation.id === "evil-1"),
      false,
    );
    assert.deepEqual(swarm.view("status").paused, paused);
  } finally {
    await context.close();
    site.close();
  }
}

/** A name of another site that leads to this machine: the browser believes that it is one site, the door does not. */
export async function rebinding({ browser, base }) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const port = new URL(base).port;
    for (const path of ["/", "/favicon.svg", "/v1/board", "/session"]) {
      const answer = await page.goto(`http://rebound.test:${port}${path}`);
      assert.equal(answer.status(), 403, path);
      assert.match(await answer.text(), /wrong_host/);
    }
    const heard = await page.evaluate(() =>
      fetch("/session", { method: "POST", headers: { "content-type": "application/json", "swarm-web": "1" }, body: '{"key":"x"}' }).then((answer) =>
        answer.text(),
      ),
    );
    assert.match(heard, /wrong_host/);
  } finally {
    await context.close();
  }
}
