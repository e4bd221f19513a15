import { type Take } from "./giving.js";
import type { Store } from "./store.js";
/**
 * A store for Node: for each name a journal in the folder dir, whose content is in memory too. A write is a line, and on the
 * disk when write resolves, so it survives a kill -9 and a power cut; writes that overlap share one wait for the disk. A line
 * that was cut short is dropped when the journal is opened.
 *
 * One process uses a name at a time: once another has opened it, the writes of the first reject. open rejects with an Error
 * named StorageRefused where the folder cannot be written, or where a journal is damaged before its last line.
 *
 * A bot gives `message`, and misses nothing: every entry of a log that comes is noted in the write that moves the position, and
 * struck out once what `message` returned is fulfilled. One at a time in each group, in the order of the log. What was not
 * taken is given again: after a crash or a close at the next start, after a rejection in 0.5 s to 20 s, while the group waits.
 * So each is given at least once; for exactly once, the bot notes group and id in the transaction of what it does. Where the
 * folder cannot be used, nothing is given: `snapshot().stored` is false then.
 */
export declare function fileStore(dir: string, { message }?: {
    message?: Take;
}): Store;
