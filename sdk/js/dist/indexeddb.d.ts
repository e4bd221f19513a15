import type { Store } from "./store.js";
/**
 * A store in IndexedDB, which the tabs of an origin share. Each name is a database: options.name (default "chatd"), a slash,
 * and the name. A write is one transaction. It survives the end of the browser; what was written in the seconds before a
 * power cut may be lost, whole transactions of it.
 *
 * open rejects with an Error named StorageRefused where the browser refuses storage: private windows of some, blocked site
 * data, a full disk. Every call rejects with one named StorageLost once the browser or the person has deleted the database.
 */
export declare function indexedDBStore(options?: {
    name?: string;
}): Store;
