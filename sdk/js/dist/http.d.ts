import type { Clock, Http } from "./parts.js";
import type { Tokens } from "./token.js";
export type HttpOptions = {
    url: string;
    tokens: Pick<Tokens, "get" | "refused">;
    fetch?: typeof globalThis.fetch | undefined;
    clock: Clock;
    /** What ends all calls that are under way. */
    ended?(): AbortSignal;
};
export declare function createHttp({ url, tokens, fetch, clock, ended }: HttpOptions): Http;
/** The address of the server without a slash at its end; in a page it may be relative. */
export declare function baseOf(url: string): string;
