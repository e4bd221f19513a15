// Messages that are written piece by piece: what a client holds of them, and how a program writes them.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { revised } from "../src/log.js";
import { grown } from "../src/streams.js";
import { write } from "../src/writing.js";

test("a text grows by bytes", () => {
  assert.equal(grown("Hé", 3, "llo"), "Héllo");
  assert.equal(grown("Héllo", 3, "llo"), "Héllo");
  assert.equal(grown("Héllo", 3, "llo 😀"), "Héllo 😀");
  assert.equal(grown("Hé", 4, "x"), undefined);
});

test("the end of a stream is no edit", () => {
  const m = { kind: "text", body: "a", stream: true };
  assert.deepEqual(revised(m, { kind: "edit", stream: "done", body: "ab" }, "t"), { kind: "text", body: "ab" });
  const cut = revised(m, { kind: "edit", stream: "cut", body: "ab" }, "t");
  assert.deepEqual(cut, { kind: "text", body: "ab", stream: "cut" });
  assert.deepEqual(revised(cut, { kind: "edit", body: "abc" }, "t2"), { kind: "text", body: "abc", edited_at: "t2" });
});

test("a program writes a message, and goes on after errors", async () => {
  let text = Buffer.alloc(0);
  const bodies = [];
  const server = createServer(async (req, res) => {
    const body = JSON.parse(Buffer.concat(await req.toArray()).toString());
    bodies.push(body);
    const say = (status, answer) => res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    if (req.method === "POST") return (text = Buffer.from(body.body)), say(201, { id: 7 });
    assert.equal(req.url, "/v1/groups/g/messages/7/stream");
    if (body.offset > text.length) return say(409, { code: "conflict", detail: "a hole", length: text.length });
    text = Buffer.concat([text.subarray(0, body.offset), Buffer.from(body.append)]);
    if (bodies.length === 3) return req.socket.destroy(); // it was taken, and nobody hears of it
    say(200, { length: text.length, cancelled: bodies.length > 3 });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    const answer = await write({ url: `http://127.0.0.1:${server.address().port}`, token: "t" }, "g", { first: "¡" });
    assert.equal(answer.id, 7);
    let want = "¡";
    for (let i = 0; i < 50; i++) {
      answer.write(`wört${i} 😀`);
      want += `wört${i} 😀`;
      if (i % 20 === 0) await new Promise((next) => setImmediate(next));
    }
    await answer.close();
    assert.equal(text.toString(), want);
    assert.equal(bodies.at(-1).done, true);
    assert.ok(bodies.length < 10, `${bodies.length} requests`);
  } finally {
    server.close();
  }
});
