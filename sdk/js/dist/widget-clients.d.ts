/** The clients of the elements of a page, and the names of the people that they show. */
import { Chatd } from "./chatd.js";
import type { GetToken } from "./types.js";
export type Shared = {
    readonly chat: Chatd;
    readonly names: Names;
    /** Whether there are groups to show. */
    readonly ready: boolean;
};
/** The client of a server for a source of tokens, a function or an address: all elements with both alike share one. */
export declare function take(server: string, source: GetToken | string): Shared;
/** Ends the client unless another element takes it in the same task: one that is only moved. */
export declare function leave(shared: Shared): void;
/** What people are called. Who is not known yet is asked for, all in one call. */
export declare class Names {
    #private;
    private readonly chat;
    /** Rises when more is known. */
    version: number;
    readonly listeners: Set<() => void>;
    constructor(chat: Chatd);
    /** The name of a user, which is the id until another is known. */
    readonly of: (user: string) => string;
    tell(): void;
}
