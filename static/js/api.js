/** HTTP calls of the v1 API. */
import { newKey } from "./outbox.js";

/** Why a call failed, as a sentence. `code` is one of the stable words of the API, or "offline". */
export class Problem extends Error {
  /** @param {string} code @param {string} detail @param {number} status @param {number} retryAfter s */
  constructor(code, detail, status = 0, retryAfter = 0) {
    super(sentence(detail || code.replaceAll("_", " ")));
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The server writes its errors for logs as well: lowercase, without a full stop. @param {string} text */
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;

/** Whether asking again later may help. @param {unknown} err */
export function passing(err) {
  return err instanceof Problem && ["offline", "unavailable", "rate_limited", "internal", "unauthenticated"].includes(err.code);
}

/**
 * @param {string} method @param {string} path @param {{token?: string, body?: any, key?: string, signal?: AbortSignal}} [opt]
 * @returns {Promise<any>} the JSON of the answer, null for an empty one
 */
export async function call(method, path, opt = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (opt.token) headers.Authorization = `Bearer ${opt.token}`;
  if (opt.body !== undefined) headers["Content-Type"] = "application/json";
  if (opt.key) headers["Idempotency-Key"] = opt.key;
  let res;
  try {
    const body = opt.body === undefined ? undefined : JSON.stringify(opt.body);
    res = await fetch(path, { method, headers, body, signal: opt.signal, credentials: "omit" });
  } catch {
    throw new Problem("offline", "Can’t reach the server. Check your connection and try again.");
  }
  const answer = await res.json().catch(() => null);
  if (res.ok) return answer;
  const after = Number(res.headers.get("Retry-After")) || 0;
  throw new Problem(answer?.code ?? (res.status >= 500 ? "internal" : "error"), answer?.detail || answer?.title || `Something went wrong (error ${res.status}). Try again later.`, res.status, after);
}

/** @param {string} id */
const enc = (id) => encodeURIComponent(id);

/** The routes that the page uses, for one token. @param {(method: string, path: string, opt?: any) => Promise<any>} ask */
export function routes(ask) {
  return {
    /** All pages of a list. @param {string} path @param {string} field @param {number} most pages */
    async all(path, field, most) {
      const out = [];
      let cursor = "";
      for (let page = 0; page < most; page++) {
        const answer = await ask("GET", `${path}?limit=100${cursor && `&cursor=${enc(cursor)}`}`);
        out.push(...answer[field]);
        cursor = answer.next ?? "";
        if (!cursor) break;
      }
      return out;
    },
    /** @param {string} g */
    group: (g) => ask("GET", `/v1/groups/${enc(g)}`),
    /** @param {string} g @param {number} id */
    before: (g, id) => ask("GET", `/v1/groups/${enc(g)}/messages?before=${id}&limit=60`),
    /** @param {string} g @param {number} id */
    after: (g, id) => ask("GET", `/v1/groups/${enc(g)}/messages?after=${id}&limit=60`),
    /** @param {Record<string, string>} what parameters; empty ones are left out */
    search: (what) => ask("GET", `/v1/search?${new URLSearchParams(Object.entries({ ...what, limit: "20" }).filter(([, value]) => value))}`),
    /** @param {any} body @param {string} key */
    createGroup: (body, key) => ask("POST", "/v1/groups", { body, key }),
    /** @param {string} g @param {any} body */
    changeGroup: (g, body) => ask("PATCH", `/v1/groups/${enc(g)}`, { body }),
    /** @param {string} g @param {string} user @param {string} [role] */
    putMember: (g, user, role) => ask("PUT", `/v1/groups/${enc(g)}/members/${enc(user)}`, { body: role ? { role } : {} }),
    /** @param {string} g @param {string} user */
    removeMember: (g, user) => ask("DELETE", `/v1/groups/${enc(g)}/members/${enc(user)}`),
    /** @param {string} g @param {number} id */
    receipts: (g, id) => ask("GET", `/v1/groups/${enc(g)}/messages/${id}/receipts`),
    /** @param {string} g @param {any} message */
    send: (g, message) => ask("POST", `/v1/groups/${enc(g)}/messages`, { body: message }),
    /** @param {string} g @param {{id: number}|{cursor: string}} at */
    read: (g, at) => ask("POST", `/v1/groups/${enc(g)}/read`, { body: at }),
    /** @param {object} body @param {AbortSignal} signal */
    sync: (body, signal) => ask("POST", "/v1/sync", { body, signal }),
    inbox: () => ask("GET", "/v1/inbox"),
    /** @param {{seq: number}|{cursor: string}} at */
    ackInbox: (at) => ask("POST", "/v1/inbox/ack", { body: at }),
    /** @param {string} user @param {string} body */
    direct: (user, body) => ask("POST", `/v1/users/${enc(user)}/messages`, { body: { body, client_id: newKey() } }),
  };
}
