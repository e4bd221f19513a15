/**
 * Sends what waits, one message at a time in each group, until the server has answered for good. Every task keeps its key
 * through retries, reconnects and restarts: the server answers a repeated one as the first time. Run by the leader.
 */
import { ChatdError } from "./error.js";
import type { Batch } from "./log.js";
import type { Clock, Http, Link } from "./parts.js";
import { type State, type Task, sentMessage } from "./state.js";

/** The server keeps keys for 24 h: what is older is looked for in the log before it is sent again. */
const KEY_MS = 23 * 3600_000;
/** A refusal that may pass is tried again after a random time that grows up to this. */
const WAIT_MS = 500;
const WAIT_MAX_MS = 20_000;

export type OutboxHost = {
  readonly state: State;
  readonly clock: Clock;
  readonly link: Link;
  readonly http: Http;
  /** Notes the outcome, and resolves when it is stored. */
  answered(task: Task, answer: any, message: unknown): Promise<void>;
  refused(task: Task, error: { code: string; detail: string }): Promise<void>;
};

/** A key that nobody else makes: 96 random bits. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** What goes over the wire. */
function wire({ n, key, queued_at, after, id, sent_at, error, files, ...message }: Task) {
  return { ...message, client_id: key, ...(files && { files: files.map((f) => f.id) }) };
}

export class Outbox {
  #busy = new Map<string, string>(); // groups with a task under way, or waiting for its next try
  #tries = new Map<string, number>();
  #waiting = new Map<string, () => void>(); // by group: how to cancel
  #life = 0;

  constructor(private readonly host: OutboxHost) {}

  /** Forgets what is under way: another session, or another tab, sends it again. */
  stop(): void {
    this.#life++;
    this.#busy.clear();
    for (const cancel of this.#waiting.values()) cancel();
    this.#waiting.clear();
    this.#note();
  }

  pump(): void {
    const { state, link } = this.host;
    if (!link.live) return;
    let some = false;
    for (const t of state.outbox.values()) {
      if (t.id !== undefined || t.error || this.#busy.has(t.group)) continue;
      this.#busy.set(t.group, t.key);
      some = true;
      void this.#send(t, this.#life);
    }
    if (some) this.#note();
  }

  #note(): void {
    this.host.state.send(this.#busy.values());
  }

  async #send(t: Task, life: number): Promise<void> {
    const { host } = this;
    let wait = 0;
    try {
      // Of what is to be delivered later the server keeps the key as long after that.
      const old = host.clock.now() - Math.max(t.queued_at, Date.parse(t.deliver_at ?? "") || 0) > KEY_MS;
      const answer = (old && (await this.#find(t))) || (await host.link.ask({ op: "send", ...wire(t) }));
      this.#tries.delete(t.key);
      if (answer.state === "review") throw new ChatdError("review", "it waits for a moderator");
      await host.answered(t, answer, t.deliver_at === undefined ? sentMessage(t, host.state.me, answer) : (answer.schedule ?? answer));
    } catch (err) {
      const e = err instanceof ChatdError ? err : new ChatdError("internal", String(err));
      if (e.retryable || e.code === "closed" || e.code === "signed_out") wait = this.#wait(t, e);
      else await host.refused(t, { code: e.code, detail: e.detail }).catch(() => {});
    }
    if (life !== this.#life) return;
    const next = () => {
      if (life !== this.#life) return;
      this.#busy.delete(t.group);
      this.#waiting.delete(t.group);
      this.pump();
      this.#note();
    };
    if (wait > 0) this.#waiting.set(t.group, host.clock.after(wait, next));
    else next();
  }

  /** How long to leave a task alone. */
  #wait(t: Task, e: ChatdError): number {
    const { clock } = this.host;
    const tries = this.#tries.get(t.key) ?? 0;
    this.#tries.set(t.key, tries + 1);
    return Math.max(1, 1000 * e.retryAfter, clock.random() * Math.min(WAIT_MAX_MS, WAIT_MS * 2 ** tries));
  }

  /** Looks for a task in the log; null: it is not there. */
  async #find(t: Task): Promise<{ id: number; sent_at: string } | null> {
    const { http, state } = this.host;
    for (let after = t.after; ; ) {
      const page: Batch = await http.request("GET", `/v1/groups/${encodeURIComponent(t.group)}/messages?after=${after}&limit=1000`);
      const m = page.messages.find((m) => m.client_id === t.key && m.from === state.me);
      if (m) return m;
      if (!page.complete) throw new ChatdError("unknown_outcome", "It may have been sent: the server no longer has all that was written since.");
      if (page.messages.length === 0) return null;
      after = page.to;
    }
  }
}
