/** Calls of the API as the operator who is signed in. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Problem, call } from "../call.ts";
import type { SignIn } from "../signin.ts";

/** Repeats a call once with a new token where the old one is refused. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<any>;

export function createAsk(signIn: SignIn): Ask {
  return async (method, path, body) => {
    const once = () => call(method, path, { token: signIn.token(), body });
    try {
      return await once();
    } catch (err) {
      if ((err as Problem).status !== 401 || !(await signIn.renew())) throw err;
      return once();
    }
  };
}

export const e = encodeURIComponent;

/** What a call answers, kept up to date while the page is looked at. everyMs 0: once, and by `again`. */
export function useAnswer<T>(ask: Ask, path: string, everyMs = 0): { value: T | null; problem: string; again: () => Promise<void> } {
  const [state, setState] = useState<{ value: T | null; problem: string }>({ value: null, problem: "" });
  const latest = useRef(0);
  const again = useCallback(async () => {
    const mine = ++latest.current;
    try {
      const value = await ask("GET", path);
      if (mine === latest.current) setState({ value, problem: "" });
    } catch (err) {
      if (mine === latest.current) setState((s) => ({ ...s, problem: (err as Error).message }));
    }
  }, [ask, path]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const round = async () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") await again();
      if (everyMs > 0 && !over) timer = setTimeout(round, everyMs);
    };
    void round();
    document.addEventListener("visibilitychange", round);
    return () => {
      over = true;
      latest.current++;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", round);
    };
  }, [again, everyMs]);
  return { ...state, again };
}

function queryOf(path: string, limit: number, cursor: string | null): string {
  const parts = [...(limit > 0 ? [`limit=${limit}`] : []), ...(cursor ? [`cursor=${e(cursor)}`] : [])];
  return parts.length > 0 ? `${path.includes("?") ? "&" : "?"}${parts.join("&")}` : "";
}

/** A list that is read page by page: more adds the next one. limit 0: the server decides how long a page is. */
export function usePages<T>(ask: Ask, path: string, field: string, limit = 100): { items: T[]; more: (() => Promise<void>) | null; problem: string; loading: boolean; again: () => Promise<void> } {
  const [state, setState] = useState<{ items: T[]; next: string | null; problem: string; loading: boolean }>({ items: [], next: null, problem: "", loading: true });
  const latest = useRef(0);
  const load = useCallback(async (cursor: string | null) => {
    const mine = ++latest.current;
    setState((s) => ({ ...s, loading: true, problem: "" }));
    try {
      const answer = await ask("GET", path + queryOf(path, limit, cursor));
      if (mine === latest.current) setState((s) => ({ items: cursor ? [...s.items, ...answer[field]] : answer[field], next: answer.next ?? null, problem: "", loading: false }));
    } catch (err) {
      if (mine === latest.current) setState((s) => ({ ...s, problem: (err as Error).message, loading: false }));
    }
  }, [ask, path, field]);
  useEffect(() => {
    setState({ items: [], next: null, problem: "", loading: true });
    void load(null);
    return () => void latest.current++;
  }, [load]);
  const { items, next, problem, loading } = state;
  return { items, problem, loading, more: next ? () => load(next) : null, again: () => load(null) };
}
