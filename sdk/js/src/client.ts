/**
 * Ties the parts together: the store and the tabs that share it, the link and its frames, the outbox, the lists that are asked for
 * by HTTP. Nothing here is public.
 */
import { systemClock } from "./clock.js";
import { ChatdError } from "./error.js";
import { baseOf, createHttp } from "./http.js";
import { type Environment, createLink } from "./link.js";
import type { Asked, Batch } from "./log.js";
import { memoryStore } from "./memory.js";
import { Outbox } from "./outbox.js";
import type { Clock, Frame, Http, Link, Tabs } from "./parts.js";
import { Reading } from "./reading.js";
import type { WebSocketClass } from "./socket.js";
import { type Commit, State, type Task, keyOf } from "./state.js";
import type { Store } from "./store.js";
import * as sync from "./sync.js";
import { type TabsEnvironment, browserTabs, createTabs } from "./tabs.js";
import type { Host, Timeline } from "./timeline.js";
import { type Tokens, createTokens } from "./token.js";
import type { ConnectionState, GetToken } from "./types.js";

/** How long one sign of typing holds, ms. */
const TYPING_MS = 5000;
/** Counts that may be wrong are asked for after this, so that a burst of changes asks once; longer each time that they still are. */
const REFRESH_MS = 250;
const REFRESH_MAX_MS = 20_000;
/** While polling, nothing tells what was read elsewhere: the list is asked for this often at most. */
const ROUND_MS = 20_000;
/** Another session is tried for groups that the server could not serve. */
const LATER_MS = 30_000;
/** What another tab is asked to do, and whoever leads does not answer. */
const ANSWER_MS = 15_000;
const BYTES_MAX = 50 * 2 ** 20;

export type Options = {
  /** Of the server, with its path if it has one. In a page it may be relative. */
  url: string;
  /** Called whenever a token is needed, once at a time; throw SignedOut to stop. */
  getToken: GetToken;
  /** Who the token is for, if the application knows: what is kept is shown without asking the server who it is. */
  user?: string;
  /** Where messages, positions and what waits to be sent are kept. Default: in memory. */
  store?: Store;
  /** "separate": this tab has a connection of its own, though other tabs share the store. Default: "shared" where the browser can. */
  tabs?: "shared" | "separate";
  fetch?: typeof globalThis.fetch;
  /** For Node before 22 (`import WebSocket from "ws"`). null: long polling only. */
  WebSocket?: WebSocketClass | null;
  /** Told what an operator may want to know. Default: the console. */
  log?: (level: "warn" | "error", text: string, cause?: unknown) => void;
};

/** For tests. */
export type Injected = { clock?: Clock; environment?: Environment; tabsEnvironment?: TabsEnvironment };

type Shared = { connection: ConnectionState; typing: [string, [string, number][]][]; sending: string[] };

/** What one tab asks whoever leads to do. */
type Request = { id: string; op: keyof Client["ops"]; args: any[]; served?: boolean };

export class Client implements Host {
  readonly state = new State();
  readonly clock: Clock;
  readonly http: Http;
  readonly tokens: Tokens;
  store: Store;
  link!: Link;
  readonly #options: Options & Injected;
  readonly #url: string;
  #tabs: Tabs | null = null;
  #outbox!: Outbox;
  #reading!: Reading;
  /** Rises with each start and stop: what belongs to an earlier one is void. */
  #life = 0;
  #leading = 0;
  /** Commits, one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  #verified: Promise<void> | null = null;
  #acks = new Map<string, string | number>();

  #stale = new Set<string>();
  #all = false; // the whole list is to be asked for
  #refreshing: (() => void) | null = null;
  #refreshes = 0; // in a row
  #memberships = 0; // changes
  #roundAt = 0;
  #expiry: (() => void) | null = null;

  readonly #asked = new Map<string, Request & { done(value: any): void; fail(err: unknown): void }>();
  #askedLast = 0;
  /** Timelines that are kept up to date. */
  readonly open = new Set<Timeline>();
  readonly #soon = new Set<Timeline | Client>();
  #told = "";
  readonly listeners = new Map<string, Set<(value: any) => void>>();
  readonly subscribers = new Set<() => void>();
  /** Of messages that are on their way, by key. */
  readonly waits = new Map<string, { done(message: any): void; fail(err: ChatdError): void }>();
  readonly ready: Promise<void>;
  #isReady!: () => void;
  loaded: Promise<void> | null = null;

