import { backoff } from "./clock.js";
import type { Clock, Frame, Http, LinkListener } from "./parts.js";

/** How long the server may hold a call, s: less than proxies usually allow. */
const WAIT_S = 25;
const ANSWER_MS = 10_000;
/** Messages and items in one answer. */
const LIMIT = 500;
/** The least between two calls if the server does not hold them. */
const PACE_MS = 1000;

type Acks = ReturnType<LinkListener["acks"]>;

export type PollOptions = {
  http: Http;
  clock: Clock;
  listener: Pick<LinkListener, "positions" | "frame">;
  /** What has to be acked now; each call gives all of it until it was acked. */
  acks(): Acks;
  /** Some acks were done, but for those in errors. */
  acked(acks: Acks, errors: Frame[]): void;
  changed(): void;
};

/** Long polling, for where no websocket gets through: it brings the same frames. */
export type Poll = {
  /** Whether the last call was answered. */
  readonly live: boolean;
  /** When it tries again after a failure; 0: it is trying. */
  readonly retryAt: number;
  readonly running: boolean;
  start(): void;
  /** Hands over nothing more until resume: a websocket has its turn. It stays live. */
  pause(): void;
  resume(): void;
  stop(): void;
  /** Tries at once if it is waiting to. @param anew even if it waits for an answer, on a network that is gone */
  hurry(anew: boolean): void;
  /** Gives up what it is about, which did not fit, and asks again from the positions. */
  restart(): void;
};

export function createPoll({ http, clock, listener, acks, acked, changed }: PollOptions): Poll {
  let control: AbortController | null = null; // null: stopped or paused
  let running = false;
  let live = false;
  let retryAt = 0;
  let failures = 0;
  let hears: { typing?: true } = { typing: true }; // asks who types: a server from before that refuses a field that it does not know
  let wake = () => {};

  function set(nowLive: boolean, nowRetryAt: number): void {
    if (live === nowLive && retryAt === nowRetryAt) return;
    live = nowLive;
    retryAt = nowRetryAt;
    changed();
  }

  async function run({ signal }: AbortController, waitMs: number): Promise<void> {
    await pause(waitMs, signal);
    while (!signal.aborted) {
      try {
        const began = clock.now();
        const answer = await call(signal);
        if (answer === null) return;
        failures = 0;
        const first = !live;
        set(true, 0);
        const idle = !first && !answer.some && clock.now() - began < PACE_MS;
        await pause(Math.max(answer.pauseMs, idle ? PACE_MS : 0), signal);
      } catch (err: any) {
        if (signal.aborted) return;
        if (err?.status === 400) hears = {};
        const wait = backoff(clock, ++failures, 1000 * (err?.retryAfter ?? 0));
        set(false, clock.now() + wait);
        await pause(wait, signal);
        if (!signal.aborted) set(false, 0);
      }
    }
  }

  /** One call, and what it brings. null: stopped meanwhile. */
  async function call(signal: AbortSignal): Promise<{ some: boolean; pauseMs: number } | null> {
    if (!live) await listener.frame({ op: "welcome" });
    const positions = await listener.positions();
    if (signal.aborted) return null;
    const wait = live ? WAIT_S : 0;
    const now = acks();
    const body = { ...now, ...positions, start: "newest", limit: LIMIT, wait_s: wait, ...hears };
    const answer = await http.request("POST", "/v1/sync", { body, signal, timeoutMs: 1000 * wait + ANSWER_MS });
    const { groups = [], inbox, left = [], errors = [], typing = [], next_poll_s = 0 } = answer;
    acked(now, errors);
    const frames: Frame[] = [
      ...typing.map((t: object) => ({ ...t, op: "typing" })), // first: a message ends it
      ...(errors.length > 0 ? [{ op: "errors", errors }] : []), ...groups.map((g: object) => ({ ...g, op: "messages" })),
      ...(inbox ? [{ ...inbox, op: "inbox" }] : []), ...left.map((group: string) => ({ op: "left", group })),
    ];
    for (const frame of frames) {
      if (signal.aborted) return null;
      await listener.frame(frame);
    }
    const some = groups.length > 0 || left.length > 0 || inbox?.items?.length > 0;
    return signal.aborted ? null : { some, pauseMs: 1000 * next_poll_s };
  }

  function pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0 || signal.aborted) return Promise.resolve();
    return new Promise((done) => {
      const finish = () => {
        cancel();
        signal.removeEventListener("abort", finish);
        done();
      };
      const cancel = clock.after(ms, finish);
      signal.addEventListener("abort", finish);
      wake = finish;
    });
  }

  function begin(waitMs = 0): void {
    control = new AbortController();
    void run(control, waitMs);
  }

  function halt(): void {
    control?.abort(new Error("stopped"));
    control = null;
    retryAt = 0;
  }

  return {
    get live() {
      return live;
    },
    get retryAt() {
      return retryAt;
    },
    get running() {
      return running;
    },
    start() {
      if (running) return;
      running = true;
      failures = 0;
      begin();
    },
    pause: halt,
    resume() {
      if (running && control === null) begin();
    },
    stop() {
      halt();
      running = false;
      live = false;
    },
    hurry(anew) {
      if (!anew || control === null) return wake();
      halt();
      begin();
    },
    restart() {
      if (control === null) return;
      halt();
      begin(++failures > 1 ? backoff(clock, failures) : 0); // it did not help the last time
    },
  };
}
