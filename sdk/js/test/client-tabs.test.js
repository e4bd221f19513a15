// Several tabs of one person: one connection, the same content, and nothing lost when the leading one goes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Group } from "../src/group.js";
import { Timeline } from "../src/timeline.js";
import { Origin, Server, clientOf, quiet } from "./server.js";

const bodies = (t) => t.snapshot().items.map((i) => i.body);

/** Tabs that are open; the first one leads. */
async function opened(count) {
  const server = new Server();
  const origin = new Origin();
  for (let i = 1; i <= 3; i++) server.append("general", { body: `m${i}` });
  const tabs = [];
  for (let i = 0; i < count; i++) {
    const tab = origin.tab();
    const client = clientOf(server, { store: origin.store, user: "alice", tabsEnvironment: tab, tab });
    const events = [];
    client.emit = (name, value) => events.push([name, value.body ?? value]);
    client.connect();
    await server.clock.pass(100);
    await quiet();
    tabs.push({ tab, client, events, group: new Group(client, "general"), timeline: new Timeline(client, "general", "end", 500) });
    await quiet();
  }
  return { server, origin, tabs };
}

test("one tab holds the connection, and all of them show the same", async () => {
  const { server, tabs } = await opened(3);
  const [a, b, c] = tabs;
  assert.equal(server.hellos, 1);
  assert.deepEqual(tabs.map((t) => t.client.state.connection), [{ phase: "live", by: "websocket" }, { phase: "live", by: "tab" }, { phase: "live", by: "tab" }]);
  server.append("general", { body: "live" });
  const { done } = await b.group.send({ body: "by b" });
  await quiet();
  assert.equal((await done).body, "by b");
  for (const t of [a, b, c]) {
    assert.deepEqual(bodies(t.timeline), ["m1", "m2", "m3", "live", "by b"]);
    assert.equal(t.events.filter(([name, value]) => name === "message" && value === "live").length, 1);
  }
  await c.group.read(5);
  await quiet();
  assert.equal(server.read.get("general/alice"), 5);
  assert.deepEqual(tabs.map((t) => t.client.state.snapshot().groups[0].unread), [0, 0, 0]);
  for (const t of tabs) await t.client.close();
});

test("what a follower shows is changed though the leader dropped it", async () => {
  const { server, origin, tabs: [a, b] } = await opened(2);
  a.timeline.close();
  for (let i = 4; i <= 1500; i++) server.append("general", { body: `m${i}` });
  await server.clock.pass(1000);
  await b.timeline.jump(300);
  await quiet(40);
  origin.store.maxBytes = 150_000;
  server.append("general", { body: "last" });
  await quiet(60);
  server.append("general", { kind: "edit", target: 300, body: "edited" });
  await quiet(60);
  const { held } = a.client.state.groups.get("general").log;
  assert.ok(!held.some(([from]) => from === 1), JSON.stringify(held));
  assert.ok(bodies(b.timeline).length >= 60);
  for (const { id, body } of b.timeline.snapshot().items) assert.equal(body, server.group("general").at(id).body);
  for (const t of [a, b]) await t.client.close();
});

test("a follower loads pages that the others get too", async () => {
  const { server, tabs: [a, b] } = await opened(2);
  for (let i = 4; i <= 400; i++) server.append("general", { body: `m${i}` });
  await server.clock.pass(1000);
  await b.timeline.jump(50);
  await quiet(40);
  assert.ok(bodies(b.timeline).includes("m50"));
  assert.deepEqual(a.client.state.groups.get("general").log, b.client.state.groups.get("general").log);
  const calls = server.calls.length;
  await a.timeline.jump(50);
  await quiet(40);
  assert.ok(bodies(a.timeline).includes("m50"));
  assert.equal(server.calls.length, calls, "what is stored is not asked for again");
  await a.client.close();
  await b.client.close();
});

test("the leading tab dies: another one leads, and what was to be sent is sent once", async () => {
  const { server, tabs } = await opened(4);
  let n = 0;
  const want = ["m1", "m2", "m3"];
  for (const dying of tabs.slice(0, 3)) {
    const alive = tabs.filter((t) => !t.tab.dead && t !== dying);
    const sent = [];
    for (const t of alive) {
      for (let i = 0; i < 5; i++) {
        sent.push(await t.group.send({ body: `s${n}` }));
        want.push(`s${n++}`);
      }
    }
    dying.tab.kill(server);
    server.append("general", { body: `while nobody leads ${n}` });
    for (let i = 0; i < 40; i++) await server.clock.pass(500);
    await Promise.all(sent.map((s) => s.done));
    const [leader, ...more] = alive.filter((t) => t.client.leads);
    assert.ok(leader && more.length === 0);
    assert.equal(server.sockets.size, 1);
    const log = server.lines("general").map((m) => m.body);
    assert.deepEqual(log.filter((b) => !b.startsWith("while")), want);
    for (const t of alive) assert.deepEqual(bodies(t.timeline), log);
  }
  await tabs[3].client.close();
});

test("forget ends the client in all tabs and leaves nothing", async () => {
  const { origin, tabs: [a, b] } = await opened(2);
  await b.client.forget();
  await quiet();
  assert.deepEqual([a, b].map((t) => t.client.state.connection), [{ phase: "closed" }, { phase: "closed" }]);
  await origin.store.open("https://chat.example alice");
  assert.deepEqual(await origin.store.range("", "\uffff"), []);
});
