/**
 * The page's link to the server: a websocket, or long polling while there is none. The websocket is tried again all the
 * time, and taken as soon as it works.
 *
 * @typedef {import("./types.js").Link} Link
 * @typedef {object} LinkListener
 * @property {() => Promise<{token: string, after: Record<string, string|number>}>} hello what a websocket says first
 * @property {(forGood: boolean) => Promise<boolean>} refused the token was refused, or the user for good; true: there is a new token, try again
 * @property {() => Promise<any>} begin
 * @property {() => object} request
 * @property {(frame: any) => void} frame what the server says, by either way
 * @property {() => void} round an answer to a poll came
 * @property {(link: Link) => void} link
 */
import { Problem } from "./api.js";
import { createConnection } from "./connection.js";
import { createPoll } from "./poll.js";

/** Without a websocket for this long, polling begins. */
const PATIENCE_MS = 3000;

/** @param {string} url of the websocket @param {ReturnType<typeof import("./api.js").routes>} api @param {LinkListener} listener */
export function createLink(url, api, listener) {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let patience;
  let reported = "";
  /** @type {Link} */
  let socketLink = { phase: "off" };

  const poll = createPoll({
    begin: listener.begin, request: listener.request, sync: api.sync, frame: listener.frame, round: listener.round, changed: report,
  });
  const socket = createConnection(url, {
    hello: listener.hello, refused: listener.refused, frame: listener.frame, polling: poll.isLive,
    link(next) {
      socketLink = next;
      if (next.phase === "live" || next.phase === "off") {
        clearTimeout(patience);
        patience = undefined;
        poll.stop();
      } else {
        patience ??= setTimeout(poll.start, PATIENCE_MS);
      }
      report();
    },
  });

  function report() {
    /** @type {Link} */
    const link = socket.isLive() ? { phase: "live", by: "socket" } : poll.isLive() ? { phase: "live", by: "poll" } : socketLink;
    if (JSON.stringify(link) === reported) return;
    reported = JSON.stringify(link);
    listener.link(link);
  }

  /** The call that a frame is. @param {any} frame @returns {Promise<any>} */
  function asCall({ op, group, ...fields }) {
    switch (op) {
      case "send": return api.send(group, fields);
      case "read": return api.read(group, fields);
      default: return Promise.resolve({}); // auth: the next call has the new token anyway
    }
  }

  return {
    open: socket.open,
    end: socket.end,
    isLive: () => socket.isLive() || poll.isLive(),
    /** Starts the session of a websocket again, with the present positions. */
    restart: socket.restart,
    hurry() {
      socket.hurry();
      poll.hurry();
    },
    /** Sends what needs no answer; dropped while there is no websocket. @param {any} frame */
    send: socket.send,
    /** Sends a frame and waits for its answer. @param {any} frame @returns {Promise<any>} */
    ask(frame) {
      if (socket.isLive()) return socket.ask(frame);
      if (poll.isLive()) return asCall(frame);
      return Promise.reject(new Problem("offline", "You’re offline."));
    },
  };
}

/** @typedef {ReturnType<typeof createLink>} PageLink */
