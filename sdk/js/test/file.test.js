import { test } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, readlink, rm, stat, truncate, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fileStore } from "../src/file.js";
import { storeCases } from "./stores.js";

async function folder(t) {
  const dir = await mkdtemp(join(tmpdir(), "chatd-store-"));
  t.after(() => rm(dir, { recursive: true }));
  return dir;
}

async function opened(dir, name = "one") {
  const store = fileStore(dir);
  await store.open(name);
  return store;
}

for (const [name, run] of Object.entries(storeCases)) {
  test(name, async (t) => {
    const dir = await folder(t);
    await run((of) => opened(dir, of));
  });
}

const journal = async (dir) => join(dir, (await readdir(dir)).find((name) => name.endsWith(".jsonl")));

test("a process killed while it writes loses nothing that it had, and leaves no half write", async (t) => {
  const dir = await folder(t);
  let had = 0;
  for (let kill = 1; kill <= 5; kill++) {
    const child = spawn(process.execPath, [join(fileURLToPath(import.meta.url), "..", "file.writer.js"), dir, String(had)], { stdio: ["ignore", "pipe", "inherit"] });
    const until = had + 40 * kill;
    for await (const line of createInterface({ input: child.stdout })) {
      had = Number(line);
      if (had >= until) child.kill("SIGKILL"); // what is in the pipe already is read to its end
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    assert.equal(child.signalCode, "SIGKILL");
    const store = await opened(dir);
    const last = await store.get("last");
    assert.ok(last >= had, `${had} were written, ${last} are there`);
    const entries = await store.range("e/", "e0");
    assert.deepEqual(entries.map(([, value]) => value.n), Array.from({ length: last }, (_, i) => i + 1), "each write has its entry and its number");
    assert.ok(entries.every(([, value]) => value.text.length === 3000));
    await store.close();
    had = last;
  }
});

test("a last line that is cut short is dropped, and what follows is kept", async (t) => {
  const dir = await folder(t);
  let store = await opened(dir);
  await store.write([{ put: "a", value: "é" }]);
  await store.write([{ put: "a", value: "cut" }, { put: "b", value: 1 }]);
  await store.close();
  const path = await journal(dir);
  await truncate(path, (await stat(path)).size - 2);
  store = await opened(dir);
  assert.deepEqual(await store.range("", "\uffff"), [["a", "é"]]);
  await store.write([{ put: "c", value: 2 }]);
  await store.close();
  assert.deepEqual(await (await opened(dir)).range("", "\uffff"), [["a", "é"], ["c", 2]]);
});

test("damage before the last line is said, and nothing is overwritten", async (t) => {
  const dir = await folder(t);
  const store = await opened(dir);
  await store.write([{ put: "a", value: 1 }]);
  await store.close();
  const path = await journal(dir);
  await writeFile(path, "[{\n" + await readFile(path, "utf8"));
  const before = await readFile(path, "utf8");
  await assert.rejects(opened(dir), { name: "StorageRefused", message: /is damaged at character 0/ });
  assert.equal(await readFile(path, "utf8"), before);
});

test("who opens a name last has it, and the one before writes nothing more", async (t) => {
  const dir = await folder(t);
  const first = await opened(dir);
  await first.write([{ put: "a", value: 1 }]);
  const second = await opened(dir);
  await assert.rejects(first.write([{ put: "a", value: 2 }]), /another process has opened/);
  await second.write([{ put: "b", value: 1 }]);
  await assert.rejects(first.write([{ put: "a", value: 3 }]), /another process has opened/);
  await second.close();
  assert.deepEqual(await (await opened(dir)).range("", "\uffff"), [["a", 1], ["b", 1]]);
});

test("a journal is written anew, and stays near the size of its content", async (t) => {
  const dir = await folder(t);
  let store = await opened(dir);
  const text = "x".repeat(10_000);
  for (let n = 0; n < 400; n++) await store.write([{ put: "k/" + (n % 10), value: { n, text } }]);
  assert.ok((await stat(await journal(dir))).size < 2_500_000, "4 MB were written, and 0.1 MB are held");
  await store.close();
  store = await opened(dir);
  assert.deepEqual((await store.range("", "\uffff")).map(([, value]) => value.n), Array.from({ length: 10 }, (_, i) => 390 + i));
});

test("a store that opens another name lets go of the first journal", async (t) => {
  const dir = await folder(t);
  const store = await opened(dir, "one");
  await store.open("two");
  const held = await Promise.all((await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
  assert.equal(held.filter((path) => path.startsWith(dir)).length, 1);
  await store.close();
});

test("a folder that cannot be made refuses storage", async (t) => {
  const dir = await folder(t);
  await writeFile(join(dir, "taken"), "");
  await assert.rejects(opened(join(dir, "taken")), { name: "StorageRefused" });
});
