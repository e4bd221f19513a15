/** What the server says, frame by frame, and up to where. Run by the leader. */
import { ChatdError } from "./error.js";
import type { Lists } from "./lists.js";
import type { Batch } from "./log.js";
import type { Clock, Frame, Link } from "./parts.js";
import type { State } from "./state.js";
import { streamed } from "./streams.js";
import * as sync from "./sync.js";

/** How long one sign of typing holds, ms. */
const TYPING_MS = 5000;
/** Another session is tried for groups that the server could not serve. */
const LATER_MS = 30_000;

export type FramesHost = {
  readonly state: State;
  readonly clock: Clock;
  readonly link: Link;
  commit<T>(make: (d: sync.Draft) => T | Promise<T>): Promise<T>;
  /** Fulfilled where a session is the user's; undefined: the server is asked. */
  verified(user?: string): Promise<void>;
};

export class Frames {
  #acks = new Map<string, string | number>();
  /** Groups that were entered since the session said hello: its welcome may not know of them. */
  readonly entered = new Set<string>();
  /** Fulfilled once what the last welcome says is stored. */
  greeted: Promise<void> = Promise.resolve();
  #later: (() => void) | null = null;
  #expiry: (() => void) | null = null;

  constructor(private readonly host: FramesHost, private readonly lists: Lists) {}

  stop(): void {
    this.#later?.();
    this.#later = null;
    this.#acks.clear(); // what is not said by now, a list brings again
  }

  /** Forgets who types. */
  end(): void {
    this.#expiry?.();
    this.#expiry = null;
  }

  /** Up to where everything is stored, once all is that was to be. */
  positions() {
    const { groups, inbox } = this.host.state;
    const after: [string, string | number][] = [];
    for (const [id, { log }] of groups) if (log.end >= 0) after.push([id, log.cursor || log.end]);
    return { after: Object.fromEntries(after), ...(inbox.epoch !== "" && { inbox_after: inbox.cursor || inbox.to }) };
  }

  ack(group: string): void {
    const log = this.host.state.groups.get(group)?.log;
    if (log) this.#acks.set(group, log.cursor || log.end);
  }

  /** The acks that there are, once. */
  acks() {
    const ack = Object.fromEntries(this.#acks);
    this.#acks.clear();
    return { ack };
  }

  async take(f: Frame): Promise<void> {
    const { lists } = this;
    const { commit, state, clock } = this.host;
    switch (f.op) {
      case "messages":
        if ((await commit((d) => sync.received(d, f as unknown as Batch))) === "hole") throw new ChatdError("conflict", `Messages of ${f.group} are missing.`);
        if (f.messages.length > 0) this.ack(f.group);
        return;
      case "inbox":
        if ((await commit((d) => sync.items(d, f as any))) === "hole") throw new ChatdError("conflict", "Items of the inbox are missing.");
        return;
      case "cursor":
        return commit((d) => sync.moved(d, f as any));
      case "typing":
        if (f.user !== state.me) state.type(f.group, f.user, clock.now() + TYPING_MS);
        return this.#expire();
      case "stream":
        return commit((d) => streamed(d, f as any));
      case "here":
      case "stream_cancel":
      case "draft": {
        const { op, ...draft } = f;
        return commit((d) => d.tell(op, draft));
      }
      case "joined":
        lists.memberships++;
        return lists.some([f.group]);
      case "left":
        lists.memberships++;
        return commit((d) => sync.left(d, f.group));
      case "welcome":
        return (this.greeted = this.#greet(f));
      case "errors":
        return this.#failed(f.errors);
    }
  }

  async #greet(f: Frame): Promise<void> {
    const { commit, link, verified } = this.host;
    await verified(f.user);
    this.lists.all();
    if (f.groups && (await commit((d) => sync.welcomed(d, f, this.entered)))) link.restart("positions");
    else await this.#failed(f.errors ?? []);
  }

  async #failed(errors: any[]): Promise<void> {
    if (errors.length === 0) return;
    const { host } = this;
    const { given, later } = await host.commit((d) => sync.failed(d, errors));
    if (given) host.link.restart("positions"); // a session leaves those groups out
    else if (later) {
      this.#later ??= host.clock.after(LATER_MS, () => {
        this.#later = null;
        host.link.restart("groups");
      });
    }
  }

  #expire(): void {
    const { clock, state } = this.host;
    this.#expiry ??= clock.after(TYPING_MS, () => {
      this.#expiry = null;
      state.expire(clock.now());
      if (state.typing().length > 0) this.#expire();
    });
  }
}
