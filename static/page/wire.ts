/**
 * What stands between the client and the network. It passes everything on, remembers the last of it for whoever looks behind the
 * scenes, and breaks it on request: the client is not told, and has to cope as it has to with a bad network.
 */
import type { Options } from "@chatd/client";

export type Entry = {
  readonly n: number;
  /** ms since 1970. */
  readonly at: number;
  /** net: the connection itself. */
  readonly way: "out" | "in" | "net";
  readonly by: "websocket" | "http";
  /** The op of a frame, or method and path of a call. */
  readonly what: string;
  /** What was said, at most TEXT_MAX characters of it. */
  readonly text: string;
};

/** cut: nothing gets through, and nothing says so. lose: every third answer is lost on its way. refuse: no websockets. */
export type Faults = { cut: boolean; lose: boolean; refuse: boolean };

const KEPT = 200;
const TEXT_MAX = 4000;

let entries: readonly Entry[] = [];
let faults: Faults = { cut: false, lose: false, refuse: false };
let count = 0;
let answers = 0;
const listeners = new Set<() => void>();
const sockets = new Set<Tapped>();

export const entriesNow = (): readonly Entry[] => entries;
export const faultsNow = (): Faults => faults;

export function onWire(fn: () => void): () => void {
  listeners.add(fn);
  return () => void listeners.delete(fn);
}

export function setFaults(change: Partial<Faults>): void {
  faults = { ...faults, ...change };
  if (change.cut) for (const socket of sockets) socket.fall("cut");
  if (change.refuse) for (const socket of sockets) socket.fall("refused");
  for (const fn of listeners) fn();
}

function note(way: Entry["way"], by: Entry["by"], what: string, text = ""): void {
  const shown = text.replace(/("token":")[^"]+/, "$1…").slice(0, TEXT_MAX);
  entries = [...entries.slice(1 - KEPT), { n: ++count, at: Date.now(), way, by, what, text: shown }];
  for (const fn of listeners) fn();
}

/** Whether this answer is to be lost. */
const isLost = (): boolean => faults.lose && ++answers % 3 === 0;

const opOf = (text: string): string => /"op":"(\w+)"/.exec(text)?.[1] ?? "?";

/** A WebSocket of the browser that can be cut. */
class Tapped {
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  #ws: WebSocket | null = null;
  #over = false;

  constructor(url: string, protocols: string[]) {
    sockets.add(this);
    note("net", "websocket", "connect");
    if (faults.cut || faults.refuse) {
      setTimeout(() => this.fall(faults.cut ? "cut" : "refused"));
      return;
    }
    const ws = (this.#ws = new WebSocket(url, protocols));
    ws.onopen = (e) => {
      if (this.#over) return;
      note("net", "websocket", "open");
      this.onopen?.(e);
    };
    ws.onerror = (e) => this.onerror?.(e);
    ws.onclose = (e) => this.#close(e.code, e.reason);
    ws.onmessage = (e) => {
      if (this.#over) return;
      const op = opOf(String(e.data));
      if (op === "ok" && isLost()) return this.fall("lost an answer");
      note("in", "websocket", op, String(e.data));
      this.onmessage?.(e);
    };
  }

  get readyState(): number {
    return this.#over ? 3 : (this.#ws?.readyState ?? 0);
  }

  send(data: string): void {
    note("out", "websocket", opOf(data), data);
    this.#ws?.send(data);
  }

  close(code?: number): void {
    this.#ws?.close(code);
    if (!this.#ws) this.#close(1006, "");
  }

  /** Ends without a word from the other side. */
  fall(why: string): void {
    if (this.#over) return;
    note("net", "websocket", why);
    this.#ws?.close();
    this.#close(1006, "");
  }

  #close(code: number, reason: string): void {
    if (this.#over) return;
    this.#over = true;
    sockets.delete(this);
    note("net", "websocket", `closed ${code}`);
    this.onclose?.({ code, reason });
  }
}

const tappedFetch: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : String(input), location.href);
  const what = `${init?.method ?? "GET"} ${url.pathname}${url.search}`;
  note("out", "http", what, typeof init?.body === "string" ? init.body : "");
  if (faults.cut) {
    note("net", "http", "cut");
    throw new TypeError("The network is away.");
  }
  const answer = await fetch(input, init);
  if (faults.cut || isLost()) {
    note("net", "http", "lost an answer");
    throw new TypeError("The answer was lost.");
  }
  note("in", "http", `${answer.status} ${url.pathname}`);
  return answer;
};

export const wire: Pick<Options, "fetch" | "WebSocket"> = { fetch: tappedFetch, WebSocket: Tapped };
