/**
 * Ties the parts together: the store and the tabs that share it, the link and its frames, the outbox, the lists that are asked for
 * by HTTP. Nothing here is public.
 */
import { alone } from "./alone.js";
import { systemClock } from "./clock.js";
import { Commits } from "./commits.js";
import { ChatdError } from "./error.js";
import { Follows } from "./follows.js";
import { Frames } from "./frames.js";
import { baseOf, createHttp } from "./http.js";
import { createLink } from "./link.js";
import { Lists } from "./lists.js";
import type { Asked, Batch } from "./log.js";
import { Keeping } from "./keeping.js";
import { memoryStore } from "./memory.js";
import type { Injected, Options } from "./options.js";
import { Outbox, newKey } from "./outbox.js";
import { Outcomes } from "./outcomes.js";
import type { Clock, Http, Link, Tabs } from "./parts.js";
import { Reading } from "./reading.js";
import { type Commit, State, type Task, keyOf } from "./state.js";
import type { Store } from "./store.js";
import * as sync from "./sync.js";
import type { Host, View } from "./timeline.js";
import { type Tokens, createTokens } from "./token.js";
import type { ConnectionState } from "./types.js";

type Shared = { connection: ConnectionState; typing: [string, [string, number][]][]; sending: string[] };

export class Client implements Host {
  readonly state = new State();
  readonly clock: Clock;
  readonly http: Http;
  readonly tokens: Tokens;
  link!: Link;
  readonly #options: Options & Injected;
  #tabs: Tabs | null = null;
  readonly #keeping: Keeping;
  readonly #commits: Commits;
  readonly #lists: Lists;
  readonly #follows: Follows;
  readonly #outbox: Outbox;
  readonly #reading: Reading;
  readonly #frames: Frames;
  readonly outcomes: Outcomes;
  /** Rises with each start and stop: what belongs to an earlier one is void. */
  #life = 0;
  #leading = 0;
  #control = new AbortController(); // of the present life
  /** Fulfilled once an earlier life has let go of the store. */
  #over: Promise<void> = Promise.resolve();
  readonly #id = newKey();
  #verified: Promise<void> | null = null;

  /** Timelines that are kept up to date. */
  readonly open = new Set<View>();
  readonly #soon = new Set<View | Client>();
  #told = "";
  readonly listeners = new Map<string, Set<(value: any) => void>>();
  readonly subscribers = new Set<() => void>();
  readonly ready: Promise<void>;
  #isReady!: () => void;
  loaded: Promise<void> | null = null;

