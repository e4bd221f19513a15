/**
 * Who is signed in to this browser. A sign-in lasts until somebody signs out or the token expires, and holds in every
 * tab: what one tab gets, renews or ends, the others take over. What a tab keeps for one user is never there for the
 * next.
 *
 * A sign-in by password or by a code ends in an access token here, and a cookie that no script can read for the next one.
 *
 * @typedef {{user: string, token: string, expires_at: string, dev: boolean, account?: boolean}} SignIn
 * @typedef {object} SignInListener
 * @property {(user: string) => void} begun
 * @property {(token: string) => void} renewed
 * @property {(reason: string) => void} ended reason: what the user should know about it, or ""
 */
import { Problem, call, passing } from "./api.js";
import { load, save, watch } from "./saved.js";
import { say } from "./say.js";

/** How long before its end a token is renewed. */
const RENEW_BEFORE_MS = 60_000;
/** A token that is refused this soon after a renewal is not renewed again. */
const RENEW_EVERY_MS = 3000;
/** The longest time that a timer takes. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const EXPIRED = say("Your sign-in has expired. Please sign in again.", "登录已过期，请重新登录。");
/** Of whoever may not sign in. */
export const DISABLED = say("Your account is disabled. Ask whoever runs this server.", "您的账号已被停用，请联系服务器管理员。");
const INVITE = /^#(?:code=([\w-]+)&)?invite=([a-z2-7]{20,128})$/;
const DEV_CODE = /^#code=([\w-]+)(?:&user=([\w.@+|:-]+))?(?:&group=(.+))?$/;
/** @type {string|null} whom the link with the code names */
let devUser = null;

/**
 * What a link asks for: to make the first account, to choose a new password, or to sign in.
 * @typedef {{kind: "setup"|"reset"|"link", code: string}} Ticket
 */
const TICKET = /^#(setup|reset|link)=([\w.-]+)$/;
/** @type {Ticket|null} */
let ticket = null;

/** Takes the code of such a link out of the address. */
export function takeTicket() {
  const found = TICKET.exec(location.hash);
  if (!found) return;
  ticket = { kind: /** @type {Ticket["kind"]} */ (found[1]), code: found[2] };
  history.replaceState(null, "", location.pathname + location.search);
}

/** @returns {Ticket|null} */
export const ticketOf = () => ticket;

/** Forgets a code that the server does not take. */
export const dropTicket = () => { ticket = null; };

/** How people sign in to this server. @returns {Promise<{accounts: boolean, registration: string|null, features: string[]}>} */
export const about = () => call("GET", "/v1/server");

/**
 * Keeps the code of the development sign-in, which comes in the fragment of the link that chatd prints when it starts.
 * Takes it out of the address, so that a copied address or a screenshot gives nothing away. Call it before anything
 * reads the fragment.
 */
export function takeDevCode() {
  const found = DEV_CODE.exec(location.hash);
  if (!found) return;
  save("dev-code", found[1]);
  devUser = found[2] ?? null;
  history.replaceState(null, "", location.pathname + location.search + (found[3] ? `#${found[3]}` : ""));
}

/** Whether this browser has such a code. */
export const hasDevCode = () => load("dev-code") !== null;

