// The token of a client, and HTTP with it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, jwt, settled } from "./around.js";

const seconds = (clock) => Math.floor(clock.now() / 1000);
/** A getToken whose answers the test gives. */
function later() {
  const waiting = [];
  return { waiting, answers: [(why) => new Promise((done, fail) => waiting.push({ ...why, done, fail }))] };
}

test("the application is asked once at a time, for whatever reasons", async () => {
  const { waiting, answers } = later();
  const a = around({ answers });
  const all = [a.tokens.get(), a.tokens.get(), a.tokens.refused("old")];
  await settled();
  assert.deepEqual(waiting.map((w) => w.reason), ["start"]);
  waiting[0].done("t1");
  assert.deepEqual(await Promise.all(all), ["t1", "t1", "t1"]);
  assert.equal(await a.tokens.get(), "t1");
  const again = [a.tokens.refused("t1"), a.tokens.refused("t1"), a.tokens.get()];
  await settled();
  assert.deepEqual(waiting.map((w) => w.reason), ["start", "refused"]);
  waiting[1].done("t2");
  assert.deepEqual(await Promise.all(again), ["t2", "t2", "t2"]);
});

test("a token is renewed over the open socket a minute before its end, or a tenth of its life", async () => {
  for (const [life, early] of [[3600, 60], [300, 30]]) {
    const { waiting, answers } = later();
    const a = around({ answers });
    const first = jwt({ exp: seconds(a.clock) + life });
    a.link.open();
    await settled();
    waiting[0].done(first);
    await settled();
    await a.socket.welcomes();
    for (let t = 0; t < life - early; t += 10) {
      assert.equal(waiting.length, 1, `asks ${life - t} s before the end`);
      await a.socket.says({ op: "typing", group: "g", user: "bob" });
      await a.clock.pass(10_000);
    }
    assert.deepEqual(waiting.map((w) => w.reason), ["start", "expiring"]);
    assert.equal(await a.tokens.get(), first, "the old one is good until its end");
    const second = jwt({ exp: seconds(a.clock) + life });
    waiting[1].done(second);
    await settled();
    const [auth] = a.socket.of("auth");
    assert.equal(auth.token, second);
    await a.socket.says({ op: "ok", ref: auth.ref });
    assert.equal(a.sockets.length, 1);
    await a.socket.ends(4401); // so it is the second one that is refused
    assert.deepEqual(waiting.map((w) => w.reason), ["start", "expiring", "refused"]);
  }
});

test("a renewal that fails is tried again with a growing wait, and the old token stays", async () => {
  const a = around();
  const asked = [];
  const first = jwt({ exp: seconds(a.clock) + 600 });
  const b = around({ answers: [first, () => { asked.push(b.clock.now()); throw new Error("down"); }] });
  b.clock.chance = 1;
  await b.tokens.get();
  await b.clock.pass(540_000 + 1000 + 2000 + 4000 + 8000);
  assert.deepEqual(asked.slice(1).map((t, i) => t - asked[i]), [1000, 2000, 4000, 8000]);
  assert.equal(await b.tokens.get(), first);
  await b.clock.pass(60_000);
  await assert.rejects(b.tokens.get(), { code: "offline", detail: "getToken: down" });
});

test("a getToken that gives the same token again is not asked all the time", async () => {
  const a = around();
  const same = jwt({ exp: seconds(a.clock) + 600 });
  const b = around({ answers: [same] });
  b.clock.chance = 1;
  await b.tokens.get();
  await b.clock.pass(540_000 + 15_000);
  assert.equal(b.asked.length, 6); // after 0, 1, 2, 4 and 8 s
});

test("a token that is over by this device's clock is used, and not asked for anew", async () => {
  for (const claims of [{ exp: -100 }, { exp: 3700, iat: 3600 }]) {
    const a = around();
    const now = seconds(a.clock);
    const token = jwt(Object.fromEntries(Object.entries(claims).map(([k, v]) => [k, now + v])));
    const b = around({ answers: [token, "t2"] });
    assert.equal(await b.tokens.get(), token);
    await b.clock.pass(80_000);
    assert.equal(await b.tokens.get(), token);
    assert.equal(b.asked.length, 1);
    await b.clock.pass(10_000);
    assert.equal(b.asked.length, claims.iat ? 2 : 1, "a clock that is behind: renewed by the token's own life");
  }
});

