import { test } from "node:test";
import { memoryStore } from "../src/memory.js";
import { storeCases } from "./stores.js";

for (const [name, run] of Object.entries(storeCases)) {
  test(name, () => run(async (of) => {
    const store = memoryStore();
    await store.open(of);
    return store;
  }));
}