  constructor(options: Options & Injected) {
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.tokens = createTokens({ getToken: options.getToken, clock: this.clock, signedOut: (why) => this.#ended("signed-out", why), switched: () => this.#switched(), warn: (text, cause) => this.log("warn", text, cause) });
    this.http = createHttp({ url: options.url, tokens: this.tokens, fetch: options.fetch, clock: this.clock, ended: () => this.#control.signal });
    this.#keeping = new Keeping(options.store ?? memoryStore(), baseOf(options.url), this.http, this.clock);
    this.ready = new Promise((done) => (this.#isReady = done));
    const parts = this.#parts();
    this.#commits = new Commits(parts);
    this.#lists = new Lists(parts);
    this.#follows = new Follows(parts);
    this.#outbox = new Outbox(parts);
    this.#reading = new Reading(parts);
    this.#frames = new Frames(parts, this.#lists);
    this.outcomes = new Outcomes(parts);
    this.state.changed = (group, touched) => {
      for (const t of this.open) if (t.group === group) t.touched(touched);
      this.soon(this);
    };
  }

  get store(): Store {
    return this.#keeping.store;
  }

  log(level: "warn" | "error", text: string, cause?: unknown): void {
    if (this.#options.log) this.#options.log(level, text, cause);
    else console[level](`chatd: ${text}`, ...(cause === undefined ? [] : [cause]));
  }

  // Start and end.

  connect(): void {
    if (this.loaded) return;
    const life = ++this.#life;
    this.tokens.begin();
    this.state.connect({ phase: "connecting" });
    const { signal } = (this.#control = new AbortController());
    const loaded = this.#over.then(() => this.#start(life, signal));
    this.loaded = loaded;
    loaded.catch((err) => {
      if (life === this.#life) this.#ended("closed", err);
    });
  }

  async #start(life: number, signal: AbortSignal): Promise<void> {
    const goesOn = () => life === this.#life;
    if (!goesOn()) return;
    const user = this.#options.user ?? (await this.#keeping.user(signal));
    if (!goesOn()) return;
    this.state.me = user;
    await this.#keeping.open(user, (err) => this.log("warn", "The store cannot be used, so nothing is kept over a reload.", err), this.#options.user === undefined);
    if (!goesOn()) return;
    this.state.stored = this.store.durable;
    this.store.onlost = (cause) => this.#inMemory("was deleted", cause);
    await new Promise<void>((done, fail) => {
      const { tabsEnvironment } = this.#options;
      const tabs = (this.store.tabs ?? alone)({
        name: this.#keeping.name(user), store: this.store, clock: this.clock,
        environment: this.#options.tabs === "separate" ? {} : tabsEnvironment,
        listener: {
          load: async () => {
            await this.state.load(this.store);
            if (life !== this.#life) return;
            for (const t of this.open) t.reloaded();
            this.outcomes.loaded();
            if (this.state.groups.size > 0) this.#isReady();
            done();
          },
          apply: (meaning) => this.#apply(meaning as Commit),
          lead: () => this.#lead(life),
          lost: () => this.#lost(),
          led() {},
          nudge: (what) => this.#nudged(what as any),
          state: (state) => this.#shared(state as Shared),
          serve: (op, args, id) => this.#commits.add(async (d) => {
            const result = await this.ops[op]!(d, ...args);
            if (id) d.tell("answer", { id, result: result ?? null });
            return result;
          }),
        },
      });
      this.#tabs = tabs;
      this.#stopped = () => fail(new ChatdError("closed", "the client was closed"));
      tabs.start();
    });
  }
  #stopped = () => {};

  close(): Promise<void> {
    return this.#ended("closed");
  }

  #ended(phase: "closed" | "signed-out", why?: unknown): Promise<void> {
    const { loaded } = this;
    if (!loaded) return this.#over;
    this.loaded = null;
    this.#life++;
    const failure = why instanceof ChatdError ? why : new ChatdError("closed", "the client was closed");
    if (phase === "signed-out") this.emit("signed-out", failure);
    else if (why) {
      this.log("error", "The client has stopped.", why);
      this.emit("error", failure);
    }
    this.#lost();
    this.#tabs?.stop();
    this.#tabs = null;
    this.tokens.stop();
    this.#verified = null;
    this.#control.abort(failure);
    this.#control = new AbortController();
    this.#stopped();
    this.#frames.end();
    this.outcomes.fail(failure);
    this.state.connect({ phase });
    return (this.#over = loaded.catch(() => {}).then(() => this.#commits.idle()).then(() => this.store.close())
      .catch((err) => this.log("warn", "The store cannot be closed.", err)));
  }

  /** Deletes what is kept on this device, and ends the client in all tabs. */
  async forget(): Promise<void> {
    if (this.#tabs) await this.ask("forget", this.#id).catch(() => {}); // what nobody leads is deleted all the same
    const me = this.state.me || this.#options.user || "";
    const gone = this.#ended("closed").then(() => this.#keeping.destroy(me));
    this.#over = gone.catch(() => {});
    await gone;
    await this.state.clear();
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
      get store() { return client.store; },
      get tabs() { return client.#tabs; },
      get leads() { return client.leads; },
      log: (level: "warn" | "error", text: string, cause: unknown) => this.log(level, text, cause),
      shown: () => {
        const shown = new Map<string, number>();
        for (const { group, from } of this.open) shown.set(group, Math.min(from, shown.get(group) ?? from));
        return shown;
      },
      stale: (groups: Set<string>) => this.#lists.some(groups),
      threads: (groups: Set<string>) => this.#follows.some(groups),
      ready: () => this.#isReady(),
      full: (cause: unknown) => this.#inMemory("is full", cause),
      ack: (group: string) => this.#frames.ack(group),
      event: (name: string, value: unknown) => this.#event(name, value),
      verified: (user?: string) => (user ? this.#isUser(user) : (this.#verified ??= this.#verify())),
      commit: <T>(make: (d: sync.Draft) => T | Promise<T>) => this.#commits.add(make),
      answered: (t: Task, answer: any, message: unknown) => this.#commits.add((d) => sync.answered(d, t, answer, message)),
      refused: (t: Task, error: { code: string; detail: string }) => this.#commits.add((d) => sync.refused(d, t, error)),
      confirmed: (group: string, id: number, answer: any) => {
        this.#lists.read.add(group);
        return this.#commits.add((d) => sync.confirmed(d, group, id, answer));
      },
      confirmedThread: (group: string, root: number, id: number, answer: any) => this.#commits.add((d) => sync.standing(d, group, root, answer, id)),
      acked: (at: unknown) => this.#commits.add((d) => {
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
        acks: () => this.#frames.acks(),
        frame: (f) => (mine() ? this.#frames.take(f) : Promise.resolve()),
        state: (s) => mine() && this.#connected(s),
      },
    });
    this.#told = "";
    this.link.open();
  }

  #lost(): void {
    this.#leading++;
    this.#lists.stop();
    this.#follows.stop();
    this.#outbox.stop();
    this.#reading.stop();
    this.link?.close();
    this.#frames.stop(); // after that: it says the last acks
  }

  #connected(connection: ConnectionState): void {
    this.state.connect(connection);
    if (connection.phase !== "live") return;
    // Only the welcome tells which logs are others by now: there, what waits means something else.
    void this.#frames.greeted.then(() => this.#pump(), () => {});
    this.#lists.soon();
    this.#follows.soon();
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
    this.#frames.entered.clear();
    await this.#commits.idle();
    if (life !== this.#life) throw new ChatdError("closed", "the client was closed");
    if (this.link.by === "poll") this.#lists.all(true);
    return this.#frames.positions();
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

  /** The store is gone, and what is in memory does not fit an empty one; or it is full. It goes on in memory, with what waits to be sent. */
  #inMemory(why: string, cause: unknown): void {
    this.store.onlost = undefined;
    if (!this.loaded) return;
    this.log("warn", `The store ${why}, so nothing is kept over a reload.`, cause);
    const tasks = [...this.state.outbox.values()];
    void this.close().then(() => {
      this.#keeping.store = memoryStore();
      this.connect();
      for (const t of tasks) void this.ask("queue", t).catch(() => {});
    });
  }

  /** Another person has signed in: what waits here is not sent with their token. */
  #switched(): void {
    const again = this.#options.user === undefined;
    const why = new ChatdError("conflict", `The token is not ${this.state.me}'s any more.`);
    void this.#ended("closed", again ? undefined : why).then(() => {
      if (again) this.connect();
    });
  }

  async #isUser(user: string): Promise<void> {
    if (user === this.state.me) return;
    const why = new ChatdError("conflict", `The token is ${user}'s, not ${this.state.me}'s.`);
    const again = this.#options.user === undefined;
    void this.#ended("closed", again ? undefined : why).then(async () => {
      if (!again || this.loaded) return;
      await this.#keeping.remember(user);
      await this.state.clear();
      this.connect();
    });
    throw why;
  }

