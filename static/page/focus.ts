/** Tells the server which group the person looks at, and that they are away while no window of the page is visible. */
import type { Chatd } from "@chatd/client";
import { onRoute, route } from "./route.ts";
import { load, save } from "./saved.ts";

/** Another tab may be shown in the place of one that was hidden. */
const HIDDEN_MS = 1000;

/** Says it whenever it changes, until it is stopped. Tabs share a session: the one that was shown last speaks for all. */
export function sayFocus(chat: Chatd): () => void {
  const tab = Math.random().toString(36);
  let said = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  function look(): void {
    const { connection } = chat.snapshot();
    const hidden = document.visibilityState === "hidden";
    if (!hidden) {
      clearTimeout(timer);
      timer = undefined;
    }
    if (connection.phase !== "live") {
      said = ""; // a new session knows nothing of it
      return;
    }
    const at = route();
    const group = !hidden && at.view === "group" && chat.group(at.group).snapshot() ? at.group : null;
    const now = JSON.stringify([connection.by, hidden, group]);
    if (now === said) return;
    if (hidden) timer ??= setTimeout(() => {
      timer = undefined;
      said = now;
      if (load("shown") === tab) chat.focus(null);
    }, HIDDEN_MS);
    else {
      said = now;
      save("shown", tab);
      chat.focus(group, false);
    }
  }
  const ends = [onRoute(look), chat.subscribe(look)];
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    for (const end of ends) end();
    document.removeEventListener("visibilitychange", look);
    clearTimeout(timer);
  };
}
