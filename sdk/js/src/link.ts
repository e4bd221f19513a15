import { createAcks } from "./acks.js";
import { backoff } from "./clock.js";
import { ChatdError } from "./error.js";
import { baseOf } from "./http.js";
import type { Clock, Frame, Http, Link, LinkListener } from "./parts.js";
import { createPoll } from "./poll.js";
import { createSocket, type Loss, type Socket, type WebSocketClass } from "./socket.js";
import type { Tokens } from "./token.js";
import type { ConnectionState } from "./types.js";

/** Without a session for this long, or after so many attempts in vain, polling begins. */
const PATIENCE_MS = 5000;
const MISSES = 2;
/** How long a welcome may take; less while the poll stands still for it. */
const WELCOME_MS = 10_000;
const WELCOME_POLLING_MS = 5000;
/** A session that held this long counts as good: the next loss begins with a short wait. */
const LASTED_MS = 5000;
/** A network that has just changed, or a page that was asleep: whether the connection survived it should show soon. */
const PROBE_MS = 5000;
/** A hello may have 256 KiB, which is positions in 1,000 groups and more. */
const HELLO_BYTES_MAX = 250_000;
/** A frame that may be longer than the server takes (64 KiB) goes by HTTP, which takes more, and says what it refuses. */
const FRAME_CHARS_MAX = 16_384;

/** Close codes. After the slow ones, another try soon changes nothing; too many sessions take turns if all of them come back. */
const UNAUTHENTICATED = 4401;
const FORBIDDEN = 4403;
const TOO_MANY = 4409;
const SLOW = new Set([1009, 4400, 4413, 4429]);
const SLOW_MS = 10_000;
const TOO_MANY_MS = 60_000;

/** What happens around the client. Each returns how to stop listening. */
export type Environment = {
  /** The network is there, or away. */
  online(run: (online: boolean) => void): () => void;
  /** The page is looked at again. */
  visible(run: () => void): () => void;
};

export type LinkOptions = {
  url: string;
  http: Http;
  tokens: Pick<Tokens, "get" | "refused" | "renewed" | "ended" | "end" | "hurry">;
  listener: LinkListener;
  clock: Clock;
  /** null: long polling only. Default: the global one, if there is one. */
  WebSocket?: WebSocketClass | null | undefined;
  environment?: Environment | undefined;
};

