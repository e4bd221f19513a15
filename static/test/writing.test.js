// What is asked of the page in a text that is written, and what is shown of one that was found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../page/snippet.ts";
import { commandOf, unescaped, wordAt } from "../page/views/text.ts";

test("a text that is a command, and texts that are none", () => {
  for (const [text, name, rest] of [["/invite", "invite", ""], ["/schedule see you\nthere", "schedule", "see you\nthere"], ["/schedule  x", "schedule", "x"]]) {
    assert.deepEqual(commandOf(text), { name, rest }, text);
  }
  for (const text of ["", "/", "/invited", "/scheduled x", "see /invite", "//invite", "/usr/bin", "/Invite"]) assert.equal(commandOf(text), null, text);
});

test("two slashes begin a message with one, where one would be a command", () => {
  for (const [text, want] of [["//invite", "/invite"], ["//schedule is\nnew", "/schedule is\nnew"], ["//invited", "//invited"], ["///invite", "///invite"], ["// x", "// x"], ["see //invite", "see //invite"]]) assert.equal(unescaped(text), want, text);
});

test("a command is offered where a message would begin with it", () => {
  assert.deepEqual([["/", 1], ["/sch", 4], ["/schedule", 3]].map(([text, caret]) => wordAt(text, caret)), ["", "sch", "sc"].map((word) => ({ kind: "/", from: 0, word })));
  for (const [text, caret] of [["/sch ", 5], [" /s", 3], ["a/s", 3], ["/s", 0], ["/usr/b", 6]]) assert.equal(wordAt(text, caret), null, text);
});

const shown = (text, ...finds) => partsOf(text, finds.map((f) => [text.indexOf(f), text.indexOf(f) + f.length]), ["u1"], (user) => `<${user}>`).map((p) => (p.found ? `[${p.text}]` : p.text)).join("");

test("what was found is shown as it reads", () => {
  for (const [text, finds, want] of [
    ["the **deploy** of _today_", ["deploy"], "the [deploy] of today"],
    ["the **deploy of** today", ["deploy", "today"], "the [deploy] of [today]"],
    ["*deploy*", ["deploy"], "[deploy]"], ["deploy", ["deploy"], "[deploy]"], ["", [], ""], ["no find", [], "no find"],
    ["`run deploy` and\n> quoted deploy\n\nend", ["deploy"], "run [deploy] and quoted deploy end"],
    ["see [the plan](https://x.example/p)", ["plan"], "see the [plan]"],
    ["hello @u1 there", ["there"], "hello @<u1> [there]"],
    ["это **важно**, 这是**重要**的", ["важно", "重要"], "это [важно], 这是[重要]的"],
    ["# deploy notes", ["deploy"], "[deploy] notes"],
    ["- one deploy\n- two", ["deploy"], "one [deploy] two"],
    ["a\uf8d0b\uf8d1c deploy", ["deploy"], "a\ufffdb\ufffdc [deploy]"],
  ]) assert.equal(shown(text, ...finds), want, text);
});
