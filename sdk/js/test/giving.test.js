// What a bot is given: each entry until it has taken it.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { fileStore } from "../src/file.js";
import { giving } from "../src/giving.js";
import { memoryStore } from "../src/memory.js";
import { Server, clientOf, quiet } from "./server.js";

/** A bot that is connected. taken: what it was given, in turn. */
async function bot(server, store, take) {
  const taken = [];
  store.tabs = giving(async (m) => {
    taken.push(m.body ?? m.kind);
    await take?.(m);
  });
  const client = clientOf(server, { store });
  client.connect();
  await quiet(40);
  return { client, taken };
}

const never = () => new Promise(() => {});
const left = async (store) => (await store.range("e/", "e0")).map(([, m]) => m.body ?? m.kind);

/** Runs with a console that is silent, and returns what was said. */
function silent(t) {
  const said = [];
  mock.method(console, "error", (text) => said.push(text));
  t.after(() => mock.restoreAll());
  return said;
}

test("entries of every kind are given in their order, once each, and nothing is left", async () => {
  const server = new Server();
  const store = memoryStore();
  server.append("general", { body: "a" });
  const { client, taken } = await bot(server, store, () => quiet(3));
  server.append("general", { kind: "reaction", target: 1, emoji: "x" });
  server.append("general", { body: "b" });
  await quiet(60);
  assert.deepEqual(taken, ["a", "reaction", "b"]);
  assert.deepEqual(await left(store), []);
  await client.close();
  const again = await bot(server, store);
  assert.deepEqual(again.taken, []);
  await again.client.close();
});

test("what was not taken when the program ended is given again, from there on", async () => {
  const server = new Server();
  const store = memoryStore();
  for (const body of ["a", "b", "c"]) server.append("general", { body });
  const first = await bot(server, store, (m) => (m.body === "b" ? never() : undefined));
  assert.deepEqual(first.taken, ["a", "b"]);
  await first.client.close();
  const second = await bot(server, store);
  assert.deepEqual(second.taken, ["b", "c"]);
  assert.deepEqual(await left(store), []);
  await second.client.close();
});

test("a program that dies right after a write has missed nothing", async () => {
  const server = new Server();
  const store = memoryStore();
  server.append("general", { body: "a" });
  const write = store.write;
  let dead = false;
  store.write = async (changes) => {
    if (dead) return never();
    await write(changes);
    dead = changes.some((c) => c.put?.startsWith("m/"));
    return dead ? never() : true;
  };
  const first = await bot(server, store);
  assert.deepEqual(first.taken, []);
  assert.equal((await store.get("g/general")).log.end, 1, "it does not come again");
  store.write = write;
  const second = await bot(server, store);
  assert.deepEqual(second.taken, ["a"]);
  await second.client.close();
});

test("what is refused is given again after a while, and holds up its group alone", async (t) => {
  const said = silent(t);
  const server = new Server();
  const store = memoryStore();
  for (const body of ["a", "b"]) server.append("general", { body });
  server.append("other", { body: "o" });
  let refusals = 2;
  const { client, taken } = await bot(server, store, async (m) => {
    if (m.body === "a" && refusals-- > 0) throw new Error("not now");
  });
  assert.deepEqual(taken, ["a", "o"]);
  await server.clock.pass(400);
  assert.deepEqual(taken, ["a", "o"]);
  await server.clock.pass(20_000);
  assert.deepEqual(taken, ["a", "o", "a", "a", "b"]);
  assert.deepEqual(said, Array(2).fill("chatd: A message was not taken, and is given again."));
  await client.close();
});

test("nothing runs any more after close, also while one that was refused waits", async (t) => {
  silent(t);
  const server = new Server();
  const store = memoryStore();
  server.append("general", { body: "a" });
  const { client, taken } = await bot(server, store, () => Promise.reject(new Error("no")));
  await client.close();
  assert.deepEqual(server.clock.timers, []);
  assert.deepEqual([taken, await left(store)], [["a"], ["a"]]);
});

test("what came under the id of one that was being taken is given too", async () => {
  const server = new Server();
  const store = memoryStore();
  server.append("general", { body: "a" });
  server.append("general", { body: "b" });
  let go;
  const { client, taken } = await bot(server, store, (m) => m.body === "b" && new Promise((done) => (go = done)));
  server.rollBack("general", 1);
  server.append("general", { body: "other b" });
  await server.clock.pass(30_000);
  await quiet(40);
  go();
  await quiet(40);
  assert.equal(taken.at(-1), "other b");
  assert.deepEqual(await left(store), []);
  await client.close();
});

test("a store of files gives what came to the next process", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "chatd-giving-"));
  t.after(() => rm(dir, { recursive: true }));
  const server = new Server();
  server.append("general", { body: "a" });
  for (const message of [never, () => {}]) {
    const given = new Promise((done) => {
      const client = clientOf(server, { store: fileStore(dir, { message: (m) => (done([m, client]), message()) }) });
      client.connect();
    });
    const tick = setInterval(() => server.clock.pass(100), 1);
    const [m, client] = await given;
    clearInterval(tick);
    assert.equal(m.body, "a");
    await client.close();
  }
});
