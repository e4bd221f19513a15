/** The lead where no other tab sees the store: it is there from the start. */
import { ChatdError } from "./error.js";
import type { Tabs } from "./parts.js";
import type { TabsOptions } from "./tabs.js";

/** After the store could not be loaded. */
const AGAIN_MS = 1000;

export function alone({ store, clock, listener }: TabsOptions): Tabs {
  let life = 0; // of this start
  let leads = false;
  let commits: Promise<unknown> = Promise.resolve();

  function load(mine: number): void {
    listener.load().then(() => {
      if (mine !== life) return;
      leads = true;
      listener.lead();
    }, () => mine === life && clock.after(AGAIN_MS, () => mine === life && load(mine)));
  }

  return {
    get leads() {
      return leads;
    },
    start: () => load(++life),
    stop() {
      life++;
      leads = false;
    },
    commit(changes, meaning) {
      const mine = life;
      const check = () => {
        if (!leads || mine !== life) throw new ChatdError("closed", "the client was closed");
      };
      const done = commits.then(async () => {
        check();
        await store.write(changes);
        check();
        listener.apply(meaning);
      });
      commits = done.catch(() => {});
      return done;
    },
    ask: (op, args) => listener.serve(op, args),
    nudge: (what) => leads && listener.nudge(what),
    share() {},
  };
}