  constructor(options: Options & Injected) {
    this.#options = options;
    this.#url = baseOf(options.url);
    this.clock = options.clock ?? systemClock;
    this.store = options.store ?? memoryStore();
    this.tokens = createTokens({ getToken: options.getToken, clock: this.clock, signedOut: (why) => this.#ended("signed-out", why) });
    this.http = createHttp({ url: options.url, tokens: this.tokens, fetch: options.fetch, clock: this.clock });
    this.ready = new Promise((done) => (this.#isReady = done));
    this.state.changed = (group, touched) => {
      for (const t of this.open) if (t.group === group) t.touched(touched);
      this.soon(this);
    };
  }

  log(level: "warn" | "error", text: string, cause?: unknown): void {
    if (this.#options.log) this.#options.log(level, text, cause);
    else console[level](`chatd: ${text}`, ...(cause === undefined ? [] : [cause]));
  }

  // Start and end.

  connect(): void {
    if (this.loaded) return;
    const life = ++this.#life;
    this.state.connect({ phase: "connecting" });
    const loaded = this.#start(life);
    this.loaded = loaded;
    loaded.catch((err) => {
      if (life === this.#life) this.#ended("closed", err);
    });
  }

  async #start(life: number): Promise<void> {
    const user = this.#options.user ?? (await this.#whoIsIt(life));
    if (life !== this.#life) return;
    this.state.me = user;
    try {
      await this.#open(user);
    } catch (err) {
      this.log("warn", "The store cannot be used, so nothing is kept over a reload.", err);
      this.store = memoryStore();
      await this.#open(user);
    }
    if (life !== this.#life) return;
    this.state.stored = this.store.durable;
    await new Promise<void>((done, fail) => {
      const { tabsEnvironment } = this.#options;
      const share = this.#options.tabs !== "separate" && this.store.shared;
      const tabs = createTabs({
        name: this.#name(user), store: this.store, clock: this.clock,
        environment: share ? tabsEnvironment ?? browserTabs() : {},
        listener: {
          load: async () => {
            await this.state.load(this.store);
            if (life !== this.#life) return;
            for (const t of this.open) t.reloaded();
            if (this.state.groups.size > 0) this.#isReady();
            done();
          },
          apply: (meaning) => this.#apply(meaning as Commit),
          lead: () => this.#lead(life),
          lost: () => this.#lost(),
          led: () => {
            for (const { id, op, args } of this.#asked.values()) tabs.nudge({ id, op, args });
          },
          nudge: (what) => this.#nudged(what as any),
          state: (state) => this.#shared(state as Shared),
        },
      });
      this.#tabs = tabs;
      this.#outbox = new Outbox(this.#parts());
      this.#reading = new Reading(this.#parts());
      this.#stopped = () => fail(new ChatdError("closed", "the client was closed"));
      tabs.start();
    });
  }
  #stopped = () => {};

  #name(user: string): string {
    return `${this.#url} ${user}`;
  }

  /** The user of the last time, or whom the server takes the token for. */
  async #whoIsIt(life: number): Promise<string> {
    try {
      await this.store.open(this.#url);
      const user = await this.store.get("user");
      if (typeof user === "string") return user;
    } catch {
      // said when the store of the user cannot be opened
    }
    for (let wait = 500; ; wait = Math.min(20_000, 2 * wait)) {
      try {
        return (await this.http.request("GET", "/v1/me")).user;
      } catch (err) {
        const { retryable, retryAfter } = err as ChatdError;
        if (!retryable || life !== this.#life) throw err;
        await new Promise<void>((done) => this.clock.after(Math.max(1000 * retryAfter, wait * (0.5 + this.clock.random() / 2)), done));
      }
    }
  }

  async #open(user: string): Promise<void> {
    if (this.#options.user === undefined) {
      await this.store.open(this.#url);
      await this.store.write([{ put: "user", value: user }]);
    }
    await this.store.open(this.#name(user));
    const meta: any = await this.store.get(keyOf.meta);
    if (meta && meta.v !== 1) await this.store.write([{ removeFrom: "", to: "\uffff" }]);
    if (meta?.v !== 1) await this.store.write([{ put: keyOf.meta, value: { v: 1, me: user } }]);
  }

  close(): Promise<void> {
    return this.#ended("closed");
  }

  async #ended(phase: "closed" | "signed-out", why?: unknown): Promise<void> {
    if (!this.loaded) return;
    this.loaded = null;
    this.#life++;
    const failure = why instanceof ChatdError ? why : new ChatdError("closed", "the client was closed");
    if (phase === "signed-out") this.emit("signed-out", failure);
    else if (why) this.emit("error", failure);
    this.#lost();
    this.#tabs?.stop();
    this.#tabs = null;
    this.tokens.stop();
    this.#verified = null;
    this.#stopped();
    for (const r of [...this.#asked.values(), ...this.waits.values()]) r.fail(failure);
    this.#asked.clear();
    this.waits.clear();
    this.state.connect({ phase });
    await this.#queue;
    await this.store.close();
  }

  /** Deletes what is kept on this device, in all tabs, and ends the client. */
  async forget(): Promise<void> {
    if (this.#tabs) await this.ask("forget");
    await this.#forgotten();
  }

  async #forgotten(): Promise<void> {
    const user = this.state.me;
    await this.#ended("closed");
    await this.store.open(this.#url);
    await this.store.destroy();
    await this.store.open(this.#name(user));
    await this.store.destroy();
    this.state.clear();
  }

  // The lead.

  get leads(): boolean {
    return this.#tabs?.leads ?? false;
  }

  #parts() {
    const client = this;
    return {
      state: this.state, clock: this.clock, http: this.http,
      get link() { return client.link; },
      answered: (t: Task, answer: any, message: unknown) => this.#commit((d) => sync.answered(d, t, answer, message)),
      refused: (t: Task, error: { code: string; detail: string }) => this.#commit((d) => sync.refused(d, t, error)),
      confirmed: (group: string, id: number, answer: any) => this.#commit((d) => sync.confirmed(d, group, id, answer)),
      acked: (at: unknown) => this.#commit((d) => {
        const { ack, ...inbox } = d.s.inbox;
        if (ack === at) d.put(keyOf.inbox, inbox);
      }),
    };
  }

  #lead(life: number): void {
    const leading = ++this.#leading;
    const { WebSocket, environment } = this.#options;
    const mine = () => leading === this.#leading;
    this.link = createLink({
      url: this.#options.url, http: this.http, tokens: this.tokens, clock: this.clock, WebSocket, environment,
      listener: {
        positions: () => this.#positions(life),
        acks: () => {
          const ack = Object.fromEntries(this.#acks);
          this.#acks.clear();
          return { ack };
        },
        frame: (f) => (mine() ? this.#frame(f) : Promise.resolve()),
        state: (s) => mine() && this.#connected(s),
      },
    });
    this.#all = true;
    for (const r of this.#asked.values()) void this.#serve(r);
    this.link.open();
  }

  #lost(): void {
    this.#leading++;
    this.#refreshing?.();
    this.#refreshing = null;
    this.#outbox?.stop();
    this.#reading?.stop();
    this.link?.close();
  }

  #connected(connection: ConnectionState): void {
    this.state.connect(connection);
    if (connection.phase !== "live") return;
    this.#pump();
    this.#refreshSoon();
    for (const t of this.open) t.retry();
  }

  #pump(): void {
    if (!this.leads) return;
    this.#outbox.pump();
    this.#reading.pump();
  }

  /** Up to where everything is stored. */
  async #positions(life: number) {
    if (this.#options.user === undefined) await (this.#verified ??= this.#verify());
    await this.#queue;
    if (life !== this.#life) throw new ChatdError("closed", "the client was closed");
    if (this.link.by === "poll" && this.clock.now() - this.#roundAt > ROUND_MS) {
      this.#roundAt = this.clock.now();
      this.#all = true;
      this.#refreshSoon();
    }
    const after: [string, string | number][] = [];
    for (const [id, { log }] of this.state.groups) if (log.end >= 0) after.push([id, log.cursor || log.end]);
    const { inbox } = this.state;
    return { after: Object.fromEntries(after), ...(inbox.epoch !== "" && { inbox_after: inbox.cursor || inbox.to }) };
  }

  /** The user of the last time may be another one than the token's: their store and their outbox are not touched with it. */
  async #verify(): Promise<void> {
    try {
      await this.#isUser((await this.http.request("GET", "/v1/me")).user);
    } catch (err) {
      this.#verified = null;
      throw err;
    }
  }

  async #isUser(user: string): Promise<void> {
    if (user === this.state.me) return;
    const why = new ChatdError("conflict", `The token is ${user}'s, not ${this.state.me}'s.`);
    const again = this.#options.user === undefined;
    if (again) await this.#remember(user);
    void this.#ended("closed", again ? undefined : why).then(() => {
      if (!again) return;
      this.state.clear();
      this.connect();
    });
    throw why;
  }

  async #remember(user: string): Promise<void> {
    this.#life++; // nothing is read from the store while it is another one
    await this.#queue;
    await this.store.open(this.#url);
    await this.store.write([{ put: "user", value: user }]);
  }

  // Commits.

  /** Has something worked out and stored, after all that came before. Nothing is shown of it before it is stored. */
  #commit<T>(make: (d: sync.Draft) => T | Promise<T>): Promise<T> {
    const work = this.#queue.then(async () => {
      const d = new sync.Draft(this.state, this.store);
      const result = await make(d);
      if (!d.empty) await this.#write(d);
      for (const g of d.stale) this.#stale.add(g);
      if (d.stale.size > 0) this.#refreshSoon();
      return result;
    });
    this.#queue = work.catch(() => {});
    return work;
  }

  async #write(d: sync.Draft): Promise<void> {
    const write = ({ changes, events }: Commit) => this.#tabs ? this.#tabs.commit(changes, { changes, events }) : Promise.reject(new ChatdError("closed", "the client was closed"));
    try {
      await write(d);
    } catch (err) {
      if ((err as ChatdError).code === "closed") throw err;
      this.log("error", "The store does not take what the server sent.", err);
      // Full, mostly: what can be loaded again gives way.
      const room = new sync.Draft(this.state, this.store);
      if (await sync.pruned(room, this.#shown())) await write(room).then(() => write(d));
      else throw err;
    }
    await this.#prune(write);
  }

  #shown(): Set<string> {
    return new Set([...this.open].map((t) => t.group));
  }

  async #prune(write: (d: sync.Draft) => Promise<void>): Promise<void> {
    const most = this.store.maxBytes ?? BYTES_MAX;
    const bytes = () => {
      let n = 0;
      for (const r of this.state.groups.values()) n += r.bytes;
      return n;
    };
    if (bytes() <= most) return;
    while (bytes() > 0.9 * most) {
      const d = new sync.Draft(this.state, this.store);
      if (!(await sync.pruned(d, this.#shown()))) return;
      await write(d);
    }
  }

  #apply({ changes, events }: Commit): void {
    this.state.apply(changes);
    for (const [name, value] of events) this.#event(name, value);
    this.#pump();
  }

  #event(name: string, value: any): void {
    switch (name) {
      case "answer": {
        const r = this.#asked.get(value.id);
        this.#asked.delete(value.id);
        if (value.error) r?.fail(new ChatdError(value.error.code, value.error.detail));
        else r?.done(value.result);
        return;
      }
      case "sent":
        this.waits.get(value.key)?.done(value.message);
        this.waits.delete(value.key);
        return;
      case "failed": {
        const err = new ChatdError(value.error.code, value.error.detail);
        this.waits.get(value.key)?.fail(err);
        this.waits.delete(value.key);
        return this.emit("failed", value);
      }
      case "forget":
        if (!this.leads) void this.#ended("closed");
        return;
      case "message":
        this.state.type(value.group, value.from, 0);
    }
    this.emit(name, value);
  }

  emit(name: string, value: unknown): void {
    for (const fn of this.listeners.get(name) ?? []) {
      try {
        fn(value);
      } catch (err) {
        this.log("error", `A listener of "${name}" failed.`, err);
      }
    }
  }

  // Frames.

  async #frame(f: Frame): Promise<void> {
    switch (f.op) {
      case "messages": {
        const b = f as unknown as Batch;
        if ((await this.#commit((d) => sync.received(d, b))) === "hole") throw new ChatdError("conflict", `Messages of ${b.group} are missing.`);
        const log = this.state.groups.get(b.group)?.log;
        if (log && b.messages.length > 0) this.#acks.set(b.group, log.cursor || log.end);
        return;
      }
      case "inbox":
        return this.#commit((d) => sync.items(d, f as any));
      case "cursor":
        return this.#commit((d) => sync.moved(d, f as any));
      case "typing":
        if (f.user !== this.state.me) this.state.type(f.group, f.user, this.clock.now() + TYPING_MS);
        return this.#expire();
      case "joined":
        this.#memberships++;
        this.#stale.add(f.group);
        return this.#refreshSoon();
      case "left":
        this.#memberships++;
        return this.#commit((d) => sync.left(d, f.group));
      case "welcome":
        if (f.user) await this.#isUser(f.user);
        this.#all = true;
        if (f.groups) await this.#commit((d) => sync.welcomed(d, f));
        return this.#failed(f.errors ?? []);
      case "errors":
        return this.#failed(f.errors);
    }
  }

  async #failed(errors: any[]): Promise<void> {
    if (errors.length === 0) return;
    const { given, later } = await this.#commit((d) => sync.failed(d, errors));
    const leading = this.#leading;
    if (given) this.link.restart("positions"); // a session leaves those groups out
    else if (later) this.clock.after(LATER_MS, () => leading === this.#leading && this.link.restart("groups"));
  }

  #expire(): void {
    this.#expiry ??= this.clock.after(TYPING_MS, () => {
      this.#expiry = null;
      this.state.expire(this.clock.now());
      if (this.state.typing().length > 0) this.#expire();
    });
  }

  // Lists.

  #refreshSoon(): void {
    if (this.#refreshing || !this.leads || !this.link.live || (!this.#all && this.#stale.size === 0)) return;
    const wait = this.#refreshes === 0 ? 0 : Math.min(REFRESH_MAX_MS, REFRESH_MS * 2 ** (this.#refreshes - 1));
    this.#refreshing = this.clock.after(wait, () => {
      const leading = this.#leading;
      this.#refreshes++;
      this.#refresh().catch((err) => {
        if (leading === this.#leading) this.#all = true;
        if (!(err as ChatdError).retryable) this.log("warn", "The groups cannot be listed.", err);
      }).finally(() => {
        if (leading !== this.#leading) return;
        this.#refreshing = null;
        if (!this.#all && this.#stale.size === 0) this.#refreshes = 0;
        this.#refreshSoon();
      });
    });
  }

