/** Commits, one after the other: what is worked out is stored, and only then shown. Run by the leader. */
import { ChatdError } from "./error.js";
import type { Tabs } from "./parts.js";
import type { Commit, State } from "./state.js";
import type { Store } from "./store.js";
import { Draft, pruned } from "./sync.js";

const BYTES_MAX = 50 * 2 ** 20;

export type CommitsHost = {
  readonly state: State;
  readonly store: Store;
  readonly tabs: Tabs | null;
  /** The first id that is shown of each group that is: from there on nothing is dropped. */
  shown(): Map<string, number>;
  /** Groups whose counts may be wrong. */
  stale(groups: Set<string>): void;
  /** Groups of which it is not known which threads are followed. */
  threads(groups: Set<string>): void;
  /** The store is full, and stays so. */
  full(cause: unknown): void;
  log(level: "error", text: string, cause: unknown): void;
};

export class Commits {
  #queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly host: CommitsHost) {}

  /** Fulfilled once everything is stored that was to be until now. */
  async idle(): Promise<void> {
    await this.#queue;
  }

  /** Has something worked out and stored, after all that came before. */
  add<T>(make: (d: Draft) => T | Promise<T>): Promise<T> {
    const work = this.#queue.then(async () => {
      let d = this.#draft();
      let result = await make(d);
      if (d.changes.length + d.events.length > 0) {
        try {
          await this.#write(d);
        } catch (err) {
          try {
            await this.#makeRoom(err);
            d = this.#draft(); // what was worked out before holds what is gone now
            result = await make(d);
            await this.#write(d);
          } catch (last) {
            if ((last as Error).name === "QuotaExceededError") this.host.full(last); // deleting frees nothing soon, and may need room itself
            throw last;
          }
        }
        await this.#fit();
      }
      if (d.stale.size > 0) this.host.stale(d.stale);
      if (d.threads.size > 0) this.host.threads(d.threads);
      return result;
    });
    this.#queue = work.catch(() => {});
    return work;
  }

  #draft(): Draft {
    return new Draft(this.host.state, this.host.store);
  }

  async #write({ changes, events }: Commit): Promise<void> {
    if (!this.host.tabs) throw new ChatdError("closed", "the client was closed");
    await this.host.tabs.commit(changes, { changes, events });
  }

  /** The store is full, mostly: what can be loaded again gives way. */
  async #makeRoom(err: unknown): Promise<void> {
    if ((err as ChatdError).code === "closed" || !this.host.tabs) throw err;
    this.host.log("error", "The store does not take what is to be kept.", err);
    if (!(await this.#prune())) throw err;
  }

  /** Keeps to the bound. What was to be stored is, whether or not this works. */
  async #fit(): Promise<void> {
    const most = this.host.store.maxBytes ?? BYTES_MAX;
    if (this.#bytes() <= most) return;
    try {
      while (this.#bytes() > 0.9 * most && (await this.#prune()));
    } catch (err) {
      if ((err as ChatdError).code !== "closed") this.host.log("error", "The store cannot be pruned.", err);
    }
  }

  #bytes(): number {
    let n = 0;
    for (const r of this.host.state.groups.values()) n += r.bytes;
    return n;
  }

  /** Drops a part of what is kept. false: nothing is left that may go. */
  async #prune(): Promise<boolean> {
    const d = this.#draft();
    if (!(await pruned(d, this.host.shown()))) return false;
    await this.#write(d);
    return true;
  }
}