/** Keeps the code of an invitation in the same way. */
export function takeInvite() {
  const found = INVITE.exec(location.hash);
  if (!found) return false;
  if (found[1]) save("dev-code", found[1]);
  save("invite", found[2]);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

/** Why an invitation does not help. @param {Problem} err */
export const inviteProblem = (err) =>
  [404, 410].includes(err.status) ? say("This invitation has been used up, or has expired. Ask for another.", "此邀请已被用完或已过期，请重新索取。") : err.message;

/** The link that lets somebody join by the code of an invitation. @param {string} invite */
export function joinLink(invite) {
  const code = load("signin")?.dev ? load("dev-code") : null;
  return `${location.origin}${location.pathname}#${code ? `code=${code}&` : ""}invite=${invite}`;
}

/**
 * The link that brings somebody else to a group: the page's address with the group, and in development the code, with
 * which they may sign in. @param {string} group
 */
export function inviteLink(group) {
  const code = load("signin")?.dev ? load("dev-code") : null;
  const id = encodeURIComponent(group);
  return `${location.origin}${location.pathname}#${code ? `code=${code}&group=${id}` : id}`;
}

/** @param {string} user @returns {Promise<{token: string, expires_at: string}>} */
const devToken = (user) => call("POST", "/v1/dev/token", { body: { user, code: load("dev-code") ?? "" } });

/** What a token says of itself; only the server decides whether it is good. @param {string} token @returns {{exp?: number}} */
function claims(token) {
  try {
    const bytes = Uint8Array.from(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
}

/** Drops what this tab has of a user: what it keeps, and the group in the address. */
function forget() {
  for (const key of ["owner", "cursors", "outbox", "people", "searches"]) save(key, null);
  history.replaceState(null, "", location.pathname + location.search);
}

/** @param {SignInListener} listener */
export function createSignIn(listener) {
  /** @type {SignIn|null} */
  let current = null;
  let life = 0;
  let renewedAt = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;

  /** @param {SignIn} next */
  function begin(next) {
    life++;
    current = next;
    const owner = load("owner");
    if (owner && owner !== next.user) forget();
    save("owner", next.user);
    planRenewal();
    listener.begun(next.user);
  }

  /** @param {string} reason */
  function end(reason) {
    life++;
    current = null;
    clearTimeout(timer);
    listener.ended(reason);
  }

  /** @param {SignIn} next */
  function keep(next) {
    save("signin", next);
    begin(next);
  }

  function planRenewal() {
    clearTimeout(timer);
    if (!current?.dev && !current?.account) return;
    const wait = Date.parse(current.expires_at) - Date.now() - RENEW_BEFORE_MS;
    timer = setTimeout(async () => {
      if ((await renew()) && current) listener.renewed(current.token);
    }, Math.min(Math.max(wait, current.account ? 0 : 5000), TIMER_MAX_MS));
  }

  /** A new token for the sign-in, by the cookie or by the code of the development sign-in. @param {SignIn} was */
  const another = (was) => (was.account ? call("POST", "/v1/tokens/refresh", { cookie: true }) : devToken(was.user));

  /** Gets a new token unless the last one was pasted. False: it could not, and the sign-in has ended. */
  async function renew() {
    const was = current;
    if (!was) return false;
    try {
      if ((!was.dev && !was.account) || Date.now() - renewedAt < RENEW_EVERY_MS) throw new Problem("unauthenticated", EXPIRED);
      renewedAt = Date.now();
      const { token, expires_at } = await another(was);
      if (current !== was) return current?.user === was.user;
      current = { ...was, token, expires_at };
      save("signin", current);
      planRenewal();
      return true;
    } catch (err) {
      if (passing(err) && /** @type {Problem} */ (err).code !== "unauthenticated") return true;
      if (current !== was) return current?.user === was.user;
      save("signin", null);
      const { status, message } = /** @type {Problem} */ (err);
      end(!was.account ? message : status === 403 ? DISABLED : EXPIRED);
      return false;
    }
  }

  /** Signs in by a password or a code. @param {any} body */
  async function byAccount(body) {
    const { token, expires_at } = await call("POST", "/v1/tokens", { body: { ...body, cookie: true }, cookie: true });
    const { user } = await call("GET", "/v1/me", { token });
    ticket = null;
    keep({ user, token, expires_at, dev: false, account: true });
  }

  /** Another tab signed in, signed out or renewed the token. @param {SignIn|null} now */
  function follow(now) {
    if (now && now.user === current?.user) {
      current = now;
      planRenewal();
    } else if (now) {
      begin(now);
    } else if (current && (claims(current.token).exp ?? Infinity) * 1000 < Date.now()) {
      end(EXPIRED);
    } else if (current) {
      end(say("You signed out in another tab.", "您已在另一个标签页中退出登录。"));
      forget();
    }
  }

  return {
    /** Takes up the sign-in that this browser has, if there is one. */
    async resume() {
      watch("signin", follow);
      if (await this.byLink()) return;
      const kept = load("signin");
      if (kept?.account && Date.parse(kept.expires_at) < Date.now() + RENEW_BEFORE_MS) {
        current = kept; // the cookie brings the token first: the one there is would be refused
        if (!(await renew()) || current?.user !== kept.user) return;
      }
      if (kept) begin(current ?? kept);
    },
    /** Signs in whom the link with the development code names. False: it names nobody. */
    async byLink() {
      const user = devUser;
      devUser = null;
      if (!user) return false;
      try {
        await this.byName(user);
      } catch (err) {
        save("signin", null);
        end(/** @type {Problem} */ (err).message);
      }
      return true;
    },
    /** The development sign-in. Throws a Problem; with status 404 the server does not offer it. @param {string} user */
    async byName(user) {
      keep({ user, ...(await devToken(user)), dev: true });
    },
    /** Takes up a sign-in of which this browser has only the cookie, as one by a provider ends: once, when the page is loaded. */
    async byCookie() {
      if (life > 0) return false;
      try {
        const { token, expires_at } = await call("POST", "/v1/tokens/refresh", { cookie: true });
        const { user } = await call("GET", "/v1/me", { token });
        if (life > 0) return false;
        keep({ user, token, expires_at, dev: false, account: true });
        return true;
      } catch {
        return false;
      }
    },
    /** Throws a Problem. @param {string} user @param {string} password */
    byPassword: (user, password) => byAccount({ user, password }),
    /** Redeems the code of a link. Throws a Problem. @param {Ticket} by @param {string} user @param {string} password @param {string} name */
    byTicket: (by, user, password, name) =>
      byAccount({ code: by.code, ...(by.kind === "setup" && { user, ...(name && { name }) }), ...(by.kind !== "link" && { password }) }),
    /**
     * Makes an account and signs in. Throws a Problem.
     * @param {string} user @param {string} password @param {string} name for others to see, or "" @param {string} code of an invitation, or ""
     */
    async register(user, password, name, code) {
      await call("POST", "/v1/accounts", { body: { user, password, ...(name && { name }), ...(code && { code }) } });
      await byAccount({ user, password });
    },
    /** Throws a Problem if the server refuses the token. @param {string} text */
    async byToken(text) {
      const token = text.trim();
      if (token.split(".").length !== 3) throw new Problem("invalid_request", "This isn’t a valid token. A token has three parts separated by dots.");
      const { user } = await call("GET", "/v1/me", { token }); // which claim names the user is the server's to know
      keep({ user, token, expires_at: "", dev: false });
    },
    /** The server refuses the user for good. What is kept stays: the page may be opened again when that has changed. */
    refused: () => end(DISABLED),
    /** Whether the user signs in here: the browser has the cookie then. */
    hasAccount: () => !!current?.account,
    renew,
    token: () => current?.token ?? "",
    /** Another value for each sign-in: what was begun under one must not go on under the next. */
    life: () => life,
    /** Ends the sign-in in all tabs, and drops what they keep for the user. A sign-in that expires keeps it for the next time. */
    out() {
      if (current?.account) call("DELETE", "/v1/tokens", { cookie: true }).catch(() => {}); // the token ends by itself soon
      save("signin", null);
      end("");
      forget();
    },
  };
}
