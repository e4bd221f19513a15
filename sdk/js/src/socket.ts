import { ChatdError } from "./error.js";
import type { Clock, Frame } from "./parts.js";

/** The handshake, the welcome and each answer may take this long: longer means that the connection is dead without saying so. */
const OPEN_MS = 10_000;
/** The server itself gives a command up after 10 s. */
const ANSWER_MS = 15_000;
/** How long a connection may be silent after a question that every server answers. */
const MARGIN_MS = 10_000;
const PING_S = 25;

/** What is used of a WebSocket: that of a browser, of Node from version 22 on, and that of the npm package ws. */
export type WebSocketLike = {
  readonly readyState: number;
  onopen: any;
  onmessage: any;
  onclose: any;
  onerror: any;
  send(data: string): void;
  close(code?: number): void;
  terminate?(): void;
};
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

/** How a session ended. code: of the close; 1006: without one. refusal: of the hello. askedMs: how long to stay away. */
export type Loss = { code: number; reason: string; askedMs: number; refusal: ChatdError | null };

export type SocketOptions = {
  url: string;
  WebSocket: WebSocketClass;
  clock: Clock;
  welcomeMs: number;
  /** What to say first; asked once the connection is there. */
  hello(): Promise<Frame>;
  welcomed(frame: Frame): void;
  frame(frame: Frame): void;
  /** Called once, unless it was ended from here; never while createSocket runs. */
  lost(loss: Loss): void;
};

/** One session over one websocket. */
export type Socket = {
  readonly live: boolean;
  /** Rejects with a ChatdError: the server's, or offline once the connection is lost. */
  ask(frame: Frame): Promise<any>;
  tell(frame: Frame): void;
  /** Asks whether the other side is still there; the connection counts as dead when nothing is heard within so many ms. */
  probe(withinMs: number): void;
  end(): void;
};

type Waiting = { done: (frame: Frame) => void; fail: (err: ChatdError) => void; cancel: () => void };

export function createSocket({ url, WebSocket, clock, welcomeMs, hello, welcomed, frame, lost }: SocketOptions): Socket {
  const waiting = new Map<string, Waiting>();
  let ws: WebSocketLike | null = null; // null: over
  let live = false;
  let refs = 0;
  let heard = { frames: 0, at: 0 };
  let refusal: ChatdError | null = null; // of the hello
  let cancelStep = () => {}; // the time that the present step has
  let cancelWatch = () => {};
  let cancelProbe = () => {};
  let probedUntil = Infinity;

  function begin(): void {
    try {
      ws = new WebSocket(url, ["chatd.v1"]);
    } catch (err: any) {
      void Promise.resolve().then(() => lost({ code: 1006, reason: String(err?.message ?? err), askedMs: 0, refusal: null }));
      return;
    }
    cancelStep = clock.after(OPEN_MS, drop);
    ws.onopen = async () => {
      cancelStep();
      cancelStep = clock.after(welcomeMs, drop);
      const said = await hello().catch((err) => {
        if (err instanceof ChatdError) refusal = err; // it says how long to stay away
        return null;
      });
      if (said === null) drop();
      else put(said);
    };
    ws.onmessage = (event: { data: unknown }) => {
      if (ws !== null) receive(event.data);
    };
    ws.onclose = (event: { code: number; reason: string }) => finish({ code: event.code, reason: String(event.reason ?? "") });
    ws.onerror = () => {}; // a close follows
  }

  function put(said: Frame): void {
    if (ws?.readyState === 1) ws.send(JSON.stringify(said));
  }

  function receive(data: unknown): void {
    let f: Frame;
    try {
      f = JSON.parse(data as string);
    } catch {
      return drop();
    }
    heard = { frames: heard.frames + 1, at: clock.now() };
    if (f.op === "ok" || f.op === "error") return answered(f);
    if (live) return frame(f);
    if (f.op !== "welcome") return;
    cancelStep();
    live = true;
    watch(1000 * (f.ping_s > 0 ? f.ping_s : PING_S));
    welcomed(f);
  }

  function answered(f: Frame): void {
    const w = waiting.get(f.ref);
    if (w) {
      waiting.delete(f.ref);
      w.cancel();
      if (f.op === "ok") w.done(f);
      else w.fail(problem(f));
    } else if (!live) { // the hello was not taken
      refusal = problem(f);
      drop();
    }
  }

  /** Sees to it that something is heard every so often: browsers do not show the server's pings. */
  function watch(quietMs: number, afterMs = quietMs): void {
    cancelWatch = clock.after(afterMs, () => {
      const quiet = clock.now() - heard.at;
      if (quiet >= quietMs) probe(MARGIN_MS);
      watch(quietMs, quiet >= 0 && quiet < quietMs ? quietMs - quiet : quietMs); // below 0: the device's clock was set back
    });
  }

  function probe(withinMs: number): void {
    const until = clock.now() + withinMs;
    if (!live || until >= probedUntil) return; // one that ends earlier is under way
    cancelProbe();
    probedUntil = until;
    const { frames } = heard;
    put({ op: "ping", ref: "ping" }); // no op of the server, which says so at no cost
    cancelProbe = clock.after(withinMs, () => {
      probedUntil = Infinity;
      if (heard.frames === frames) drop();
    });
  }

  /** Gives the connection up without waiting for the other side to agree, which may be what does not answer. */
  function drop(): void {
    finish({ code: 1006, reason: "" });
  }

  function finish(how: { code: number; reason: string }): void {
    if (!over(how.code === 1006 ? "drop" : "closed")) return;
    const [, ms] = /retry_after_ms=(\d{1,9})/.exec(how.reason) ?? [];
    lost({ ...how, askedMs: Math.max(Number(ms ?? 0), 1000 * (refusal?.retryAfter ?? 0)), refusal });
  }

  /** Whether it was not over yet. */
  function over(how: "drop" | "closed" | "end"): boolean {
    const was = ws;
    if (was === null) return false;
    ws = null;
    live = false;
    cancelStep();
    cancelWatch();
    cancelProbe();
    if (how === "end") was.close(1000);
    else if (how === "drop") (was.terminate ?? was.close).call(was);
    for (const w of waiting.values()) {
      w.cancel();
      w.fail(new ChatdError("offline", "the connection was lost"));
    }
    waiting.clear();
    return true;
  }

  begin();
  return {
    get live() {
      return live;
    },
    ask: (asked) =>
      new Promise((done, fail) => {
        if (!live) return fail(new ChatdError("offline", "there is no connection"));
        const ref = String(++refs);
        waiting.set(ref, { done, fail, cancel: clock.after(ANSWER_MS, drop) });
        put({ ...asked, ref });
      }),
    tell(said) {
      if (live) put(said);
    },
    probe,
    end: () => void over("end"),
  };
}

function problem({ code, detail, retry_after_ms = 0 }: Frame): ChatdError {
  return new ChatdError(code, detail, 0, retry_after_ms / 1000);
}