test("a token that lasts longer than a timer", async () => {
  const a = around();
  const b = around({ answers: [jwt({ exp: seconds(a.clock) + 5_000_000 }), "t2"] });
  const { after } = b.clock;
  b.clock.after = (ms, run) => after(Math.min(ms, 2 ** 31 - 1), run);
  await b.tokens.get();
  await b.clock.pass(5_000_000_000 - 60_001);
  assert.equal(b.asked.length, 1);
  await b.clock.pass(1);
  assert.equal(b.asked.length, 2);
});

test("a getToken that hangs is aborted, and asked again later", async () => {
  const { waiting, answers } = later();
  const a = around({ answers });
  a.clock.chance = 0;
  const got = assert.rejects(a.tokens.get(), { code: "timeout", retryable: true, retryAfter: 0.5 });
  await a.clock.pass(29_999);
  assert.equal(waiting[0].signal.aborted, false);
  await a.clock.pass(1);
  assert.equal(waiting[0].signal.aborted, true);
  await got;
  await assert.rejects(a.tokens.get(), { code: "timeout", retryAfter: 0.5 });
  assert.equal(waiting.length, 1);
  await a.clock.pass(500);
  const next = a.tokens.get();
  await settled();
  waiting[0].done("late");
  await settled();
  waiting[1].done("t2");
  assert.equal(await next, "t2");
});

test("a developer is told once of a getToken that fails, and of tokens that are refused", async () => {
  const a = around({ answers: [() => Promise.reject(new Error("down"))] });
  a.clock.chance = 1;
  for (let i = 0; i < 3; i++) {
    await assert.rejects(a.tokens.get(), { detail: "getToken: down" });
    await a.clock.pass(20_000);
  }
  assert.deepEqual(a.warned.map((text) => text.split(" ")[0]), ["getToken"]);
  const b = around({ answers: ["bad"] });
  await b.tokens.refused(await b.tokens.get());
  assert.deepEqual(b.warned, []);
  for (let i = 0; i < 3; i++) {
    await assert.rejects(b.tokens.refused("bad"), { code: "unauthenticated" });
    await b.clock.pass(20_000);
    await b.tokens.get();
  }
  assert.equal(b.warned.length, 1);
});

test("a person's wish asks a getToken again that failed", async () => {
  const a = around({ answers: [() => { throw new Error("down"); }, "t2"] });
  a.link.open();
  await settled();
  assert.equal(a.asked.length, 1);
  a.link.hurry();
  await settled();
  assert.equal(a.asked.length, 2);
  assert.equal(a.sockets.length, 1);
});

test("what is no token is a failure", async () => {
  for (const answer of ["", undefined, null, 5]) await assert.rejects(around({ answers: [answer] }).tokens.get(), { code: "offline" });
});

test("SignedOut is the end of asking", async () => {
  class SignedOut extends Error {
    name = "SignedOut";
  }
  const a = around({ answers: [() => { throw new SignedOut("bye"); }] });
  a.link.open();
  await settled();
  assert.deepEqual(a.outs, ["signed_out"]);
  assert.deepEqual(a.state, { phase: "signed-out" });
  await a.clock.pass(100_000);
  a.link.hurry();
  await assert.rejects(a.tokens.get(), { code: "signed_out", detail: "bye", retryable: false });
  assert.equal(a.asked.length, 1);
});

test("stop aborts, and a later get begins again", async () => {
  const { waiting, answers } = later();
  const a = around({ answers });
  const got = assert.rejects(a.tokens.get(), { code: "closed" });
  await settled();
  a.tokens.stop();
  await got;
  assert.equal(waiting[0].signal.aborted, true);
  const next = a.tokens.get();
  await settled();
  waiting[1].done("t2");
  assert.equal(await next, "t2");
});

