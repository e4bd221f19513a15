// Writes to a file store until it is killed, and says each number that it has written.
import { fileStore } from "../src/file.js";

const [, , dir, last] = process.argv;
const store = fileStore(dir);
await store.open("one");
const text = "x".repeat(3000);
const write = async (n) => {
  await store.write([{ put: "e/" + String(n).padStart(16, "0"), value: { n, text } }, { put: "last", value: n }]);
  process.stdout.write(n + "\n");
};
for (let n = Number(last) + 1; ; n += 3) await Promise.all([write(n), write(n + 1), write(n + 2)]);
