import { ChatdError } from "./error.js";
import type { Clock } from "./parts.js";
import type { GetToken } from "./types.js";
/** The token that is sent to the server. The application is asked for one at a time, whatever the reasons. */
export type Tokens = {
    /** Rejects with a ChatdError; while the application cannot get one, at once, with retryAfter. */
    get(): Promise<string>;
    /** Says that the server does not take a token, and resolves with another one. */
    refused(token: string): Promise<string>;
    /** Has run called with each token that replaces another; returns how to stop that. */
    renewed(run: (token: string) => void): () => void;
    /** Has run called when the person has signed out, or was refused for good; returns how to stop that. */
    ended(run: () => void): () => void;
    /** Signs out: no token is asked for before begin. */
    end(why: ChatdError): void;
    /** Somebody may have signed in again. */
    begin(): void;
    /** Asks the application again at once if it failed: the network is back, or a person wants it. */
    hurry(): void;
    /** Stops renewing. The next get begins again. */
    stop(): void;
};
export type TokensOptions = {
    getToken: GetToken;
    clock: Clock;
    signedOut(why: ChatdError): void;
    /** A token is another person's than the one before: it is given to nobody. */
    switched?(): void;
    /** Told once when getToken begins to fail, and when a token and the next one are refused. */
    warn?(text: string, cause: unknown): void;
};
export declare function createTokens({ getToken, clock, signedOut, switched, warn }: TokensOptions): Tokens;
