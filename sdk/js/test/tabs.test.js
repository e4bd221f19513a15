import { test } from "node:test";
import assert from "node:assert/strict";
import { createTabs } from "../src/tabs.js";
import { Browser, randomOf } from "./browser.js";

const pad = (n) => String(n).padStart(6, "0");

/**
 * What the client does, as small as it can be: the store has a log of lines, and an outbox that every tab writes to and the
 * leader makes lines of. Memory is the lines that this tab knows.
 */
class App {
  static count = 0;
  lines = new Map();
  events = [];

  constructor(tab, environment = tab.environment) {
    this.tab = tab;
    this.id = ++App.count;
    this.tabs = createTabs({ name: "n", store: tab.store, clock: tab.clock, listener: this, environment });
    tab.app = this;
    this.tabs.start();
  }

  async load() {
    const read = new Map();
    // In two parts, so that a commit may come between.
    for (const [from, to] of [["m/", "m/000005"], ["m/000005", "m0"]]) {
      for (const [key, line] of await this.tab.store.range(from, to)) read.set(key, line);
    }
    this.lines = read;
    this.check();
  }

  apply({ key, line }) {
    this.lines.set(key, line);
    this.events.push("apply");
    this.check();
  }

  /** Each line once, and none missing between. */
  check() {
    const keys = [...this.lines.keys()].sort();
    assert.deepEqual(keys, keys.map((_, i) => `m/${pad(i + 1)}`));
  }

  lead() {
    assert.equal(this.tabs.leads, true);
    this.events.push("lead");
    this.period = `${this.id}.${this.events.length}`;
    this.drain();
  }

  lost() {
    assert.equal(this.tabs.leads, false);
    this.events.push("lost");
  }

  led() {
    this.tabs.nudge("outbox");
  }

  nudge() {
    assert.equal(this.tabs.leads, true);
    this.drain();
  }

  state(state) {
    this.shared = state;
  }

  /** By the leader: what waits becomes lines. */
  async drain() {
    this.again = true;
    if (this.draining) return;
    this.draining = true;
    try {
      while (this.again) {
        this.again = false;
        for (const [key, what] of await this.tab.store.range("o/", "o0")) await this.add({ what, period: this.period }, [{ remove: key }]);
      }
    } catch (err) {
      if (err.code !== "closed") throw err;
    } finally {
      this.draining = false;
      if (this.again && this.tabs.leads) this.drain(); // it lost the lead, and has it again
    }
  }

  async add(line, changes = []) {
    const key = `m/${pad(this.lines.size + 1)}`;
    await this.tabs.commit([...changes, { put: key, value: line }], { key, line });
  }

  /** By any tab. */
  async send(what) {
    await this.tab.store.write([{ put: `o/${what}`, value: what }]);
    this.tabs.nudge("outbox");
  }
}

const start = (tabs, seed = 1) => {
  const browser = new Browser(randomOf(seed));
  return { browser, apps: Array.from({ length: tabs }, () => new App(browser.open())) };
};
const leaders = (browser) => browser.tabs.filter((tab) => tab.app.tabs.leads);
const stored = (browser) => [...browser.content].filter(([key]) => key.startsWith("m/")).sort().map(([, line]) => line);

test("one tab leads, and the others see its commits", async () => {
  const { browser, apps } = start(3);
  await browser.run(100);
  assert.equal(leaders(browser).length, 1);
  for (const app of apps) await Promise.all([app.send(`of ${app.id}`), browser.run(50)]);
  assert.equal(stored(browser).length, 3);
  for (const app of apps) assert.deepEqual([...app.lines.values()], stored(browser));
});

test("a tab that closes or crashes is followed at once, and what it had not done is done", async () => {
  for (const end of ["stop", "crash"]) {
    const { browser, apps } = start(3);
    await browser.run(100);
    const [was] = leaders(browser);
    const other = apps.find((app) => app.tab !== was);
    await Promise.all([other.tab.store.write([{ put: "o/1", value: 1 }]), browser.run(1)]);
    if (end === "stop") was.app.tabs.stop();
    else was.crash();
    const before = browser.now;
    await browser.run(100);
    const [leader] = leaders(browser);
    assert.notEqual(leader, was, end);
    assert.ok(browser.now - before < 1000);
    assert.equal(stored(browser).length, 1, end);
    assert.equal(was.app.events.includes("lost"), false, "a tab that is stopped is not told");
  }
});