  // What was stored.

  #apply({ changes, events }: Commit): void {
    this.state.apply(changes);
    for (const [name, value] of events) this.#event(name, value);
    this.#pump();
  }

  #event(name: string, value: any): void {
    switch (name) {
      case "sent":
        return this.outcomes.settle(value.key, (w) => w.done(value.message));
      case "failed":
        this.outcomes.settle(value.key, (w) => w.fail(new ChatdError(value.error.code, value.error.detail)));
        break;
      case "forget":
        if (value !== this.#id) queueMicrotask(() => this.#ended("closed")); // once the other tabs know
        return;
      case "message":
        this.state.type(value.group, value.from, 0);
    }
    this.emit(name, value);
  }

  emit(name: string, value: unknown): void {
    for (const fn of this.listeners.get(name) ?? []) this.call(fn, value, `A listener of "${name}"`);
  }

  /** What an application throws does not keep others from being told. */
  call<T>(fn: (value: T) => void, value: T, what: string): void {
    try {
      fn(value);
    } catch (err) {
      this.log("error", `${what} failed.`, err);
    }
  }

  // Other tabs.

  /** Has whoever leads do something, and waits until it is stored. */
  async ask(op: string, ...args: any[]): Promise<any> {
    if (!this.#tabs) await this.loaded;
    if (!this.#tabs) throw new ChatdError("closed", "the client is not connected");
    try {
      return await this.#tabs.ask(op, args);
    } catch (err) {
      const { name, code, detail } = err as ChatdError;
      throw name === "ChatdError" ? new ChatdError(code, detail) : err;
    }
  }

  #nudged(what: { typing: string } | { focus: string | null; away: boolean } | { hurry: true }): void {
    if ("typing" in what) this.link.tell({ op: "typing", group: what.typing });
    else if ("focus" in what) this.link.tell({ op: "focus", group: what.focus, ...(what.away !== !what.focus && { away: what.away }) });
    else this.link.hurry();
  }

  typing(group: string): void {
    this.#tabs?.nudge({ typing: group });
  }

  focus(group: string | null, away: boolean): void {
    this.#tabs?.nudge({ focus: group, away });
  }

  hurry(): void {
    this.#tabs?.nudge({ hurry: true });
  }

  /** What tabs ask the leader to do. */
  readonly ops: Record<string, (d: sync.Draft, ...args: any[]) => any> = {
    page: (d: sync.Draft, page: Batch, asked: Asked, life: number, again?: Batch[]) => sync.paged(d, page, asked, life, again),
    vanished: (d: sync.Draft, group: string, from: number, to: number, life?: number) => sync.vanished(d, group, from, to, life),
    queue: (d: sync.Draft, task: Task) => d.put(keyOf.task(task.n), task),
    retry: (d: sync.Draft, key: string) => sync.retried(d, key, this.clock.now()),
    discard: (d: sync.Draft, key: string) => sync.discarded(d, key),
    read: (d: sync.Draft, group: string, id: number) => sync.readTo(d, group, id),
    readThread: (d: sync.Draft, group: string, root: number, id: number) => sync.readThreadTo(d, group, root, id),
    standing: (d: sync.Draft, group: string, root: number, answer: any) => sync.standing(d, group, root, answer),
    cursors: (d: sync.Draft, group: string, answer: any) => {
      this.#lists.read.add(group);
      sync.marked(d, group, answer);
    },
    done: (d: sync.Draft, seq: number) => sync.done(d, seq),
    known: (d: sync.Draft, group: any) => {
      this.#lists.memberships++;
      this.#frames.entered.add(group.id);
      sync.described1(d, group);
    },
    gone: (d: sync.Draft, group: string) => {
      this.#lists.memberships++;
      sync.left(d, group);
    },
    opened: (d: sync.Draft, group: string, now: number) => sync.opened(d, group, now),
    forget: (d: sync.Draft, by: string) => d.tell("forget", by),
    answer: (d: sync.Draft, answer: unknown) => d.tell("answer", answer),
  };

  /** Stored here at once, so that it is not lost if nobody leads; then done by the leader. */
  async keep(key: string, value: any, op: "queue" | "read" | "readThread", ...args: any[]): Promise<void> {
    if (!this.loaded) throw new ChatdError("closed", "the client is not connected");
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

  // Timelines.

  async page(group: string, asked: Asked): Promise<boolean> {
    const query = "before" in asked ? `before=${asked.before}` : `after=${asked.after}`;
    const life = this.state.groups.get(group)?.log.life ?? -1;
    const page: Batch = await this.http.request("GET", `/v1/groups/${encodeURIComponent(group)}/messages?${query}&limit=100`);
    const log = this.state.groups.get(group)?.log;
    const ids = log ? await sync.disputed(this.store, log, group, page) : [];
    return this.ask("page", page, asked, life, await Promise.all(ids.map((id) => this.look(group, id))));
  }

  vanished(group: string, from: number, to: number, life: number): Promise<void> {
    return this.ask("vanished", group, from, to, life);
  }

  async peek(group: string, id: number) {
    return (await this.look(group, id)).messages[0];
  }

  /** The log from one id on, as the server has it now. */
  look(group: string, id: number): Promise<Batch> {
    return this.http.request("GET", `/v1/groups/${encodeURIComponent(group)}/messages?after=${id - 1}&limit=1`);
  }

  /** Calls back for each event of this tab; returns how to stop. */
  hear(name: string, fn: (value: any) => void): () => void {
    const all = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, all.add(fn));
    return () => void all.delete(fn);
  }

  opened(timeline: View): void {
    this.open.add(timeline);
    void this.loaded?.then(() => this.ask("opened", timeline.group, this.clock.now())).catch(() => {});
  }

  closed(timeline: View): void {
    this.open.delete(timeline);
  }

  soon(what: View | Client): void {
    if (this.#soon.size === 0) {
      queueMicrotask(() => {
        const all = [...this.#soon];
        this.#soon.clear();
        for (const t of all) if (t !== this) (t as View).told();
        if (!all.includes(this)) return;
        this.#share();
        for (const fn of this.subscribers) this.call(fn, undefined, "A subscriber");
      });
    }
    this.#soon.add(what);
  }
}
