/** Calls of the API as the operator who is signed in. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Problem, call, passing } from "../call.ts";
import type { SignIn } from "../signin.ts";

/** Repeats a call once with a new token where the old one is refused. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<any>;

export function createAsk(signIn: SignIn): Ask {
  return async (method, path, body) => {
    const once = () => call(method, path, { token: signIn.token(), body, ...(method === "GET" && { signal: AbortSignal.timeout(ANSWER_MS) }) });
    try {
      return await once();
    } catch (err) {
      if ((err as Problem).status !== 401 || !(await signIn.renew())) throw err;
      return once();
    }
  };
}

export const e = encodeURIComponent;

/** A server that has not answered a question by then is away, ms. */
const ANSWER_MS = 20_000;

/** After a failure that may pass, such as a server that is away, it is tried again after so long, ms. */
export const RETRY_MS = 5000;

/** Why something is not there. Where it may pass, it is tried again by itself. */
export type Failure = { text: string; status: number; passing: boolean };
export const failureOf = (err: unknown): Failure => ({ text: (err as Error).message, status: (err as Problem).status ?? 0, passing: passing(err) });

/** A value that is taken over once it has stayed the same for a moment, such as what somebody types. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 250);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** What a call answers, kept up to date while the page is looked at. everyMs 0: once, and by `again`. */
export function useAnswer<T>(ask: Ask, path: string, everyMs = 0): { value: T | null; failure: Failure | null; again: () => Promise<void> } {
  const [state, setState] = useState<{ value: T | null; failure: Failure | null }>({ value: null, failure: null });
  const latest = useRef(0);
  const again = useCallback(async () => {
    const mine = ++latest.current;
    try {
      const value = await ask("GET", path);
      if (mine === latest.current) setState({ value, failure: null });
    } catch (err) {
      if (mine === latest.current) setState((s) => ({ ...s, failure: failureOf(err) }));
    }
  }, [ask, path]);
  const wait = state.failure?.passing ? Math.min(everyMs || RETRY_MS, RETRY_MS) : everyMs;
  useEffect(() => {
    void again();
    return () => void latest.current++;
  }, [again]);
  useEffect(() => { // each answer begins the time to the next one
    const look = () => { if (wait > 0 && document.visibilityState === "visible") void again(); };
    const timer = wait > 0 ? setTimeout(look, wait) : undefined;
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [again, wait, state]);
  return { ...state, again };
}

function queryOf(path: string, limit: number, cursor: string | null): string {
  const parts = [...(limit > 0 ? [`limit=${limit}`] : []), ...(cursor ? [`cursor=${e(cursor)}`] : [])];
  return parts.length > 0 ? `${path.includes("?") ? "&" : "?"}${parts.join("&")}` : "";
}

export type Pages<T> = { items: T[]; more: (() => Promise<void>) | null; failure: Failure | null; loading: boolean; again: () => Promise<void> };

/** A list that is read page by page: more adds the next one that has anything. limit 0: the server decides how long a page is. */
export function usePages<T>(ask: Ask, path: string, field: string, limit = 100): Pages<T> {
  const [state, setState] = useState<{ items: T[]; next: string | null; at: string | null; failure: Failure | null; loading: boolean }>({ items: [], next: null, at: null, failure: null, loading: true });
  const latest = useRef(0);
  const load = useCallback(async (from: string | null) => {
    const mine = ++latest.current;
    let cursor = from;
    setState((s) => ({ ...s, loading: true }));
    try {
      for (;;) {
        const answer: Record<string, unknown> = await ask("GET", path + queryOf(path, limit, cursor));
        if (mine !== latest.current) return;
        const found = answer[field] as T[];
        const next = (answer.next as string | undefined) ?? null;
        if (found.length === 0 && next) {
          cursor = next;
          continue;
        }
        setState((s) => ({ items: from ? [...s.items, ...found] : found, next, at: null, failure: null, loading: false }));
        return;
      }
    } catch (err) {
      if (mine === latest.current) setState((s) => ({ ...s, at: cursor, failure: failureOf(err), loading: false }));
    }
  }, [ask, path, field]);
  useEffect(() => {
    setState({ items: [], next: null, at: null, failure: null, loading: true });
    void load(null);
    return () => void latest.current++;
  }, [load]);
  const { items, next, at, failure, loading } = state;
  useEffect(() => {
    if (!failure?.passing) return;
    const timer = setTimeout(() => void load(at), RETRY_MS);
    return () => clearTimeout(timer);
  }, [failure, load]);
  return { items, failure, loading: loading || (failure?.passing ?? false), more: next ? () => load(next) : null, again: () => load(null) };
}
