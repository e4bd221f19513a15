import { ChatdError } from "./error.js";
import { Items } from "./items.js";
import { type Asked, type Entry, type Log, around, covered } from "./log.js";
import { type GroupRecord, type State, type Touched, keyOf, unknownGroup } from "./state.js";
import type { Store } from "./store.js";
import type { GapItem, TimelineState } from "./types.js";

/** Lines of a page, and how many of the first one come after the message that was asked for. */
const PAGE = 60;
const AFTER = 30;

/** A page may come too late, by what comes live, but not again and again. */
const overtaken = () => new ChatdError("conflict", "The log changed while it was loaded.");

/** Where a timeline begins: at the first unread message, at the end, at a message, or at the first one since a time. */
export type At = "unread" | "end" | number | Date;

/** What a timeline asks of the client. */
export type Host = {
  readonly state: State;
  readonly store: Store;
  /** Loads a page and resolves once it is stored; false: it came too late. */
  page(group: string, asked: Asked): Promise<boolean>;
  /** Notes that the server no longer has from..to. */
  vanished(group: string, from: number, to: number, life: number): Promise<void>;
  /** The first entry of the log from id on, as the server says. */
  peek(group: string, id: number): Promise<{ id: number; sent_at: string } | undefined>;
  opened(view: View): void;
  closed(view: View): void;
  /** Calls something of the application. */
  call<T>(fn: (value: T) => void, value: T, what: string): void;
  /** Has told() called soon, once. */
  soon(view: View): void;
};

/** A part of a group that is shown, and kept up to date. */
export interface View {
  readonly group: string;
  /** The first id that is shown. */
  readonly from: number;
  /** Something of its group was committed. */
  touched(t: Touched | null): void;
  /** The server is reached again. */
  retry(): void;
  /** Everything was read from the store anew. */
  reloaded(): void;
  /** Tells who subscribed. */
  told(): void;
}

/** A part of a group's log, kept up to date: at most `max` lines in a row, from which more is loaded on either side. */
export class Timeline implements View {
  /** The ids that are covered; from is to + 1 while none are. Every line of them is in lines. */
  #from = 1;
  #to = 0;
  #lines: Entry[] = [];
  /** Whether it reaches the end and goes on with what comes live. */
  #tail = false;
  #epoch = "";
  #at: At = "end";
  /** Whether it was asked for before the group was known: its place is looked for again then. */
  #early = false;
  #unread: TimelineState["unread"] = null;
  #loading: { before?: boolean; after?: boolean } = {};
  #error: TimelineState["error"] = null;
  /** What commits bring while the store is read, which is newer than what the read finds; null: nothing is read. */
  #meanwhile: Map<number, Entry> | null = null;
  /** Rises when what is held was dropped: a read that began before is void. */
  #life = 0;
  /** Set while the window is rebuilt: until then what was shown stays. */
  #quiet = false;
  #work: Promise<unknown> = Promise.resolve();
  #items = new Items();
  #state: TimelineState | null = null;
  #listeners = new Set<() => void>();
  #closed = false;

  /** @internal */
  constructor(private readonly host: Host, readonly group: string, at: At, private readonly max: number) {
    host.opened(this);
    void this.jump(at).catch(() => {});
  }

  /** Calls back after each change, at most once a task; returns how to stop. */
  subscribe = (fn: () => void): (() => void) => {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  };

