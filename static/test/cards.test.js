// Data of programs as cards: what is shown, and that nothing in it can do more than be shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cardOf } from "../page/cards.ts";

test("a card shows what says something", () => {
  const data = { type: "deploy_done", title: "web 2.1", exitCode: 0, ok: true, url: "https://ci.example.org/7", log: ["a", "b"] };
  assert.deepEqual(cardOf(data), { type: "deploy done", title: "web 2.1", link: "https://ci.example.org/7", rows: [["exit code", "0"], ["ok", "true"]], more: true });
});

test("what does not say what it is, or nothing, is no card", () => {
  for (const data of [undefined, null, 7, "text", [], [{ type: "x" }], {}, { a: 1 }, { type: "" }, { type: 7, a: 1 }, { type: "x" }, { type: "x", a: { b: 1 } }]) assert.equal(cardOf(data), null);
});

test("hostile data", () => {
  const deep = JSON.parse("[".repeat(2000) + "]".repeat(2000));
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key ${i}`, i]));
  for (const [data, rows, more] of [
    [{ type: "x", url: "javascript:alert(1)" }, [["url", "javascript:alert(1)"]], false],
    [{ type: "x", link: "https://", a: 1 }, [["link", "https://"], ["a", "1"]], false],
    [JSON.parse('{"type":"x","__proto__":{"title":"no"},"constructor":"c","toString":"t"}'), [["constructor", "c"], ["to string", "t"]], true],
    [{ type: "x", a: deep, b: "1" }, [["b", "1"]], true],
    [{ type: "x", a: "y".repeat(16384) }, [["a", `${"y".repeat(200)}…`]], true],
    [{ type: "x", ["k".repeat(16384)]: 1 }, [[`${"k".repeat(200)}…`, "1"]], false],
    [{ type: "<img src=x onerror=alert(1)>", a: "<script>" }, [["a", "<script>"]], false],
    [{ type: "x", a: "\u202eevil", b: "\u0000" }, [["a", "\u202eevil"], ["b", "\u0000"]], false],
    [{ type: "x", a: null, b: 1e308, c: "" }, [["b", "1e+308"], ["c", ""]], true],
  ]) {
    const card = cardOf(data);
    assert.deepEqual([card.rows, card.more, card.title, card.link], [rows, more, "", ""]);
  }
  const card = cardOf({ type: "x", ...many });
  assert.equal(card.rows.length, 8);
  assert.equal(card.more, true);
});
