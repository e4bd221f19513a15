/**
 * Which tab leads, and how the others follow.
 *
 * The leader holds a Web Lock; the browser gives it to the next in line when a tab closes or crashes. A tab that hangs or
 * is frozen keeps its lock, so a follower that hears nothing of the leader steals it. It does not wait for a beat by timer:
 * Chrome runs the timers of a page that was hidden for 5 minutes once a minute, which a healthy leader would then miss.
 * Events of messages are not held back, so followers ask, and the leader answers from the event:
 * https://developer.chrome.com/blog/timer-throttling-in-chrome-88. A hidden follower's own timers come late, and then so
 * does its takeover; a visible one, where somebody waits, has its 3 s. Chrome does not freeze a page whose Web Lock others
 * wait for (https://developer.chrome.com/blog/freezing-on-energy-saver); phones freeze any.
 *
 * The lock elects, and does not fence: whoever lost it learns so by an event, which may come after others that make it
 * write. What fences is the leader's number: it is taken by a write of its own, and each commit expects it in the
 * transaction that writes. Numbers begin at the time of day, so that they go on rising when the store was deleted.
 */
import { ChatdError } from "./error.js";
import type { Clock, Tabs, TabsListener } from "./parts.js";
import type { Change, Store } from "./store.js";

/** A follower looks whether it has heard of the leader; nothing at QUIET looks in a row: it takes over. */
const LOOK_MS = 1000;
const QUIET = 3;
/** After the store refused to load or to take the leader's number. */
const AGAIN_MS = 1000;

/** Keys of the store: the number of the leader, and of the last commit. */
const LEAD = "lead";
const SEQ = "seq";

type Channel = Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">;

/** What a browser gives. Without locks or a channel this tab shares with nobody, and leads from its start. */
export type TabsEnvironment = {
  locks?: Pick<LockManager, "request"> | undefined;
  channel?: ((name: string) => Channel) | undefined;
  /** Where pagehide, pageshow, freeze, resume and visibilitychange are heard. */
  page?: EventTarget | undefined;
};

const browserTabs = (): TabsEnvironment => ({
  locks: globalThis.navigator?.locks,
  channel: typeof BroadcastChannel === "function" ? (name) => new BroadcastChannel(name) : undefined,
  page: globalThis.window,
});

export type TabsOptions = {
  /** Of the store: the server and the person. */
  name: string;
  store: Store;
  clock: Clock;
  listener: TabsListener;
  /** Default: what the browser gives. {}: this tab leads whatever others do. */
  environment?: TabsEnvironment | undefined;
};

/** What crosses between tabs. n: the leader's number, seq: of its last commit. */
type Message =
  | { t: "ask" }
  /** Whoever has the lock is getting ready. */
  | { t: "wait" }
  | { t: "here"; n: number; seq: number; state: unknown }
  | { t: "commit"; n: number; seq: number; meaning: unknown }
  | { t: "state"; n: number; state: unknown }
  | { t: "nudge"; what: unknown };

/** Tabs that only hear each other: see asking. */
export function createTabs(options: TabsOptions): Omit<Tabs, "ask"> {
  return new SharedTabs(options);
}

class SharedTabs implements Omit<Tabs, "ask"> {
  leads = false;

  readonly #name: string;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #listener: TabsListener;
  readonly #locks: TabsEnvironment["locks"];
  readonly #open: TabsEnvironment["channel"];
  readonly #page: EventTarget | undefined;

  #started = false;
  /** Frozen, or put away by the browser: neither leads nor follows. */
  #paused = false;
  #channel: Channel | undefined;

  /** Rises with each try to get the lock: what belongs to an earlier one is ignored. */
  #round = 0;
  /** Takes this tab out of the line for the lock. */
  #waiting: AbortController | undefined;
  /** Gives the lock back; undefined: this tab does not have it. */
  #release: (() => void) | undefined;

  /** The highest leader's number that is known, and the number of the last commit that memory holds. */
  #n = 0;
  #seq = 0;
  /** Commits, one after another. */
  #commits: Promise<unknown> = Promise.resolve();
  /** What was shared last, by this tab while it leads. */
  #shared: unknown;

  /** Looks at whether the leader is heard. */
  #cancelLook = () => {};
  #heard = false;
  /** Whether the listener was told that another tab leads. */
  #told = false;
  #quiet = 0;

  /** Loads, one after another; only the latest counts. unread: memory is not what the store has. */
  #loads: Promise<unknown> = Promise.resolve();
  #load = 0;
  #loading = false;
  #unread = true;
  /** What was heard meanwhile. */
  #later: Message[] = [];

