import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { type Take, giving } from "./giving.js";
import { memoryStore } from "./memory.js";
import type { Change, Expect, Store } from "./store.js";

/** A journal is written anew when it is this long, in bytes, and twice as long as it was after the last time. */
const REWRITE_BYTES_MIN = 1 << 20;

/** Entries in a line when a journal is written anew. */
const LINE_ENTRIES_MAX = 1000;

type Line = { text: string; changes: readonly Change[]; expect: Expect | undefined; done(made: boolean): void; failed(err: unknown): void };

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
export function fileStore(dir: string, { message }: { message?: Take } = {}): Store {
  let memory = memoryStore();
  let path = "";
  let journal: FileHandle | undefined;
  let size = 0; // of the journal, in bytes
  let rewriteAt = 0;
  let waiting: Line[] = [];
  let written: Promise<void> = Promise.resolve(); // once everything is that was asked for; never rejects

  /** Reads the journal into memory, and cuts off a last line that is not whole. */
  async function load(): Promise<void> {
    const text = await readFile(path, "utf8");
    let from = 0;
    for (let to; (to = text.indexOf("\n", from)) >= 0; from = to + 1) {
      try {
        await memory.write(JSON.parse(text.slice(from, to)));
      } catch (err) {
        if (to + 1 === text.length) break; // not all of it came to the disk before the power was cut
        throw new Error(`${path} is damaged at character ${from}`, { cause: err });
      }
    }
    size = bytes(text.slice(0, from));
    if (from < text.length) await journal!.truncate(size);
  }

  async function append(text: string): Promise<void> {
    if (!journal) throw new Error("the store is not open");
    const [ours, there] = await Promise.all([journal.stat(), stat(path)]);
    if (ours.size !== size || ours.ino !== there.ino) throw new Error(`another process has opened ${path}`);
    try {
      await journal.appendFile(text);
      await journal.datasync();
    } catch (err) { // of a full disk, for one
      await journal.truncate(size);
      throw err;
    }
    size += bytes(text);
  }

  /** Writes a journal of what is held beside the old one, and puts it in its place. */
  async function rewrite(): Promise<void> {
    await rm(path + ".new", { force: true });
    const next = await open(path + ".new", "a", 0o600);
    try {
      const all = await memory.range("", "\uffff");
      for (let i = 0; i < all.length; i += LINE_ENTRIES_MAX) {
        await next.appendFile(JSON.stringify(all.slice(i, i + LINE_ENTRIES_MAX).map(([put, value]) => ({ put, value }))) + "\n");
      }
      await next.sync();
      await rename(path + ".new", path);
    } catch (err) {
      await next.close();
      throw err;
    }
    await journal!.close();
    journal = next;
    size = (await next.stat()).size;
    rewriteAt = Math.max(REWRITE_BYTES_MIN, 2 * size);
    await syncFolder(dir);
  }

  /** Writes what waits in one go, up to a line that expects what those before it leave behind. */
  async function flush(): Promise<void> {
    const next = waiting.findIndex((line, i) => i > 0 && line.expect);
    const lines = waiting.splice(0, next < 0 ? waiting.length : next);
    if (lines.length === 0) return; // written with those before them
    try {
      const expect = lines[0]!.expect;
      if (expect && (await memory.get(expect.key)) !== expect.value) lines.shift()!.done(false);
      if (lines.length > 0) await append(lines.map((line) => line.text).join(""));
      for (const line of lines) await memory.write(line.changes);
    } catch (err) {
      for (const line of lines) line.failed(err);
      return;
    }
    for (const line of lines) line.done(true);
    if (size >= rewriteAt) await rewrite().catch(() => { rewriteAt = 2 * size; }); // what is there holds all of it
  }

  async function read<T>(what: () => Promise<T>): Promise<T> {
    await written;
    if (!journal) throw new Error("the store is not open");
    return what();
  }

  return {
    durable: true,
    ...(message && { tabs: giving(message) }),

    async open(name) {
      await this.close();
      memory = memoryStore({ maxBytes: Infinity });
      // File systems have short names, and some do not tell upper case from lower case.
      path = join(dir, encodeURIComponent(name).slice(0, 80) + "-" + createHash("sha256").update(name).digest("hex").slice(0, 16) + ".jsonl");
      rewriteAt = REWRITE_BYTES_MIN;
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        journal = await open(path, "a", 0o600);
        await load();
        await append("[]\n"); // a process that has it open finds it longer than it left it
        await syncFolder(dir);
      } catch (err) {
        await journal?.close();
        journal = undefined;
        throw Object.assign(new Error(`cannot keep anything in ${dir}: ${(err as Error).message}`, { cause: err }), { name: "StorageRefused" });
      }
    },

    get: (key) => read(() => memory.get(key)),
    range: (from, to, options) => read(() => memory.range(from, to, options)),

    write(changes, expect) {
      return new Promise((done, failed) => {
        waiting.push({ text: JSON.stringify(changes) + "\n", changes, expect, done, failed });
        written = written.then(flush);
      });
    },

    async close() {
      await written;
      await journal?.close();
      journal = undefined;
    },

    async destroy() {
      await this.close();
      await rm(path, { force: true });
      await rm(path + ".new", { force: true });
    },
  };
}

const bytes = (text: string) => new TextEncoder().encode(text).length;

/** Makes names in a folder survive a power cut, where the system can do that. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
