/** Why a call failed: the server's problem, or one of the client's own codes offline, closed, timeout and signed_out. */
export class ChatdError extends Error {
  override readonly name = "ChatdError";
  /** @param code for programs, as the API lists them  @param status of HTTP; 0: no answer, or one by websocket */
  constructor(readonly code: string, readonly detail: string, readonly status = 0, /** Seconds. */ readonly retryAfter = 0) {
    super(detail);
  }
  /** Whether the same call may succeed later without a change. */
  get retryable(): boolean {
    return ["offline", "timeout", "unavailable", "rate_limited", "overloaded", "internal", "inbox_full", "backlog_full"].includes(this.code) || this.status >= 500;
  }
}

/** Thrown by getToken to say that the person has signed out: the client stops and asks for no other token. */
export class SignedOut extends Error {
  override readonly name = "SignedOut";
}
