/** What becomes of what this tab sends: told by commits, or found in the store where some were missed. */
import { ChatdError } from "./error.js";
import { type State, type Task, ending, keyOf, sentMessage } from "./state.js";
import type { Store } from "./store.js";

export type OutcomesHost = {
  readonly state: State;
  readonly store: Store;
  /** Takes an event as if a commit had told it. */
  event(name: string, value: unknown): void;
};

type Wait = { task: Task; stored?: boolean; done(message: any): void; fail(err: ChatdError): void };

export class Outcomes {
  readonly #waits = new Map<string, Wait>(); // by key

  constructor(private readonly host: OutcomesHost) {}

  /** How many tasks are about to be stored. */
  get coming(): number {
    return [...this.#waits.values()].filter((w) => !w.stored && !this.host.state.outbox.has(w.task.n)).length;
  }

  /** Has a task stored. The outcome is what `done` says. */
  async send(task: Task, store: () => Promise<void>): Promise<{ key: string; done: Promise<any> }> {
    const { key } = task;
    const done = new Promise((done, fail) => this.#waits.set(key, { task, done, fail }));
    done.catch(() => {}); // whoever does not look at it sees the item
    try {
      await store();
    } catch (err) {
      this.#waits.delete(key);
      throw err;
    }
    const w = this.#waits.get(key);
    if (w) w.stored = true; // from now on the store says what becomes of it
    return { key, done };
  }

  settle(key: string, how: (wait: Wait) => void): void {
    const w = this.#waits.get(key);
    this.#waits.delete(key);
    if (w) how(w);
  }

  fail(err: ChatdError): void {
    for (const w of this.#waits.values()) w.fail(err);
    this.#waits.clear();
  }

  /** The state was loaded anew: the commits that told of some may be among those that this tab missed. */
  loaded(): void {
    for (const w of this.#waits.values()) if (w.stored) void this.#missed(w.task);
  }

  async #missed({ n, key, group, after }: Task): Promise<void> {
    const { state: { me, outbox }, store, event } = this.host;
    const t = outbox.get(n);
    if (t && t.id === undefined && !t.error) return;
    const entries = t ? [] : await store.range(keyOf.entry(group, after), ending(keyOf.entries(group)));
    const message: any = t?.id !== undefined ? sentMessage(t, me, t as { id: number }) : entries.map(([, e]) => e as any).find((e) => e.client_id === key && e.from === me);
    if (message) event("sent", { key, message });
    else event("failed", { key, group, error: t?.error ?? { code: "unknown_outcome", detail: "it is not known what became of it" } });
  }
}