test("a tab that hangs is followed within 3 to 4 seconds, and does nothing more", async () => {
  const { browser } = start(3);
  await browser.run(100);
  const [was] = leaders(browser);
  // It writes while it loses the lead: the write comes to the store after the other has begun.
  was.hang();
  await browser.run(2800);
  assert.deepEqual(leaders(browser), [was]);
  await browser.run(1500);
  const leader = leaders(browser).find((tab) => tab !== was);
  assert.ok(leader);
  await Promise.all([leader.app.send("a"), browser.run(10)]);
  // It wakes up, and before it learns anything it wants to write.
  const late = was.app.add("too late");
  was.wake();
  await Promise.all([assert.rejects(late, { code: "closed" }), browser.run(100)]);
  assert.deepEqual(leaders(browser), [leader]);
  assert.deepEqual(was.app.events.filter((e) => e !== "apply"), ["lead", "lost"]);
  for (const tab of browser.tabs) assert.deepEqual([...tab.app.lines.values()].map((l) => l.what), ["a"]);
});

test("a healthy leader whose timers do not run keeps the lead", async () => {
  const { browser, apps } = start(3);
  await browser.run(100);
  const [leader] = leaders(browser);
  // As in a page that is hidden for long: messages come, timers do not.
  leader.clock.after = () => () => {};
  browser.events = browser.events.filter((e) => e.tab !== leader || e.due <= browser.now);
  await browser.run(60_000);
  assert.deepEqual(leaders(browser), [leader]);
  assert.deepEqual(apps.flatMap((app) => app.events), ["lead"]);
});

test("idle tabs ask little", async () => {
  const { browser } = start(10);
  await browser.run(5000);
  const count = browser.add.bind(browser);
  const posts = new Set();
  browser.add = (tab, run, due, lane) => {
    if (lane && tab) posts.add(run);
    return count(tab, run, due, lane);
  };
  await browser.run(60_000);
  const asked = posts.size / 9; // a message goes to nine
  assert.ok(asked < 60 * 4, `${asked} messages a minute`);
});

test("a page that is frozen or put away gives the lead up before, and begins anew after", async () => {
  const { browser } = start(2);
  await browser.run(100);
  const [was] = leaders(browser);
  was.freeze();
  assert.deepEqual(was.app.events, ["lead", "lost"]);
  assert.equal([...browser.channels].filter((c) => c.tab === was).length, 0, "it holds no channel");
  await browser.run(100);
  const [leader] = leaders(browser);
  assert.notEqual(leader, was);
  await Promise.all([leader.app.send("a"), browser.run(10)]);
  was.resume();
  await browser.run(100);
  assert.deepEqual(leaders(browser), [leader]);
  assert.deepEqual(was.app.lines, leader.app.lines);
  leader.page.dispatchEvent(new Event("pagehide"));
  assert.equal(leader.app.tabs.leads, false);
  await browser.run(100);
  assert.deepEqual(leaders(browser), [was]);
  leader.page.dispatchEvent(new Event("pageshow"));
  await Promise.all([was.app.send("b"), browser.run(100)]);
  assert.deepEqual(leader.app.lines, was.app.lines);
});

test("who opens later sees what the leader shared last", async () => {
  const { browser, apps } = start(2);
  await browser.run(100);
  const [leader] = leaders(browser);
  for (const app of apps) app.tabs.share({ phase: "live", by: app.id }); // of a follower: nothing
  await browser.run(10);
  const later = new App(browser.open());
  await browser.run(100);
  for (const app of [later, ...apps].filter((a) => a.tab !== leader)) assert.deepEqual(app.shared, { phase: "live", by: leader.app.id });
  assert.equal(leader.app.shared, undefined);
});

test("without locks or a channel a tab leads, and the latest of those who share a store", async () => {
  const browser = new Browser(randomOf(1));
  const [one, two] = [browser.open(), browser.open()];
  new App(one, {});
  await browser.run(100);
  assert.equal(one.app.tabs.leads, true);
  await Promise.all([one.app.send("a"), browser.run(10)]);
  new App(two, { locks: two.environment.locks });
  await browser.run(100);
  await Promise.all([assert.rejects(one.app.add("b"), { code: "closed" }), browser.run(10)]);
  await Promise.all([two.app.send("c"), browser.run(10_000)]);
  assert.equal(one.app.tabs.leads, false);
  assert.deepEqual(stored(browser).map((l) => l.what), ["a", "c"]);
});

test("a store that fails is tried again, by who leads and by who follows", async () => {
  const browser = new Browser(randomOf(1));
  const tab = browser.open();
  tab.failing = true;
  new App(tab);
  await browser.run(5000);
  assert.equal(tab.app.tabs.leads, false);
  tab.failing = false;
  await browser.run(1500);
  assert.equal(tab.app.tabs.leads, true);
  const other = browser.open();
  other.failing = true;
  new App(other);
  await Promise.all([tab.app.send("a"), browser.run(5000)]);
  assert.equal(other.app.lines.size, 0);
  other.failing = false;
  await browser.run(3000);
  assert.equal(other.app.lines.size, 1);
});

