import { backoff } from "./clock.js";
import { ChatdError } from "./error.js";
import type { Clock } from "./parts.js";
import type { GetToken, TokenReason } from "./types.js";

/** A token is asked for this long before the end of the one there is, or a tenth of its life before if that is less. */
const EARLY_MS = 60_000;
/** An application that takes longer to get a token is told to stop. */
const ANSWER_MS = 30_000;
/** A new token that is refused within this time is no better than the last one: there is no hurry to get another. */
const YOUNG_MS = 60_000;

/** The token that is sent to the server. The application is asked for one at a time, whatever the reasons. */
export type Tokens = {
  /** Rejects with a ChatdError; while the application cannot get one, at once, with retryAfter. */
  get(): Promise<string>;
  /** Says that the server does not take a token, and resolves with another one. */
  refused(token: string): Promise<string>;
  /** Has run called with each token that replaces another; returns how to stop that. */
  renewed(run: (token: string) => void): () => void;
  /** Has run called when the person has signed out, or was refused for good; returns how to stop that. */
  ended(run: () => void): () => void;
  /** Signs out: no token is asked for before begin. */
  end(why: ChatdError): void;
  /** Somebody may have signed in again. */
  begin(): void;
  /** Asks the application again at once if it failed: the network is back, or a person wants it. */
  hurry(): void;
  /** Stops renewing. The next get begins again. */
  stop(): void;
};

export type TokensOptions = {
  getToken: GetToken;
  clock: Clock;
  signedOut(why: ChatdError): void;
  /** A token is another person's than the one before: it is given to nobody. */
  switched?(): void;
  /** Told once when getToken begins to fail, and when a token and the next one are refused. */
  warn?(text: string, cause: unknown): void;
};

