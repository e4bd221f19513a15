// A browser of several tabs for tests: locks, channels, a store, timers and freezing. Whatever may happen next, in whatever
// order, is an event in a list; a test picks which one happens.

export class Browser {
  now = 1_000_000;
  tabs = [];
  /** What may happen: {tab, run, due}. tab: the one whose code runs, which waits while it is frozen and never runs once dead. */
  events = [];
  /** Locks by name: who holds it, and who waits. */
  locks = new Map();
  channels = new Set();
  content = new Map();

  /** @param random gives 0 <= x < 1 */
  constructor(random) {
    this.random = random;
  }

  open() {
    const tab = new Tab(this);
    this.tabs.push(tab);
    return tab;
  }

  add(tab, run, due = this.now, lane = undefined) {
    const event = { tab, run, due, lane };
    if (!tab?.dead) this.events.push(event);
    return event;
  }

  /** What may happen now: timers that are due, and of each lane the first. */
  ready() {
    const lanes = new Set();
    return this.events.filter((e) => {
      if (e.lane && lanes.has(e.lane)) return false;
      if (e.lane) lanes.add(e.lane);
      return e.due <= this.now && !(e.tab?.frozen);
    });
  }

  /** One event, or the time until the next one. False: nothing is left. */
  async step() {
    const ready = this.ready();
    if (ready.length === 0) {
      const due = this.events.filter((e) => !e.tab?.frozen && e.due > this.now).map((e) => e.due);
      if (due.length === 0) return false;
      this.now = Math.min(...due);
      return true;
    }
    const event = ready[Math.floor(this.random() * ready.length)];
    this.events.splice(this.events.indexOf(event), 1);
    event.run();
    await settled();
    return true;
  }

  /** All that happens within some time. */
  async run(ms) {
    const end = this.now + ms;
    await settled();
    for (;;) {
      if (this.ready().length === 0 && !this.events.some((e) => !e.tab?.frozen && e.due <= end)) break;
      await this.step();
    }
    this.now = end;
  }

  grant(name) {
    const lock = this.locks.get(name);
    if (!lock || lock.held || lock.queue.length === 0) return;
    this.hold(name, lock, lock.queue.shift());
  }

  hold(name, lock, request) {
    lock.held = request;
    const { tab } = request;
    this.add(tab, () => {
      if (lock.held !== request) return; // stolen before its callback ran: rejected by steal
      Promise.resolve(request.granted({ name })).then((value) => {
        if (lock.held !== request) return;
        lock.held = undefined;
        request.resolve(value);
        this.grant(name);
      });
    });
  }

  request(tab, name, options, granted) {
    const lock = this.locks.get(name) ?? { held: undefined, queue: [] };
    this.locks.set(name, lock);
    return new Promise((resolve, reject) => {
      if (tab.dead) return;
      const request = { tab, granted, resolve, reject };
      if (options.ifAvailable && (lock.held || lock.queue.length > 0)) {
        this.add(tab, () => Promise.resolve(granted(null)).then(resolve));
        return;
      }
      if (options.steal) {
        const robbed = lock.held;
        this.hold(name, lock, request);
        if (robbed) this.add(robbed.tab, () => robbed.reject(new DOMException("stolen", "AbortError")));
        return;
      }
      options.signal?.addEventListener("abort", () => {
        const at = lock.queue.indexOf(request);
        if (at < 0) return;
        lock.queue.splice(at, 1);
        reject(new DOMException("aborted", "AbortError"));
      });
      lock.queue.push(request);
      this.grant(name);
    });
  }
}

class Tab {
  frozen = false;
  dead = false;
  page = new EventTarget();

  constructor(browser) {
    this.browser = browser;
  }

  get environment() {
    const { browser } = this;
    return {
      page: this.page,
      locks: { request: (name, options, granted) => browser.request(this, name, options, granted) },
      channel: (name) => {
        const channel = {
          tab: this, name, onmessage: null,
          postMessage: (data) => {
            if (this.dead) return;
            for (const to of browser.channels) {
              if (to === channel || to.name !== name) continue;
              const copy = structuredClone(data);
              to.lanes ??= new Map();
              if (!to.lanes.has(channel)) to.lanes.set(channel, {});
              browser.add(to.tab, () => to.onmessage?.({ data: copy }), browser.now, to.lanes.get(channel));
            }
          },
          close: () => browser.channels.delete(channel),
        };
        browser.channels.add(channel);
        return channel;
      },
    };
  }

  clock = {
    now: () => this.browser.now,
    random: () => this.browser.random(),
    after: (ms, run) => {
      const event = this.browser.add(this, run, this.browser.now + ms);
      return () => {
        const at = this.browser.events.indexOf(event);
        if (at >= 0) this.browser.events.splice(at, 1);
      };
    },
  };

  /** The store as this tab sees it. Calls take effect in their order, some time after they were made. */
  #asked = {};
  #answered = {};
  store = {
    get: (key) => this.#call(() => structuredClone(this.browser.content.get(key))),
    range: (from, to) => this.#call(() => structuredClone([...this.browser.content].filter(([k]) => k >= from && k < to).sort(([a], [b]) => (a < b ? -1 : 1)))),
    write: (changes, expect) => {
      changes = structuredClone(changes);
      return this.#call(() => {
        const { content } = this.browser;
        if (expect && content.get(expect.key) !== expect.value) return false;
        for (const c of changes) {
          if ("put" in c) content.set(c.put, c.value);
          else content.delete(c.remove);
        }
        this.browser.wrote?.(this, changes);
        return true;
      });
    },
  };

  #call(op) {
    return new Promise((resolve, reject) => {
      if (this.dead) return;
      // A transaction that is under way is finished whether its tab is frozen or gone.
      this.browser.add(undefined, () => {
        if (this.dead && this.browser.random() < 0.5) return;
        if (this.failing) {
          this.browser.add(this, () => reject(new Error("the disk is full")));
          return;
        }
        const value = op();
        this.browser.add(this, () => resolve(value), this.browser.now, this.#answered);
      }, this.browser.now, this.#asked);
    });
  }

  /** Without its knowing: the process hangs, or the system takes the processor away. */
  hang() { this.frozen = true; }
  wake() { this.frozen = false; }

  /** As a browser freezes and resumes a page. */
  freeze() { this.page.dispatchEvent(new Event("freeze")); this.frozen = true; }
  resume() { this.frozen = false; this.browser.add(this, () => this.page.dispatchEvent(new Event("resume"))); }

  crash() {
    this.dead = true;
    const { browser } = this;
    browser.tabs.splice(browser.tabs.indexOf(this), 1);
    browser.events = browser.events.filter((e) => e.tab !== this);
    for (const channel of browser.channels) if (channel.tab === this) browser.channels.delete(channel);
    for (const [name, lock] of browser.locks) {
      lock.queue = lock.queue.filter((r) => r.tab !== this);
      if (lock.held?.tab === this) lock.held = undefined;
      browser.grant(name);
    }
  }
}

/** Until no promise has anything left to do. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The same numbers for the same seed. */
export function randomOf(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
