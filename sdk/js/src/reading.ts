/** Tells the server what the person has read and is done with, until it has answered for good. Run by the leader. */
import { ChatdError } from "./error.js";
import type { Clock, Http, Link } from "./parts.js";
import type { State } from "./state.js";

/** After a failure that may pass. */
const AGAIN_MS = 3000;

export type ReadingHost = {
  readonly state: State;
  readonly clock: Clock;
  readonly link: Link;
  readonly http: Http;
  /** Notes an answer; null: it was refused. */
  confirmed(group: string, id: number, answer: any): Promise<void>;
  confirmedThread(group: string, root: number, id: number, answer: any): Promise<void>;
  /** The inbox was acked up to there, or that was refused. */
  acked(at: unknown): Promise<void>;
};

export class Reading {
  #busy = new Set<string>();
  #waiting = new Map<string, () => void>(); // how to cancel
  #life = 0;

  constructor(private readonly host: ReadingHost) {}

  stop(): void {
    this.#life++;
    this.#busy.clear();
    for (const cancel of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }

  pump(): void {
    const { state, link, http } = this.host;
    if (!link.live) return;
    for (const [group, id] of state.reads) {
      const log = state.groups.get(group)?.log;
      // With the cursor of the newest message the server notices a log that lost its end.
      const at = log?.cursor && log.end === id ? { cursor: log.cursor } : { id };
      this.#tell(group, () => link.ask({ op: "read", group, ...at }), (answer) => this.host.confirmed(group, id, answer));
    }
    for (const [key, id] of state.threadReads) {
      const [, name, root] = key.split("/") as [string, string, string];
      const path = `/v1/groups/${name}/threads/${root}/read`;
      this.#tell(key, () => http.request("POST", path, { body: { id } }), (answer) => this.host.confirmedThread(decodeURIComponent(name), Number(root), id, answer));
    }
    const { ack } = state.inbox;
    if (ack) this.#tell("", () => http.request("POST", "/v1/inbox/ack", { body: ack }), () => this.host.acked(ack));
  }

  #tell(what: string, ask: () => Promise<unknown>, note: (answer: any) => Promise<void>): void {
    if (this.#busy.has(what)) return;
    this.#busy.add(what);
    const life = this.#life;
    const next = () => {
      if (life !== this.#life) return;
      this.#busy.delete(what);
      this.#waiting.delete(what);
      this.pump();
    };
    ask().then(
      (answer) => note(answer),
      (err) => {
        const e = err as ChatdError;
        if (e.code === undefined || e.retryable || e.code === "closed" || e.code === "signed_out") throw err;
        return note(null);
      },
    ).then(next, (err) => {
      if (life === this.#life) this.#waiting.set(what, this.host.clock.after(Math.max(AGAIN_MS, 1000 * (err.retryAfter ?? 0)), next));
    });
  }
}
