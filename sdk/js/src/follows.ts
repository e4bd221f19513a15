/** Which threads of a group the person follows, as the server lists them. Run by the leader. */
import type { ChatdError } from "./error.js";
import type { Clock, Http, Link } from "./parts.js";
import type { State } from "./state.js";
import { type Draft, type Standing, followed } from "./sync.js";

const AGAIN_MS = 500;
const AGAIN_MAX_MS = 20_000;
const PAGES_MAX = 10;

export type FollowsHost = {
  readonly state: State;
  readonly clock: Clock;
  readonly link: Link;
  readonly http: Http;
  commit(make: (d: Draft) => void): Promise<void>;
};

export class Follows {
  #wanted = new Set<string>();
  #cancel: (() => void) | null = null;
  #tries = 0; // in a row
  #life = 0;

  constructor(private readonly host: FollowsHost) {}

  stop(): void {
    this.#life++;
    this.#cancel?.();
    this.#cancel = null;
  }

  some(groups: Iterable<string>): void {
    for (const g of groups) this.#wanted.add(g);
    this.soon();
  }

  soon(): void {
    const { clock, link } = this.host;
    const [group] = this.#wanted;
    if (this.#cancel || group === undefined || !link.live) return;
    const life = this.#life;
    this.#cancel = clock.after(this.#tries === 0 ? 0 : Math.min(AGAIN_MAX_MS, AGAIN_MS * 2 ** this.#tries), async () => {
      this.#wanted.delete(group);
      this.#tries++;
      try {
        await this.#load(group);
      } catch (err) {
        if ((err as ChatdError).retryable) this.#wanted.add(group);
      }
      if (life !== this.#life) return;
      this.#cancel = null;
      if (this.#wanted.size === 0) this.#tries = 0;
      this.soon();
    });
  }

  async #load(group: string): Promise<void> {
    const { state, http, commit } = this.host;
    const replied = state.groups.get(group)?.replied ?? 0;
    const list: Standing[] = [];
    let cursor = "";
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page = await http.request("GET", `/v1/groups/${encodeURIComponent(group)}/threads?following=1&limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      list.push(...page.threads);
      cursor = page.next ?? "";
      if (!cursor) break;
    }
    await commit((d) => followed(d, group, list, replied));
  }
}
