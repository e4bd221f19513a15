/** The lead of a tab that shares with nobody, until it can share. */
import { ChatdError } from "./error.js";
import type { Clock, Tabs, TabsListener } from "./parts.js";
import type { Store } from "./store.js";

export type TabsEnvironment = { locks?: LockManager; channel?: (name: string) => BroadcastChannel; page?: EventTarget };

export function createTabs({ store, listener }: { name: string; store: Store; clock: Clock; listener: TabsListener; environment: TabsEnvironment }): Tabs {
  let leads = false;
  let stopped = false;
  let commits: Promise<unknown> = Promise.resolve();
  const nudges: unknown[] = [];
  return {
    get leads() {
      return leads;
    },
    start() {
      void listener.load().then(() => {
        if (stopped) return;
        leads = true;
        listener.lead();
        for (const what of nudges) listener.nudge(what);
      });
    },
    stop() {
      stopped = true;
      leads = false;
    },
    commit(changes, meaning) {
      const done = commits.then(async () => {
        if (!leads) throw new ChatdError("closed", "the client was closed");
        await store.write(changes);
        if (!leads) throw new ChatdError("closed", "the client was closed");
        listener.apply(meaning);
      });
      commits = done.catch(() => {});
      return done;
    },
    nudge(what) {
      if (leads) listener.nudge(what);
      else nudges.push(what);
    },
    share() {},
  };
}