  /** The groups as the server lists them, latest activity first: all, or as far as counts may be wrong. */
  async #refresh(): Promise<void> {
    const [all, stale, memberships] = [this.#all, this.#stale, this.#memberships];
    this.#all = false;
    this.#stale = new Set();
    let cursor = "";
    do {
      const page = await this.http.request("GET", `/v1/groups?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      if (memberships !== this.#memberships) { // a group entered or left meanwhile: the list may say either
        this.#all = true;
        return;
      }
      await this.#commit((d) => sync.listed(d, page.groups));
      for (const g of page.groups) {
        stale.delete(g.id);
        const log = this.state.groups.get(g.id)?.log;
        if (log && log.epoch === g.epoch && log.end > g.seen) this.#acks.set(g.id, log.cursor || log.end);
      }
      cursor = page.next ?? "";
    } while (cursor && (all || stale.size > 0));
    this.#isReady();
  }

  // Other tabs.

  /** Has whoever leads do something, and waits until it is stored. */
  ask(op: keyof Client["ops"], ...args: any[]): Promise<any> {
    if (!this.#tabs) return Promise.reject(new ChatdError("closed", "the client is not connected"));
    return new Promise((done, fail) => {
      const request: Request = { id: `${this.#askedLast++} ${this.clock.random()}`, op, args };
      if (this.leads) return void this.#do(request).then(done, fail);
      const cancel = this.clock.after(ANSWER_MS, () => {
        this.#asked.delete(request.id);
        fail(new ChatdError("timeout", "no other tab has done it"));
      });
      const end = <T>(then: (value: T) => void) => (value: T) => {
        cancel();
        then(value);
      };
      this.#asked.set(request.id, { ...request, done: end(done), fail: end(fail) });
      this.#tabs!.nudge(request);
    });
  }

  #do({ op, args }: Request): Promise<any> {
    return this.#commit((d) => (this.ops[op] as any)(d, ...args));
  }

