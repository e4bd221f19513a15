import { ChatdError } from "./error.js";
import type { Clock, Http, RequestOptions } from "./parts.js";
import type { Tokens } from "./token.js";

const ANSWER_MS = 30_000;

/** Codes of answers that say none: a proxy's, for example. */
const CODES: Record<number, string> = {
  400: "invalid_request", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 408: "timeout", 409: "conflict", 413: "too_large", 429: "rate_limited",
  500: "internal", 501: "internal",
};

export type HttpOptions = {
  url: string; tokens: Pick<Tokens, "get" | "refused">; fetch?: typeof globalThis.fetch | undefined; clock: Clock;
  /** What ends all calls that are under way. */
  ended?(): AbortSignal;
};

export function createHttp({ url, tokens, fetch, clock, ended }: HttpOptions): Http {
  const base = baseOf(url);
  const send = fetch ?? ((input, init) => globalThis.fetch(input, init)); // a page may replace the global one later

  async function attempt(method: string, path: string, opt: RequestOptions, token: string, end?: AbortSignal): Promise<any> {
    const { body, key, read } = opt;
    const raw = body === undefined || body instanceof Blob;
    const headers: Record<string, string> = {
      ...(!raw && { "Content-Type": "application/json" }), ...(key && { "Idempotency-Key": key }), ...opt.headers, Authorization: `Bearer ${token}`,
    };
    const control = new AbortController();
    const within = opt.timeoutMs ?? (body instanceof Blob ? 0 : ANSWER_MS);
    const cancel = within > 0 ? clock.after(within, () => control.abort(new ChatdError("timeout", "the server did not answer in time"))) : () => {};
    const signals = [opt.signal, end].filter((signal) => signal !== undefined);
    for (const signal of signals) {
      callsOf(signal).add(control);
      if (signal.aborted) control.abort(signal.reason);
    }
    let res: Response | undefined;
    try {
      const content = raw ? (body ?? null) : JSON.stringify(body);
      res = await send(base + path, { method, headers, body: content, signal: control.signal, credentials: "omit" });
      if (res.ok && read) return await read(res);
      const text = await res.text();
      if (res.ok) return text === "" ? null : JSON.parse(text);
      throw problem(res, text, clock);
    } catch (err) {
      if (err instanceof ChatdError) throw err;
      if (control.signal.aborted) throw control.signal.reason;
      throw new ChatdError("offline", res?.ok ? "the answer is cut off, or not the server's" : "the server cannot be reached");
    } finally {
      cancel();
      for (const signal of signals) callsOf(signal).delete(control);
    }
  }

  return {
    async request(method, path, options = {}) {
      const end = ended?.();
      const token = await tokens.get();
      try {
        return await attempt(method, path, options, token, end);
      } catch (err) {
        if (!(err instanceof ChatdError) || err.status !== 401) throw err;
      }
      return attempt(method, path, options, await tokens.refused(token), end);
    },
  };
}

/** The calls that end with a signal: one listener for all of them, since Node warns of more than ten. */
const following = new WeakMap<AbortSignal, Set<AbortController>>();

function callsOf(signal: AbortSignal): Set<AbortController> {
  const calls = following.get(signal) ?? new Set();
  if (!following.has(signal)) signal.addEventListener("abort", () => calls.forEach((call) => call.abort(signal.reason)));
  following.set(signal, calls);
  return calls;
}

/** The address of the server without a slash at its end; in a page it may be relative. */
export function baseOf(url: string): string {
  return new URL(url, globalThis.location?.href).href.replace(/[?#].*$/, "").replace(/\/+$/, "");
}

function problem(res: Response, text: string, clock: Clock): ChatdError {
  let said: any = null;
  try {
    said = JSON.parse(text);
  } catch {
    // no problem of the API
  }
  const { code, detail, title } = said ?? {};
  const after = res.headers.get("Retry-After") ?? "";
  const seconds = /^\d+$/.test(after) ? Number(after) : Math.max(0, (Date.parse(after) - clock.now()) / 1000) || 0;
  return new ChatdError(
    typeof code === "string" ? code : CODES[res.status] ?? (res.status > 501 ? "unavailable" : "error"),
    detail || title || `the server answers ${res.status}`, res.status, seconds,
  );
}
