// The driver of the JavaScript client: a line of JSON in, a line out. See docs/clients.md.
import { createInterface } from "node:readline";
import WebSocket from "ws";

const { Chatd, SignedOut, memoryStore } = await import(process.argv[2]);

let time = 0;
let random = 0.5;
let timers = [];
const clock = {
  now: () => time,
  random: () => random,
  after(ms, run) {
    const timer = { at: time + Math.max(0, ms), run };
    timers.push(timer);
    if (ms <= 0) setImmediate(due);
    return () => (timers = timers.filter((t) => t !== timer));
  },
};

/** Runs what is due, in the order of its time. */
function due() {
  for (let next; (next = timers.filter((t) => t.at <= time).sort((a, b) => a.at - b.at)[0]); ) {
    timers = timers.filter((t) => t !== next);
    next.run();
  }
}

/** What waits for no timer and no network has happened after some turns of the event loop. */
async function settled() {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
}

let chat;
let settings;
let given = 0; // tokens
let crashed = false;
let refused = false; // a write, since then
const memory = memoryStore();
const store = {
  ...memory,
  write(changes, expect) {
    if (!crashed) return memory.write(changes, expect);
    refused = true;
    return Promise.reject(new Error("the process is gone"));
  },
};
const timelines = new Map();

function getToken() {
  const { tokens = ["t"] } = settings;
  if (given >= tokens.length && settings.signs_out) throw new SignedOut("signed out");
  return Promise.resolve(tokens[Math.min(given++, tokens.length - 1)]);
}

function connect() {
  const { url, user } = settings;
  chat = new Chatd({ url, user, getToken, store, clock, WebSocket, log() {}, environment: { online: () => () => {}, visible: () => () => {} } });
  chat.connect();
}

function item(i) {
  if (i.type === "gap") return { gap: [i.from, i.to] };
  const reactions = Object.fromEntries([...i.reactions].map(([emoji, r]) => [emoji, r.count]));
  return { id: i.id, key: i.key, body: i.body, state: i.state, code: i.error?.code, edited: Boolean(i.edited_at), deleted: Boolean(i.deleted_at), reactions };
}

const timeline = (group) => timelines.get(group).snapshot();

const commands = {
  start(command) {
    settings = command;
    ({ now: time, random = 0.5 } = command);
    connect();
  },
  async reload() {
    timelines.clear();
    await chat.close();
    crashed = false;
    connect();
  },
  crash() {
    [crashed, refused] = [true, false];
  },
  writes: () => ({ refused }),
  async close() {
    await chat.close();
  },
  async open({ group }) {
    timelines.set(group, chat.group(group).timeline({ at: "end" }));
    await settled();
  },
  items: ({ group }) => ({ items: timeline(group).items.map(item), before: timeline(group).before !== false }),
  before({ group }) {
    timelines.get(group).loadBefore().catch(() => {});
  },
  group: ({ group }) => chat.group(group).snapshot() ?? { gone: true },
  send: async ({ group, body }) => ({ key: (await chat.group(group).send({ body })).key }),
  edit: async ({ group, id, body }) => ({ key: (await chat.group(group).edit(id, { body })).key }),
  delete: async ({ group, id }) => ({ key: (await chat.group(group).delete(id)).key }),
  react: async ({ group, id, emoji }) => ({ key: (await chat.group(group).react(id, emoji)).key }),
  read: ({ group, id }) => chat.group(group).read(id),
  retry: ({ group, key }) => chat.group(group).retry(key),
  discard: ({ group, key }) => chat.group(group).discard(key),
  async advance({ ms }) {
    for (const end = time + (ms === "retry" ? (chat.state.retryAt ?? time) - time : ms); ; ) {
      const next = Math.min(...timers.map((t) => t.at));
      time = Math.max(time, Math.min(end, next));
      if (next > end) break;
      due();
      await settled();
    }
  },
  random: ({ value }) => void (random = value),
  hurry: () => chat.hurry(),
  state: () => ({ phase: chat.state.phase, by: chat.state.by, retry_in: chat.state.retryAt && chat.state.retryAt - time }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = (await commands[command.do](command)) ?? {};
  } catch (err) {
    answer = { error: `${err.code ?? ""} ${err.stack}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
