// People by name, with the id where two look alike, and by id in what is sent; and what in a text names them.
import "./reader.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileName, mentionsIn, pieces } from "../page/format.ts";
import { initials } from "../page/ui/parts.tsx";
import { kept, labelOf, nobody, remembered, textOf, withIds, withLabels, withPeople } from "../page/profiles.ts";

const people = (...list) => withPeople(nobody(), list.map(([user]) => user), list.map(([user, name, picture]) => ({ user, name, picture, version: 1 })));
const known = people(["u1", "Ana"], ["u2", "Ana Silva"], ["bob", "Bob"], ["bob.smith"], ["x", "JOSÉ"], ["y", "jose\u200d"], ["eve", "zed"], ["zed"], ["__proto__", "Proto"]);

test("what people are called", () => {
  assert.deepEqual(["u1", "bob.smith", "nobody", "__proto__"].map((u) => labelOf(known, u)), ["Ana", "bob.smith", "nobody", "Proto"]);
  assert.deepEqual(["u1", "x", "y", "eve", "zed"].map((u) => textOf(known, u)), ["Ana", "JOSÉ (x)", "jose\u200d (y)", "zed (eve)", "zed"]);
  assert.equal(labelOf(remembered(JSON.parse(JSON.stringify(kept(known)))), "u2"), "Ana Silva");
});

test("what is sent names people by id", () => {
  assert.equal(withIds("@Ana Silva, @Ana! @Anabel a@Ana @bob.smith @Bob @JOSÉ @zed", known, [...known.known.keys()]),
    "@u2, @u1! @Anabel a@Ana @bob.smith @bob @JOSÉ @zed");
  assert.equal(withLabels("@u2, @u1! @x", known, ["u1", "u2", "x"]), "@Ana Silva, @Ana! @x");
});

test("pictures of this server only", () => {
  for (const [picture, want] of [["/avatars/AAAAAAAAAAAAAAAA-0", "/avatars/AAAAAAAAAAAAAAAA-0"], ["https://x.example/a", ""], ["/v1/me", ""], ["//x.example/AAAAAAAAAAAAAAAAA", ""]]) {
    assert.equal(people(["a", "", picture]).known.get("a").picture, want, picture);
  }
});

test("letters where there is no picture", () => {
  assert.deepEqual(["ann", "Ann Bee", "ann-bee", "x", "日本", "member-07", "-", "e\u0301lan", "الف"].map(initials), ["A", "AB", "AB", "X", "日", "M7", "?", "E\u0301", "ا"]);
});

const cut = (body, names) => pieces(body, names).map((p) => p.href ?? (p.mention ? `@${p.mention}!` : p.text));
test("only http and https are links, only members are mentioned", () => {
  assert.deepEqual(cut("see https://a.example/b?c=d. javascript:alert(1) HTTP://x http://"), ["see ", "https://a.example/b?c=d", ". javascript:alert(1) HTTP://x http://"]);
  assert.deepEqual(cut("@bob. a@bob @bobby @b.o", ["bob", "b.o"]), ["@bob!", ". a@bob @bobby ", "@b.o!"]);
  assert.deepEqual(cut("@bob:yes @a:b: @auth0|5f.", ["bob", "a", "a:b", "auth0|5f"]), ["@bob!", ":yes ", "@a:b!", ": ", "@auth0|5f!", "."]);
  assert.equal(pieces("@bob https://x.example, ok", ["bob"]).map((p) => p.text).join(""), "@bob https://x.example, ok");
  assert.deepEqual(mentionsIn("@bob, @eve and @bob-", ["bob", "ann"]), ["bob"]);
});

test("names of files mislead nobody", () => {
  assert.equal(fileName("a/b\\c\u202Egpj.exe"), "a_b_cgpj.exe");
  assert.equal(fileName("  "), "file");
  assert.equal(fileName(`${"x".repeat(300)}.tar`), `${"x".repeat(251)}.tar`);
});
