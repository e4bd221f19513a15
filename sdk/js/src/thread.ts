import type { Client } from "./client.js";
import { ChatdError } from "./error.js";
import type { Draft, Group, Sending } from "./group.js";
import { Items, isMessage } from "./items.js";
import { type Batch, type Entry, around, changed, deletes, entry, unreplied } from "./log.js";
import { type Touched, keyOf } from "./state.js";
import type { Standing } from "./sync.js";
import type { View } from "./timeline.js";
import type { Json, Message, MessageItem, ThreadState } from "./types.js";

/** Replies of a page. */
const PAGE = 60;
/** Replies that are held at most: those of the other end go. */
const LINES_MAX = 500;
/** Entries of the log that are looked through for replies that are kept here. */
const KEPT_MAX = 2000;

type Page = Standing & { messages: Message[]; has_more: boolean };
type Side = "before" | "after";

/** The replies to one message, kept up to date. They are entries of the group's log, and what waits to be sent is in its outbox. */
export class Thread implements View {
  /** @internal */
  readonly from = Infinity;
  readonly group: string;
  #root: Entry | null = null;
  #lines: Entry[] = [];
  /** Whether there are more replies below the first line, and above the last one. */
  #more = { before: true, after: false };
  #loading: Side | "" = "before";
  #error: ThreadState["error"] = null;
  /** Replies of which it is not known which reactions they have counted: the log is asked before another one counts. */
  #rough = new Set<number>();
  /** Rises when what is held is void. */
  #life = 0;
  #work: Promise<unknown> = Promise.resolve();
  #items = new Items();
  #rootItems = new Items();
  #state: ThreadState | null = null;
  #listeners = new Set<() => void>();
  #ends: (() => void)[];
  #closed = false;

  /** @internal */
  constructor(private readonly client: Client, private readonly of: Group, readonly root: number, private at: "end" | number) {
    this.group = of.id;
    this.#ends = [
      client.hear("message", (m: Message) => m.group === this.group && this.#came(m)),
      client.hear("gap", (gap) => gap.group === this.group && this.reloaded()),
    ];
    client.opened(this);
    this.#open();
  }

  /** Calls back after each change, at most once a task; returns how to stop. */
  subscribe = (fn: () => void): (() => void) => {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  };

