import type { Clock, Frame, Http, LinkListener } from "./parts.js";
type Acks = ReturnType<LinkListener["acks"]>;
export type PollOptions = {
    http: Http;
    clock: Clock;
    listener: Pick<LinkListener, "positions" | "frame">;
    /** What has to be acked now; each call gives all of it until it was acked. */
    acks(): Acks;
    /** Some acks were done, but for those in errors. */
    acked(acks: Acks, errors: Frame[]): void;
    changed(): void;
};
/** Long polling, for where no websocket gets through: it brings the same frames. */
export type Poll = {
    /** Whether the last call was answered. */
    readonly live: boolean;
    /** When it tries again after a failure; 0: it is trying. */
    readonly retryAt: number;
    readonly running: boolean;
    start(): void;
    /** Hands over nothing more until resume: a websocket has its turn. It stays live. */
    pause(): void;
    resume(): void;
    stop(): void;
    /** Tries at once if it is waiting to. @param anew even if it waits for an answer, on a network that is gone */
    hurry(anew: boolean): void;
    /** Gives up what it is about, which did not fit, and asks again from the positions. */
    restart(): void;
};
export declare function createPoll({ http, clock, listener, acks, acked, changed }: PollOptions): Poll;
export {};
