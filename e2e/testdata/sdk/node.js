// Runs drive.js in Node: node node.js '{"sdk": path, "ws": path or "", "url": …}'. A call is a line [name, ...args], its value another.
import { createInterface } from "node:readline";
import { drive } from "./drive.js";

const { sdk, ws, ...given } = JSON.parse(process.argv[2]);
const { Chatd } = await import(sdk);
const driven = drive({ Chatd, ...given, options: { WebSocket: ws === "" ? null : (await import(ws)).default } });
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = JSON.parse(line);
  console.log(JSON.stringify((await driven[name](...args)) ?? null));
}
