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
 * @typedef {object} CallOptions
 * @property {string} [token]
 * @property {any} [body] is sent as JSON, and a Blob as it is
 * @property {string} [key] of a call that may be repeated
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 * @property {boolean} [cookie] whether the cookie of the sign-in goes along
 * @property {(path: string, init: any) => Promise<Response>} [via] makes the request in the place of fetch
 * @property {(res: Response) => any} [read] what to return of a good answer; default: its JSON, null for an empty one
 *
 * @param {string} method @param {string} path @param {CallOptions} [opt]
 * @returns {Promise<any>}
 */
export async function call(method, path, opt = {}) {
  /** @type {Record<string, string>} */
  const headers = { ...opt.headers };
  const raw = opt.body instanceof Blob || opt.body === undefined;
  if (opt.token) headers.Authorization = `Bearer ${opt.token}`;
  if (!raw) headers["Content-Type"] = "application/json";
  if (opt.key) headers["Idempotency-Key"] = opt.key;
  let res;
  try {
    const body = raw ? opt.body : JSON.stringify(opt.body);
    res = await (opt.via ?? fetch)(path, { method, headers, body, signal: opt.signal, credentials: opt.cookie ? "same-origin" : "omit" });
    if (res.ok && opt.read) return await opt.read(res);
  } catch {
    throw new Problem("offline", "Can’t reach the server. Check your connection and try again.");
  }
  const answer = await res.json().catch(() => null);
  if (res.ok) return answer;
  const after = Number(res.headers.get("Retry-After")) || 0;
  throw new Problem(answer?.code ?? (res.status >= 500 ? "internal" : res.status === 429 ? "rate_limited" : "error"), answer?.detail || answer?.title || `Something went wrong (error ${res.status}). Try again later.`, res.status, after);
}

/** @param {string} id */
const enc = (id) => encodeURIComponent(id);
/** @param {string} g @param {string} id */
const fileOf = (g, id) => `/v1/groups/${enc(g)}/files/${enc(id)}`;

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
    /** How large a file may be, in bytes; 0: the server keeps none. @param {string} g @returns {Promise<number>} */
    fileMax: (g) => ask("OPTIONS", `/v1/groups/${enc(g)}/files`, { read: (/** @type {Response} */ res) => Number(res.headers.get("Tus-Max-Size")) }),
    /** @param {string} g @param {{name: string, size: number, type?: string}} body @param {string} key @param {AbortSignal} signal */
    createFile: (g, body, key, signal) => ask("POST", `/v1/groups/${enc(g)}/files`, { body, key, signal }),
    /** How many bytes of an upload are there. @param {string} g @param {string} id @param {AbortSignal} signal @returns {Promise<number>} */
    offset: (g, id, signal) => ask("HEAD", fileOf(g, id), { signal, read: (/** @type {Response} */ res) => Number(res.headers.get("Upload-Offset")) }),
    /** Writes the rest of an upload. @param {string} g @param {string} id @param {number} offset @param {Blob} body @param {CallOptions["via"]} via */
    writeFile: (g, id, offset, body, via) =>
      ask("PATCH", fileOf(g, id), { body, via, headers: { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset) } }),
    /** @param {string} g @param {string} id */
    removeFile: (g, id) => ask("DELETE", fileOf(g, id)),
    /** The bytes of a file, or of its preview. @param {string} g @param {string} id @param {"inline=1"|"size=preview"} as @returns {Promise<Blob>} */
    file: (g, id, as) => ask("GET", `${fileOf(g, id)}?${as}`, { read: (/** @type {Response} */ res) => res.blob() }),
    /** @param {string} user */
    openDirect: (user) => ask("PUT", `/v1/direct/${enc(user)}`),
    /** @param {string} group @param {number} uses @param {string} key */
    invite: (group, uses, key) => ask("POST", "/v1/invites", { body: { group, uses }, key }),
    /** @param {string} code */
    acceptInvite: (code) => ask("POST", "/v1/invites/accept", { body: { code } }),
    me: () => ask("GET", "/v1/me"),
    /** @param {{name?: string|null, status?: {text: string}|null}} change */
    changeMe: (change) => ask("PATCH", "/v1/me", { body: change }),
    /** @param {Blob} picture */
    putAvatar: (picture) => ask("PUT", "/v1/me/avatar", { body: picture }),
    removeAvatar: () => ask("DELETE", "/v1/me/avatar"),
    /** Profiles of those of some users whom the person may see. @param {string[]} ids */
    people: (ids) => ask("GET", `/v1/users?ids=${ids.map(enc).join(",")}`),
    logins: () => ask("GET", "/v1/me/logins"),
    /** @param {string} id of a login; "": all but this one */
    endLogin: (id) => ask("DELETE", `/v1/me/logins${id && `/${enc(id)}`}`),
    sessions: () => ask("GET", "/v1/users/me/sessions"),
    /** @param {string} old @param {string} password */
    changePassword: (old, password) => ask("PUT", "/v1/me/password", { body: { old, new: password } }),
    inbox: () => ask("GET", "/v1/inbox"),
    /** @param {{seq: number}|{cursor: string}} at */
    ackInbox: (at) => ask("POST", "/v1/inbox/ack", { body: at }),
    /** @param {string} user @param {string} body */
    direct: (user, body) => ask("POST", `/v1/users/${enc(user)}/messages`, { body: { body, client_id: newKey() } }),
  };
}