  /** What is shown now. The same object until something changes; items that did not change are the same objects too. */
  snapshot = (): ThreadState => (this.#state ??= this.#look());

  /** Loads older replies. Rejects with a ChatdError; `error` shows it too. */
  loadBefore(): Promise<void> {
    return this.#do("before", () => this.#page({ before: this.#lines[0]?.id ?? Number.MAX_SAFE_INTEGER }));
  }

  /** Loads newer replies. */
  loadAfter(): Promise<void> {
    return this.#do("after", () => this.#page({ after: this.#lines.at(-1)?.id ?? 0 }));
  }

  /** Shows another part of it. */
  jump(at: "end" | number): Promise<void> {
    this.at = at;
    return this.#open();
  }

  /** Sends a reply, as `group.send` does; its edits, deletion and reactions are the group's. */
  send(message: Omit<Draft, "thread">): Promise<Sending> {
    return this.of.send({ ...message, thread: this.root });
  }

  /** Says that the person has read the replies up to id, by default all of them. Works offline. Of a thread that they do not follow nothing is kept. */
  async read(id = this.#lines.at(-1)?.id ?? 0): Promise<void> {
    const known = this.client.state.groups.get(this.group)?.threads;
    const read = known ? known[this.root]?.[0] ?? -1 : 0;
    if (read < 0 || id <= read) return;
    await this.client.keep(keyOf.readThread(this.group, this.root), id, "readThread", this.group, this.root, id);
  }

  /** Follows the thread, with all of it read, or not any longer. */
  async follow(following = true): Promise<void> {
    await this.#stands(await this.client.http.request("PUT", this.#path, { body: { following } as Json }));
  }

  /** Ends it: it is not kept up to date any more. */
  close(): void {
    this.#closed = true;
    for (const end of this.#ends) end();
    this.#listeners.clear();
    this.client.closed(this);
  }

  get #path(): string {
    return `/v1/groups/${encodeURIComponent(this.group)}/threads/${this.root}`;
  }

  #open(): Promise<void> {
    const life = ++this.#life;
    return this.#do("before", async () => {
      await this.client.loaded;
      if (life !== this.#life) return;
      await this.#kept(life);
      if (life !== this.#life) return;
      await this.#askRoot(life);
      const { at } = this;
      await this.#page({ before: at === "end" ? Number.MAX_SAFE_INTEGER : at }, at === "end" ? "newest" : "elsewhere");
      if (at !== "end" && life === this.#life) await this.#page({ after: at - 1 });
    });
  }

  /** Shows what this device has: the replies that came since the root, or since what is held begins. */
  async #kept(life: number): Promise<void> {
    const log = this.client.state.groups.get(this.group)?.log;
    const range = log && around(log.held, log.end);
    if (!range || this.at !== "end") return;
    const { store } = this.client;
    const [root, found] = await Promise.all([
      around(log.held, this.root) && store.get(keyOf.entry(this.group, this.root)),
      store.range(keyOf.entry(this.group, Math.max(range[0], this.root + 1)), keyOf.entry(this.group, range[1] + 1), { limit: KEPT_MAX, reverse: true }),
    ]);
    if (life !== this.#life) return;
    if (root) this.#root = root as unknown as Entry;
    const lines = found.map(([, e]) => e as unknown as Entry).filter((e) => e.thread === this.root).reverse();
    if (lines.length === 0) return;
    this.#lines = lines.slice(-LINES_MAX);
    this.#more = { before: range[0] > this.root + 1 || found.length === KEPT_MAX, after: false };
    this.#change();
  }

  async #askRoot(life: number): Promise<void> {
    if (!this.#root) {
      const page = await this.client.look(this.group, this.root);
      const [m] = page.messages;
      if (life === this.#life && m?.id === this.root && !this.#root) this.#root = entry(m, page.last ?? page.to);
    }
    if (!this.#root || this.#root.deleted_at) throw new ChatdError("not_found", "The message is no longer there.");
  }

  /** newest, elsewhere: what is held is given up for the page, but for what came live behind it. */
  async #page(asked: { before: number } | { after: number }, anew?: "newest" | "elsewhere"): Promise<void> {
    const life = this.#life;
    const { state, store, http } = this.client;
    const since = state.groups.get(this.group)?.log.end ?? -1;
    const page: Page = await http.request("GET", `${this.#path}/messages?limit=${PAGE}&${"before" in asked ? `before=${asked.before}` : `after=${asked.after}`}`);
    if (life !== this.#life) return;
    const held = state.groups.get(this.group)?.log.held ?? [];
    const lines = new Map<number, Entry>();
    for (const m of page.messages) {
      // What is held of the log has the changes up to a known id.
      const kept = around(held, m.id) && ((await store.get(keyOf.entry(this.group, m.id))) as unknown as Entry | undefined);
      if (!kept) this.#rough.add(m.id);
      lines.set(m.id, kept || entry(m, since));
    }
    if (life !== this.#life) return;
    const first = page.messages[0]?.id ?? 0;
    const back = "before" in asked;
    // What came live meanwhile is newer than the page.
    for (const e of this.#lines) if (!anew || (anew === "newest" && e.id >= first)) lines.set(e.id, e);
    this.#lines = [...lines.values()].sort((a, b) => a.id - b.id);
    if (anew) this.#more = { before: page.has_more, after: anew === "elsewhere" };
    else this.#more[back ? "before" : "after"] = page.has_more;
    if (this.#lines.length > LINES_MAX) {
      this.#more[back ? "after" : "before"] = true;
      this.#lines = back ? this.#lines.slice(0, LINES_MAX) : this.#lines.slice(-LINES_MAX);
    }
    if (page.following !== undefined) void this.#stands(page).catch(() => {});
    this.#change();
  }

  #stands(t: Standing): Promise<void> {
    return this.client.ask("standing", this.group, this.root, { id: t.id, read: t.read, unread: t.unread, following: t.following, last_id: t.last_id });
  }

  /** Runs one thing after the other. */
  #do(side: Side, run: () => Promise<void>): Promise<void> {
    const work = this.#work.catch(() => {}).then(async () => {
      if (this.#closed) return;
      [this.#loading, this.#error] = [side, null];
      this.#change();
      try {
        await run();
      } catch (err) {
        const { code, detail } = err instanceof ChatdError ? err : new ChatdError("internal", String(err));
        this.#error = { code, detail };
        if (code === "not_found") [this.#root, this.#lines, this.#more] = [null, [], { before: false, after: false }];
        throw err;
      } finally {
        this.#loading = "";
        this.#change();
      }
    });
    work.catch(() => {});
    this.#work = work;
    return work;
  }

  #put(e: Entry): void {
    const i = this.#lines.findLastIndex((l) => l.id <= e.id);
    if (this.#lines[i]?.id === e.id) this.#lines = this.#lines.with(i, e);
    else if (i < 0 ? this.#lines.length > 0 && this.#more.before : i === this.#lines.length - 1 && this.#more.after) return; // not next to what is shown
    else this.#lines = this.#lines.toSpliced(i + 1, 0, e);
    this.#rough.delete(e.id);
    if (this.#lines.length > LINES_MAX && !this.#more.after) [this.#lines, this.#more.before] = [this.#lines.slice(-LINES_MAX), true];
  }

  /** @internal */
  touched(t: Touched | null): void {
    if (t?.dropped) return this.reloaded();
    for (const e of t?.entries ?? []) {
      if (e.id === this.root) this.#root = e;
      else if (e.thread === this.root) this.#put(e);
    }
    if (this.#root?.deleted_at) this.#gone();
    this.#change();
  }

  #gone(): void {
    this.#error = { code: "not_found", detail: "The message is no longer there." };
    [this.#root, this.#lines, this.#more] = [null, [], { before: false, after: false }];
  }

  /** A change of what the log does not hold here; what it holds comes with the commit. */
  #came(m: Message): void {
    const { me } = this.client.state;
    if (this.#root && (m.target === this.root || m.thread === this.root)) {
      this.#root = changed(this.#root, m, me);
      if (this.#root.deleted_at) this.#gone();
    }
    const e = m.target !== undefined && this.#lines.find((l) => l.id === m.target);
    if (e && this.#root && deletes(m)) this.#root = unreplied(this.#root, m, this.#lines.findLast((l) => l !== e && !l.deleted_at));
    if (e && e.at < m.id) {
      if (m.kind === "reaction" && this.#rough.has(e.id)) void this.#sharpen(e.id);
      else this.#put(changed(e, m, me));
    }
    this.#change();
  }

  /** Reads a reply as it is in the log. */
  async #sharpen(id: number): Promise<void> {
    const page: Batch = await this.client.look(this.group, id).catch(() => ({ messages: [] }) as never);
    const [m] = page.messages;
    const e = this.#lines.find((l) => l.id === id);
    if (m?.id !== id || !e || !this.#rough.has(id)) return;
    this.#put(entry(m, page.last ?? page.to));
    this.#change();
  }

  /** @internal */
  retry(): void {
    if (this.#error && this.#error.code !== "not_found") void this.#open().catch(() => {});
  }

  /** @internal */
  reloaded(): void {
    this.#rough.clear();
    void this.#open().catch(() => {});
  }

  #change(): void {
    this.#state = null;
    if (!this.#closed) this.client.soon(this);
  }

  /** @internal */
  told(): void {
    for (const fn of this.#listeners) this.client.call(fn, undefined, "A subscriber of a thread");
  }

  #look(): ThreadState {
    const { state } = this.client;
    const all = state.tasks(this.group);
    const tasks = all.filter((t) => t.thread === this.root || !isMessage(t));
    const items = this.#items.make(this.#lines, [], tasks, state.sending, state.me, !this.#more.after) as MessageItem[];
    const [root = null] = this.#root ? (this.#rootItems.make([this.#root], [], all.filter((t) => !isMessage(t)), state.sending, state.me, false) as MessageItem[]) : [];
    const [read, unread] = state.groups.get(this.group)?.threads?.[this.root] ?? [];
    return {
      root, items, error: this.#error,
      before: this.#loading === "before" ? "loading" : this.#more.before && !this.#error && "more",
      after: this.#loading === "after" ? "loading" : this.#more.after && "more",
      follows: read === undefined ? null : { following: read >= 0, read, unread: unread! },
    };
  }
}
