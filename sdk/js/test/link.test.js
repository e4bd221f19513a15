// The link by websocket.
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, FakeSocket, settled } from "./around.js";

test("a session begins with a hello from the positions", async () => {
  const { link, rest, clock, ...a } = around();
  rest.at = { general: "e.42.m" };
  link.open();
  await settled();
  const socket = FakeSocket.all[0];
  assert.equal(socket.url, "wss://chat.example/v1/ws");
  assert.deepEqual(socket.protocols, ["chatd.v1"]);
  assert.equal(link.live, false);
  await socket.opens();
  assert.deepEqual(socket.sent, [{ op: "hello", token: "t1", after: { general: "e.42.m" }, inbox_after: 7, start: "newest" }]);
  await socket.says({ op: "welcome", user: "alice", groups: {}, ping_s: 25 });
  await socket.says({ op: "messages", group: "general", from: 43, to: 43 });
  assert.deepEqual(a.ops(), ["welcome", "messages"]);
  assert.deepEqual(rest.states, [{ phase: "connecting" }, { phase: "live", by: "websocket" }]);
  assert.equal(link.by, "websocket");
  await clock.pass(20_000);
  assert.equal(a.syncs.length, 0, "polls beside a websocket");
});

test("the wait between attempts is between 0.5 s and a bound that doubles to 20 s", async () => {
  for (const [chance, want] of [[0, Array(9).fill(500)], [1 - 1e-12, [1000, 2000, 4000, 8000, 16_000, 20_000, 20_000, 20_000, 20_000]]]) {
    const a = around();
    a.clock.chance = chance;
    a.link.open();
    await settled();
    for (const [n, most] of want.entries()) {
      await a.socket.ends();
      const attempts = a.sockets.length;
      await a.clock.pass(most - 1);
      assert.equal(a.sockets.length, attempts, `attempt ${n + 2} by chance ${chance} is early`);
      await a.clock.pass(2);
      assert.equal(a.sockets.length, attempts + 1, `attempt ${n + 2} by chance ${chance} is late`);
    }
  }
});

test("only a session that lasted makes the next wait short", async () => {
  const a = around();
  await a.live();
  a.clock.chance = 1;
  for (const want of [1000, 2000, 4000]) {
    assert.equal(await a.waits(), want);
    await a.clock.pass(want);
    await a.socket.welcomes();
    await a.clock.pass(4999);
  }
  await a.clock.pass(1);
  assert.equal(await a.waits(), 1000);
});

test("a server that restarts says how long to stay away", async () => {
  const a = around();
  await a.live();
  a.clock.chance = 0;
  assert.equal(await a.waits(1012, "restarting; retry_after_ms=7300"), 7800);
});

test("a refused hello is said again no sooner than the server wants", async () => {
  const a = around();
  a.link.open();
  await settled();
  await a.socket.opens();
  a.clock.chance = 0;
  await a.socket.says({ op: "error", code: "unavailable", detail: "overload", retry_after_ms: 3000 });
  assert.equal(a.socket.readyState, 3);
  assert.equal(a.state.retryAt, a.clock.now() + 3500);
});

test("a hello that is wrong is not repeated soon", async () => {
  const a = around();
  a.link.open();
  await settled();
  await a.socket.opens();
  a.clock.chance = 0;
  await a.socket.says({ op: "error", code: "invalid_request", detail: "after: want positions" });
  assert.equal(a.state.retryAt, a.clock.now() + 10_500);
});

test("close codes after which another try soon changes nothing", async () => {
  for (const [code, least, most] of [[1006, 500, 1000], [4408, 500, 1000], [4400, 10_500, 11_000], [4413, 10_500, 11_000], [4429, 10_500, 11_000], [4409, 60_500, 121_000]]) {
    for (const [chance, want] of [[0, least], [1, most]]) {
      const a = around();
      await a.live();
      a.clock.chance = chance;
      assert.equal(await a.waits(code), want, `after ${code}`);
    }
  }
});

test("silence for ping_s + 10 s means that the connection is dead", async () => {
  const a = around();
  await a.live();
  const { socket } = a;
  await a.clock.pass(24_999);
  assert.equal(socket.of("ping").length, 0);
  await a.clock.pass(1);
  assert.equal(socket.of("ping").length, 1);
  await a.clock.pass(9999);
  assert.equal(a.state.phase, "live");
  await a.clock.pass(1);
  assert.equal(a.state.phase, "waiting");
  assert.notEqual(socket.closed, null);
  assert.equal(a.sockets.length, 1);
  await a.clock.pass(1000);
  assert.equal(a.sockets.length, 2);
});