  constructor({ name, store, clock, listener, environment: { locks, channel, page } = browserTabs() }: TabsOptions) {
    this.#name = `chatd:${name}`;
    this.#store = store;
    this.#clock = clock;
    this.#listener = listener;
    if (locks && channel) [this.#locks, this.#open] = [locks, channel];
    this.#page = page;
  }

  start() {
    if (this.#started) return;
    this.#started = true;
    // freeze and resume do not bubble, so they are heard on their way down.
    for (const [event, fn] of this.#hooks) this.#page?.addEventListener(event, fn, true);
    this.#enter();
  }

  stop() {
    if (!this.#started) return;
    this.#started = false;
    for (const [event, fn] of this.#hooks) this.#page?.removeEventListener(event, fn, true);
    this.leads = false;
    this.#leave();
  }

  commit(changes: readonly Change[], meaning: unknown) {
    const round = this.#round;
    const done = this.#commits.then(() => this.#write(round, changes, meaning));
    this.#commits = done.catch(() => {});
    return done;
  }

  nudge(what: unknown) {
    if (this.leads) this.#listener.nudge(what);
    else this.#post({ t: "nudge", what });
  }

  share(state: unknown) {
    if (!this.leads) return;
    this.#shared = state;
    this.#post({ t: "state", n: this.#n, state });
  }

  // The page.

  /**
   * A page that is put away stays in memory and may come back much later. It must not hold a lock or a socket meanwhile, and
   * browsers keep none that does; then it begins anew. One that was discarded is loaded again: nothing to do.
   */
  readonly #hooks: [string, () => void][] = [
    ["pagehide", () => this.#pause()], ["freeze", () => this.#pause()],
    ["pageshow", () => this.#resume()], ["resume", () => this.#resume()],
    ["visibilitychange", () => this.#ask()],
  ];

  #pause() {
    if (this.#paused) return;
    this.#paused = true;
    this.#lose();
    this.#leave();
  }

  #resume() {
    if (!this.#paused) return;
    this.#paused = false;
    this.#enter();
  }

  #enter() {
    if (this.#open) {
      this.#channel = this.#open(this.#name);
      this.#channel.onmessage = (event: MessageEvent<Message>) => this.#hear(event.data);
    }
    this.#request({ ifAvailable: true });
  }

  /** Another tab leads. */
  #follow() {
    void this.#reload();
    this.#told = false;
    this.#quiet = 0;
    this.#ask();
    this.#queue();
  }

  #leave() {
    this.#round++;
    this.#waiting?.abort();
    this.#unlock();
    this.#cancelLook();
    this.#load++;
    this.#loading = false;
    this.#later = [];
    if (this.#channel) this.#channel.onmessage = null;
    this.#channel?.close();
    this.#channel = undefined;
  }

  #lose() {
    if (!this.leads) return;
    this.leads = false;
    this.#listener.lost();
  }

  // Election.

  #queue() {
    this.#waiting = new AbortController();
    this.#request({ signal: this.#waiting.signal });
  }

  #steal() {
    this.#waiting?.abort();
    this.#request({ steal: true });
  }

  #request(options: LockOptions) {
    const round = ++this.#round;
    const granted = (lock: Lock | null) => {
      if (round !== this.#round) return; // given up before it was granted
      if (!lock) return this.#follow();
      const released = new Promise<void>((release) => { this.#release = release; });
      void this.#takeOver(round);
      return released;
    };
    if (!this.#locks) {
      void granted({ name: this.#name, mode: "exclusive" });
      return;
    }
    this.#locks.request(this.#name, options, granted).catch(() => {
      // Stolen, by a tab that did not hear this one; or no lock can be asked for at the moment.
      this.#stepDown(round, this.#release ? 0 : AGAIN_MS);
    });
  }

  #unlock() {
    this.#release?.();
    this.#release = undefined;
  }

  /** Out of the lead, and to the end of the line. */
  #stepDown(round: number, wait: number) {
    if (round !== this.#round) return;
    this.#round++;
    this.#unlock();
    this.#lose();
    this.#told = false;
    if (!this.#locks && !wait) return; // there is no line: the latest of those who share a store without locks has it
    const again = () => {
      this.#queue();
      this.#heard = true;
      this.#look();
    };
    this.#cancelLook();
    if (wait) this.#cancelLook = this.#clock.after(wait, again);
    else again();
  }

  /** With the lock: fences off who led before, reads what they left, and leads. */
  async #takeOver(round: number) {
    this.#cancelLook();
    this.#post({ t: "wait" });
    let n = 0;
    try {
      for (let fenced = false; !fenced;) {
        const was = await this.#number(LEAD);
        if (round !== this.#round) return;
        n = Math.max((was ?? 0) + 1, this.#clock.now());
        fenced = await this.#store.write([{ put: LEAD, value: n }], { key: LEAD, value: was });
        if (round !== this.#round) return;
      }
      await this.#reload();
    } catch {
      this.#unread = true;
    }
    // Unread: the store failed. Another number: a tab that lost the lock was slow to notice, and fenced this one off.
    if (this.#unread || this.#n !== n) this.#stepDown(round, this.#unread ? AGAIN_MS : 0);
    if (round !== this.#round) return;
    this.leads = true;
    this.#shared = undefined;
    this.#post({ t: "here", n: this.#n, seq: this.#seq, state: undefined });
    this.#listener.lead();
  }

  async #write(round: number, changes: readonly Change[], meaning: unknown) {
    const closed = () => new ChatdError("closed", "Another tab has taken over.");
    if (!this.leads || round !== this.#round) throw closed();
    const n = this.#n;
    const seq = this.#seq + 1;
    const written = await this.#store.write([...changes, { put: SEQ, value: seq }], { key: LEAD, value: n });
    if (!written) this.#stepDown(round, 0);
    // A write that was in time while its tab lost the lead is read by the next leader, and from there comes back as a hole.
    if (round !== this.#round) throw closed();
    this.#seq = seq;
    this.#listener.apply(meaning);
    this.#post({ t: "commit", n, seq, meaning });
  }

  // Following.

  #post(m: Message) {
    this.#channel?.postMessage(m);
  }

  #look() {
    if (this.#release || !this.#channel) return;
    this.#quiet = this.#heard ? 0 : this.#quiet + 1;
    this.#heard = false;
    if (this.#quiet >= QUIET) {
      this.#quiet = 0;
      this.#steal();
    }
    if (this.#unread && !this.#loading) void this.#reload();
    if (this.#quiet > 0) this.#ask();
    else this.#lookLater();
  }

  #ask() {
    if (this.#release || !this.#channel) return;
    this.#post({ t: "ask" });
    this.#lookLater();
  }

  #lookLater() {
    this.#cancelLook();
    // Tabs that look at different times do not all ask, nor all steal.
    this.#cancelLook = this.#clock.after(LOOK_MS * (1 + this.#clock.random() / 10), () => this.#look());
  }

  async #number(key: string) {
    return (await this.#store.get(key)) as number | undefined;
  }

  /** Reads the store anew. Commits that are heard meanwhile are applied after it. */
  async #reload() {
    const load = ++this.#load;
    this.#loading = this.#unread = true;
    const read = this.#loads.then(async () => {
      if (load !== this.#load) return;
      // The position first: what is written while the rest is read comes again as a commit.
      const n = await this.#number(LEAD);
      const seq = await this.#number(SEQ);
      await this.#listener.load();
      if (load !== this.#load) return;
      this.#n = Math.max(this.#n, n ?? 0);
      this.#seq = seq ?? 0;
      this.#unread = false;
    }).catch(() => {}); // still unread: loaded again at the next look
    this.#loads = read;
    await read;
    if (load !== this.#load) return;
    this.#loading = false;
    const later = this.#later;
    this.#later = [];
    for (const m of later) this.#hear(m);
  }

  #hear(m: Message) {
    switch (m.t) {
      case "ask":
        if (this.leads) this.#post({ t: "here", n: this.#n, seq: this.#seq, state: this.#shared });
        else if (this.#release) this.#post({ t: "wait" });
        return;
      case "nudge":
        if (this.leads) this.#listener.nudge(m.what);
        return;
      case "wait":
        this.#heard = true;
        return;
    }
    if (m.n < this.#n) return; // of a leader that does not know yet that it is none
    if (this.leads && m.n > this.#n) this.#stepDown(this.#round, 0);
    if (this.#release) return; // what is about to be loaded has it
    this.#heard = true;
    if (this.#loading) {
      this.#later.push(m);
      return;
    }
    if (this.#unread) return;
    const other = m.n !== this.#n;
    this.#n = m.n;
    if (m.t === "commit" && m.seq === this.#seq + 1) {
      this.#seq = m.seq;
      this.#listener.apply(m.meaning);
    } else if (m.t !== "state" && (m.seq > this.#seq || (other && m.seq !== this.#seq))) {
      void this.#reload(); // commits were missed, or the store begins anew
    }
    if (m.t !== "commit" && m.state !== undefined) this.#listener.state(m.state);
    if (other || !this.#told) {
      this.#told = true;
      this.#listener.led();
    }
  }
}
