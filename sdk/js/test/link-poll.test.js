// The link where no websocket gets through.
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, settled } from "./around.js";

const empty = { groups: [], inbox: { epoch: "i", from: 8, to: 7, complete: true, items: [] }, left: [], next_poll_s: 0 };
const batch = (id) => ({ group: "g", epoch: "e", from: id, to: id, complete: true, cursor: `e.${id}.m`, messages: [{ id }] });

test("without a welcome in 5 s polling begins, and the websocket is tried on", async () => {
  const a = around();
  a.link.open();
  await a.clock.pass(4999);
  assert.equal(a.syncs.length, 0);
  await a.clock.pass(1);
  assert.equal(a.syncs.length, 1);
  assert.deepEqual(a.syncs[0].json, { after: {}, inbox_after: 7, start: "newest", limit: 500, wait_s: 0, typing: true });
  assert.equal(a.syncs[0].headers.Authorization, "Bearer t1");
  await a.syncs[0].answer(200, { ...empty, groups: [batch(1)] });
  assert.deepEqual(a.ops(), ["welcome", "messages", "inbox"]);
  assert.deepEqual(a.state, { phase: "live", by: "poll" });
  assert.equal(a.link.by, "poll");
  assert.equal(a.syncs[1].json.wait_s, 25);
  await a.clock.pass(6000);
  assert.equal(a.sockets.length, 2);
});

test("two failures in a row begin it sooner, one and a welcome do not", async () => {
  const a = around();
  a.link.open();
  await settled();
  await a.socket.ends();
  await a.clock.pass(750);
  await a.socket.welcomes();
  await a.socket.ends();
  assert.equal(a.syncs.length, 0);
  await a.clock.pass(1250);
  await a.socket.ends();
  assert.equal(a.syncs.length, 0);
  await a.clock.pass(2250);
  await a.socket.ends();
  assert.equal(a.syncs.length, 1);
});

test("a lost websocket that does not come back within 5 s begins it", async () => {
  const a = around();
  await a.live();
  await a.clock.pass(10_000);
  await a.socket.ends();
  await a.clock.pass(4999);
  assert.equal(a.syncs.length, 0);
  await a.clock.pass(1);
  assert.equal(a.syncs.length, 1);
});

test("without any WebSocket it begins at once", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  assert.equal(a.syncs.length, 1);
  assert.deepEqual(a.state, { phase: "connecting" });
  await a.syncs[0].answer(200, empty);
  assert.deepEqual(a.state, { phase: "live", by: "poll" });
  a.link.hurry();
  a.env.online(true);
  await settled();
  assert.equal(a.sockets.length, 0);
});

test("a server that does not know typing is asked without it", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  await a.syncs[0].answer(400, { code: "invalid_request", detail: "unknown field typing" });
  await a.clock.pass(2000);
  assert.equal("typing" in a.syncs[1].json, false);
  await a.syncs[1].answer(200, empty);
  assert.deepEqual(a.state, { phase: "live", by: "poll" });
});

test("each frame is stored before the next one and the next question", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  let done;
  a.rest.stored = () => new Promise((stored) => (done = stored));
  a.syncs[0].answer(200, { ...empty, groups: [batch(1), { ...batch(1), group: "h" }], left: ["old"], errors: [{ group: "x", code: "not_found" }] });
  for (let n = 1; n <= 5; n++) {
    await settled();
    assert.equal(a.rest.frames.length, 1 + n);
    assert.equal(a.syncs.length, 1);
    done();
  }
  await settled();
  assert.deepEqual(a.rest.frames.map((f) => [f.op, f.group]), [
    ["welcome", undefined], ["errors", undefined], ["messages", "g"], ["messages", "h"], ["inbox", undefined], ["left", "old"],
  ]);
  assert.equal(a.syncs.length, 2);
});

test("back to the websocket: its hello has the positions of what the poll brought, which asks nothing meanwhile", async () => {
  const a = around();
  await a.polls();
  await a.syncs[0].answer(200, empty);
  const held = a.syncs[1];
  await a.clock.pass(2000);
  const { socket } = a;
  // An answer is being stored as the websocket opens: the hello waits for it, and the frame after it is left to the websocket.
  let stored;
  a.rest.stored = () => new Promise((done) => (stored = done));
  let place;
  a.rest.place = () => new Promise((done) => (place = done));
  await held.answer(200, { ...empty, groups: [batch(1), batch(2)] });
  await socket.opens();
  assert.deepEqual(a.link.by, "poll", "it says that it is offline for a moment");
  assert.equal(socket.sent.length, 0);
  a.rest.stored = () => Promise.resolve();
  stored();
  await settled();
  a.rest.at = { g: "e.1.m" };
  place();
  await settled();
  assert.deepEqual(socket.of("hello")[0].after, { g: "e.1.m" });
  assert.deepEqual(a.ops(), ["welcome", "inbox", "messages"]);
  assert.equal(a.syncs.length, 2, "asks twice");
  await socket.says({ op: "welcome", user: "alice", groups: {}, ping_s: 25 });
  await socket.says({ ...batch(2), op: "messages" });
  assert.deepEqual(a.state, { phase: "live", by: "websocket" });
  await a.clock.pass(20_000);
  assert.equal(a.syncs.length, 2);
  assert.deepEqual(a.ops(), ["welcome", "inbox", "messages", "welcome", "messages"]);
});