  async #serve({ id, op, args }: Request): Promise<void> {
    const own = this.#asked.get(id);
    if (own?.served) return;
    if (own) own.served = true;
    try {
      await this.#commit(async (d) => d.tell("answer", { id, result: (await (this.ops[op] as any)(d, ...args)) ?? null }));
    } catch (err) {
      const { code = "internal", detail = String(err) } = err as ChatdError;
      await this.#commit((d) => d.tell("answer", { id, error: { code, detail } })).catch(() => {});
    }
  }

  #nudged(what: Request | { typing: string } | { hurry: true }): void {
    if ("typing" in what) this.link.tell({ op: "typing", group: what.typing });
    else if ("hurry" in what) this.link.hurry();
    else void this.#serve(what);
  }

  typing(group: string): void {
    this.#tabs?.nudge({ typing: group });
  }

  hurry(): void {
    this.#tabs?.nudge({ hurry: true });
  }

  /** What tabs ask the leader to do. */
  readonly ops = {
    page: (d: sync.Draft, page: Batch, asked: Asked) => sync.paged(d, page, asked),
    vanished: (d: sync.Draft, group: string, from: number, to: number) => sync.vanished(d, group, from, to),
    queue: (d: sync.Draft, task: Task) => d.put(keyOf.task(task.n), task),
    retry: (d: sync.Draft, key: string) => sync.retried(d, key, this.clock.now()),
    discard: (d: sync.Draft, key: string) => sync.discarded(d, key),
    read: (d: sync.Draft, group: string, id: number) => sync.readTo(d, group, id),
    cursors: (d: sync.Draft, group: string, answer: any) => sync.marked(d, group, answer),
    done: (d: sync.Draft, seq: number) => sync.done(d, seq),
    known: (d: sync.Draft, group: any) => {
      this.#memberships++;
      sync.described1(d, group);
    },
    gone: (d: sync.Draft, group: string) => {
      this.#memberships++;
      sync.left(d, group);
    },
    opened: (d: sync.Draft, group: string, now: number) => sync.opened(d, group, now),
    forget: (d: sync.Draft) => d.tell("forget", null),
  };

  /** Stored here at once, so that it is not lost if nobody leads; then done by the leader. */
  async keep(key: string, value: any, op: "queue" | "read", ...args: any[]): Promise<void> {
    await this.loaded;
    if (!this.leads) {
      const changes = [{ put: key, value }];
      await this.store.write(changes);
      if (!this.leads) {
        this.state.apply(changes);
        void this.ask(op, ...args).catch(() => {});
        return;
      }
    }
    await this.ask(op, ...args);
  }

  #share(): void {
    const { connection, sending } = this.state;
    const shared: Shared = { connection, typing: this.state.typing(), sending: [...sending] };
    const text = JSON.stringify(shared);
    if (!this.leads || text === this.#told) return;
    this.#told = text;
    this.#tabs!.share(shared);
  }

  #shared({ connection, typing, sending }: Shared): void {
    this.state.connect(connection.phase === "live" ? { phase: "live", by: "tab" } : connection);
    this.state.share(typing, sending);
    if (connection.phase === "live") for (const t of this.open) t.retry();
  }

  /** The outcome of what is sent under a key. */
  wait(key: string): Promise<any> {
    const done = new Promise((done, fail) => this.waits.set(key, { done, fail }));
    done.catch(() => {}); // whoever does not look at it sees the item
    return done;
  }

  // Timelines.

  async page(group: string, asked: Asked): Promise<boolean> {
    const query = "before" in asked ? `before=${asked.before}` : `after=${asked.after}`;
    const page = await this.http.request("GET", `/v1/groups/${encodeURIComponent(group)}/messages?${query}&limit=100`);
    return this.ask("page", page, asked);
  }

  vanished(group: string, from: number, to: number): Promise<void> {
    return this.ask("vanished", group, from, to);
  }

  async peek(group: string, id: number) {
    return (await this.http.request("GET", `/v1/groups/${encodeURIComponent(group)}/messages?after=${id - 1}&limit=1`)).messages[0];
  }

  opened(timeline: Timeline): void {
    this.open.add(timeline);
    void this.loaded?.then(() => this.ask("opened", timeline.group, this.clock.now())).catch(() => {});
  }

  closed(timeline: Timeline): void {
    this.open.delete(timeline);
  }

  soon(what: Timeline | Client): void {
    if (this.#soon.size === 0) {
      queueMicrotask(() => {
        const all = [...this.#soon];
        this.#soon.clear();
        for (const t of all) if (t !== this) (t as Timeline).told();
        if (!all.includes(this)) return;
        this.#share();
        for (const fn of this.subscribers) fn();
      });
    }
    this.#soon.add(what);
  }
}
