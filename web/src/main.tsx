// Takes the key out of the address, gets a session for it, and draws the page.
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { get } from "./api/client";
import { queries, refresh } from "./api/queries";
import { keyIn, signIn } from "./api/session";
import { announce } from "./lib/announce";
import { askAgain, say } from "./lib/wishes";
import { showTheme } from "./lib/theme";
import { live } from "./live/live";
import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/pages.css";
import "./style/diff.css";

async function begin(): Promise<void> {
  showTheme();
  const key = keyIn(window.location.hash);
  // The key is used up once; it must not stay in the address, the history or a bookmark.
  if (key) window.history.replaceState(null, "", window.location.pathname + window.location.search);
  const first = await signIn(key);
  live.onRefresh = () => void refresh();
  live.onBack = () => void askAgain();
  // A session that has ended is no lost connection: the answer says so, and the page with it.
  live.onLost = () => void get("/session").catch(() => {});
  live.onAnew = () => {
    // What is shown is asked for anew; a cache that is only emptied would leave it standing.
    void queries.resetQueries();
    say("Another plan is here now: everything is read anew");
    announce("Another plan is here now");
  };
  if ("session" in first) live.start();
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App first={first} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void begin();