test("whatever is heard keeps the connection, and an answer to the question counts", async () => {
  const a = around();
  await a.live();
  for (let i = 0; i < 10; i++) {
    await a.clock.pass(20_000);
    await a.socket.says({ op: "typing", group: "g", user: "bob" });
  }
  assert.equal(a.socket.of("ping").length, 0, "asks where the server speaks");
  for (let i = 0; i < 4; i++) {
    await a.clock.pass(25_000);
    assert.equal(a.socket.of("ping").length, i + 1);
    await a.clock.pass(9000);
    await a.socket.says({ op: "error", ref: "ping", code: "invalid_request", detail: "op: want hello, …" });
  }
  assert.equal(a.sockets.length, 1);
  assert.deepEqual(a.ops().filter((op) => op !== "typing"), ["welcome"]);
});

test("a short ping_s does not keep a dead connection alive", async () => {
  const a = around();
  a.link.open();
  await settled();
  await a.socket.welcomes({ ping_s: 3 });
  await a.clock.pass(13_000);
  assert.equal(a.state.phase, "waiting");
});

test("a handshake or a welcome that never comes is given up", async () => {
  const a = around();
  a.link.open();
  await a.clock.pass(10_000);
  assert.notEqual(a.sockets[0].closed, null);
  await a.clock.pass(1000);
  await a.sockets[1].opens();
  await a.clock.pass(10_000);
  assert.notEqual(a.sockets[1].closed, null);
});

test("an answer that never comes fails, and ends the session", async () => {
  const a = around();
  await a.live();
  const sent = a.link.ask({ op: "send", group: "g", body: "hi", client_id: "k" });
  assert.deepEqual(a.socket.of("send"), [{ op: "send", group: "g", body: "hi", client_id: "k", ref: "1" }]);
  const failed = assert.rejects(sent, { name: "ChatdError", code: "offline", retryable: true });
  await a.clock.pass(15_000);
  await failed;
  assert.equal(a.link.live, false);
});

test("answers go to who asked, by their ref", async () => {
  const a = around();
  await a.live();
  const one = a.link.ask({ op: "send", group: "g", body: "1" });
  const two = assert.rejects(a.link.ask({ op: "send", group: "h", body: "2" }), { code: "rate_limited", retryAfter: 1.5, retryable: true });
  await a.socket.says({ op: "error", ref: "2", code: "rate_limited", detail: "slow down", retry_after_ms: 1500 });
  await a.socket.says({ op: "ok", ref: "1", group: "g", id: 5 });
  assert.equal((await one).id, 5);
  await two;
});

test("a frame that is too long for the server goes by HTTP", async () => {
  const a = around();
  await a.live();
  const refused = assert.rejects(a.link.ask({ op: "send", group: "g", body: "x".repeat(20_000) }), { code: "too_large", retryable: false });
  await settled();
  assert.equal(a.socket.of("send").length, 0);
  assert.equal(a.net.last.url, "https://chat.example/v1/groups/g/messages");
  await a.net.last.answer(413, { code: "too_large", detail: "body: too long" });
  await refused;
});

test("what the last session still says is nobody's", async () => {
  const a = around();
  await a.live();
  const old = a.socket;
  a.link.restart("hole");
  await settled();
  await old.says({ op: "messages", group: "g", from: 9, to: 9 });
  await old.ends();
  assert.deepEqual(a.ops(), ["welcome"]);
  assert.equal(a.sockets.length, 2);
  assert.equal(a.state.phase, "connecting");
});

test("a restart is at once, and one that did not help waits", async () => {
  const a = around();
  await a.live();
  await a.clock.pass(5000);
  a.rest.at = { g: "e.1.x" };
  a.link.restart("hole");
  await settled();
  await a.socket.welcomes();
  assert.deepEqual(a.socket.of("hello")[0].after, { g: "e.1.x" });
  a.clock.chance = 1;
  a.link.restart("hole");
  assert.equal(a.state.retryAt - a.clock.now(), 2000);
});

test("a frame that cannot be stored begins the session again", async () => {
  const a = around();
  await a.live();
  a.rest.stored = () => Promise.reject(new Error("no room"));
  await a.socket.says({ op: "messages", group: "g", from: 1, to: 1 });
  assert.equal(a.socket, a.sockets[1]);
});

test("online, visible and a person's wish connect at once", async () => {
  for (const how of ["online", "visible", "hurry"]) {
    const a = around();
    await a.live();
    await a.clock.pass(6000);
    a.clock.chance = 1;
    await a.socket.ends(4429);
    ({ online: () => a.env.online(true), visible: () => a.env.visible(), hurry: () => a.link.hurry() })[how]();
    await settled();
    assert.equal(a.sockets.length, 2, how);
    await a.socket.welcomes();
    await a.clock.pass(30_000);
    assert.equal(a.sockets.length, 2, `${how}: the wait that was cut short goes on`);
  }
});

