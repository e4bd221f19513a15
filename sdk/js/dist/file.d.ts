import type { Store } from "./store.js";
/**
 * A store for Node: for each name a journal in the folder dir, whose content is in memory too. A write is a line, and on the
 * disk when write resolves, so it survives a kill -9 and a power cut; writes that overlap share one wait for the disk. A line
 * that was cut short is dropped when the journal is opened.
 *
 * One process uses a name at a time: once another has opened it, the writes of the first reject. open rejects with an Error
 * named StorageRefused where the folder cannot be written, or where a journal is damaged before its last line.
 */
export declare function fileStore(dir: string): Store;
