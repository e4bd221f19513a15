/** HTTP calls that are made before there is a client, or that are none of a client's: the sign-in, operators, pictures. */
import { say } from "./say.ts";

/** Why a call failed, as a sentence. `code` is one of the stable words of the API, or "offline". */
export class Problem extends Error {
  constructor(readonly code: string, detail: string, readonly status = 0) {
    super(sentence(detail || code.replaceAll("_", " ")));
  }
}

/** The server writes its errors for logs as well: lowercase, without a full stop. */
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…。]$/.test(text) ? "" : "."}`;

/** Codes after which asking again later may help, as those of the client. */
const PASSING = new Set(["offline", "unavailable", "rate_limited", "internal", "unauthenticated"]);
export const passing = (err: unknown): boolean => PASSING.has((err as { code?: string } | null)?.code ?? "");

export type CallOptions = {
  token?: string;
  /** Is sent as JSON, and a Blob as it is. */
  body?: unknown;
  /** Whether the cookie of the sign-in goes along. */
  cookie?: boolean;
  signal?: AbortSignal;
  /** What to return of a good answer; else its JSON, null for an empty one. */
  read?: (res: Response) => Promise<any>;
};

/** What a route answers, null for nothing; throws a Problem. */
export async function call(method: string, path: string, { token, body, cookie, signal, read }: CallOptions = {}): Promise<any> {
  const headers: Record<string, string> = {};
  const raw = body instanceof Blob || body === undefined;
  if (token) headers.Authorization = `Bearer ${token}`;
  if (!raw) headers["Content-Type"] = "application/json";
  let res: Response;
  try {
    res = await fetch(path, { method, headers, body: raw ? body : JSON.stringify(body), signal: signal ?? null, credentials: cookie ? "same-origin" : "omit" });
    if (res.ok && read) return await read(res);
  } catch {
    throw new Problem("offline", say("Can’t reach the server. Check your connection and try again.", "无法连接服务器，请检查网络后重试。"));
  }
  const answer = await res.json().catch(() => null);
  if (res.ok) return answer;
  const code = answer?.code ?? (res.status >= 500 ? "internal" : res.status === 429 ? "rate_limited" : "error");
  throw new Problem(code, answer?.detail || answer?.title || say(`Something went wrong (error ${res.status}). Try again later.`, `出错了（错误 ${res.status}），请稍后再试。`), res.status);
}
