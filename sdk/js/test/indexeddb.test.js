// The quick run of the IndexedDB store, over an IndexedDB in memory: the real one is in sdk/indexeddb_test.go.
import { test } from "node:test";
import assert from "node:assert/strict";
import "fake-indexeddb/auto";
import { indexedDBStore } from "../src/indexeddb.js";
import { storeCases } from "./stores.js";

for (const [name, run] of Object.entries(storeCases)) {
  test(name, () => run(async (of) => {
    const store = indexedDBStore();
    await store.open(of);
    return store;
  }));
}

test("open rejects where storage is refused", async (t) => {
  t.mock.method(indexedDB, "open", () => { throw new DOMException("denied", "SecurityError"); });
  await assert.rejects(indexedDBStore().open("refused"), (err) => err.name === "StorageRefused" && err.cause.name === "SecurityError");
});

test("a store that another tab deleted is lost, and does not begin empty", async () => {
  const [one, other] = [indexedDBStore(), indexedDBStore()];
  await one.open("lost");
  await other.open("lost");
  await one.write([{ put: "a", value: 1 }]);
  await other.destroy();
  await assert.rejects(one.get("a"), { name: "StorageLost" });
  await assert.rejects(one.write([{ put: "b", value: 1 }]), { name: "StorageLost" });
});
