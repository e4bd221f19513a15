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
export declare class WritingError extends Error {
    readonly status: number;
    readonly code: string;
    readonly length?: number | undefined;
    constructor(status: number, code: string, detail: string, length?: number | undefined);
}
/** Begins a message in a group. `first`: what there is of its text. */
export declare function write(options: WritingOptions, group: string, { first, ...fields }?: {
    first?: string;
    reply_to?: number;
    mentions?: string[];
    thread?: number;
}): Promise<Writing>;
export declare class Writing {
    #private;
    private readonly options;
    private readonly path;
    readonly id: number;
    private length;
    /** Aborted once somebody has asked to stop: close then. */
    readonly cancelled: AbortSignal;
    /** @internal */
    constructor(options: WritingOptions, path: string, id: number, length: number);
    /** Adds text. It waits for nothing; throws what an earlier piece was refused with. */
    write(text: string): void;
    /** Sends what is left, and ends the message. */
    close(): Promise<void>;
}
