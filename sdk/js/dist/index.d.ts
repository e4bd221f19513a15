/** The client of chatd for browsers and Node. */
export type * as Wire from "./calls.gen.js";
export { Chatd, type Events } from "./chatd.js";
export { ChatdError, SignedOut } from "./error.js";
export type { Delayed, Draft, Group, Sending } from "./group.js";
export { memoryStore } from "./memory.js";
export type { Options } from "./options.js";
export type { Change, Expect, Store } from "./store.js";
export type { Thread } from "./thread.js";
export type { At, Timeline } from "./timeline.js";
export type * from "./types.js";
export type { UploadOptions } from "./upload.js";