test("a call under way is given up for the hello, and made again if there is no welcome", async () => {
  const a = around();
  await a.polls();
  await a.syncs[0].answer(200, empty);
  await a.clock.pass(2000);
  assert.equal(a.syncs[1].aborted, false);
  await a.socket.opens();
  assert.equal(a.syncs[1].aborted, true);
  await a.clock.pass(4999);
  assert.equal(a.syncs.length, 2);
  await a.clock.pass(1);
  assert.equal(a.syncs.length, 3);
  assert.equal(a.syncs[2].json.wait_s, 25);
  assert.ok(a.rest.states.slice(-1).every((s) => s.phase === "live"));
});

test("acks go with the call, and again with the next one until they were answered", async () => {
  const a = around({ WebSocket: null });
  a.rest.acks = { ack: { g: "e.1.m", h: 4 }, inbox_ack: 3 };
  a.link.open();
  await settled();
  assert.deepEqual([a.syncs[0].json.ack, a.syncs[0].json.inbox_ack], [{ g: "e.1.m", h: 4 }, 3]);
  a.rest.acks = { ack: { g: "e.2.m" } };
  await a.syncs[0].fails();
  await a.clock.pass(1000);
  assert.deepEqual([a.syncs[1].json.ack, a.syncs[1].json.inbox_ack], [{ g: "e.2.m", h: 4 }, 3]);
  await a.syncs[1].answer(200, { ...empty, groups: [batch(1)], errors: [{ group: "h", code: "unavailable" }, { group: "", inbox: true, code: "conflict" }] });
  assert.deepEqual([a.syncs[2].json.ack, a.syncs[2].json.inbox_ack], [{ h: 4 }, undefined]);
  await a.syncs[2].answer(200, { ...empty, groups: [batch(2)] });
  assert.equal(a.syncs[3].json.ack, undefined);
});

test("what a poll could not ack the websocket acks", async () => {
  const a = around();
  a.rest.acks = { ack: { g: "e.1.m" } };
  await a.polls();
  await a.clock.pass(2000);
  await a.socket.welcomes();
  await a.clock.pass(300);
  assert.deepEqual(a.socket.of("ack").map((f) => f.cursor), ["e.1.m"]);
});

test("a failure waits as long as the server wants, and between 0.5 s and a bound that grows to 20 s", async () => {
  const a = around({ WebSocket: null });
  a.clock.chance = 1;
  a.link.open();
  await settled();
  await a.net.last.answer(503, { code: "unavailable", detail: "" }, { "Retry-After": "7" });
  assert.equal(a.state.retryAt - a.clock.now(), 8000);
  await a.clock.pass(8000);
  for (const most of [2000, 4000, 8000, 16_000, 20_000, 20_000]) {
    await a.net.last.fails();
    assert.equal(a.state.retryAt - a.clock.now(), most);
    await a.clock.pass(most - 1);
    const { length } = a.net.calls;
    await a.clock.pass(1);
    assert.equal(a.net.calls.length, length + 1);
  }
  a.clock.chance = 0;
  await a.net.last.fails();
  assert.equal(a.state.retryAt - a.clock.now(), 500);
});

test("an answer that never comes is a failure", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  await a.syncs[0].answer(200, { ...empty, groups: [batch(1)] });
  await a.clock.pass(34_999);
  assert.equal(a.state.phase, "live");
  await a.clock.pass(1);
  assert.equal(a.state.phase, "waiting");
  assert.equal(a.syncs[1].aborted, true);
});

test("a server that does not hold the call is not asked all the time, and one that says when is obeyed", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  await a.syncs[0].answer(200, empty);
  await a.syncs[1].answer(200, empty);
  assert.equal(a.syncs.length, 2);
  await a.clock.pass(1000);
  assert.equal(a.syncs.length, 3);
  await a.syncs[2].answer(200, { ...empty, groups: [batch(1)] });
  assert.equal(a.syncs.length, 4, "waits where there may be more");
  await a.syncs[3].answer(200, { ...empty, groups: [batch(2)], next_poll_s: 9 });
  await a.clock.pass(8999);
  assert.equal(a.syncs.length, 4);
  await a.clock.pass(1);
  assert.equal(a.syncs.length, 5);
});

