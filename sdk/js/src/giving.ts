/** The lead of a bot, which is given each entry until it has taken it. No other process sees the store. */
import { alone } from "./alone.js";
import { backoff } from "./clock.js";
import type { Tabs } from "./parts.js";
import { type Commit, ending, pad } from "./state.js";
import type { TabsOptions } from "./tabs.js";
import type { Message } from "./types.js";

/** Takes an entry of a log. Fulfilled: it is not given again. */
export type Take = (message: Message) => void | Promise<void>;

/** Of an entry that was not taken yet. */
const keyOf = (m: Message) => `e/${encodeURIComponent(m.group)}/${pad(m.id)}`;

export const giving = (take: Take) => (options: TabsOptions): Tabs => {
  const { store, clock, listener } = options;
  const lead = () => {
    listener.lead();
    give();
  };
  const tabs = alone({ ...options, listener: { ...listener, lead } });
  const busy = new Set<string>(); // what the keys of a group begin with
  const taking = new Set<string>(); // keys of what is being taken, unless something else came under one, as after a rollback
  const waiting = new Set<() => void>(); // how to end it
  let life = 0;

  function give(): void {
    look().catch((err) => failed("What is to be given cannot be read.", err));
  }

  /** Begins with each group of which there is something. */
  async function look(): Promise<void> {
    for (let from = "e/"; tabs.leads; ) {
      const [found] = await store.range(from, "e0", { limit: 1 });
      if (!found) return;
      const group = found[0].slice(0, -16);
      if (!busy.has(group)) void run(group);
      from = ending(group);
    }
  }

  async function run(group: string): Promise<void> {
    const mine = life;
    busy.add(group);
    for (let failures = 0; tabs.leads && mine === life; ) {
      try {
        const [found] = await store.range(group, ending(group), { limit: 1 });
        if (!found) break;
        const [key, message] = found;
        taking.add(key);
        await take(message as unknown as Message);
        if (taking.delete(key)) await tabs.commit([{ remove: key }], { changes: [], events: [] });
        failures = 0;
      } catch (err) {
        if (mine !== life) break;
        failed("A message was not taken, and is given again.", err);
        await new Promise<void>((done) => {
          const cancel = clock.after(backoff(clock, ++failures), () => end());
          const end = () => {
            cancel();
            waiting.delete(end);
            done();
          };
          waiting.add(end);
        });
      }
    }
    busy.delete(group);
    give(); // what came while this was about to end
  }

  const failed = (text: string, err: unknown) => console.error(`chatd: ${text}`, err);

  return {
    get leads() {
      return tabs.leads;
    },
    start: tabs.start,
    stop() {
      life++;
      tabs.stop();
      for (const end of waiting) end();
    },
    async commit(changes, meaning) {
      const come = (meaning as Commit).events.filter(([name]) => name === "message").map(([, m]) => m as Message);
      for (const m of come) taking.delete(keyOf(m));
      await tabs.commit([...changes, ...come.map((m) => ({ put: keyOf(m), value: m as any }))], meaning);
      if (come.length > 0) give();
    },
    ask: tabs.ask,
    nudge: tabs.nudge,
    share: tabs.share,
  };
};