test("online gives up an attempt that was begun on the network before", async () => {
  const a = around();
  a.link.open();
  await settled();
  a.env.online(true);
  await settled();
  assert.equal(a.sockets.length, 2);
  assert.notEqual(a.sockets[0].closed, null);
  a.link.hurry();
  await settled();
  assert.equal(a.sockets.length, 2, "a wish gives up an attempt under way");
});

test("a connection that may not have survived is asked at once", async () => {
  for (const how of [(a) => a.env.online(true), (a) => a.env.online(false), (a) => a.env.visible(), (a) => a.link.hurry()]) {
    const dead = around();
    await dead.live();
    how(dead);
    assert.equal(dead.socket.of("ping").length, 1);
    await dead.clock.pass(5000);
    assert.equal(dead.state.phase, "waiting");
    const alive = around();
    await alive.live();
    how(alive);
    await alive.socket.says({ op: "error", ref: "ping", code: "invalid_request", detail: "" });
    await alive.clock.pass(5000);
    assert.equal(alive.state.phase, "live");
  }
});

test("acks of 300 ms go together, and only a later one follows", async () => {
  const a = around();
  await a.live();
  a.rest.acks = { ack: { g: "e.1.x" } };
  await a.socket.says({ op: "messages", group: "g", from: 1, to: 1 });
  await a.clock.pass(200);
  a.rest.acks = { ack: { g: "e.2.x", h: 4 }, inbox_ack: 9 };
  await a.socket.says({ op: "messages", group: "g", from: 2, to: 2 });
  assert.equal(a.socket.of("ack").length, 0);
  await a.clock.pass(100);
  const strip = ({ ref: _, ...f }) => f;
  assert.deepEqual(a.socket.sent.slice(1).map(strip), [{ op: "ack", group: "g", cursor: "e.2.x" }, { op: "ack", group: "h", id: 4 }, { op: "inbox_ack", seq: 9 }]);
  for (const f of a.socket.sent.slice(1)) await a.socket.says({ op: "ok", ref: f.ref });
  await a.clock.pass(10_000);
  assert.equal(a.socket.of("ack").length, 2, "acks what was acked");
});

test("nothing is acked before it is stored", async () => {
  const a = around();
  await a.live();
  await a.clock.pass(1000);
  let stored;
  a.rest.stored = () => new Promise((done) => (stored = done));
  await a.socket.says({ op: "messages", group: "g", from: 1, to: 1 });
  await a.clock.pass(1000);
  a.rest.acks = { ack: { g: "e.1.x" } };
  stored();
  await a.clock.pass(299);
  assert.equal(a.socket.of("ack").length, 0);
  await a.clock.pass(1);
  assert.equal(a.socket.of("ack").length, 1);
});

test("an ack without an answer is sent again by the next session", async () => {
  const a = around();
  await a.live();
  a.rest.acks = { ack: { g: "e.1.x" } };
  await a.clock.pass(300);
  assert.equal(a.socket.of("ack").length, 1);
  await a.socket.ends();
  await a.clock.pass(1000);
  await a.socket.welcomes();
  await a.clock.pass(2000);
  assert.equal(a.socket.of("ack").length, 1);
});

test("an ack that the server cannot take now is sent again later", async () => {
  const a = around();
  await a.live();
  a.rest.acks = { ack: { g: "e.1.x" } };
  await a.clock.pass(300);
  await a.socket.says({ op: "error", ref: "1", code: "rate_limited", detail: "", retry_after_ms: 4000 });
  await a.socket.says({ op: "typing", group: "g", user: "bob" });
  await a.clock.pass(3999);
  assert.equal(a.socket.of("ack").length, 1);
  await a.clock.pass(1);
  assert.equal(a.socket.of("ack").length, 2);
});

test("an ack of what a rollback took begins the session again, any other refusal does not", async () => {
  for (const [code, sessions] of [["conflict", 2], ["out_of_range", 2], ["not_found", 1], ["invalid_request", 1]]) {
    const a = around();
    await a.live();
    a.rest.acks = { ack: { g: "e.1.x" } };
    await a.clock.pass(300);
    await a.socket.says({ op: "error", ref: "1", code, detail: "" });
    assert.equal(a.sockets.length, sessions, code);
  }
});