export function createTokens({ getToken, clock, signedOut, switched, warn }: TokensOptions): Tokens {
  const onRenewed = new Set<(token: string) => void>();
  const onEnded = new Set<() => void>();
  let current = "";
  let whose: unknown; // of the first token since stop
  let got = { reason: "start" as TokenReason, at: 0 };
  let end = Infinity; // of current, by this device's clock
  let next: TokenReason = "start"; // why the next one is asked for
  let asking: Promise<string> | null = null;
  let control: AbortController | null = null;
  let failures = 0; // in a row
  let refusals = 0;
  let closed = { until: 0, error: new ChatdError("offline", "") }; // asks nobody before
  let over: ChatdError | null = null;
  let cancelRenewal = () => {};

  function get(): Promise<string> {
    if (over) return Promise.reject(over);
    if (current !== "" && clock.now() < end) return Promise.resolve(current);
    return ask(next);
  }

  function ask(reason: TokenReason): Promise<string> {
    if (asking) return asking;
    const { until, error } = closed;
    const wait = until - clock.now();
    if (wait > 0) return Promise.reject(later(error, wait));
    const answer = fetchToken(reason).finally(() => {
      if (asking === answer) asking = null;
    });
    return (asking = answer);
  }

  async function fetchToken(reason: TokenReason): Promise<string> {
    const mine = (control = new AbortController());
    const aborted = new Promise<never>((_, fail) => mine.signal.addEventListener("abort", () => fail(mine.signal.reason)));
    const cancel = clock.after(ANSWER_MS, () => mine.abort(new ChatdError("timeout", "getToken: no token in time")));
    try {
      const token: unknown = await Promise.race([Promise.resolve().then(() => getToken({ reason, signal: mine.signal })), aborted]);
      if (typeof token !== "string" || token === "") throw new TypeError("no token");
      take(token, reason);
      if (mine !== control) throw new ChatdError("closed", "another person has signed in");
      return token;
    } catch (err) {
      throw failed(err, mine);
    } finally {
      cancel();
    }
  }

  function take(token: string, reason: TokenReason): void {
    const { sub } = claims(token);
    whose ??= sub;
    if (sub !== undefined && sub !== whose) {
      stop();
      switched?.();
      return;
    }
    const before = current;
    failures = token === before ? failures + 1 : 0;
    current = token;
    got = { reason, at: clock.now() };
    plan(token !== before);
    if (before !== token && next !== "start") for (const run of onRenewed) run(token);
    next = "expiring";
  }

  /** Has the token renewed before its end. A server whose clock is ahead of this one has issued it in the future. */
  function plan(fresh: boolean): void {
    cancelRenewal();
    const { exp, iat } = claims(current);
    const now = clock.now();
    end = exp === undefined ? Infinity : exp * 1000 - Math.max(0, (iat ?? 0) * 1000 - now);
    const left = end - now;
    if (left <= 0) end = Infinity; // by a clock that is wrong here: the server will say
    if (end === Infinity) return;
    renewAt(fresh ? end - Math.min(EARLY_MS, left / 10) : now + backoff(clock, failures));
  }

  function renewAt(at: number): void {
    cancelRenewal = clock.after(Math.max(0, at - clock.now()), () => {
      if (clock.now() < at) renewAt(at);
      else ask("expiring").catch(() => !over && current !== "" && renewAt(Math.max(closed.until, clock.now() + 1)));
    });
  }

  function failed(err: any, mine: AbortController): ChatdError {
    if (mine !== control) return new ChatdError("closed", "the client was closed");
    if (err?.name === "SignedOut") { // by its name: the application may have it from another copy of this module
      out(new ChatdError("signed_out", err.message || "signed out"));
      return over!;
    }
    const error = err?.name === "ChatdError" ? (err as ChatdError) : new ChatdError("offline", `getToken: ${err?.message ?? err}`);
    if (++failures === 1) warn?.("getToken fails; it is asked again", err);
    const wait = backoff(clock, failures, error.retryAfter * 1000);
    closed = { until: clock.now() + wait, error };
    return later(error, wait);
  }

  function refused(token: string): Promise<string> {
    if (over) return Promise.reject(over);
    if (token !== current) return get();
    const now = clock.now();
    refusals = got.reason === "refused" && now - got.at < YOUNG_MS ? refusals + 1 : 0;
    if (refusals > 0) {
      const error = new ChatdError("unauthenticated", "the server refuses the new token too", 401);
      if (refusals === 1) warn?.("The server refuses the tokens.", error);
      closed = { until: now + backoff(clock, refusals), error };
    }
    current = "";
    next = "refused";
    cancelRenewal();
    return get();
  }

  function hurry(): void {
    if (closed.error.status !== 401) closed.until = 0;
  }

  function stop(): void {
    cancelRenewal();
    current = "";
    whose = undefined;
    next = "start";
    const mine = control;
    control = null;
    asking = null;
    mine?.abort(new ChatdError("closed", "the client was closed"));
  }

  function out(why: ChatdError): void {
    if (over) return;
    over = why;
    stop();
    signedOut(why);
    for (const run of onEnded) run();
  }

  function ended(run: () => void): () => void {
    if (over) queueMicrotask(run);
    return added(onEnded, run);
  }

  function begin(): void {
    if (!over) return;
    over = null;
    failures = refusals = closed.until = 0;
  }

  return { get, refused, renewed: (run) => added(onRenewed, run), ended, end: out, begin, hurry, stop };
}

/** Adds to a set, and returns how to take out again. */
function added<T>(set: Set<T>, value: T): () => void {
  set.add(value);
  return () => void set.delete(value);
}

/** The same error, with the time until which asking again does not help. */
function later({ code, detail, status }: ChatdError, waitMs: number): ChatdError {
  return new ChatdError(code, detail, status, waitMs / 1000);
}

/** What a token says of itself, if it is a JWT; only the server decides whether it is good. */
function claims(token: string): { exp?: number; iat?: number; sub?: unknown } {
  try {
    const { exp, iat, sub } = JSON.parse(atob(token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")));
    return { ...(Number.isFinite(exp) && { exp }), ...(Number.isFinite(iat) && { iat }), sub };
  } catch {
    return {};
  }
}