  /** What is shown now. The same object until something changes; items that did not change are the same objects too. */
  snapshot = (): TimelineState => {
    if (this.#state && (!this.#dirty || this.#quiet)) return this.#state;
    this.#dirty = false;
    return (this.#state = this.#look());
  };
  #dirty = true;

  /** Loads about 60 older lines. Rejects with a ChatdError where they are not held and cannot be had; `error` shows it too. */
  loadBefore(): Promise<void> {
    return this.#load("before");
  }

  /** Loads about 60 newer lines. */
  loadAfter(): Promise<void> {
    return this.#load("after");
  }

  /**
   * Asks the server for what a gap hides: the oldest 100 of it that there are, which then stand where they belong. What is left is a
   * gap; load it as well. false: the server has none of it. Rejects with a ChatdError, which `error` does not show.
   */
  async loadGap({ from, to }: Pick<GapItem, "from" | "to">): Promise<boolean> {
    for (let tries = 0; to && tries < 3; tries++) {
      if (await this.host.page(this.group, { after: from - 1 })) return around(this.#record.log.gaps, from)?.[1] !== to;
    }
    if (to) throw overtaken();
    return false;
  }

  /** Shows another part of the log, "end" and "unread" as at the beginning. What was shown stays until that is loaded. */
  jump(at: At): Promise<void> {
    this.#at = at;
    return this.#do("before", () => this.#rebuild(() => this.#show(at)));
  }

  /** Keeps showing what was shown until that is done. */
  async #rebuild(run: () => Promise<void>): Promise<void> {
    this.#quiet = this.#state !== null;
    try {
      await run();
    } finally {
      this.#quiet = false;
    }
  }

  /** Ends it: it is not kept up to date any more. */
  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    this.host.closed(this);
  }

  /** @internal The first id that is shown. */
  get from(): number {
    return this.#from;
  }

  /** @internal Whether what was shown stays until something else is loaded. */
  get quiet(): boolean {
    return this.#quiet;
  }

  get #record(): GroupRecord {
    return this.host.state.groups.get(this.group) ?? unknownGroup(this.group);
  }

