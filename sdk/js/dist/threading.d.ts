/** How threads count while messages come: whose replies are unread, in those that the person follows. Pure but for what it notes. */
import type { Entry } from "./log.js";
import type { Threads } from "./state.js";
import type { Message } from "./types.js";
export declare const unreadIn: (threads: Threads) => number;
type Noted = {
    readonly s: {
        readonly me: string;
    };
    readonly threads: Set<string>;
};
/** What the messages of one batch do to the threads of a group. */
export declare class Threading {
    #private;
    private readonly d;
    private readonly group;
    /** Deletions of replies, which count in no group. */
    readonly gone: Set<Message>;
    /** @param was what is known; undefined: it has to be asked for once something counts */
    constructor(was: Threads | undefined, d: Noted, group: string);
    /** A reply has come. */
    reply(m: Message, root: Entry | undefined): void;
    /** A message was deleted: a reply, a root, or neither. */
    deleted(m: Message, e: Entry | undefined): void;
    /** What of the group's record is another. */
    get result(): {
        threads?: Threads;
        replied?: number;
    };
}
export {};
