import type { Clock, Frame, LinkListener } from "./parts.js";
import type { Socket } from "./socket.js";
type Taken = ReturnType<LinkListener["acks"]>;
export type AcksOptions = {
    clock: Clock;
    taken: LinkListener["acks"];
    socket(): Socket | null;
    /** The server refuses an ack, because what was acked is not in its log any more. */
    rolledBack(): void;
};
/** The acks that the server does not have yet. Each stays until it was answered, and gives way to a later one of its group. */
export type Acks = {
    /** There may be some for the websocket. */
    soon(): void;
    /** All of them, for a sync. */
    all(): Taken;
    /** A sync has done them, but for those in errors. */
    done(acks: Taken, errors: readonly Frame[]): void;
    /** Says over the websocket what there is, without waiting for answers. */
    last(): void;
};
export declare function createAcks({ clock, taken, socket, rolledBack }: AcksOptions): Acks;
export {};
