// The routes. What most visits do not need is loaded when it is looked at.
import { Component, lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import { Route, Switch, useLocation } from "wouter";
import { session as ended } from "./api/client";
import type { First } from "./api/session";
import { AttentionPage } from "./pages/attention";
import { BoardPage } from "./pages/board";
import { OverviewPage } from "./pages/overview";
import { Empty, Page, To } from "./ui/parts";
import { Shell } from "./ui/shell";

const AgentsPage = lazy(() => import("./pages/agents"));
const TaskPage = lazy(() => import("./pages/task"));
const PlanPage = lazy(() => import("./pages/plan"));
const PlanEditPage = lazy(() => import("./pages/plan-edit"));
const RunPage = lazy(() => import("./pages/run"));
const CheckpointsPage = lazy(() => import("./pages/checkpoints"));
const OperationsPage = lazy(() => import("./pages/operations"));
const HistoryPage = lazy(() => import("./pages/history"));
const CommandsPage = lazy(() => import("./pages/commands"));
const TrunkPage = lazy(() => import("./pages/trunk"));
const HandoffPage = lazy(() => import("./pages/handoff"));
const DoctorPage = lazy(() => import("./pages/doctor"));
const CostPage = lazy(() => import("./pages/cost"));

/** A part of an address as it was written, where it was written wrongly: then it names nothing, and the page says so. */
function part(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A fault of a page is said, and the other pages are still there. */
class Caught extends Component<{ children: ReactNode }, { fault: string | null }> {
  override state = { fault: null as string | null };
  static getDerivedStateFromError(thrown: unknown) {
    return { fault: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  override render() {
    if (this.state.fault === null) return this.props.children;
    return (
      <Page title="This page has a fault">
        <div className="refused" role="alert">
          <p>{this.state.fault}</p>
          <p className="dim">Nothing of the swarm is harmed. The other pages work; reloading may help.</p>
          <button type="button" className="button" onClick={() => window.location.reload()}>
            Reload
          </button>
        </div>
      </Page>
    );
  }
}

function SignedOut({ message, hint }: { message: string; hint: string }) {
  useEffect(() => {
    document.title = "Sign in · swarm";
  }, []);
  return (
    <main className="signedout">
      <h1>swarm</h1>
      <p>{message}.</p>
      <p>Run this in the repository; it prints the address of this page with a key that works once, for five minutes:</p>
      <pre>
        <code>swarm web</code>
      </pre>
      {hint && hint !== "swarm web" ? <p className="dim">{hint}</p> : null}
    </main>
  );
}

export function App({ first }: { first: First }) {
  const [over, end] = useState(false);
  const [path] = useLocation();
  useEffect(() => {
    ended.onEnd = () => end(true);
  }, []);
  if (over) return <SignedOut message="Your session has ended" hint="" />;
  if ("refused" in first) return <SignedOut message={first.refused.message || "You are not signed in"} hint={first.refused.hint} />;
  return (
    <Shell session={first.session}>
      <Caught key={path}>
        <Suspense fallback={<Empty>Reading …</Empty>}>
          <Switch>
            <Route path="/" component={OverviewPage} />
            <Route path="/attention" component={AttentionPage} />
            <Route path="/board" component={BoardPage} />
            <Route path="/plan" component={PlanPage} />
            <Route path="/plan/edit" component={PlanEditPage} />
            <Route path="/tasks/:id">{({ id }) => <TaskPage key={id} id={part(id)} />}</Route>
            <Route path="/agents" component={AgentsPage} />
            <Route path="/runs/:run">{({ run }) => <RunPage key={run} run={part(run)} />}</Route>
            <Route path="/checkpoints">{() => <CheckpointsPage name={null} />}</Route>
            <Route path="/checkpoints/:name">{({ name }) => <CheckpointsPage name={part(name)} />}</Route>
            <Route path="/operations">{() => <OperationsPage id={null} />}</Route>
            <Route path="/operations/:id">{({ id }) => <OperationsPage id={part(id)} />}</Route>
            <Route path="/history" component={HistoryPage} />
            <Route path="/cost" component={CostPage} />
            <Route path="/trunk" component={TrunkPage} />
            <Route path="/handoff" component={HandoffPage} />
            <Route path="/doctor" component={DoctorPage} />
            <Route path="/commands" component={CommandsPage} />
            <Route>
              <Page title="Nothing is here">
                <Empty>
                  No page has this address. <To path="/">To the overview</To>
                </Empty>
              </Page>
            </Route>
          </Switch>
        </Suspense>
      </Caught>
    </Shell>
  );
}
