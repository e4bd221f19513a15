/** What a tab has whoever leads do: it is done as one commit, which tells the answer. */
import { ChatdError } from "./error.js";
import type { Tabs } from "./parts.js";
import type { Commit } from "./state.js";
import type { TabsOptions } from "./tabs.js";

/** Whoever leads does not answer: nobody does, or it hangs. */
const ANSWER_MS = 15_000;

type Request = { id: string; op: string; args: any[] };
type Answer = { id: string; result?: unknown; error?: { code: string; detail: string } };

/** Tabs that ask each other. */
export const asking = (create: (options: TabsOptions) => Omit<Tabs, "ask">) => (options: TabsOptions): Tabs => {
  const { clock, listener } = options;
  const waiting = new Map<string, Request & { done(value: any): void; fail(err: unknown): void; served?: boolean }>();
  let last = 0;

  async function serve({ id, op, args }: Request): Promise<void> {
    const own = waiting.get(id);
    if (own?.served) return;
    if (own) own.served = true;
    try {
      await listener.serve(op, args, id);
    } catch (err) {
      const { code = "internal", detail = String(err) } = err as ChatdError;
      await listener.serve("answer", [{ id, error: { code, detail } }]).catch(() => {});
    }
  }

  function end(id: string) {
    const r = waiting.get(id);
    waiting.delete(id);
    return r;
  }

  const tabs = create({
    ...options,
    listener: {
      ...listener,
      apply(meaning) {
        listener.apply(meaning);
        for (const [name, value] of (meaning as Commit).events) {
          if (name !== "answer") continue;
          const { id, result, error } = value as Answer;
          if (error) end(id)?.fail(new ChatdError(error.code, error.detail));
          else end(id)?.done(result);
        }
      },
      /** This tab does what it was waiting for. */
      lead() {
        listener.lead();
        for (const r of waiting.values()) void serve(r);
      },
      /** The tab before may have taken what was asked and done nothing of it. */
      led() {
        for (const r of waiting.values()) {
          r.served = false;
          tabs.nudge({ id: r.id, op: r.op, args: r.args });
        }
      },
      nudge: (what) => ((what as Request).op ? void serve(what as Request) : listener.nudge(what)),
    },
  });
  let started = false;

  return {
    get leads() {
      return tabs.leads;
    },
    start() {
      started = true;
      tabs.start();
    },
    stop() {
      started = false;
      tabs.stop();
      for (const id of [...waiting.keys()]) end(id)!.fail(new ChatdError("closed", "the client was closed"));
    },
    commit: tabs.commit.bind(tabs),
    nudge: tabs.nudge.bind(tabs),
    share: tabs.share.bind(tabs),
    async ask(op, args) {
      if (tabs.leads) {
        try {
          return await listener.serve(op, args);
        } catch (err) {
          // A tab that hung learns by its write that another one leads by now, which then does it.
          if ((err as ChatdError).code !== "closed" || !started) throw err;
        }
      }
      return new Promise((done, fail) => {
        const request = { id: `${last++} ${clock.random()}`, op, args };
        const cancel = clock.after(ANSWER_MS, () => end(request.id)?.fail(new ChatdError("timeout", "no tab has done it in time")));
        const then = <T>(settle: (value: T) => void) => (value: T) => (cancel(), settle(value));
        waiting.set(request.id, { ...request, done: then(done), fail: then(fail) });
        tabs.nudge(request);
      });
    },
  };
};
