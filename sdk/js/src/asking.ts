/** What a tab has whoever leads do: it is done as one commit, which tells the answer. */
import { ChatdError } from "./error.js";
import type { Clock } from "./parts.js";
import type { Draft } from "./sync.js";

/** Whoever leads does not answer: nobody does, or it hangs. */
const ANSWER_MS = 15_000;

/** What the leader can be asked for, by name. */
export type Ops = Record<string, (d: Draft, ...args: any[]) => any>;

export type Request = { id: string; op: string; args: any[] };

export type AskingHost = {
  readonly clock: Clock;
  readonly leads: boolean;
  /** null: the client was closed. */
  readonly tabs: unknown;
  commit<T>(make: (d: Draft) => T | Promise<T>): Promise<T>;
  nudge(what: Request): void;
};

export class Asking {
  readonly #waiting = new Map<string, Request & { done(value: any): void; fail(err: unknown): void; served?: boolean }>();
  #last = 0;

  constructor(private readonly host: AskingHost, private readonly ops: Ops) {}

  async ask(op: string, args: any[]): Promise<any> {
    const { host } = this;
    if (host.leads) {
      try {
        return await host.commit((d) => this.ops[op]!(d, ...args));
      } catch (err) {
        // A tab that hung learns by its write that another one leads by now, which then does it.
        if ((err as ChatdError).code !== "closed" || !host.tabs) throw err;
      }
    }
    return new Promise((done, fail) => {
      const request = { id: `${this.#last++} ${host.clock.random()}`, op, args };
      const cancel = host.clock.after(ANSWER_MS, () => this.#end(request.id)?.fail(new ChatdError("timeout", "no tab has done it in time")));
      const then = <T>(end: (value: T) => void) => (value: T) => (cancel(), end(value));
      this.#waiting.set(request.id, { ...request, done: then(done), fail: then(fail) });
      host.nudge(request);
    });
  }

  /** This tab leads: it does what it was waiting for. */
  lead(): void {
    for (const r of this.#waiting.values()) void this.serve(r);
  }

  /** Another tab leads: the one before may have taken what was asked and done nothing of it. */
  led(): void {
    for (const r of this.#waiting.values()) {
      r.served = false;
      this.host.nudge({ id: r.id, op: r.op, args: r.args });
    }
  }

  async serve({ id, op, args }: Request): Promise<void> {
    const own = this.#waiting.get(id);
    if (own?.served) return;
    if (own) own.served = true;
    const { host } = this;
    try {
      await host.commit(async (d) => d.tell("answer", { id, result: (await this.ops[op]!(d, ...args)) ?? null }));
    } catch (err) {
      const { code = "internal", detail = String(err) } = err as ChatdError;
      await host.commit((d) => d.tell("answer", { id, error: { code, detail } })).catch(() => {});
    }
  }

  answered({ id, result, error }: { id: string; result: unknown; error?: { code: string; detail: string } }): void {
    const r = this.#end(id);
    if (error) r?.fail(new ChatdError(error.code, error.detail));
    else r?.done(result);
  }

  fail(err: unknown): void {
    for (const id of [...this.#waiting.keys()]) this.#end(id)!.fail(err);
  }

  #end(id: string) {
    const r = this.#waiting.get(id);
    this.#waiting.delete(id);
    return r;
  }
}
