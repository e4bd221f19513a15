/** How threads count while messages come: whose replies are unread, in those that the person follows. Pure but for what it notes. */
import type { Entry } from "./log.js";
import type { Threads } from "./state.js";
import type { Message } from "./types.js";

/** Threads that are remembered of a group: where the person has read all, the oldest go. */
const THREADS_MAX = 300;

export const unreadIn = (threads: Threads): number => Object.values(threads).reduce((n, [, unread]) => n + unread, 0);

type Noted = { readonly s: { readonly me: string }; readonly threads: Set<string> };

/** What the messages of one batch do to the threads of a group. */
export class Threading {
  #now: Record<string, readonly [number, number]> | undefined;
  #changed = false;
  #replied: number | undefined;
  /** Deletions of replies, which count in no group. */
  readonly gone = new Set<Message>();

  /** @param was what is known; undefined: it has to be asked for once something counts */
  constructor(was: Threads | undefined, private readonly d: Noted, private readonly group: string) {
    this.#now = was && { ...was };
  }

  #set(root: number, read: number, unread: number): void {
    this.#now![root] = [read, unread];
    this.#changed = true;
  }

  /** A reply has come. */
  reply(m: Message, root: Entry | undefined): void {
    const { me } = this.d.s;
    this.#replied = m.id;
    const was = this.#now?.[m.thread!];
    if (!this.#now || (!was && !root)) this.d.threads.add(this.group); // whether it is followed is not known here
    if (!this.#now) return;
    // Who wrote the root follows from the first reply on.
    const begins = !was && root?.from === me && !root.replies && m.from !== me;
    if (m.deleted_at) return begins ? this.#set(m.thread!, root.id, 0) : undefined;
    const [read, unread] = was ?? [-1, 0];
    if (m.from === me) {
      if (unread === 0) this.#set(m.thread!, m.id, 0); // as the server does
    } else if (read >= 0) this.#set(m.thread!, read, unread + 1);
    else if (m.mentions?.includes(me)) this.#set(m.thread!, m.id - 1, 1);
    else if (!was) this.#set(m.thread!, begins ? root.id : -1, begins ? 1 : 0);
  }

  /** A message was deleted: a reply, a root, or neither. */
  deleted(m: Message, e: Entry | undefined): void {
    const id = m.target!;
    if (this.#now?.[id]) {
      delete this.#now[id];
      this.#changed = true;
      this.#replied = m.id;
    }
    const [read = -1, unread = 0] = (e?.thread && this.#now?.[e.thread]) || [];
    if (e?.thread) {
      this.#replied = m.id;
      this.gone.add(m);
    }
    if (!e && this.#now && unreadIn(this.#now) > 0) this.d.threads.add(this.group);
    if (e && unread > 0 && e.id > read && e.from !== this.d.s.me && !e.deleted_at) this.#set(e.thread!, read, unread - 1);
  }

  /** What of the group's record is another. */
  get result(): { threads?: Threads; replied?: number } {
    const all = Object.entries(this.#now ?? {});
    const threads = all.length <= THREADS_MAX ? this.#now : Object.fromEntries([...all.filter(([, t]) => t[1] === 0).slice(100), ...all.filter(([, t]) => t[1] > 0)]);
    return { ...(this.#changed && threads && { threads }), ...(this.#replied !== undefined && { replied: this.#replied }) };
  }
}
