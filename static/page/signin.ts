/**
 * Who is signed in to this browser. A sign-in lasts until somebody signs out or the token expires, and holds in every
 * tab: what one tab gets, renews or ends, the others take over. What a tab keeps for one user is never there for the
 * next.
 *
 * A sign-in by password or by a code ends in an access token here, and a cookie that no script can read for the next one.
 */
import { Problem, call, passing } from "./call.ts";
import { load, save, watch } from "./saved.ts";
import { say } from "./say.ts";

type Kept = { user: string; token: string; expires_at: string; dev: boolean; account?: boolean };
type Listener = {
  begun(user: string): void;
  /** reason: what the user should know about it, or "". */
  ended(reason: string): void;
};
/** What a link asks for: to make the first account, to choose a new password, or to sign in. */
type Ticket = { kind: "setup" | "reset" | "link"; code: string };
type Token = { token: string; expires_at: string };

/** How long before its end a token is renewed. */
const RENEW_BEFORE_MS = 60_000;
/** A token that is refused this soon after a renewal is not renewed again. */
const RENEW_EVERY_MS = 3000;
/** How long a renewal may take: what is kept is shown then, as if there were no network. */
const RENEW_MAX_MS = 5000;
/** The longest time that a timer takes. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const EXPIRED = say("Your sign-in has expired. Please sign in again.", "登录已过期，请重新登录。");
/** Of whoever may not sign in. */
export const DISABLED = say("Your account is disabled. Ask whoever runs this server.", "您的账号已被停用，请联系服务器管理员。");
const INVITE = /^#(?:code=([\w-]+)&)?invite=([a-z2-7]{20,128})$/;
const DEV_CODE = /^#code=([\w-]+)(?:&user=([\w.@+|:-]+))?(?:&group=(.+))?$/;
/** Whom the link with the code names. */
let devUser: string | null = null;

const TICKET = /^#(setup|reset|link)=([\w.-]+)$/;
let ticket: Ticket | null = null;

/** Takes the code of such a link out of the address. */
export function takeTicket(): void {
  const found = TICKET.exec(location.hash);
  if (!found) return;
  ticket = { kind: found[1] as Ticket["kind"], code: found[2]! };
  history.replaceState(null, "", location.pathname + location.search);
}

export const ticketOf = (): Ticket | null => ticket;

/** Forgets a code that the server does not take. */
export const dropTicket = (): void => { ticket = null; };

/** How people sign in to this server. */
export const about = (): Promise<{ accounts: boolean; registration: string | null; features: string[] }> => call("GET", "/v1/server");

/**
 * Keeps the code of the development sign-in, which comes in the fragment of the link that chatd prints when it starts.
 * Takes it out of the address, so that a copied address or a screenshot gives nothing away. Call it before anything
 * reads the fragment.
 */
export function takeDevCode(): void {
  const found = DEV_CODE.exec(location.hash);
  if (!found) return;
  save("dev-code", found[1]);
  devUser = found[2] ?? null;
  history.replaceState(null, "", location.pathname + location.search + (found[3] ? `#${found[3]}` : ""));
}

/** Whether this browser has such a code. */
export const hasDevCode = (): boolean => load("dev-code") !== null;

