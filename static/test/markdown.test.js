// What people write, as it is shown; and that no text takes long to read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { elided, parse, plain, work } from "../page/markdown.ts";

const text = (inline) => [{ type: "text", inline }];
const of = (type, ...inline) => ({ type, inline });

const inlines = [
  ["plain text, 2 * 3 * 4, a_b_c, ~/x ~~ y", ["plain text, 2 * 3 * 4, a_b_c, ~/x ~~ y"]],
  ["one\n\ntwo", ["one\n\ntwo"]],
  ["a **b** c", ["a ", of("strong", "b"), " c"]],
  ["*a* _b_ ~~c~~", [of("em", "a"), " ", of("em", "b"), " ", of("del", "c")]],
  ["**a *b* c**", [of("strong", "a ", of("em", "b"), " c")]],
  ["*a **b* c**", [of("em", "a **b"), " c**"]],
  ["这是**重要**的", ["这是", of("strong", "重要"), "的"]],
  ["__proto__ ***x*** \\*y\\* C:\\dir", ["__proto__ ***x*** *y* C:\\dir"]],
  ["`*a*` ``b`c``", [{ type: "code", text: "*a*" }, " ", { type: "code", text: "b`c" }]],
  ["**open *and ~~never `closed", ["**open *and ~~never `closed"]],
  ["see https://a.b/(x)_y. (https://c.d/e)", ["see ", { type: "link", href: "https://a.b/(x)_y", text: "https://a.b/(x)_y" }, ". (", { type: "link", href: "https://c.d/e", text: "https://c.d/e" }, ")"]],
  ["see <https://c.d/e>, <https://c.d/f.> <b>", ["see ", { type: "link", href: "https://c.d/e", text: "https://c.d/e" }, ", <", { type: "link", href: "https://c.d/f", text: "https://c.d/f" }, ".> <b>"]],
  ["[a b](https://x.y/z)", [{ type: "link", href: "https://x.y/z", text: "a b" }]],
  ["[x](javascript:alert(1)) javascript:x data:y [bank.example](https://x.y)", ["[x](javascript:alert(1)) javascript:x data:y [bank.example](", { type: "link", href: "https://x.y", text: "https://x.y" }, ")"]],
  ["@bob: @bob.smith @bo mail@bob @@bob", [{ type: "mention", user: "bob" }, ": @bob.smith @bo mail@bob @@bob"]],
  ["@bobby, @bob.", [{ type: "mention", user: "bobby" }, ", ", { type: "mention", user: "bob" }, "."]],
];
test("a mention of all", () => {
  const all = { type: "mention", user: "@all" };
  for (const [body, want] of [["@all: hello", [all, ": hello"]], ["hi @all", ["hi ", all]], ["@allan @@all a@all", ["@allan @@all a@all"]]]) {
    assert.deepEqual(parse(body, ["@all", "bob"]), text(want), body);
    assert.equal(plain(body, ["@all"]), body);
  }
  assert.deepEqual(parse("@all", ["bob"]), text(["@all"]));
});

test("inline", () => {
  for (const [body, want] of inlines) {
    assert.deepEqual(parse(body, ["bob", "bobby"]), text(want), body);
  }
});

test("blocks", () => {
  assert.deepEqual(parse("# Head\nhi\n\n> q\n>> r\n- a\n- *b*\n3. x\n4. y\n```js\n**no**\n```\n\nend"), [
    of("heading", "Head"), of("text", "hi"), { type: "quote", blocks: [of("text", "q"), { type: "quote", blocks: [of("text", "r")] }] },
    { type: "list", from: null, items: [["a"], [of("em", "b")]] }, { type: "list", from: 3, items: [["x"], ["y"]] },
    { type: "code", language: "js", text: "**no**" }, of("text", "end"),
  ]);
  assert.deepEqual(parse("```\nnever closed"), [{ type: "code", language: "", text: "never closed" }]);
});

test("previews", () => {
  assert.equal(plain("# Hi **all**\n- `x`\n- [y](https://z.z)\n> @bob", ["bob"], () => "Bob B."), "Hi all x y @Bob B.");
  assert.equal(plain("a\n\n  b"), "a b");
  assert.equal(elided(`https://example.org/${"x".repeat(100)}/end`).length, 60);
});

const SIZE = 16 * 1024;
const seeds = [
  "*", "**", "_", "~~", "`", "``", "[", "](", ")", "h", "@", "\\", ">", "> ", "- ", "1. ", "# ", "```\n", "\n", " \n", "*a ", "**a *b ~~c _d ", "a** b* c~~ d_ ", "`a``b", "[a](", "[a](https://x", "[](", "https://", "https://[", "https://x.y!!!", "https://!!!!)",
  "(https://x.y))", "@bob", "@bob-", "@bob.@", "@bobb:", ">>>>\n", "> > > ", "> - 1. # ", "*_*_", "_*~~**", "**a**", "*a*_b_", "\\*", "a_b_", "```x ", "- a\n\n", "1. a\n- b\n", "**a\n", "> **a\n> `b\n", "[[[](", "h]t[p(", "\u202e*", "👍*", "://*https://a](",
];
test("hostile texts take steps in proportion to their length", () => {
  assert.ok(seeds.length >= 30);
  for (const seed of seeds) {
    const steps = (size) => {
      const before = work.steps;
      parse(seed.repeat(Math.ceil(size / seed.length)).slice(0, size), ["bob", "bobb", "x"]);
      return work.steps - before;
    };
    const [half, whole] = [steps(SIZE / 2), steps(SIZE)];
    assert.ok(whole <= 24 * SIZE, `${JSON.stringify(seed)}: ${whole} steps`);
    assert.ok(whole <= 2.5 * half + 1000, `${JSON.stringify(seed)}: ${half} steps, and ${whole} of twice as much`);
  }
});
