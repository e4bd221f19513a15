/** What a browser does for somebody who has signed in, once the page stands: it keeps the page for when there is no network, and notifies. */
import "./whole.ts";
import type { Drafts } from "./drafts.ts";
import { syncDrafts } from "./draftsync.ts";
import { sayFocus } from "./focus.ts";
import { followQuorums } from "./quorums.ts";
import type { Session } from "./session.ts";

type Policy = { createScriptURL(url: string): string };
/** Where text may not become code, the address of a script has to come from a policy. This one knows one address. */
const policy = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }).trustedTypes
  ?.createPolicy("chatd-worker", { createScriptURL: () => "/sw.js" });

/** Null: this browser has no service workers, refuses them here, or the server has none. The page works without. */
export async function keepPage(): Promise<ServiceWorkerRegistration | null> {
  try {
    // To register anew would keep one that is about to go because the server has none.
    const served = await fetch("/sw.js", { cache: "no-cache" }).then((answer) => answer.ok, () => false);
    if (served) return await navigator.serviceWorker.register(policy?.createScriptURL("") ?? "/sw.js", { updateViaCache: "none" });
    return (await navigator.serviceWorker.getRegistration("/")) ?? null;
  } catch {
    return null;
  }
}

/** Keeps the page, and drafts the same on all devices, says what is open, and keeps which messages shall be read; returns how to stop the latter three. Notifications are loaded only where they are on, which another tab may have done. */
export function keep(session: Session, drafts: Drafts): () => void {
  const look = () => {
    try {
      if (localStorage.getItem("chatd.alerts")) import("./views/people.tsx").then((m) => m.begin(session)).catch(() => {}); // the next time
    } catch {
      // storage is refused: they cannot be on
    }
  };
  addEventListener("storage", (e) => { if (e.key === "chatd.alerts") look(); });
  look();
  void keepPage();
  const ends = [syncDrafts(session, drafts), sayFocus(session.chat), followQuorums(session.chat)];
  return () => {
    for (const end of ends) end();
  };
}
