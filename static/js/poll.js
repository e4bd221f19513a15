/**
 * Long polling over POST /v1/sync, for where no websocket gets through: it delivers the same frames. Pull and push
 * share their cursors, so the page changes between the two at any time, and what both bring is taken once.
 *
 * @typedef {object} PollListener
 * @property {() => Promise<any>} begin loads the lists that the page starts from; called first, and again after a failure
 * @property {() => object} request the positions of the page
 * @property {(body: object, signal: AbortSignal) => Promise<any>} sync
 * @property {(frame: any) => void} frame
 * @property {() => void} round an answer came: what only the websocket pushes may have changed
 * @property {() => void} changed whether it is live
 */

/** How long the server may hold a call, s: less than proxies usually allow. */
const WAIT_S = 25;
/** Messages and items in one answer. */
const LIMIT = 500;
const RETRY_MS = 500;
const RETRY_MAX_MS = 10_000;

/** @param {PollListener} listener */
export function createPoll(listener) {
  /** @type {AbortController|null} */
  let running = null;
  let live = false;
  let hurried = () => {};

  /** @param {boolean} now */
  function turn(now) {
    if (live === now) return;
    live = now;
    listener.changed();
  }

  /** @param {AbortSignal} signal */
  async function run(signal) {
    let attempt = 0;
    while (!signal.aborted) {
      try {
        if (!live) await listener.begin();
        const answer = await listener.sync({ ...listener.request(), limit: LIMIT, wait_s: live ? WAIT_S : 0 }, signal);
        if (signal.aborted) return;
        deliver(answer);
        attempt = 0;
        turn(true);
        listener.round();
      } catch (/** @type {any} */ err) {
        if (signal.aborted) return;
        turn(false);
        const wait = Math.max(1000 * (err.retryAfter ?? 0), Math.random() * Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** attempt++));
        await new Promise((done) => {
          hurried = () => done(null);
          setTimeout(done, wait);
          signal.addEventListener("abort", done, { once: true });
        });
      }
    }
  }

  /** Hands on what an answer has, as the frames of a websocket. @param {any} answer */
  function deliver({ groups = [], inbox, left = [], errors = [] }) {
    if (errors.length > 0) listener.frame({ op: "errors", errors });
    for (const g of groups) listener.frame({ ...g, op: "messages" });
    if (inbox) listener.frame({ ...inbox, op: "inbox" });
    for (const group of left) listener.frame({ op: "left", group });
  }

  return {
    isLive: () => live,
    start() {
      if (running) return;
      running = new AbortController();
      run(running.signal);
    },
    stop() {
      running?.abort();
      running = null;
      live = false;
    },
    /** Tries at once when it is waiting to do so. */
    hurry: () => hurried(),
  };
}