test("a tab that comes back nudges again", async () => {
  const { browser } = start(2);
  await browser.run(100);
  const [leader] = leaders(browser);
  const other = browser.tabs.find((tab) => tab !== leader);
  const wrote = other.store.write([{ put: "o/1", value: 1 }]);
  await Promise.all([wrote, browser.run(10)]);
  other.page.dispatchEvent(new Event("pagehide"));
  other.app.tabs.nudge("outbox"); // nobody hears it
  await browser.run(10);
  assert.equal(stored(browser).length, 0);
  other.page.dispatchEvent(new Event("pageshow"));
  await browser.run(100);
  assert.equal(stored(browser).length, 1);
});

test("numbers go on rising when the store was deleted", async () => {
  const { browser, apps } = start(2);
  await browser.run(100);
  await Promise.all([apps[0].send("a"), browser.run(10)]);
  const number = browser.content.get("lead");
  browser.content.clear();
  const [was] = leaders(browser);
  was.app.tabs.stop();
  await browser.run(100);
  assert.ok(browser.content.get("lead") > number);
  await Promise.all([leaders(browser)[0].app.send("b"), browser.run(10)]);
  assert.deepEqual([...leaders(browser)[0].app.lines.values()].map((l) => l.what), ["b"]);
});

/** Tabs open, close, crash, hang, freeze and send, in an order of chance, while everything else happens in one as well. */
async function disorder(seed) {
  const random = randomOf(seed);
  const browser = new Browser(random);
  const pick = (list) => list[Math.floor(random() * list.length)];
  let sent = 0;
  const fenced = []; // who leads, by what the store saw: a number once overtaken never writes again
  const seqs = [];
  browser.wrote = (tab, changes) => {
    for (const c of changes) {
      if (c.put === "seq") seqs.push(c.value);
      if (c.put?.startsWith("m/") && fenced.at(-1) !== c.value.period) {
        assert.ok(!fenced.includes(c.value.period), "a leader writes after another one began");
        fenced.push(c.value.period);
      }
    }
  };
  for (let i = 0; i < 3; i++) new App(browser.open());
  for (let i = 0; i < 400; i++) {
    const tab = pick(browser.tabs);
    const does = random();
    if (does < 0.05 && browser.tabs.length < 6) new App(browser.open());
    else if (does < 0.08 && browser.tabs.length > 1) tab.crash();
    else if (does < 0.10 && browser.tabs.length > 1 && !tab.frozen) {
      tab.app.tabs.stop();
      tab.crash();
    }
    else if (does < 0.14 && !tab.frozen) tab.hang();
    else if (does < 0.18 && tab.frozen && !tab.put) tab.wake();
    else if (does < 0.20 && !tab.frozen) {
      tab.freeze();
      tab.put = true;
    } else if (does < 0.24 && tab.put) {
      tab.put = false;
      tab.resume();
    } else if (does < 0.40 && !tab.frozen) {
      const what = pad(++sent);
      tab.app.send(what);
    } else if (does < 0.45) browser.now += random() * 2000;
    for (let n = Math.floor(random() * 12); n > 0; n--) await browser.step();
  }
  for (const tab of browser.tabs) {
    if (tab.put) tab.resume();
    else tab.wake();
  }
  // What a tab wrote just before it crashed waits for the next nudge.
  pick(browser.tabs).app.send("last");
  await browser.run(20_000);
  assert.equal(leaders(browser).length, 1);
  const lines = stored(browser);
  assert.deepEqual(seqs, seqs.map((_, i) => i + 1));
  assert.equal([...browser.content.keys()].filter((key) => key.startsWith("o/")).length, 0, "nothing waits");
  assert.deepEqual(lines.map((l) => l.what).sort(), [...new Set(lines.map((l) => l.what))].sort(), "nothing twice");
  for (const tab of browser.tabs) assert.deepEqual([...tab.app.lines.values()], lines, "a tab ends with what the store has");
  return { lines: lines.length, leaders: fenced.length };
}

test("in whatever order things happen, one leader writes, and every tab ends with what the store has", async () => {
  const seeds = Number(process.env.SEEDS ?? 50);
  const first = Number(process.env.SEED ?? 1);
  let [lines, changes] = [0, 0];
  for (let seed = first; seed < first + seeds; seed++) {
    try {
      const got = await disorder(seed);
      lines += got.lines;
      changes += got.leaders;
    } catch (err) {
      throw new Error(`SEED=${seed} SEEDS=1: ${err.stack}`, { cause: err });
    }
  }
  // The order of chance is one in which something happens.
  assert.ok(lines > 20 * seeds && changes > 3 * seeds, `${lines} lines by ${changes} leaders`);
});
