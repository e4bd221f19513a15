// What every store must do. make returns a new store over the same content each time, and is called for each name anew.
import assert from "node:assert/strict";

export const storeCases = {
  async "what was written is there, in order of code units"(make) {
    const store = await make("order");
    await store.write([{ put: "b", value: 2 }, { put: "a", value: { deep: [1, null, "x", true] } }, { put: "é", value: 4 }]);
    await store.write([{ put: "B", value: 0 }, { put: "\u{1f600}", value: 5 }, { put: "\uff01", value: 6 }]);
    assert.deepEqual(await store.get("a"), { deep: [1, null, "x", true] });
    assert.equal(await store.get("c"), undefined);
    assert.deepEqual((await store.range("", "\uffff")).map(([key]) => key), ["B", "a", "b", "é", "\u{1f600}", "\uff01"]);
  },

  async "ranges are half-open and bounded, from either end"(make) {
    const store = await make("ranges");
    const key = (n) => "m/g/" + String(n).padStart(16, "0");
    await store.write(Array.from({ length: 200 }, (_, n) => ({ put: key(n), value: n })).concat({ put: "m/g0", value: -1 }, { put: "m/f/1", value: -1 }));
    const values = async (...args) => (await store.range(...args)).map(([, value]) => value);
    assert.deepEqual(await values(key(10), key(13)), [10, 11, 12]);
    assert.deepEqual(await values(key(10), key(13), { reverse: true }), [12, 11, 10]);
    assert.deepEqual(await values("m/g/", "m/g0", { limit: 3 }), [0, 1, 2]);
    assert.deepEqual(await values("m/g/", "m/g0", { limit: 3, reverse: true }), [199, 198, 197]);
    assert.equal((await values("m/g/", "m/g0")).length, 200);
    assert.deepEqual(await values("m/g/", "m/g0", { limit: 0 }), []);
    assert.deepEqual(await values("m/g/", "m/g0", { limit: 0, reverse: true }), []);
    assert.deepEqual(await values(key(5), key(5)), []);
    assert.deepEqual(await values(key(6), key(5)), []);
    assert.deepEqual(await store.range(key(7), key(8)), [[key(7), 7]]);
  },

  async "changes apply in their order"(make) {
    const store = await make("changes");
    await store.write([{ put: "a/1", value: 1 }, { put: "a/2", value: 2 }, { put: "a/3", value: 3 }, { put: "b", value: 4 }]);
    await store.write([
      { removeFrom: "a/", to: "a/3" }, { put: "a/2", value: "again" }, { remove: "b" }, { remove: "never there" },
      { put: "c", value: 1 }, { put: "c", value: 2 }, { removeFrom: "z", to: "a" }, { removeFrom: "c", to: "c" },
    ]);
    assert.deepEqual(await store.range("", "\uffff"), [["a/2", "again"], ["a/3", 3], ["c", 2]]);
    await store.write([]);
    assert.equal((await store.range("", "\uffff")).length, 3);
  },

  async "a write that fails changes nothing"(make) {
    const store = await make("failing");
    if (!store.durable) return; // memory takes values as they are
    await store.write([{ put: "a", value: 1 }]);
    await assert.rejects(store.write([{ put: "a", value: 2 }, { put: "b", get value() { throw new Error("no value"); } }]));
    assert.deepEqual(await store.range("", "\uffff"), [["a", 1]]);
    await store.write([{ put: "b", value: 2 }]);
    assert.deepEqual(await store.range("", "\uffff"), [["a", 1], ["b", 2]]);
  },

  async "a read sees what was written before it began"(make) {
    const store = await make("overlap");
    const written = [];
    const reads = [];
    for (let n = 0; n < 50; n++) {
      written.push(store.write([{ put: "n", value: n }, { put: "n/" + n, value: n }]));
      reads.push(store.get("n"), store.range("n/", "n0").then((found) => found.length - 1));
    }
    await Promise.all(written);
    (await Promise.all(reads)).forEach((n, i) => assert.ok(n >= Math.floor(i / 2), `read ${i} saw ${n}`));
  },

  async "a write is made only where what it expects holds"(make) {
    const store = await make("expect");
    const put = (value, expect) => store.write([{ put: "a", value }, { put: "lead", value }], expect);
    assert.equal(await put(1, { key: "lead", value: 7 }), false);
    assert.deepEqual(await store.range("", "\uffff"), []);
    assert.equal(await put(2, { key: "lead", value: undefined }), true);
    assert.equal(await put(3, { key: "lead", value: undefined }), false);
    assert.equal(await put(4, { key: "lead", value: "2" }), false);
    assert.equal(await store.get("a"), 2);
    assert.equal(await put("x", { key: "lead", value: 2 }), true);
    assert.deepEqual(await Promise.all([put("y", { key: "lead", value: "x" }), put("z", { key: "lead", value: "x" })]), [true, false]);
    assert.equal(await store.get("a"), "y");
  },

  async "names are apart, and a closed store opens again"(make) {
    const one = await make("apart/1"), other = await make("apart/2 é:%");
    await one.write([{ put: "a", value: 1 }]);
    assert.equal(await other.get("a"), undefined);
    await other.write([{ put: "a", value: 2 }]);
    await one.close();
    if (one.durable) {
      await assert.rejects(one.get("a"));
      await assert.rejects(one.write([{ put: "a", value: 3 }]));
    }
    const again = await make("apart/1");
    assert.equal(await again.get("a"), again.durable ? 1 : undefined);
    await other.close();
  },

  async "destroy deletes one name and nothing else"(make) {
    const one = await make("destroy/1"), other = await make("destroy/2");
    await one.write([{ put: "a", value: 1 }]);
    await other.write([{ put: "a", value: 2 }]);
    await one.destroy();
    if (one.durable) await assert.rejects(one.get("a"));
    assert.equal(await other.get("a"), 2);
    assert.equal(await (await make("destroy/1")).get("a"), undefined);
  },

  async "random changes give what a plain map gives"(make) {
    const store = await make("random"), model = new Map();
    let seed = 7;
    const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
    const key = () => "k/" + String(random(300)).padStart(4, "0");
    for (let step = 0; step < 300; step++) {
      const changes = Array.from({ length: 1 + random(8) }, () => {
        const kind = random(10);
        if (kind < 7) return { put: key(), value: [step, random(1000)] };
        if (kind < 9) return { remove: key() };
        const from = key();
        return { removeFrom: from, to: from.slice(0, -1) + "~" };
      });
      await store.write(changes);
      for (const c of changes) {
        if (c.put) model.set(c.put, c.value);
        else if (c.remove) model.delete(c.remove);
        else for (const k of [...model.keys()]) if (k >= c.removeFrom && k < c.to) model.delete(k);
      }
      const [from, to, limit, reverse] = [key(), key(), 1 + random(20), random(2) === 1];
      let want = [...model].filter(([k]) => k >= from && k < to).sort(([a], [b]) => (a < b ? -1 : 1));
      if (reverse) want.reverse();
      assert.deepEqual(await store.range(from, to, { limit, reverse }), want.slice(0, limit), `step ${step}`);
    }
  },
};