export function createLink(options: LinkOptions): Link {
  const { http, tokens, listener, clock } = options;
  const WebSocket = options.WebSocket === undefined ? (globalThis.WebSocket as WebSocketClass | undefined) : options.WebSocket;
  const url = `${baseOf(options.url).replace(/^http/, "ws")}/v1/ws`;
  const environment = options.environment ?? surroundings;

  let phase: "off" | "open" | "closed" | "signed-out" = "off";
  let attempts = 0; // of this link; a later one makes what an earlier one waits for void
  let socket: Socket | null = null;
  let token = ""; // that the session has shown
  let welcomedAt: number | null = null;
  let failures = 0; // in a row, of sessions that did not last
  let misses = 0; // in a row, without a welcome
  let retryAt = 0; // 0: connecting, or there
  let reported = "";
  let cancelRetry = () => {};
  let cancelPatience: (() => void) | null = null;
  let hearNoMore = () => {};

  const acks = createAcks({ clock, taken: listener.acks, socket: () => socket, rolledBack: restart });
  const poll = createPoll({ http, clock, listener, acks: acks.all, acked: acks.done, changed: report });

  function renewed(fresh: string): void {
    const mine = socket;
    if (!mine?.live) return;
    // If it is not taken, the server closes with 4401 when the old one ends.
    mine.ask({ op: "auth", token: fresh }).then(() => mine === socket && (token = fresh), () => {});
  }

  function report(): void {
    const state = stateNow();
    const text = JSON.stringify(state);
    if (text === reported) return;
    reported = text;
    listener.state(state);
  }

  function stateNow(): ConnectionState {
    if (phase !== "open") return { phase };
    if (socket?.live) return { phase: "live", by: "websocket" };
    if (poll.live) return { phase: "live", by: "poll" };
    const times = [...(WebSocket ? [retryAt] : []), ...(poll.running ? [poll.retryAt] : [])];
    return times.includes(0) ? { phase: "connecting" } : { phase: "waiting", retryAt: Math.min(...times) };
  }

  async function connect(): Promise<void> {
    if (!WebSocket) return;
    const mine = ++attempts;
    cancelRetry();
    retryAt = 0;
    report();
    try {
      token = await tokens.get();
    } catch (err) {
      if (mine !== attempts) return;
      misses++;
      left();
      return noToken(err as ChatdError);
    }
    if (mine !== attempts) return;
    const opened: Socket = createSocket({
      url, WebSocket, clock, hello, welcomed, lost,
      welcomeMs: poll.live ? WELCOME_POLLING_MS : WELCOME_MS,
      frame: (frame) => hand(frame, opened),
    });
    socket = opened;
  }

  /** From here on only this session asks for what comes next: the poll would bring the same. */
  async function hello(): Promise<Frame> {
    poll.pause();
    const { after, ...inbox } = await listener.positions();
    let bytes = 2000 + token.length;
    const fit = Object.entries(after).filter((at) => (bytes += bytesOf(at)) < HELLO_BYTES_MAX);
    if (bytes < HELLO_BYTES_MAX || poll.live) return { op: "hello", token, after: Object.fromEntries(fit), ...inbox, start: "newest" };
    // The session begins where the server's acks are in groups without a position: a sync, which takes all positions, comes first.
    startPoll();
    throw new ChatdError("unavailable", "there are too many groups");
  }

  function welcomed(frame: Frame): void {
    welcomedAt = clock.now();
    misses = 0;
    poll.stop();
    cancelPatience?.();
    cancelPatience = null;
    hand(frame, socket!);
    report();
  }

  /** Frames are stored while the next ones come. */
  function hand(frame: Frame, from: Socket): void {
    listener.frame(frame).then(() => acks.soon(), () => from === socket && restart());
  }

  function lost(loss: Loss): void {
    if (welcomedAt === null) misses++;
    const { code } = loss;
    left();
    if (code === FORBIDDEN) return tokens.end(new ChatdError("forbidden", loss.reason || "the server refuses this user"));
    if (code === UNAUTHENTICATED) return void refused();
    const slow = SLOW.has(code) || (loss.refusal !== null && !loss.refusal.retryable);
    const least = code === TOO_MANY ? TOO_MANY_MS + clock.random() * TOO_MANY_MS : slow ? SLOW_MS : 0;
    retryIn(backoff(clock, failures, Math.max(loss.askedMs, least)));
  }

  /** Once at once; the tokens see to it that no application is asked for one after another. */
  async function refused(): Promise<void> {
    const mine = attempts;
    retryAt = 0;
    report();
    try {
      await tokens.refused(token);
      if (mine === attempts) void connect();
    } catch (err) {
      if (mine === attempts) noToken(err as ChatdError);
    }
  }

  /** The tokens say when to ask them again, which is random already. */
  function noToken({ retryAfter }: ChatdError): void {
    retryIn(Math.max(backoff(clock, failures), 1000 * retryAfter));
  }

  /** A session is over, or did not begin. */
  function left(): void {
    if (welcomedAt !== null && clock.now() - welcomedAt >= LASTED_MS) failures = 0;
    failures++;
    welcomedAt = null;
    socket = null;
    cancelPatience ??= clock.after(PATIENCE_MS, startPoll);
    if (misses >= MISSES) startPoll();
    poll.resume();
  }

  function startPoll(): void {
    poll.start();
    report();
  }

  function retryIn(ms: number): void {
    retryAt = clock.now() + ms;
    cancelRetry();
    cancelRetry = clock.after(ms, connect);
    report();
  }

  function restart(): void {
    if (phase !== "open") return;
    poll.restart();
    if (!socket?.live) return;
    socket.end();
    left();
    if (failures === 1) void connect();
    else retryIn(backoff(clock, failures)); // it did not help the last time
  }

  /** @param anew what has not been welcomed was begun on a network that is gone */
  function hurry(anew = false): void {
    if (phase !== "open") return;
    tokens.hurry();
    if (socket?.live) return socket.probe(PROBE_MS);
    poll.hurry(anew);
    if (socket !== null && anew) {
      socket.end();
      socket = null;
      poll.resume();
      void connect();
    } else if (retryAt > 0) void connect();
  }

  function shut(how: "closed" | "signed-out"): void {
    if (phase !== "open") return;
    phase = how;
    attempts++;
    acks.last();
    socket?.end();
    socket = null;
    poll.stop();
    cancelRetry();
    cancelPatience?.();
    cancelPatience = null;
    hearNoMore();
    report();
  }

  function open(): void {
    if (phase === "open") return;
    phase = "open";
    failures = misses = retryAt = 0;
    welcomedAt = null;
    const stops = [
      environment.online((online) => (online ? hurry(true) : socket?.probe(PROBE_MS))),
      environment.visible(() => hurry()), tokens.renewed(renewed), tokens.ended(() => shut("signed-out")),
    ];
    hearNoMore = () => stops.forEach((stop) => stop());
    if (WebSocket) {
      cancelPatience = clock.after(PATIENCE_MS, startPoll);
      void connect();
    } else startPoll();
  }

  function ask(frame: Frame): Promise<any> {
    if (phase === "open" && socket?.live && JSON.stringify(frame).length <= FRAME_CHARS_MAX) return socket.ask(frame);
    if (phase === "open" && (socket?.live || poll.live)) return byHttp(http, frame);
    return Promise.reject(new ChatdError("offline", "there is no connection"));
  }

  return {
    open,
    close: () => shut("closed"),
    hurry: () => hurry(),
    restart,
    get live() {
      return phase === "open" && (socket?.live === true || poll.live);
    },
    get by() {
      return phase !== "open" ? "" : socket?.live ? "websocket" : poll.live ? "poll" : "";
    },
    ask,
    tell: (frame) => (poll.live && !socket?.live ? void byHttp(http, frame).catch(() => {}) : socket?.tell(frame)),
  };
}

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

/** A command as a call, with the answer that the websocket gives; but a schedule is the answer itself. */
function byHttp(http: Http, { op, group, ...fields }: Frame): Promise<any> {
  const path = `/v1/groups/${encodeURIComponent(group)}`;
  switch (op) {
    case "send": return http.request("POST", `${path}/messages`, { body: fields });
    case "ack":
    case "read": return http.request("POST", `${path}/${op}`, { body: fields });
    case "typing": return http.request("POST", `${path}/typing`);
    case "inbox_ack": return http.request("POST", "/v1/inbox/ack", { body: fields });
  }
  return Promise.reject(new ChatdError("invalid_request", `${op} only goes by websocket`));
}

/** The window and its document, where there are any. */
const surroundings: Environment = {
  online: (run) => {
    const there = () => run(true);
    const away = () => run(false);
    globalThis.window?.addEventListener("online", there);
    globalThis.window?.addEventListener("offline", away);
    return () => {
      globalThis.window?.removeEventListener("online", there);
      globalThis.window?.removeEventListener("offline", away);
    };
  },
  visible: (run) => {
    const look = () => globalThis.document.visibilityState === "visible" && run();
    globalThis.document?.addEventListener("visibilitychange", look);
    return () => globalThis.document?.removeEventListener("visibilitychange", look);
  },
};
