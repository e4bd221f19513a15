/** Uploads of files: piece by piece, and on from where the server is after something broke (tus 1.0). */
import { backoff } from "./clock.js";
import { ChatdError } from "./error.js";
import { newKey } from "./outbox.js";
import type { Clock, Http } from "./parts.js";
import type { FileInfo } from "./types.js";

/** Bytes of one request: what nginx takes as it is installed. */
const PIECE_BYTES_MAX = 1 << 20;
/** How long a piece may take, ms. What arrived until then counts. */
const PIECE_MS = 60_000;
/** Attempts in a row that bring nothing further. */
const ATTEMPTS_MAX = 10;

export type UploadOptions = {
  /** What the file is called; default: its own name. */
  name?: string;
  /** Told how many bytes the server has: at the start, and after each mebibyte. */
  onProgress?: (sent: number, size: number) => void;
  /** Gives the upload up, and removes what has arrived. */
  signal?: AbortSignal;
};

export async function upload(http: Http, clock: Clock, group: string, file: Blob & { readonly name?: string }, options: UploadOptions = {}): Promise<FileInfo> {
  const { name = file.name ?? "file", onProgress, signal } = options;
  const files = `/v1/groups/${encodeURIComponent(group)}/files`;
  const { size, type } = file;
  const offsetOf = (res: Response) => Number(res.headers.get("Upload-Offset"));
  const key = newKey();
  let id = "";
  let sent = 0;

  /** Everything from where the server is. */
  async function rest(): Promise<void> {
    if (id) sent = await http.request("HEAD", `${files}/${id}`, { signal, read: offsetOf });
    else ({ id } = await http.request("POST", files, { signal, key, body: { name, size, ...(type && { type }) } }));
    for (onProgress?.(sent, size); sent < size; onProgress?.(sent, size)) {
      sent = await http.request("PATCH", `${files}/${id}`, {
        signal, body: file.slice(sent, sent + PIECE_BYTES_MAX), timeoutMs: PIECE_MS, read: offsetOf,
        headers: { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(sent) },
      });
    }
  }

  for (let failures = 0, best = 0; ; ) {
    try {
      await rest();
      return { id, name, size, type };
    } catch (err) {
      if (signal?.aborted && id) http.request("DELETE", `${files}/${id}`).catch(() => {}); // then it expires
      if (sent > best) [failures, best] = [0, sent];
      // A conflict: an earlier request is still writing.
      if (signal?.aborted || !(err instanceof ChatdError) || !(err.retryable || (id && err.code === "conflict")) || ++failures > ATTEMPTS_MAX) throw err;
      await pause(clock, backoff(clock, failures, err.retryAfter * 1000), signal);
    }
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const cancel = clock.after(ms, () => end());
    const end = () => {
      cancel();
      signal?.removeEventListener("abort", end);
      done();
    };
    signal?.addEventListener("abort", end);
  });
}
