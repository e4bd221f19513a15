import type { Store } from "./store.js";
/**
 * Keeps everything in memory: nothing outlives the process, and each open client has its own. Beyond maxBytes, 10 MiB by
 * default, the oldest messages are dropped; they can be loaded again.
 */
export declare function memoryStore({ maxBytes }?: {
    maxBytes?: number;
}): Store;