test("a thousand acks do not come at once", async () => {
  const a = around();
  await a.live();
  a.rest.acks = { ack: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`g${i}`, i])) };
  await a.clock.pass(300);
  assert.equal(a.socket.of("ack").length, 20);
  for (const f of a.socket.of("ack")) await a.socket.says({ op: "ok", ref: f.ref });
  for (let done = 20; done < 1000; done += 20) {
    await a.clock.pass(300);
    for (const f of a.socket.of("ack").slice(done)) await a.socket.says({ op: "ok", ref: f.ref });
  }
  assert.equal(new Set(a.socket.of("ack").map((f) => f.group)).size, 1000);
});

test("close says the last acks, and nothing happens after it", async () => {
  const a = around();
  await a.live();
  a.rest.acks = { ack: { g: "e.1.x" } };
  a.link.close();
  assert.equal(a.socket.of("ack").length, 1);
  assert.equal(a.socket.closed, 1000);
  assert.deepEqual(a.state, { phase: "closed" });
  assert.equal(a.env.online, null);
  await assert.rejects(a.link.ask({ op: "send", group: "g", body: "hi" }), { code: "offline" });
  await a.clock.pass(100_000);
  assert.equal(a.sockets.length, 1);
  a.link.open();
  await settled();
  await a.socket.welcomes();
  assert.equal(a.state.phase, "live");
});

test("a refused token is replaced once at once, then with a growing wait", async () => {
  const a = around();
  a.link.open();
  await settled();
  await a.socket.opens();
  await a.socket.ends(4401, "the token has expired");
  assert.deepEqual(a.asked.map((why) => why.reason), ["start", "refused"]);
  assert.equal(a.sockets.length, 2);
  await a.socket.opens();
  assert.equal(a.socket.of("hello")[0].token, "t2");
  a.clock.chance = 0;
  await a.socket.ends(4401);
  assert.equal(a.asked.length, 2);
  assert.equal(a.state.phase, "waiting");
  await a.clock.pass(5000);
  assert.deepEqual(a.asked.map((why) => why.reason), ["start", "refused", "refused"]);
  assert.equal(a.socket, a.sockets[2]);
  a.clock.chance = 1;
  await a.socket.opens();
  await a.socket.ends(4401);
  await a.clock.pass(3999); // its failures are many by now
  assert.equal(a.sockets.length, 3);
});

test("a token that was renewed meanwhile is taken without asking for another", async () => {
  const a = around();
  await a.live();
  const other = a.tokens.refused("t1");
  await settled();
  assert.equal(await other, "t2");
  assert.deepEqual(a.socket.of("auth").map((f) => f.token), ["t2"]);
  await a.socket.ends(4401); // the renewal was not answered
  assert.equal(a.asked.length, 2);
  await a.socket.opens();
  assert.equal(a.socket.of("hello")[0].token, "t2");
});

test("a user who is refused for good is signed out", async () => {
  const a = around();
  await a.live();
  await a.socket.ends(4403, "the user is disabled");
  assert.deepEqual(a.outs, ["forbidden"]);
  assert.deepEqual(a.state, { phase: "signed-out" });
  await a.clock.pass(100_000);
  assert.equal(a.sockets.length, 1);
  await assert.rejects(a.http.request("GET", "/v1/me"), { code: "forbidden" });
  a.link.open();
  await settled();
  assert.deepEqual(a.state, { phase: "signed-out" });
  a.tokens.begin(); // somebody signs in again
  a.link.open();
  await settled();
  await a.socket.welcomes();
  assert.deepEqual(a.asked.map((why) => why.reason), ["start", "start"]);
  assert.equal(a.state.phase, "live");
});

test("SignedOut ends a live session", async () => {
  const a = around({ answers: ["t1", () => { throw Object.assign(new Error("bye"), { name: "SignedOut" }); }] });
  await a.live();
  await assert.rejects(a.tokens.refused("t1"), { code: "signed_out" });
  assert.deepEqual(a.outs, ["signed_out"]);
  assert.deepEqual(a.state, { phase: "signed-out" });
  assert.equal(a.socket.closed, 1000);
  assert.equal(a.syncs.length, 0);
});

test("a token that cannot be had now delays the session", async () => {
  const a = around({ answers: [() => { throw new Error("no network"); }, "t2"] });
  a.clock.chance = 1;
  a.link.open();
  await settled();
  assert.equal(a.sockets.length, 0);
  assert.equal(a.state.phase, "waiting");
  await a.clock.pass(999);
  assert.equal(a.asked.length, 1);
  await a.clock.pass(1);
  assert.deepEqual(a.asked.map((why) => why.reason), ["start", "start"]);
  assert.equal(a.sockets.length, 1);
});

test("a WebSocket that cannot be made is an attempt in vain", async () => {
  const a = around({ WebSocket: class { constructor() { throw new Error("SecurityError"); } } });
  a.link.open();
  await a.clock.pass(1500);
  assert.equal(a.syncs.length, 1);
});