test("commands go by HTTP, with the answers of the websocket", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  await assert.rejects(a.link.ask({ op: "send", group: "g", body: "hi" }), { code: "offline" });
  await a.syncs[0].answer(200, empty);
  const done = async (frame, status, body) => {
    const asked = a.link.ask(frame);
    await settled();
    const { method, url, json } = a.net.last;
    await a.net.last.answer(status, body);
    return [method, new URL(url).pathname, json, await asked];
  };
  assert.deepEqual(await done({ op: "send", group: "a|b", body: "hi", client_id: "k" }, 201, { id: 4 }),
    ["POST", "/v1/groups/a%7Cb/messages", { body: "hi", client_id: "k" }, { id: 4 }]);
  assert.deepEqual(await done({ op: "send", group: "g", body: "hi", deliver_at: "x" }, 202, { id: "s" }),
    ["POST", "/v1/groups/g/messages", { body: "hi", deliver_at: "x" }, { id: "s" }]);
  assert.deepEqual(await done({ op: "read", group: "g", id: 4 }, 200, { read: 4 }), ["POST", "/v1/groups/g/read", { id: 4 }, { read: 4 }]);
  assert.deepEqual(await done({ op: "inbox_ack", seq: 4 }, 200, { acked: 4 }), ["POST", "/v1/inbox/ack", { seq: 4 }, { acked: 4 }]);
  const { length } = a.net.calls;
  a.link.tell({ op: "focus", group: "g" });
  await settled();
  assert.equal(a.net.calls.length, length);
  a.link.tell({ op: "typing", group: "a|b" });
  await settled();
  assert.deepEqual([a.net.last.method, new URL(a.net.last.url).pathname, a.net.last.json], ["POST", "/v1/groups/a%7Cb/typing", undefined]);
  await a.net.last.answer(403, { code: "muted" }); // nobody waits for it
});

test("an answer brings who types as frames, before the messages that end it", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  await a.syncs[0].answer(200, empty);
  await a.syncs[1].answer(200, { ...empty, groups: [batch(1)], typing: [{ group: "g", user: "bob" }, { group: "h", user: "eve" }] });
  assert.deepEqual(a.rest.frames.slice(2, 4), [{ op: "typing", group: "g", user: "bob" }, { op: "typing", group: "h", user: "eve" }]);
  assert.deepEqual(a.ops().slice(4), ["messages", "inbox"]);
  await a.clock.pass(1000);
  assert.equal(a.syncs.length, 3);
});

test("a restart asks again from the positions: at once, and slower if it did not help", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  await a.syncs[0].answer(200, { ...empty, groups: [batch(1)] });
  a.clock.chance = 1;
  a.rest.stored = async (frame) => frame.op === "messages" && a.link.restart("hole");
  a.rest.at = { g: 1 };
  await a.syncs[1].answer(200, { ...empty, groups: [batch(5), batch(6)] });
  assert.deepEqual(a.ops().slice(3), ["messages"], "hands over what follows a hole");
  assert.deepEqual(a.syncs[2].json.after, { g: 1 });
  await a.syncs[2].answer(200, { ...empty, groups: [batch(5)] });
  await a.clock.pass(1999);
  assert.equal(a.syncs.length, 3);
  await a.clock.pass(1);
  assert.equal(a.syncs.length, 4);
});

test("online and a person's wish poll at once", async () => {
  for (const how of ["online", "hurry"]) {
    const a = around({ WebSocket: null });
    a.link.open();
    await settled();
    await a.net.last.fails();
    const { length } = a.net.calls;
    if (how === "online") a.env.online(true);
    else a.link.hurry();
    await settled();
    assert.equal(a.net.calls.length, length + 1, how);
    await a.net.last.answer(200, empty);
    if (how === "online") a.env.online(true);
    else a.link.hurry();
    await settled();
    assert.equal(a.syncs.at(-2).aborted, how === "online", "only a network that has changed ends a call under way");
  }
});

test("close ends polling", async () => {
  const a = around({ WebSocket: null });
  a.link.open();
  await settled();
  await a.syncs[0].answer(200, empty);
  a.link.close();
  await a.clock.pass(100_000);
  assert.equal(a.syncs[1].aborted, true);
  assert.equal(a.syncs.length, 2);
  assert.deepEqual(a.state, { phase: "closed" });
});
