// A real swarm of scripted agents in a throw-away repository: some hang, one asks, one is blocked, one waits for a review.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";

const script = (...lines) => ["```script", ...lines, "```"].join("\n");
const NASTY = 'A title with <script>alert(1)</script> and <img src=x onerror="alert(2)">';

const chapter = (n, from = 1, to = 40) =>
  Array.from({ length: to - from + 1 }, (_, i) => `append chapters/${n}.md Line ${from + i} of chapter ${n}, on worktrees and merging.`);

export const PLAN = {
  goal: "Write a book about undoing",
  execution_profile: { parallelization_enabled: true, max_concurrent_tasks: 4 },
  phases: [
    {
      id: 1,
      name: "Chapters",
      tasks: [
        {
          id: "1.1",
          title: "Table of contents",
          tags: ["docs"],
          description: script("write contents.md # Contents", "usage input=41000 output=900 cost=0.31", "commit docs: contents", "complete"),
        },
        {
          id: "1.2",
          title: "Chapter on worktrees",
          tags: ["docs"],
          description: script(
            "write README.md The book <script>alert(9)</script> [click](javascript:alert(10))",
            "append README.md and its second line",
            "write <img/src=x/onerror=alert(6)>.md a file with a name",
            ...chapter(2),
            "usage input=12000 output=2100 cost=0.12",
            "commit docs: chapter two <img src=x onerror=alert(7)>",
            "complete",
          ),
        },
        {
          id: "1.3",
          title: NASTY,
          description: script(
            "print <b>bold?</b> <script>alert(3)</script>",
            "write nasty.txt <img src=x onerror=alert(4)>",
            "append names.md One name for the thing",
            "commit feat: nasty <b>words</b>",
            "progress 50",
            "usage input=9000 output=400 cost=0.05",
            "write draft.txt not yet committed",
            "tool-begin Bash make test",
            "hang",
          ),
        },
      ],
    },
    {
      id: 2,
      name: "The book",
      tasks: [
        {
          id: "2.1",
          title: "Chapter on recovery",
          review: "human",
          depends: ["1.1"],
          acceptance: ["links resolve", "named in the contents"],
          description: script(
            ...chapter(4),
            "write contents.md # Contents of the book",
            "append contents.md 4. Recovery",
            "write Cargo.lock generated",
            "commit docs: chapter on recovery",
            "complete",
          ),
        },
        {
          id: "2.2",
          title: "Name the authors",
          depends: ["1.1"],
          description: script("print looking for the licence", "blocked MIT or Apache for the README?"),
        },
        {
          id: "2.3",
          title: "Chapter on merging",
          description: script(
            ...Array.from({ length: 60 }, (_, i) => `print step ${i + 1} of the chapter`),
            "progress 20",
            // The same file as another task at work: the conflict is foreseen.
            "append names.md Another name for the thing",
            "commit docs: names",
            "write chapters/3.md One for each task",
            "tool-begin Bash make book",
            "hang",
          ),
        },
        { id: "2.4", title: "Index", depends: ["2.1", "2.3"], description: script("write index.md Index", "commit docs: index", "complete") },
      ],
    },
    {
      id: 3,
      name: "The second edition",
      tasks: [
        { id: "3.1", title: "Chapter on undo", depends: ["2.4"], description: script("write u.md u", "commit docs: u", "complete") },
        { id: "3.2", title: "Chapter on hooks", depends: ["3.1"], description: script("write h.md h", "commit docs: h", "complete") },
        {
          id: "3.3",
          title: "Cover",
          depends: ["2.4"],
          priority: 3,
          tags: ["art"],
          description: script("write cover.md c", "commit art: cover", "complete"),
        },
      ],
    },
  ],
};

const bin = process.env.SWARM_BIN ?? "swarm";

export class Swarm {
  constructor(plan = PLAN, name = "book") {
    this.base = mkdtempSync(join(tmpdir(), "pages-e2e-"));
    this.dir = join(this.base, name);
    execFileSync("git", ["init", "-q", "-b", "main", this.dir]);
    for (const [key, value] of [
      ["user.name", "A Person"],
      ["user.email", "person@example.org"],
    ]) {
      execFileSync("git", ["-C", this.dir, "config", key, value]);
    }
    writeFileSync(join(this.dir, "README.md"), "The book\n");
    execFileSync("git", ["-C", this.dir, "add", "."]);
    execFileSync("git", ["-C", this.dir, "commit", "-q", "-m", "chore: begin"]);
    this.plan = join(this.base, "plan.json");
    writeFileSync(this.plan, JSON.stringify(plan));
  }

  get socket() {
    return join(this.dir, ".swarm/run/coordinator.sock");
  }

  swarm(...args) {
    return execFileSync(bin, ["-C", this.dir, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  async start(mode = "autopilot", plan = true) {
    const args = ["-C", this.dir, "run", "--agent", "script", "--mode", mode, "--review", "none", "--yes"];
    if (plan) args.push("--plan", this.plan);
    this.runner = spawn(bin, args, { stdio: "ignore", detached: true });
    await until(() => existsSync(this.socket), "the coordinator's socket");
  }

  view(name) {
    return JSON.parse(this.swarm("--json", ...name.split(" ")));
  }

  /** Until every scripted agent is where the stories begin. */
  async settled() {
    await until(() => {
      const tasks = Object.fromEntries(this.tasks().map((task) => [task.id, task.status]));
      return (
        tasks["1.1"] === "done" &&
        tasks["1.2"] === "done" &&
        tasks["2.1"] === "review" &&
        tasks["2.2"] === "blocked" &&
        tasks["2.3"] === "active" &&
        tasks["1.3"] === "active"
      );
    }, "the swarm to settle");
  }

  tasks() {
    try {
      return this.view("task list");
    } catch {
      return [];
    }
  }

  coordinatorPid() {
    // who holds the ledger
    const text = readFileSync(join(this.dir, ".swarm/run/owner.lock"), "utf8");
    return Number(/"pid"\s*:\s*(\d+)/.exec(text)?.[1]);
  }

  async stop() {
    try {
      this.swarm("stop", "--no-wait");
    } catch {
      // It has ended already.
    }
    if (this.runner && this.runner.exitCode === null && this.runner.signalCode === null) {
      const ended = once(this.runner, "exit");
      const late = setTimeout(() => process.kill(-this.runner.pid, "SIGKILL"), 8000);
      await ended;
      clearTimeout(late);
    }
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function until(holds, what, ms = 40_000) {
  const end = Date.now() + ms;
  for (;;) {
    if (await holds()) return;
    if (Date.now() > end) throw new Error(`waited ${ms} ms in vain for ${what}`);
    await new Promise((next) => setTimeout(next, 100));
  }
}
