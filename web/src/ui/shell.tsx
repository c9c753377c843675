// What stands around every page.
import { lazy, Suspense, type ReactNode } from "react";
import { Link } from "wouter";
import { useBoard } from "../api/queries";
import { errorOf, type Session } from "../api/client";
import { useAddress } from "../lib/address";
import { act } from "../lib/actions";
import { pauseWord } from "../lib/columns";
import { question } from "../lib/dialogs";
import { keyOf } from "../lib/keys";
import { useLive } from "../live/live";
import { NoPlan } from "../pages/no-plan";
import { Banner, Header } from "./header";
import { Foot, Herald, Spoken } from "./foot";
import { PastBar } from "./past";
import { Awaited, Empty, Page, To, useOff } from "./parts";
import { useKeyboard } from "./keyboard";
import { useRun } from "./run";

// Questions come after the first look.
const Questions = lazy(() => import("./questions"));

const PAGES = [
  ["/", "Overview"],
  ["/attention", "Attention"],
  ["/board", "Board"],
  ["/plan", "Plan"],
  ["/agents", "Agents"],
  ["/trunk", "Trunk"],
  ["/checkpoints", "Checkpoints"],
  ["/operations", "Operations"],
  ["/history", "History"],
  ["/cost", "Money"],
  ["/handoff", "Handoff"],
  ["/doctor", "Doctor"],
  ["/commands", "Commands"],
] as const;

const here = (path: string, page: string) => (page === "/" ? path === "/" : path === page || path.startsWith(`${page}/`));

function Pages() {
  const { path } = useAddress();
  const waiting = useBoard().data?.view.attention.length ?? 0;
  return (
    <nav className="pages" aria-label="Pages">
      {PAGES.map(([page, name]) => (
        <To key={page} path={page} aria-current={here(path, page) || (page === "/plan" && path.startsWith("/tasks/")) ? "page" : undefined}>
          {name}
          {page === "/attention" && waiting ? <b className="count">{waiting}</b> : null}
          <kbd aria-hidden="true">{keyOf(`go:${page}`)}</kbd>
        </To>
      ))}
    </nav>
  );
}

/** On a phone: four places within reach of a thumb, and the rest in one menu. */
function BottomBar() {
  const { path } = useAddress();
  const board = useBoard().data?.view;
  const waiting = board?.attention.length ?? 0;
  const why = useOff();
  return (
    <nav className="bottom" aria-label="Main pages">
      <To path="/attention" aria-current={here(path, "/attention") ? "page" : undefined}>
        You{waiting ? ` ${waiting}` : ""}
      </To>
      <To path="/board" aria-current={here(path, "/board") ? "page" : undefined}>
        Work
      </To>
      <To path="/plan" aria-current={here(path, "/plan") ? "page" : undefined}>
        Plan
      </To>
      <button type="button" aria-disabled={why ? true : undefined} onClick={() => void act("pause", null)}>
        {pauseWord(board)}
      </button>
      <button type="button" onClick={() => question.set({ kind: "palette", task: null })}>
        More
      </button>
    </nav>
  );
}

/** Without a plan no page has anything to say, and each would ask in vain; but machine and repository are there before it. */
function Content({ children }: { children: ReactNode }) {
  const { data, error } = useBoard();
  const { path, at } = useAddress();
  const { seq } = useLive();
  if (path === "/doctor") return children;
  if (at !== null && seq !== null && at > seq)
    return (
      <Page title={`There is no record ${at} yet`}>
        <Empty>
          The newest is {seq}. <Link href={path}>To the present</Link>
        </Empty>
      </Page>
    );
  if (error && errorOf(error).kind === "no_plan") return <NoPlan />;
  return data || error ? children : <Awaited error={null} what="the swarm" />;
}

export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const run = useRun();
  useKeyboard(run);
  const { at } = useAddress();
  return (
    <div className={at === null ? "app" : "app in-past"}>
      <a className="skip" href="#main">
        To the content
      </a>
      <Header session={session} />
      <div className="banners">
        <PastBar />
        <Banner />
      </div>
      <Pages />
      <main id="main" tabIndex={-1}>
        <Content>{children}</Content>
      </main>
      <Foot />
      <BottomBar />
      <Suspense fallback={null}>
        <Questions run={run} />
      </Suspense>
      <Spoken />
      <Herald />
    </div>
  );
}
