// What the list of messages is made of: days, runs of one author, where new messages begin, and what notices say.
import "./reader.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf, readMarks, upTo } from "../page/lines.ts";
import { noticesText } from "../page/notices.ts";

const at = (id) => new Date(Date.UTC(2026, 0, 2, 10, 0, id)).toISOString();
const text = (id, from, more = {}) => ({ type: "message", key: `m${id}`, id, from, kind: "text", body: `${id}`, sent_at: at(id), ...more });
const notice = (id, notice, from, user, more = {}) => ({ ...text(id, from), kind: "notice", body: undefined, notice, user, ...more });
const types = (items, newFrom = 0, direct = false) => linesOf(items, newFrom, "ann", direct).map((l) => l.type);

test("days, gaps, and where new messages begin", () => {
  const log = [text(1, "ann"), { type: "gap", key: "gap", from: 2, to: 3 }, text(4, "ann"), notice(5, "joined", "bob", "bob"), text(6, "bob"), text(7, "ann")];
  assert.deepEqual(types(log), ["day", "message", "gap", "message", "notices", "message", "message"]);
  assert.deepEqual(types(log, 2), ["day", "message", "gap", "message", "notices", "new", "message", "message"]); // at what others wrote
  assert.deepEqual(types(log, 7), ["day", "message", "gap", "message", "notices", "message", "message"]);
  assert.deepEqual(types([text(1, "bob"), text(2, "bob", { sent_at: "2026-01-05T10:00:00Z" })]), ["day", "message", "day", "message"]);
  assert.deepEqual(types([notice(1, "created", "ann"), notice(2, "joined", "ann", "bob"), text(3, "bob")], 0, true), ["day", "message"]);
});

test("runs of one author", () => {
  const heads = (...items) => linesOf(items, 0, "ann", false).filter((l) => l.type === "message").map((l) => l.head);
  assert.deepEqual(heads(text(1, "ann"), text(2, "ann"), text(3, "bob"), text(4, "bob", { reply_to: 1 }), text(5, "bob"), text(600, "bob")),
    [true, false, true, true, false, true]);
  assert.deepEqual(heads(text(1, "ann"), notice(2, "renamed", "ann"), text(3, "ann")), [true, true]);
});

test("what is deleted and what notices tell stand together, apart from messages", () => {
  const gone = { deleted_at: at(9) };
  const lines = linesOf([notice(1, "joined", "a", "b"), notice(2, "joined", "a", "c"), text(3, "b", gone), text(4, "c", gone), text(5, "b"), notice(6, "left", "c", "c")], 0, "ann", false);
  assert.deepEqual(lines.map((l) => [l.type, l.items?.length]), [["day", undefined], ["notices", 2], ["deleted", 2], ["message", undefined], ["notices", 1]]);
});

test("up to which message each line is read", () => {
  // 2 and 3 have no line: they changed others.
  const lines = linesOf([text(1, "bob"), text(4, "bob"), notice(5, "left", "c", "c"), notice(6, "left", "d", "d"), text(8, "bob")], 0, "ann", false);
  assert.deepEqual([...upTo(lines, 9).values()], [9, 7, 4, 3]);
});

test("how far others have read", () => {
  const lines = linesOf([text(1, "ann"), text(2, "bob"), text(4, "ann")], 0, "ann", false);
  const marks = (reads, to) => [...readMarks(lines, new Map(Object.entries(reads)), "ann", to)];
  assert.deepEqual(marks({ ann: 4, bob: 3, eve: 3 }, 4), [["m1", ["bob"]], ["m2", ["eve"]]]);
  assert.deepEqual(marks({ bob: 30 }, 4), []); // outside of what is shown
  assert.deepEqual(marks({ bob: 4, eve: 4 }, 4), [["m4", ["bob", "eve"]]]);
});

const said = [
  [[notice(1, "created", "ann")], "ann created the group"],
  [[notice(1, "joined", "ann", "bob")], "ann added bob"],
  [[notice(1, "joined", "bob", "bob")], "bob joined"],
  [["b", "c", "d", "e"].map((u, i) => notice(i + 1, "joined", "ann", u)), "ann added b, c and 2 others"],
  [[notice(1, "joined", "ann", undefined, { users: ["b", "c"] })], "ann added b and c"],
  [[notice(1, "joined", "ann", undefined, { users: ["b", "c", "d", "e"] }), notice(2, "joined", "ann", "f")], "ann added b, c and 3 others"],
  [[notice(1, "joined", "b", "b"), notice(2, "joined", "c", "c")], "b and c joined"],
  [[notice(1, "left", "b", "b"), notice(2, "left", "c", "c")], "b and c left"],
  [[notice(1, "removed", "ann", undefined, { users: ["b", "c"] })], "ann removed b and c"],
  [[notice(1, "role", "a", "b", { role: "admin" }), notice(2, "role", "a", "c", { role: "admin" })], "b and c are now admins"],
  [[notice(1, "role", "a", "d", { role: "member" })], "d is now a member"],
  [[notice(1, "role", "a", "e", { role: "owner" })], "e is now the owner"],
  [[notice(1, "renamed", "eve", undefined, { name: "N" })], "eve renamed the group to “N”"],
  [[notice(1, "settings", "a"), notice(2, "settings", "a")], "a changed the settings 2 times"],
  [[notice(1, "joined", "a", "b"), notice(2, "left", "b", "b")], "2 changes to the group"],
  [[notice(1, "settings", "bob")], "bob changed the settings"],
  [[notice(1, "settings", "eve", undefined, { settings: { visibility: "public", keep: 5, post: "admins", history: false, backlog_max: 9 } })],
    "eve changed the settings: the group is public, only admins can post, new members can’t see earlier messages, at least 5 messages are kept, members may fall 9 messages behind"],
];
test("notices in words", () => {
  for (const [notices, want] of said) assert.equal(noticesText(notices, (user) => user), want);
});