  /** The last id that there is, as far as is known. */
  #tip({ log, g }: GroupRecord): number {
    return log.end >= 0 ? log.end : g.last;
  }

  #load(side: "before" | "after"): Promise<void> {
    if (this.#loading[side]) return this.#work as Promise<void>;
    return this.#do(side, () => this.#page(side === "before" ? -1 : 1, PAGE));
  }

  /** Runs one thing after the other. */
  #do(side: "before" | "after", run: () => Promise<void>): Promise<void> {
    const work = this.#work.catch(() => {}).then(async () => {
      if (this.#closed) return;
      this.#loading = { [side]: true };
      this.#error = null;
      this.#change();
      try {
        await run();
      } catch (err) {
        const { code, detail } = err instanceof ChatdError ? err : new ChatdError("internal", String(err));
        this.#error = { code, detail };
        throw err;
      } finally {
        this.#loading = {};
        this.#meanwhile = null;
        this.#change();
      }
    });
    work.catch(() => {});
    this.#work = work;
    return work;
  }

  async #show(at: At): Promise<void> {
    const record = this.#record;
    const { g } = record;
    const tip = this.#tip(record);
    this.#early = !record.known;
    let id: number;
    this.#unread = null;
    if (at instanceof Date) id = await this.#since(at);
    else if (at === "unread") id = g.unread > 0 ? Math.max(g.read, g.first - 1) + 1 : Infinity;
    else id = at === "end" ? Infinity : at;
    await this.#around(Math.min(tip, id + AFTER), PAGE);
    if (at !== "unread" || g.unread === 0) return;
    const first = () => this.#lines.find((e) => e.id >= id && e.from !== this.host.state.me && e.kind !== "notice" && !e.deleted_at);
    while (!first() && !this.#tail && this.#lines.length < this.max) await this.#page(1, PAGE);
    const e = first();
    if (e) this.#unread = { id: e.id, count: g.unread };
  }

  /** Begins anew with the lines that end at an id. */
  async #around(to: number, count: number): Promise<void> {
    [this.#from, this.#to, this.#lines, this.#epoch] = [to + 1, to, [], this.#record.log.epoch];
    this.#tail = to >= this.#tip(this.#record);
    await this.#page(-1, count);
    if (!this.#tail && this.#lines.length < count) await this.#page(1, count - this.#lines.length);
  }

  /** The id of the first entry since a time. */
  async #since(time: Date): Promise<number> {
    const record = this.#record;
    let [low, high] = [Math.max(record.log.floor, record.g.first), this.#tip(record) + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      const range = around(record.log.held, middle);
      const held = range && ((await this.host.store.range(keyOf.entry(this.group, middle), keyOf.entry(this.group, range[1] + 1), { limit: 1 }))[0]?.[1] as unknown as Entry);
      const m = held ?? (await this.host.peek(this.group, middle));
      if (m && Date.parse(m.sent_at) < time.getTime()) low = Math.max(m.id, middle) + 1;
      else high = middle;
    }
    return low;
  }

  /** Covers more ids on one side, until that are `want` more lines or there are no more. */
  async #page(by: -1 | 1, want: number): Promise<void> {
    let [asked, tries] = [0, 0];
    while (want > 0) {
      const record = this.#record;
      const { log } = record;
      const next = by < 0 ? this.#from - 1 : this.#to + 1;
      const tip = this.#tip(record);
      const range = around(log.held, next);
      if (next < 1 || (by > 0 && next > tip)) {
        this.#tail = this.#to >= tip;
        break;
      }
      if (!range && next > tip) { // it comes live: the end was not where it seemed to be
        if (this.#lines.length === 0) this.#to = tip;
        this.#from = tip + 1;
        continue;
      }
      const gap = around(log.gaps, next);
      const below = log.held.findLast((r) => r[1] < next);
      const life = this.#life;
      const found = range && (await this.#read(by < 0 ? range[0] : next, by < 0 ? next : range[1], want, by < 0));
      if (life !== this.#life) return;
      if (range && found) {
        const all = found.length < want;
        const end = found.at(-1)?.id ?? 0;
        const lines = found.filter((e) => !e.thread); // replies are shown in their threads
        want -= lines.length;
        if (by < 0) {
          this.#lines = [...lines.reverse(), ...this.#lines];
          this.#from = all ? range[0] : end;
        } else {
          this.#lines = [...this.#lines, ...lines];
          this.#to = all ? range[1] : end;
        }
        this.#shorten(by > 0);
      } else if (gap) {
        if (by < 0) this.#from = gap[0];
        else this.#to = gap[1];
      } else if (by < 0 && next < Math.max(log.floor, record.g.first)) {
        if (!below) break;
        await this.host.vanished(this.group, below[1] + 1, next, log.life);
        if (!around(this.#record.log.gaps, next)) break;
      } else {
        tries = asked === next ? tries + 1 : 0;
        asked = next;
        if (tries > 2) throw overtaken();
        await this.host.page(this.group, by < 0 ? { before: next + 1 } : { after: next - 1 });
        if (life !== this.#life) return;
      }
      this.#tail = this.#to >= this.#tip(this.#record);
    }
  }

  /**
   * Reads lines of the store that it has all of; what commits bring meanwhile is newer. undefined: it has not, because another tab
   * has pruned it and this one is yet to hear of that.
   */
  async #read(from: number, to: number, limit: number, reverse: boolean): Promise<Entry[] | undefined> {
    const { store } = this.host;
    const meanwhile = (this.#meanwhile = new Map());
    const found = (await store.range(keyOf.entry(this.group, from), keyOf.entry(this.group, to + 1), { limit, reverse })).map(([, e]) => e as unknown as Entry);
    const kept = ((await store.get(keyOf.group(this.group))) as unknown as GroupRecord | undefined)?.log;
    if (found.length === limit) reverse ? (from = found.at(-1)!.id) : (to = found.at(-1)!.id);
    if (!kept || !((around(kept.held, from)?.[1] ?? 0) >= to)) return;
    return found.map((e) => meanwhile.get(e.id) ?? e);
  }

  /** Drops what is too much, the oldest or the newest. */
  #shorten(oldest: boolean): void {
    if (this.#lines.length <= this.max) return;
    if (oldest) {
      this.#lines = this.#lines.slice(-this.max);
      this.#from = this.#lines[0]!.id;
    } else {
      this.#lines = this.#lines.slice(0, this.max);
      this.#to = this.#lines.at(-1)!.id;
      this.#tail = false;
    }
  }

  /** @internal Something of its group was committed. */
  touched(t: Touched | null): void {
    const record = this.#record;
    if (t) this.#take(t, record.log);
    if (this.#early && record.known) {
      this.#early = false;
      void this.#do("before", () => this.#rebuild(() => this.#show(this.#at))).catch(() => {});
    } else if (this.#tail && this.#to < this.#tip(record)) {
      this.#tail = false; // it does not reach the end without a hole: more became known of the group than came live
      void this.#do("after", () => this.#rebuild(() => this.#around(this.#tip(this.#record), PAGE))).catch(() => {});
    }
    this.#change();
  }

  /** @internal The server is reached again. */
  retry(): void {
    if (this.#error && this.#lines.length === 0) void this.jump(this.#at).catch(() => {});
  }

  /** @internal Everything was read from the store anew. */
  reloaded(): void {
    this.#life++;
    const count = Math.max(PAGE, this.#lines.length);
    void this.#do("before", () => this.#rebuild(() => {
      if (this.#early && this.#record.known) return this.#show(this.#at);
      const tip = this.#tip(this.#record);
      return this.#around(this.#tail || this.#epoch !== this.#record.log.epoch ? tip : Math.min(tip, this.#to), count);
    })).catch(() => {});
  }

  #take({ entries, dropped, below }: Touched, log: Log): void {
    if (dropped) {
      this.#life++;
      [this.#from, this.#to, this.#lines, this.#tail, this.#unread, this.#error, this.#epoch] = [0, -1, [], true, null, null, log.epoch];
      [this.#quiet, this.#state] = [false, null]; // what was shown is of another life
    }
    this.#epoch ||= log.epoch;
    // Changes of what is not held would not be seen: it goes, or is loaded again where nothing else is shown.
    if (below > this.#to && this.#lines.length > 0) {
      void this.#do("before", () => this.#rebuild(() => this.#around(this.#to, PAGE))).catch(() => {});
    } else if (below > this.#from) {
      this.#lines = this.#lines.filter((e) => e.id >= below);
      this.#from = Math.min(below, this.#to + 1);
    }
    const before = this.#to;
    if (this.#tail && log.end > before && (this.#from > before || covered(log, before + 1, log.end))) {
      if (this.#from > before) this.#from = Math.max(this.#from, around(log.held, log.end)?.[0] ?? log.end + 1);
      this.#to = log.end;
    }
    let lines: Entry[] | null = null; // copied when something changes
    let hidden = 0; // the first of those that a gap hid
    for (const e of entries) {
      this.#meanwhile?.set(e.id, e);
      if (e.thread || e.id < this.#from || e.id > this.#to) continue;
      lines ??= [...this.#lines];
      const i = e.id > before ? -1 : lines.findLastIndex((l) => l.id === e.id);
      if (i >= 0) lines[i] = e;
      else {
        lines.push(e); // new ones of a commit are in order
        if (e.id <= before) hidden ||= e.id;
      }
    }
    if (lines) this.#lines = lines;
    if (hidden) { // what is far from the gap goes
      lines!.sort((a, b) => a.id - b.id);
      this.#shorten(hidden > lines![lines!.length >> 1]!.id);
    } else if (this.#tail) this.#shorten(true);
  }

  #change(): void {
    this.#dirty = true;
    if (!this.#closed) this.host.soon(this);
  }

  /** @internal */
  told(): void {
    if (this.#quiet) return;
    for (const fn of this.#listeners) this.host.call(fn, undefined, "A subscriber of a timeline");
  }

  #look(): TimelineState {
    const record = this.#record;
    const { log, g } = record;
    const { state } = this.host;
    const [from, to] = [this.#from, this.#to];
    const gaps = log.gaps.filter((r) => r[0] >= from && r[0] <= to + 1 && from <= to);
    const items = this.#items.make(this.#lines, gaps, state.tasks(this.group).filter((t) => !t.thread), state.sending, state.me, this.#tail);
    const more = from > 1 && (from > Math.max(log.floor, g.first) || log.held.some((r) => r[1] < from));
    return {
      items, unread: this.#unread, error: this.#error,
      before: this.#loading.before ? "loading" : more && "more",
      after: this.#loading.after ? "loading" : !this.#tail && to < this.#tip(record) && "more",
    };
  }
}
