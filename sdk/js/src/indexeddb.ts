import type { Json } from "./types.js";
import type { Change, Expect, Store } from "./store.js";
import { asking } from "./asking.js";
import { createTabs } from "./tabs.js";

const entries = "entries";

/**
 * A store in IndexedDB, which the tabs of an origin share. Each name is a database: options.name (default "chatd"), a slash,
 * and the name. A write is one transaction. It survives the end of the browser; what was written in the seconds before a
 * power cut may be lost, whole transactions of it.
 *
 * open rejects with an Error named StorageRefused where the browser refuses storage: private windows of some, blocked site
 * data, a full disk. Every call rejects with one named StorageLost once the browser or the person has deleted the database.
 */
export function indexedDBStore(options: { name?: string } = {}): Store {
  let file = "";
  let connection: Promise<IDBDatabase> | undefined;

  /** Connects. A browser may close connections by itself, as Safari does in the background: again is true from the second on. */
  function connect(again: boolean): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
      const opening = indexedDB.open(file, 1);
      opening.onupgradeneeded = () => {
        if (again) opening.transaction!.abort(); // an empty one would not fit what the client has in memory
        else opening.result.createObjectStore(entries);
      };
      opening.onerror = () => {
        if (!again) return reject(opening.error);
        const lost = failure("StorageLost", "the database is gone", opening.error);
        reject(lost);
        store.onlost?.(lost);
      };
      opening.onsuccess = () => {
        const db = opening.result;
        db.onclose = () => { connection = undefined; };
        db.onversionchange = () => db.close(); // another tab deletes it: the next call finds it gone
        resolve(db);
      };
    });
  }

  async function transaction(mode: IDBTransactionMode): Promise<IDBTransaction> {
    if (!file) throw failure("InvalidStateError", "the store is not open");
    const begin = (db: IDBDatabase) => db.transaction(entries, mode, { durability: "relaxed" });
    try {
      return begin(await (connection ??= connect(true)));
    } catch (err) {
      if ((err as Error).name !== "InvalidStateError") throw err;
      connection = connect(true);
      return begin(await connection);
    }
  }

  /** Runs work in one transaction and returns what it says once that is complete. */
  async function run<T>(mode: IDBTransactionMode, work: (of: IDBObjectStore) => () => T): Promise<T> {
    const tx = await transaction(mode);
    return new Promise((resolve, reject) => {
      let result: () => T;
      tx.oncomplete = () => resolve(result());
      tx.onabort = () => reject(tx.error);
      try {
        result = work(tx.objectStore(entries));
      } catch (err) { // a value that cannot be stored
        reject(err);
        tx.abort();
      }
    });
  }

  const store: Store = {
    tabs: asking(createTabs),
    durable: true,

    async open(name) {
      file = (options.name ?? "chatd") + "/" + name;
      try {
        await (connection = connect(false));
        await run("readwrite", (of) => (of.put(0, ""), of.delete(""), () => {})); // a full disk shows at the first write
      } catch (err) {
        file = "";
        connection?.then((db) => db.close(), () => {});
        throw failure("StorageRefused", "the browser refuses storage", err);
      }
    },

    get: (key) => run("readonly", (of) => {
      const asked = of.get(key) as IDBRequest<Json | undefined>;
      return () => asked.result;
    }),

    async range(from, to, { limit, reverse } = {}) {
      if (from >= to || limit === 0) return [];
      const within = IDBKeyRange.bound(from, to, false, true);
      if (!reverse) {
        return run("readonly", (of) => {
          const keys = of.getAllKeys(within, limit), values = of.getAll(within, limit);
          return () => keys.result.map((key, i) => [key as string, values.result[i] as Json]);
        });
      }
      return run("readonly", (of) => {
        const found: [string, Json][] = [];
        const walk = of.openCursor(within, "prev");
        walk.onsuccess = () => {
          const at = walk.result;
          if (!at) return;
          found.push([at.key as string, at.value as Json]);
          if (found.length !== limit) at.continue();
        };
        return () => found;
      });
    },

    write: (changes: readonly Change[], expect?: Expect) => run("readwrite", (of) => {
      if (!expect) {
        for (const change of changes) apply(of, change);
        return () => true;
      }
      let holds = false;
      const asked = of.get(expect.key);
      asked.onsuccess = () => {
        holds = asked.result === expect.value;
        if (holds) for (const change of changes) apply(of, change); // what is thrown here aborts the transaction
      };
      return () => holds;
    }),

    async close() {
      const db = connection;
      file = "";
      connection = undefined;
      (await db?.catch(() => undefined))?.close();
    },

    async destroy() {
      const gone = file;
      await this.close();
      await new Promise<void>((resolve, reject) => {
        const deleting = indexedDB.deleteDatabase(gone);
        deleting.onsuccess = () => resolve();
        deleting.onerror = () => reject(deleting.error);
      });
    },
  };
  return store;
}

function apply(of: IDBObjectStore, change: Change): void {
  if ("put" in change) of.put(change.value, change.put);
  else if ("remove" in change) of.delete(change.remove);
  else if (change.removeFrom < change.to) of.delete(IDBKeyRange.bound(change.removeFrom, change.to, false, true));
}

function failure(name: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name });
}
