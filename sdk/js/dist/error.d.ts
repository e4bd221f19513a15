/** Why a call failed: the server's problem, or one of the client's own codes offline, closed, timeout and signed_out. */
export declare class ChatdError extends Error {
    readonly code: string;
    readonly detail: string;
    readonly status: number;
    readonly retryAfter: number;
    readonly name = "ChatdError";
    /** @param code for programs, as the API lists them  @param status of HTTP; 0: no answer, or one by websocket */
    constructor(code: string, detail: string, status?: number, /** Seconds. */ retryAfter?: number);
    /** Whether the same call may succeed later without a change. */
    get retryable(): boolean;
}
/** Thrown by getToken to say that the person has signed out: the client stops and asks for no other token. */
export declare class SignedOut extends Error {
    readonly name = "SignedOut";
}