test("HTTP renews the token once on 401", async () => {
  const a = around();
  const got = a.http.request("GET", "/v1/me");
  await settled();
  assert.equal(a.net.last.url, "https://chat.example/v1/me");
  assert.equal(a.net.last.headers.Authorization, "Bearer t1");
  await a.net.last.answer(401, { code: "unauthenticated", detail: "expired" });
  assert.equal(a.net.last.headers.Authorization, "Bearer t2");
  await a.net.last.answer(200, { user: "alice" });
  assert.deepEqual(await got, { user: "alice" });
  const refused = assert.rejects(a.http.request("GET", "/v1/me"), { code: "unauthenticated", status: 401 });
  await settled();
  await a.net.last.answer(401, { code: "unauthenticated", detail: "no" });
  await refused;
  assert.equal(a.net.calls.length, 3, "asks with a third token at once");
});

test("HTTP: bodies, keys and answers", async () => {
  const a = around();
  const call = async (args, status, body) => {
    const got = a.http.request(...args);
    await settled();
    const { last } = a.net;
    await last.answer(status, body);
    return [last, await got];
  };
  const [post, created] = await call(["POST", "/v1/groups", { body: { id: "g" }, key: "k1" }], 201, { id: "g" });
  assert.deepEqual([post.method, post.body, post.headers["Content-Type"], post.headers["Idempotency-Key"], post.credentials], ["POST", '{"id":"g"}', "application/json", "k1", "omit"]);
  assert.deepEqual(created, { id: "g" });
  const [gone, nothing] = await call(["DELETE", "/v1/groups/g"], 204);
  assert.deepEqual([gone.body, gone.headers["Content-Type"], nothing], [null, undefined, null]);
  const file = new Blob(["abc"]);
  const [put, length] = await call(["PATCH", "/f", { body: file, headers: { "Content-Type": "application/offset+octet-stream" }, read: async (res) => (await res.text()).length }], 200, "abc");
  assert.deepEqual([put.body, put.headers["Content-Type"], length], [file, "application/offset+octet-stream", 3]);
});

test("HTTP: every failure is a ChatdError", async () => {
  const a = around();
  for (const [status, body, headers, want] of [
    [409, { code: "key_reused", detail: "d", title: "t" }, {}, { code: "key_reused", detail: "d", status: 409, retryable: false }],
    [429, { code: "rate_limited" }, { "Retry-After": "3" }, { code: "rate_limited", retryAfter: 3, retryable: true }],
    [503, "<html>", { "Retry-After": new Date(a.clock.now() + 5000).toUTCString() }, { code: "unavailable", retryAfter: 5, retryable: true }],
    [502, "", {}, { code: "unavailable", retryable: true }],
    [500, "null", {}, { code: "internal", retryable: true }],
    [404, "<html>", {}, { code: "not_found", status: 404, retryable: false, detail: "the server answers 404" }],
    [418, "", {}, { code: "error", retryable: false }],
    [200, "<html>a portal", {}, { code: "offline", retryable: true }],
  ]) {
    const got = assert.rejects(a.http.request("GET", "/x"), { name: "ChatdError", ...want });
    await settled();
    await a.net.last.answer(status, body, headers);
    await got;
  }
  const cut = assert.rejects(a.http.request("GET", "/x"), { code: "offline", status: 0 });
  await settled();
  await a.net.last.fails();
  await cut;
});

test("HTTP: an answer that never comes is a timeout, the caller's abort is the caller's", async () => {
  const a = around();
  for (const [options, ms] of [[{}, 30_000], [{ timeoutMs: 70_000 }, 70_000]]) {
    const got = assert.rejects(a.http.request("GET", "/x", options), { code: "timeout", retryable: true });
    await a.clock.pass(ms - 1);
    assert.equal(a.net.last.aborted, false);
    await a.clock.pass(1);
    await got;
  }
  const upload = a.http.request("PATCH", "/x", { body: new Blob(["abc"]) });
  await a.clock.pass(1_000_000);
  await a.net.last.answer(204);
  assert.equal(await upload, null);
  const control = new AbortController();
  const got = assert.rejects(a.http.request("GET", "/x", { signal: control.signal }), { name: "AbortError" });
  await settled();
  control.abort();
  await got;
  await assert.rejects(a.http.request("GET", "/x", { signal: control.signal }), { name: "AbortError" });
});
