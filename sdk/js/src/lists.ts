/** The groups as the server lists them: asked for when a session begins, and where counts may be wrong. Run by the leader. */
import type { ChatdError } from "./error.js";
import type { Clock, Http, Link } from "./parts.js";
import type { State } from "./state.js";
import type { Draft } from "./sync.js";
import { listed } from "./sync.js";

/** Counts that are wrong again after they were asked for are asked for after this, longer each time. */
const AGAIN_MS = 250;
const AGAIN_MAX_MS = 20_000;
/** While polling, nothing tells what was read elsewhere: the list is asked for this often at most. */
const ROUND_MS = 20_000;

export type ListsHost = {
  readonly state: State;
  readonly clock: Clock;
  readonly link: Link;
  readonly http: Http;
  commit(make: (d: Draft) => void): Promise<void>;
  /** There is an ack that the server does not have. */
  ack(group: string): void;
  /** All groups are known. */
  ready(): void;
  log(level: "warn", text: string, cause: unknown): void;
};

export class Lists {
  #stale = new Set<string>();
  #all = false;
  #tries = 0; // in a row
  #cancel: (() => void) | null = null;
  #life = 0;
  #round = 0;
  #leastMs = 0; // that the server asked to wait
  /** Groups of which a read position was answered while a list was on its way, which may be older. */
  readonly read = new Set<string>();
  /** How often a group was entered or left: a list that was on its way then may say either. */
  memberships = 0;

  constructor(private readonly host: ListsHost) {}

  stop(): void {
    this.#life++;
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Asks for all groups; of while polling, once in a while. */
  all(polling = false): void {
    const now = this.host.clock.now();
    if (polling && now - this.#round < ROUND_MS) return;
    this.#round = now;
    this.#all = true;
    this.soon();
  }

  /** Asks for groups whose counts may be wrong. */
  some(groups: Iterable<string>): void {
    for (const g of groups) this.#stale.add(g);
    this.soon();
  }

  soon(): void {
    const { clock, link, log } = this.host;
    if (this.#cancel || !link.live || (!this.#all && this.#stale.size === 0)) return;
    const wait = Math.max(this.#leastMs, this.#tries === 0 ? 0 : Math.min(AGAIN_MAX_MS, AGAIN_MS * 2 ** this.#tries));
    const life = this.#life;
    this.#cancel = clock.after(wait, async () => {
      this.#tries++;
      this.#leastMs = 0;
      try {
        await this.#load();
      } catch (err) {
        this.#all = true;
        this.#leastMs = 1000 * ((err as ChatdError).retryAfter ?? 0);
        if (life === this.#life && !(err as ChatdError).retryable) log("warn", "The groups cannot be listed.", err);
      }
      if (life !== this.#life) return;
      this.#cancel = null;
      if (!this.#all && this.#stale.size === 0) this.#tries = 0;
      this.soon();
    });
  }

  /** Latest activity first: all of them, or as far as counts may be wrong. */
  async #load(): Promise<void> {
    const { http, state, commit, ack, ready } = this.host;
    const [all, stale, memberships] = [this.#all, this.#stale, this.memberships];
    this.#all = false;
    this.#stale = new Set();
    let cursor = "";
    do {
      this.read.clear();
      const page = await http.request("GET", `/v1/groups?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      if (memberships !== this.memberships) {
        this.#all = true;
        return;
      }
      await commit((d) => listed(d, page.groups, this.read));
      for (const g of page.groups) {
        stale.delete(g.id);
        const log = state.groups.get(g.id)?.log;
        if (log && log.epoch === g.epoch && log.end > g.seen) ack(g.id);
      }
      cursor = page.next ?? "";
    } while (cursor && (all || stale.size > 0));
    ready();
  }
}
