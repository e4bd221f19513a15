import type { Change, Expect, Store } from "./store.js";
import type { Json } from "./types.js";

/** Bytes, about, that are kept where nothing else is said. */
const BYTES_MAX = 10 * 2 ** 20;

/**
 * Keeps everything in memory: nothing outlives the process, and each open client has its own. Beyond maxBytes, 10 MiB by
 * default, the oldest messages are dropped; they can be loaded again.
 */
export function memoryStore({ maxBytes = BYTES_MAX }: { maxBytes?: number } = {}): Store {
  const names = new Map<string, Map<string, Json>>();
  let held = new Map<string, Json>();
  let keys: string[] | null = null; // in order; null: to be sorted
  let name = "";

  /** The place of the first key that is not below. */
  function place(key: string): number {
    keys ??= [...held.keys()].sort();
    let [low, high] = [0, keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function put(key: string, value: Json) {
    if (!held.has(key) && keys) {
      if (keys.length === 0 || keys.at(-1)! < key) keys.push(key);
      else keys.splice(place(key), 0, key);
    }
    held.set(key, value);
  }

  function remove(from: string, to: string) {
    const at = place(from);
    for (const key of keys!.splice(at, place(to) - at)) held.delete(key);
  }

  return {
    durable: false,
    maxBytes,
    async open(as) {
      name = as;
      held = names.get(as) ?? new Map();
      names.set(as, held);
      keys = null;
    },
    async get(key) {
      return held.get(key);
    },
    async range(from, to, { limit = Infinity, reverse = false } = {}) {
      let [a, b] = [place(from), place(to)];
      if (reverse) a = Math.max(a, b - limit);
      else b = Math.min(b, a + limit);
      const found = keys!.slice(a, Math.max(a, b)).map((key): [string, Json] => [key, held.get(key)!]);
      return reverse ? found.reverse() : found;
    },
    async write(changes: readonly Change[], expect?: Expect) {
      if (expect && held.get(expect.key) !== expect.value) return false;
      for (const c of changes) {
        if ("put" in c) put(c.put, c.value);
        else if ("remove" in c) remove(c.remove, c.remove + "\0");
        else remove(c.removeFrom, c.to);
      }
      return true;
    },
    async close() {},
    async destroy() {
      names.delete(name);
      held = new Map();
      keys = null;
    },
  };
}
