/** Whose store is open. What one person left is never shown to, or sent as, another: each has a store of their own. */
import type { ChatdError } from "./error.js";
import { memoryStore } from "./memory.js";
import type { Clock, Http } from "./parts.js";
import { keyOf } from "./state.js";
import type { Store } from "./store.js";

/** Of what is kept. A store of another version is emptied: all but the outbox can be loaded again. */
const VERSION = 1;

export class Keeping {
  constructor(public store: Store, private readonly url: string, private readonly http: Http, private readonly clock: Clock) {}

  /** Of the store of a user, and of the tabs that share it. */
  name(user: string): string {
    return `${this.url} ${user}`;
  }

  /** The user of the last time, or whom the server takes the token for, however long it takes to reach it unless aborted. */
  async user(signal: AbortSignal): Promise<string> {
    try {
      await this.store.open(this.url);
      const user = await this.store.get("user");
      if (typeof user === "string") return user;
    } catch {
      // said when the store of the user cannot be opened
    }
    for (let wait = 500; ; wait = Math.min(20_000, 2 * wait)) {
      try {
        return (await this.http.request("GET", "/v1/me", { signal })).user;
      } catch (err) {
        const { code, retryable, retryAfter } = err as ChatdError;
        if ((!retryable && code !== "unauthenticated") || signal.aborted) throw err;
        await new Promise<void>((done, fail) => {
          const cancel = this.clock.after(Math.max(1000 * retryAfter, wait * (0.5 + this.clock.random() / 2)), done);
          signal.addEventListener("abort", () => (cancel(), fail(signal.reason)));
        });
      }
    }
  }

  /** Notes who is to be shown the next time. */
  async remember(user: string): Promise<void> {
    await this.store.open(this.url);
    await this.store.write([{ put: "user", value: user }]);
  }

  async open(user: string, warn: (cause: unknown) => void, remember: boolean): Promise<void> {
    try {
      if (remember) await this.remember(user);
      await this.store.open(this.name(user));
      const meta: any = await this.store.get(keyOf.meta);
      if (meta?.v === VERSION) return;
      // Two tabs may find the store new: the second must not empty what the first has begun.
      const expect = meta === undefined ? { key: keyOf.meta, value: undefined } : undefined;
      await this.store.write([{ removeFrom: "", to: "\uffff" }, { put: keyOf.meta, value: { v: VERSION } }], expect);
    } catch (err) {
      warn(err);
      this.store = memoryStore();
      await this.store.open(this.name(user));
    }
  }

  /** @param user "": whoever was shown the last time */
  async destroy(user: string): Promise<void> {
    await this.store.open(this.url);
    user ||= String((await this.store.get("user")) ?? "");
    for (const name of [this.url, this.name(user)]) {
      await this.store.open(name);
      await this.store.destroy();
    }
  }
}
