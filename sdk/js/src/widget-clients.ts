/** The clients of the elements of a page, and the names of the people that they show. */
import { Chatd } from "./chatd.js";
import { type ChatdError, SignedOut } from "./error.js";
import { indexedDBStore } from "./indexeddb.js";
import type { GetToken } from "./types.js";

/** Names are asked for so many at a time. */
const NAMES_MAX = 100;

export type Shared = {
  readonly chat: Chatd;
  readonly names: Names;
  /** Whether there are groups to show. */
  readonly ready: boolean;
};

type Held = Shared & { ready: boolean; url: string; source: GetToken | string; elements: number };
const clients = new Set<Held>();

/** The client of a server for a source of tokens, a function or an address: all elements with both alike share one. */
export function take(server: string, source: GetToken | string): Shared {
  const url = new URL(server, document.baseURI).href;
  let held = [...clients].find((c) => c.url === url && c.source === source);
  if (!held) {
    const chat = new Chatd({ url, getToken: typeof source === "string" ? tokenFrom(source) : source, store: indexedDBStore() });
    const made: Held = (held = { url, source, elements: 0, chat, names: new Names(chat), ready: false });
    clients.add(made);
    void chat.ready.then(() => {
      made.ready = true;
      made.names.tell();
    });
  }
  held.elements++;
  held.chat.connect(); // also after the last token was refused
  return held;
}

/** Ends the client unless another element takes it in the same task: one that is only moved. */
export function leave(shared: Shared): void {
  const held = shared as Held;
  held.elements--;
  queueMicrotask(() => {
    if (held.elements === 0 && clients.delete(held)) void held.chat.close();
  });
}

const tokenFrom = (address: string): GetToken => async ({ signal }) => {
  const answer = await fetch(address, { method: "POST", signal });
  if (answer.status === 401 || answer.status === 403) throw new SignedOut(`${address} gives no token`);
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  return (await answer.text()).trim();
};

/** What people are called. Who is not known yet is asked for, all in one call. */
export class Names {
  /** Rises when more is known. */
  version = 0;
  readonly listeners = new Set<() => void>();
  readonly #known = new Map<string, string>();
  readonly #wanted = new Set<string>();
  #asking = false;

  constructor(private readonly chat: Chatd) {}

  /** The name of a user, which is the id until another is known. */
  readonly of = (user: string): string => {
    const known = this.#known.get(user);
    if (known === undefined) {
      this.#wanted.add(user);
      if (!this.#asking && this.chat.state.phase === "live") {
        this.#asking = true;
        queueMicrotask(() => void this.#ask());
      }
    }
    return known || user;
  };

  tell(): void {
    for (const fn of this.listeners) fn();
  }

  async #ask(): Promise<void> {
    while (this.#wanted.size > 0) {
      const users = [...this.#wanted].slice(0, NAMES_MAX);
      let found: { user: string; name?: string }[] = [];
      try {
        ({ users: found } = await this.chat.users({ ids: users.join(",") }));
      } catch (err) {
        if ((err as ChatdError).retryable) break; // asked for again when they are shown again
      }
      for (const u of users) {
        this.#known.set(u, "");
        this.#wanted.delete(u);
      }
      for (const { user, name } of found) this.#known.set(user, name ?? "");
      this.version++;
      this.tell();
    }
    this.#asking = false;
  }
}
