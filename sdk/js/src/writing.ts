/**
 * Writes a message piece by piece, for programs: the answer of a language model as it comes. It needs nothing of the client: what is
 * written goes in a few requests a second, and on behind what stands after errors.
 */
export type WritingOptions = {
  /** Of the server. */
  url: string;
  /** A token, or a key with the scope send; with `as`, whom the key acts for. */
  token: string;
  as?: string;
  fetch?: typeof fetch;
};

/** The server takes 20 pieces a second. */
const EVERY_MS = 60;
const RETRY_MS = 1000;
/** Failures in a row, but for refusals. */
const RETRIES = 30;
/** Letters of a piece. */
const PIECE = 8192;

export class WritingError extends Error {
  constructor(readonly status: number, readonly code: string, detail: string, readonly length?: number) {
    super(detail);
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);
const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Begins a message in a group. `first`: what there is of its text. */
export async function write(options: WritingOptions, group: string, { first = "", ...fields }: { first?: string; reply_to?: number; mentions?: string[]; thread?: number } = {}): Promise<Writing> {
  const path = `/v1/groups/${encodeURIComponent(group)}/messages`;
  const body = { ...fields, stream: true, body: first, client_id: crypto.randomUUID() };
  const sent = await retried(() => ask(options, "POST", path, body));
  return new Writing(options, `${path}/${sent.id}/stream`, sent.id, bytes(first).length);
}

async function ask(options: WritingOptions, method: string, path: string, body: unknown): Promise<any> {
  const headers: Record<string, string> = { authorization: `Bearer ${options.token}`, "content-type": "application/json", ...(options.as !== undefined && { "chatd-as": options.as }) };
  const res = await (options.fetch ?? fetch)(options.url.replace(/\/$/, "") + path, { method, headers, body: JSON.stringify(body) });
  const answer = await res.json().catch(() => ({}));
  if (!res.ok) throw new WritingError(res.status, answer.code ?? "", answer.detail ?? res.statusText, answer.length);
  return answer;
}

/** Does something again where the outcome is not known, or it came too fast. */
async function retried<T>(once: () => Promise<T>): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await once();
    } catch (e) {
      if (failed === RETRIES || (e instanceof WritingError && e.status < 500 && e.code !== "rate_limited")) throw e;
      await pause(RETRY_MS);
    }
  }
}

export class Writing {
  /** Aborted once somebody has asked to stop: close then. */
  readonly cancelled: AbortSignal;
  #stop = new AbortController();
  #rest = "";
  #sending: Promise<void> | null = null;
  #error: unknown = null;
  #ended = false;

  /** @internal */
  constructor(private readonly options: WritingOptions, private readonly path: string, readonly id: number, private length: number) {
    this.cancelled = this.#stop.signal;
  }

  /** Adds text. It waits for nothing; throws what an earlier piece was refused with. */
  write(text: string): void {
    if (this.#error) throw this.#error;
    if (this.#ended) throw new Error("the message is closed");
    this.#rest += text;
    this.#sending ??= this.#send();
  }

  /** Sends what is left, and ends the message. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#sending;
    if (this.#error) throw this.#error;
    await this.#piece(this.#rest, true);
  }

  async #send(): Promise<void> {
    try {
      await pause(EVERY_MS); // what comes together goes together
      while (this.#rest !== "" && !this.#ended) {
        // Not half a letter.
        const end = this.#rest.length > PIECE && /[\uD800-\uDBFF]/.test(this.#rest[PIECE - 1]!) ? PIECE - 1 : PIECE;
        const whole = /[\uD800-\uDBFF]$/.test(this.#rest) && this.#rest.length <= end ? this.#rest.slice(0, -1) : this.#rest.slice(0, end);
        if (whole === "") break;
        await this.#piece(whole, false);
        await pause(EVERY_MS);
      }
    } catch (e) {
      this.#error = e;
    }
    this.#sending = null;
  }

  async #piece(text: string, done: boolean): Promise<void> {
    const offset = this.length;
    const answer = await retried(() => ask(this.options, "PATCH", this.path, { offset, append: text, ...(done && { done }) }));
    this.#rest = this.#rest.slice(text.length);
    this.length += bytes(text).length;
    if (answer.cancelled) this.#stop.abort();
  }
}
