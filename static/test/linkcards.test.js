// Which links of a text may have a card: the same as the server finds. And how an author takes a card away.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./reader.js";
import { createCards, enclosed, hostOf, linksIn } from "../page/linkcards.ts";

test("links of a text", () => {
  for (const [body, ...want] of [
    ["see https://a.example/x, and (https://b.example/y). bye", "https://a.example/x", "https://b.example/y"],
    ["https://a.example/x_(y)", "https://a.example/x_(y)"],
    ["[x](http://a.example/?q=1&r=2)\nhttps://a.example/茶。", "http://a.example/?q=1&r=2", "https://a.example/茶"],
    ["https://a.example https://a.example", "https://a.example"],
    ["https://a.example/1 https://a.example/2 https://a.example/3 https://a.example/4", "https://a.example/1", "https://a.example/2", "https://a.example/3"],
    ["<https://a.example/1> https://a.example/2", "https://a.example/2"],
    ["https://a.example/1\u3000and https://a.example/2\u00a0too", "https://a.example/1", "https://a.example/2"],
    ["https:// ftp://a.example http://["],
  ]) assert.deepEqual(linksIn(body), want, body);
  assert.equal(linksIn("https://a.example/" + ")".repeat(1 << 16)).length, 1);
  assert.equal(hostOf("https://www.a.example:8443/b"), "a.example:8443");
});

test("a link in angle brackets", () => {
  for (const [body, link, want] of [
    ["see https://a.example/x.", "https://a.example/x", "see <https://a.example/x>."],
    ["https://a.example/xy https://a.example/x", "https://a.example/x", "https://a.example/xy <https://a.example/x>"],
    ["[t](https://a.example/x)", "https://a.example/x", undefined],
  ]) {
    assert.equal(enclosed(body, link), want);
    if (want) assert.ok(!linksIn(want).includes(link));
  }
});

test("the server is asked for what lacks, in one page, until it is there", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked = [];
  let answer = {};
  const cards = createCards({ on: () => {}, request: async (_, path) => { asked.push(path); return answer; } });
  const [a, b] = ["https://a.example/", "https://b.example/"];
  cards.want("g", 7, [a]);
  cards.want("g", 5, [b]);
  const turn = async (ms) => { t.mock.timers.tick(ms); await new Promise(setImmediate); };
  await turn(100);
  assert.deepEqual(asked, ["/v1/groups/g/messages?after=4&limit=3"]);
  answer = { previews: { [b]: { title: "B" } } };
  await turn(2000);
  assert.equal(cards.known().get(b).title, "B");
  await turn(6000);
  assert.deepEqual(asked.slice(2), ["/v1/groups/g/messages?after=6&limit=1"]);
  for (const _ of "12345") await turn(60_000);
  cards.want("g", 7, [a]);
  await turn(60_000);
  assert.equal(asked.length, 5);
});
