// Somebody with many messages, in a page. The client itself stores them, from a server within the page; then it is opened again
// without any network, and receives more. For the test that counts what that reads, and for bench, which measures it.
import { Chatd } from "../src/chatd.js";
import { indexedDBStore } from "../src/indexeddb.js";

const url = "https://chat.example";
const user = "alice";
const epoch = "e1";
const FRAME = 100;
const BODY = "Somebody says something, as people do. ".repeat(5);

/** A server that has groups with so many messages each, and says what it is told to. */
class Server {
  #groups;
  #last;
  #socket = null;

  constructor(groups, last) {
    this.#groups = Array.from({ length: groups }, (_, i) => `group-${i}`);
    this.#last = last;
  }

  message(group, id) {
    const sent = 1_790_000_000_000 + 1000 * (this.#groups.indexOf(group) * this.#last + id);
    return { id, group, kind: "text", from: `user-${id % 7}`, sent_at: new Date(sent).toISOString(), body: BODY + id, client_id: `key-${group}-${id}` };
  }

  says(frame) {
    this.#socket.onmessage({ data: JSON.stringify(frame) });
  }

  sends(group, from, to) {
    const messages = Array.from({ length: to - from + 1 }, (_, i) => this.message(group, from + i));
    this.says({ op: "messages", group, epoch, from, to, cursor: `${epoch}.${to}`, complete: true, messages });
  }

  fetch = async () => {
    const groups = this.#groups.map((id) => ({
      id, name: `Group ${id}`, visibility: "private", created_by: "bob", created_at: "2026-01-01T00:00:00.000Z", epoch, first: 1, last: this.#last, members: 8,
      post: "members", seen: 0, read: 0, unread: this.#last, mentions_unread: 0, last_message: this.message(id, this.#last),
    }));
    return new Response(JSON.stringify({ groups, next: null }));
  };

  get WebSocket() {
    const server = this;
    return class {
      readyState = 1;
      constructor() {
        server.#socket = this;
        setTimeout(() => this.onopen());
      }
      send(said) {
        const { op, ref } = JSON.parse(said);
        const at = { epoch, first: 1, last: server.#last, seen: 0, read: 0 };
        if (op === "hello") server.says({ op: "welcome", user, ping_s: 25, groups: Object.fromEntries(server.#groups.map((g) => [g, at])) });
        else setTimeout(() => server.says({ op: "ok", ref }));
      }
      close() {
        this.readyState = 3;
      }
    };
  }
}

/** A client of a server, and how to have it take messages. */
async function connected(server, name) {
  const chat = new Chatd({ url, user, store: indexedDBStore({ name }), getToken: async () => "token", fetch: server.fetch, WebSocket: server.WebSocket });
  let taken = 0;
  let until = [Infinity, () => {}];
  chat.on("message", () => ++taken === until[0] && until[1]());
  chat.connect();
  while (chat.state.phase !== "live") await new Promise((done) => chat.subscribe(done));
  /** Runs what brings so many, and waits until they are stored. */
  const take = (n, bring) => new Promise((done) => {
    until = [taken + n, done];
    bring();
  });
  return { chat, take };
}

/** Stores so many messages in each of so many groups. */
export async function fill(name, groups, each) {
  const server = new Server(groups, each);
  const { chat, take } = await connected(server, name);
  for (let g = 0; g < groups; g++) {
    await take(each, () => {
      for (let from = 1; from <= each; from += FRAME) server.sends(`group-${g}`, from, Math.min(each, from + FRAME - 1));
    });
  }
  await chat.close();
  const db = await result(indexedDB.open(`${name}/${url} ${user}`));
  const stored = await result(db.transaction("entries").objectStore("entries").count(IDBKeyRange.bound("m/", "m0")));
  db.close();
  return stored;
}

const result = (request) => new Promise((done, fail) => {
  request.onsuccess = () => done(request.result);
  request.onerror = () => fail(request.error);
});

/** What is asked of IndexedDB from now on: transactions, requests, and the records that they read. */
function counting() {
  const counts = { transactions: 0, requests: 0, records: 0 };
  const watch = (of, name, note) => {
    const was = of[name];
    of[name] = function (...args) {
      const asked = was.apply(this, args);
      note(asked);
      return asked;
    };
  };
  watch(IDBDatabase.prototype, "transaction", () => counts.transactions++);
  for (const name of ["get", "getAll", "getAllKeys", "openCursor", "put"]) {
    watch(IDBObjectStore.prototype, name, (asked) => {
      counts.requests++;
      if (name === "put" || name === "getAllKeys") return;
      asked.addEventListener("success", () => (counts.records += Array.isArray(asked.result) ? asked.result.length : asked.result == null ? 0 : 1));
    });
  }
  return counts;
}

/** Opens what is stored, with no network, and shows the group with the newest message: what it took until items were there. */
export async function open(name, counted) {
  const counts = counted ? counting() : { transactions: 0, requests: 0, records: 0 };
  const never = () => new Promise(() => {});
  const began = performance.now();
  const chat = new Chatd({ url, user, store: indexedDBStore({ name }), getToken: never, fetch: never });
  chat.connect();
  await chat.ready;
  const { groups } = chat.snapshot();
  const timeline = chat.group(groups[0].id).timeline({ at: "end" });
  globalThis.held = { chat, timeline };
  await new Promise((done) => timeline.subscribe(() => timeline.snapshot().items.length > 0 && done()));
  const ms = performance.now() - began;
  const { items } = timeline.snapshot();
  return { ms, groups: groups.length, items: items.length, last: `${groups[0].id} ${items.at(-1).id}`, ...counts };
}

/** Shows the end of a group, and then receives one message after another. Resolves to how: more(n) receives n, and says what is shown. */
export async function receive(name) {
  const server = new Server(1, 1);
  const { chat, take } = await connected(server, name);
  const timeline = chat.group("group-0").timeline({ at: "end" });
  timeline.subscribe(() => timeline.snapshot());
  let last = 0;
  return {
    async more(n) {
      for (const end = last + n; last < end; ) {
        const to = Math.min(end, last + FRAME);
        await take(to - last, () => {
          while (last < to) server.sends("group-0", ++last, last);
        });
      }
      const { items } = timeline.snapshot();
      return { items: items.length, last: items.at(-1).id };
    },
  };
}