/** Keeps the code of an invitation in the same way. */
export function takeInvite(): boolean {
  const found = INVITE.exec(location.hash);
  if (!found) return false;
  if (found[1]) save("dev-code", found[1]);
  save("invite", found[2]);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

/** Why an invitation does not help. */
export const inviteProblem = (err: { status: number; message: string }): string =>
  [404, 410].includes(err.status) ? say("This invitation has been used up, or has expired. Ask for another.", "此邀请已被用完或已过期，请重新索取。") : err.message;

const devToken = (user: string): Promise<Token> => call("POST", "/v1/dev/token", { body: { user, code: load("dev-code") ?? "" } });

/** What a token says of itself; only the server decides whether it is good. */
function claims(token: string): { exp?: number } {
  try {
    const bytes = Uint8Array.from(atob(token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
}

/** Drops what this tab has of a user: what it keeps, and the group in the address. */
function forget(): void {
  for (const key of ["owner", "cursors", "outbox", "people", "searches", "blocked"]) save(key, null);
  history.replaceState(null, "", location.pathname + location.search);
}

export type SignIn = ReturnType<typeof createSignIn>;

export function createSignIn(listener: Listener) {
  let current: Kept | null = null;
  let life = 0;
  let renewedAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function begin(next: Kept): void {
    life++;
    current = next;
    const owner = load("owner");
    if (owner && owner !== next.user) forget();
    save("owner", next.user);
    planRenewal();
    listener.begun(next.user);
  }

  function end(reason: string): void {
    life++;
    current = null;
    clearTimeout(timer);
    listener.ended(reason);
  }

  function keep(next: Kept): void {
    save("signin", next);
    begin(next);
  }

  function planRenewal(): void {
    clearTimeout(timer);
    if (!current?.dev && !current?.account) return;
    const wait = Date.parse(current.expires_at) - Date.now() - RENEW_BEFORE_MS;
    timer = setTimeout(() => void renew(), Math.min(Math.max(wait, current.account ? 0 : 5000), TIMER_MAX_MS));
  }

  /** A new token for the sign-in, by the cookie or by the code of the development sign-in. */
  const another = (was: Kept): Promise<Token> => (was.account ? call("POST", "/v1/tokens/refresh", { cookie: true, signal: AbortSignal.timeout(RENEW_MAX_MS) }) : devToken(was.user));

  /** Gets a new token unless the last one was pasted. False: it could not, and the sign-in has ended. */
  async function renew(): Promise<boolean> {
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
      if (passing(err) && (err as Problem).code !== "unauthenticated") return true;
      if (current !== was) return current?.user === was.user;
      save("signin", null);
      const { status, message } = err as Problem;
      end(!was.account ? message : status === 403 ? DISABLED : EXPIRED);
      return false;
    }
  }

  /** Signs in by a password or a code. */
  async function byAccount(body: Record<string, unknown>): Promise<void> {
    const { token, expires_at } = await call("POST", "/v1/tokens", { body: { ...body, cookie: true }, cookie: true });
    const { user } = await call("GET", "/v1/me", { token });
    ticket = null;
    keep({ user, token, expires_at, dev: false, account: true });
  }

  /** Another tab signed in, signed out or renewed the token. */
  function follow(now: Kept | null): void {
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
    async resume(): Promise<void> {
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
    async byLink(): Promise<boolean> {
      const user = devUser;
      devUser = null;
      if (!user) return false;
      try {
        await this.byName(user);
      } catch (err) {
        save("signin", null);
        end((err as Problem).message);
      }
      return true;
    },
    /** The development sign-in. Throws a Problem; with status 404 the server does not offer it. */
    async byName(user: string): Promise<void> {
      keep({ user, ...(await devToken(user)), dev: true });
    },
    /** Takes up a sign-in of which this browser has only the cookie, as one by a provider ends: once, when the page is loaded. */
    async byCookie(): Promise<boolean> {
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
    /** Throws a Problem. */
    byPassword: (user: string, password: string): Promise<void> => byAccount({ user, password }),
    /** Redeems the code of a link. Throws a Problem. */
    byTicket: (by: Ticket, user: string, password: string, name: string): Promise<void> =>
      byAccount({ code: by.code, ...(by.kind === "setup" && { user, ...(name && { name }) }), ...(by.kind !== "link" && { password }) }),
    /** Makes an account and signs in. name: for others to see, or "". code: of an invitation, or "". Throws a Problem. */
    async register(user: string, password: string, name: string, code: string): Promise<void> {
      await call("POST", "/v1/accounts", { body: { user, password, ...(name && { name }), ...(code && { code }) } });
      await byAccount({ user, password });
    },
    /** Throws a Problem if the server refuses the token. */
    async byToken(text: string): Promise<void> {
      const token = text.trim();
      if (token.split(".").length !== 3) throw new Problem("invalid_request", say("This isn’t a valid token. A token has three parts separated by dots.", "这不是有效的令牌：令牌由点分隔的三部分组成。"));
      const { user } = await call("GET", "/v1/me", { token }); // which claim names the user is the server's to know
      keep({ user, token, expires_at: "", dev: false });
    },
    /** The server refuses the user for good. What is kept stays: the page may be opened again when that has changed. */
    refused: (): void => end(DISABLED),
    /** Whether the user signs in here: the browser has the cookie then. */
    hasAccount: (): boolean => !!current?.account,
    renew,
    token: (): string => current?.token ?? "",
    /** Another value for each sign-in: what was begun under one must not go on under the next. */
    life: (): number => life,
    /** Ends the sign-in in all tabs, and drops what they keep for the user. A sign-in that expires keeps it for the next time. */
    out(): void {
      if (current?.account) call("DELETE", "/v1/tokens", { cookie: true }).catch(() => {}); // the token ends by itself soon
      save("signin", null);
      end("");
      forget();
    },
  };
}
