/**
 * One websocket, kept alive: it says hello with the cursors of the page, answers requests by their ref, and after a
 * loss comes back after a random time that doubles at most up to a bound, so that a restarted server is not met by
 * everybody at once. It keeps no messages: what was missed comes after the cursors.
 *
 * @typedef {import("./types.js").Link} Link
 * @typedef {object} Listener
 * @property {() => Promise<{token: string, after: Record<string, string|number>}>} hello what to say first; asked at each connect
 * @property {(frame: any) => void} frame every frame that is no answer
 * @property {(link: Link) => void} link
 * @property {(forGood: boolean) => Promise<boolean>} refused the token was refused, or the user for good; true: there is a new token, try again
 * @property {() => boolean} polling whether the page gets along without: there is no hurry
 */
import { Problem } from "./api.js";

const WAIT_MS = 300;
const WAIT_MAX_MS = 10_000;
const WAIT_POLLING_MAX_MS = 60_000;
/** A connection that held this long counts as good: the next loss begins with a short wait. */
const GOOD_MS = 5000;
/** An answer that takes longer means that the socket is dead without saying so; that goes for the handshake too. */
const ANSWER_MS = 10_000;
/** The token is not taken, or the user is disabled. */
const UNAUTHENTICATED = 4401;
const FORBIDDEN = 4403;
/** Refusals that another try does not mend soon: too many sessions, stalled, too fast. */
const SLOW_CODES = new Set([4409, 4413, 4429]);

/** @param {string} url @param {Listener} listener */
export function createConnection(url, listener) {
  /** @type {WebSocket|null} */
  let socket = null;
  let live = false;
  let ended = false;
  let attempt = 0;
  let refs = 0;
  let since = 0;
  /** How long the server asked to stay away, ms. */
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let handshake;
  /** @type {Map<string, {done: (frame: any) => void, fail: (err: Problem) => void, timer: ReturnType<typeof setTimeout>}>} */
  const waiting = new Map();

  function open() {
    clearTimeout(timer);
    if (ended) return;
    listener.link({ phase: "connecting" });
    const ws = new WebSocket(url, ["chatd.v1"]);
    socket = ws;
    handshake = setTimeout(() => drop(ws), ANSWER_MS);
    ws.onopen = async () => {
      clearTimeout(handshake);
      const hello = await listener.hello().catch(() => null);
      if (hello === null) drop(ws);
      else if (ws === socket && ws.readyState === WebSocket.OPEN) {
        ws.send(JSON.stringify({ op: "hello", ...hello }));
        handshake = setTimeout(() => drop(ws), ANSWER_MS);
      }
    };
    ws.onmessage = (event) => {
      if (ws === socket) receive(JSON.parse(event.data));
    };
    ws.onclose = (event) => {
      if (ws === socket) lost(event.code);
    };
  }

  /** Gives a socket up without waiting for the other side to agree, which may be what does not answer. @param {WebSocket} ws */
  function drop(ws) {
    if (ws !== socket) return;
    ws.close();
    lost(1006);
  }

  /** @param {any} frame */
  function receive(frame) {
    if (frame.op === "welcome") {
      clearTimeout(handshake);
      live = true;
      since = Date.now();
      listener.frame(frame);
      if (live) listener.link({ phase: "live" }); // unless the page began another
      return;
    }
    if (frame.op !== "ok" && frame.op !== "error") return listener.frame(frame);
    const w = waiting.get(frame.ref);
    if (!w) {
      if (live) return;
      asked = frame.retry_after_ms ?? 0;
      socket?.close(); // the hello was not taken: again, later
      return;
    }
    waiting.delete(frame.ref);
    clearTimeout(w.timer);
    if (frame.op === "ok") w.done(frame);
    else w.fail(new Problem(frame.code, frame.detail, 0, (frame.retry_after_ms ?? 0) / 1000));
  }

  /** @param {number} code */
  async function lost(code) {
    clearTimeout(handshake);
    if (live && Date.now() - since > GOOD_MS) attempt = 0;
    socket = null;
    live = false;
    for (const [, w] of waiting) {
      clearTimeout(w.timer);
      w.fail(new Problem("offline", "The connection was lost."));
    }
    waiting.clear();
    if (ended) return;
    listener.link({ phase: "waiting" });
    if ((code === UNAUTHENTICATED || code === FORBIDDEN) && !(await listener.refused(code === FORBIDDEN))) return end();
    const most = Math.min(listener.polling() ? WAIT_POLLING_MAX_MS : WAIT_MAX_MS, WAIT_MS * 2 ** attempt++);
    const wait = SLOW_CODES.has(code) ? WAIT_MAX_MS / 2 + Math.random() * WAIT_MAX_MS / 2 : Math.random() * most;
    const until = asked + wait;
    asked = 0;
    listener.link({ phase: "waiting", until: Date.now() + until });
    timer = setTimeout(open, until);
  }

  /** What the other side still sends is nobody's any more. */
  function end() {
    ended = true;
    clearTimeout(timer);
    socket?.close(1000);
    lost(1000);
    listener.link({ phase: "off" });
  }

  /** Ends the session there is, and begins another. */
  function restart() {
    if (socket !== null) drop(socket);
  }

  /** Connects at once when it is waiting to do so. */
  function hurry() {
    if (!ended && socket === null) open();
  }

  return {
    open,
    end,
    restart,
    hurry,
    isLive: () => live,
    /** Sends a frame that needs no answer; dropped while there is no connection. @param {any} frame */
    send(frame) {
      if (live) socket?.send(JSON.stringify(frame));
    },
    /** Sends a frame and waits for its answer. @param {any} frame @returns {Promise<any>} */
    ask(frame) {
      const ws = socket;
      if (!live || !ws) return Promise.reject(new Problem("offline", "You’re offline."));
      const ref = String(++refs);
      return new Promise((done, fail) => {
        const timer = setTimeout(() => drop(ws), ANSWER_MS);
        waiting.set(ref, { done, fail, timer });
        ws.send(JSON.stringify({ ...frame, ref }));
      });
    },
  };
}

/** @typedef {ReturnType<typeof createConnection>} Connection */
