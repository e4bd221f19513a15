/**
 * Uploads the files that go with what is being written: piece by piece, and from where the server is after something broke
 * (tus 1.0). The state shows how far each is; the bytes are here.
 */
import { Problem, passing } from "./api.js";
import { fileName, sizeOf } from "./format.js";
import { newKey } from "./outbox.js";

/** Files of one message. */
const FILES_MAX = 10;
/** Uploads at the same time: browsers have few connections to one server, and messages need some of them. */
const RUNNING_MAX = 3;
/** Attempts in a row that bring nothing further. */
const ATTEMPTS_MAX = 10;
/** Bytes of one request: what nginx takes as it is installed. */
const PIECE_MAX = 1 << 20;
/** A request that does not get further for this long is given up. The server waits for a stalled one up to 15 s. */
const STALL_MS = 60_000;

/**
 * @param {import("./store.js").Store} store @param {import("./client.js").Client} client
 * @typedef {import("./types.js").Upload} Upload
 */
export function createUploads(store, client) {
  const { api } = client;
  /** @type {Map<string, {file: Blob, stop: AbortController, creation: string, running: boolean}>} */
  const held = new Map();
  const find = (/** @type {string} */ key) => store.get().uploads.find((u) => u.key === key);

  /** @param {string} key @param {Partial<Upload>} change */
  function note(key, change) {
    store.update((s) => ({ ...s, uploads: s.uploads.map((u) => (u.key === key ? { ...u, ...change } : u)) }));
  }

  /** Starts what waits for its turn. */
  function next() {
    for (const [key, h] of held) {
      if ([...held.values()].filter((h) => h.running).length >= RUNNING_MAX) return;
      const u = find(key);
      if (!u) drop(key);
      else if (!h.running && u.phase === "waiting") run(key, h);
    }
  }

  /** @param {string} key @param {{file: Blob, stop: AbortController, creation: string, running: boolean}} h */
  async function run(key, h) {
    const { signal } = h.stop;
    h.running = true;
    for (let attempt = 0, best = 0; !signal.aborted; attempt++) {
      try {
        await send(key, h);
        note(key, { phase: "whole" });
        store.update((s) => ({ ...s, heard: `${find(key)?.name} is uploaded` }));
        break;
      } catch (/** @type {any} */ err) {
        const u = find(key);
        if (!u || signal.aborted) break;
        if (u.sent > best) [attempt, best] = [0, u.sent];
        if (attempt >= ATTEMPTS_MAX || !again(err)) {
          note(key, { phase: "failed", problem: err.status === 404 && u.id ? "The upload has expired." : err.message });
          break;
        }
        note(key, { phase: "waiting" });
        await pause(1000 * err.retryAfter + Math.min(10_000, 500 * 2 ** attempt), signal);
      }
    }
    h.running = false;
    next();
  }

  /** One attempt, from where the server is. @param {string} key @param {{file: Blob, stop: AbortController, creation: string}} h */
  async function send(key, h) {
    const { signal } = h.stop;
    let { group, name, size, type, id } = /** @type {Upload} */ (find(key));
    let offset = 0;
    if (id) offset = await api.offset(group, id, signal);
    else ({ id } = await api.createFile(group, { name, size, type: type || undefined }, h.creation, signal));
    note(key, { id, phase: "sending", sent: offset });
    for (; id && offset < size; offset = Math.min(size, offset + PIECE_MAX)) {
      const begin = offset;
      const progress = (/** @type {number} */ sent) => (find(key) ? note(key, { sent: begin + sent }) : drop(key));
      await api.writeFile(group, id, begin, h.file.slice(begin, begin + PIECE_MAX), (path, init) => request(path, init, signal, progress));
    }
  }

  /** Forgets an upload. @param {string} key */
  function drop(key) {
    held.get(key)?.stop.abort();
    held.delete(key);
  }

  return {
    /** @param {string} group @param {Iterable<globalThis.File>} files */
    attach(group, files) {
      for (const file of files) {
        const { uploads, fileMax = 0 } = store.get();
        if (uploads.filter((u) => u.group === group).length >= FILES_MAX) return client.toast(`A message has at most ${FILES_MAX} files.`);
        if (file.size > fileMax) {
          client.toast(`${file.name} is too large. The limit is ${sizeOf(fileMax)}.`);
          continue;
        }
        const key = newKey();
        held.set(key, { file, stop: new AbortController(), creation: newKey(), running: false });
        const upload = { key, group, name: fileName(file.name), size: file.size, type: file.type, sent: 0, phase: /** @type {const} */ ("waiting") };
        store.update((s) => ({ ...s, uploads: [...s.uploads, upload] }));
      }
      next();
    },
    /** Continues the upload where it is, or starts over if it is gone. @param {string} key */
    retryUpload(key) {
      const h = held.get(key);
      if (!h) return;
      h.creation = newKey();
      note(key, { phase: "waiting", problem: undefined });
      const u = find(key);
      if (u?.id) api.offset(u.group, u.id, h.stop.signal).catch((err) => err.status === 404 && note(key, { id: undefined, sent: 0 })).finally(next);
      else next();
    },
    /** Stops an upload, and frees what it takes at the server. @param {string} key */
    removeUpload(key) {
      const u = find(key);
      drop(key);
      store.update((s) => ({ ...s, uploads: s.uploads.filter((u) => u.key !== key) }));
      if (u?.id) api.removeFile(u.group, u.id).catch(() => {}); // it expires
      next();
    },
    /** Takes the files of a message that is sent now. @param {string} group @returns {import("./types.js").File[]|undefined} */
    takeFiles(group) {
      const own = store.get().uploads.filter((u) => u.group === group);
      for (const u of own) drop(u.key);
      if (own.length > 0) store.update((s) => ({ ...s, uploads: s.uploads.filter((u) => u.group !== group) }));
      return own.length > 0 ? own.map((u) => ({ id: u.id ?? "", name: u.name, size: u.size, type: u.type })) : undefined;
    },
  };
}

/** Whether the rest of an upload may be taken later. Another request may still be writing. @param {unknown} err */
const again = (err) => passing(err) || (err instanceof Problem && err.code === "conflict");

/** @param {number} ms @param {AbortSignal} signal */
const pause = (ms, signal) => new Promise((done) => {
  setTimeout(done, ms);
  signal.addEventListener("abort", done);
  addEventListener("online", done, { once: true });
});

/**
 * fetch, for a body whose way to the server is to be seen.
 * @param {string} path @param {any} init @param {AbortSignal} signal @param {(sent: number) => void} progress @returns {Promise<Response>}
 */
function request(path, init, signal, progress) {
  return new Promise((done, fail) => {
    const x = new XMLHttpRequest();
    const stop = () => x.abort();
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const moved = () => {
      clearTimeout(timer);
      timer = setTimeout(stop, STALL_MS);
    };
    x.open(init.method, path);
    for (const [name, value] of Object.entries(init.headers)) x.setRequestHeader(name, /** @type {string} */ (value));
    x.upload.onprogress = (e) => { moved(); progress(e.loaded); };
    x.onload = () => {
      const after = x.getResponseHeader("Retry-After");
      done(new Response(x.status === 204 ? null : x.response, { status: x.status, headers: after ? { "Retry-After": after } : {} }));
    };
    x.onerror = x.onabort = fail;
    x.onloadend = () => { clearTimeout(timer); signal.removeEventListener("abort", stop); };
    signal.addEventListener("abort", stop);
    moved();
    if (signal.aborted) fail();
    else x.send(init.body);
  });
}

/** @typedef {ReturnType<typeof createUploads>} Uploads */
