import type { Lists } from "./lists.js";
import type { Clock, Frame, Link } from "./parts.js";
import type { State } from "./state.js";
import * as sync from "./sync.js";
export type FramesHost = {
    readonly state: State;
    readonly clock: Clock;
    readonly link: Link;
    commit<T>(make: (d: sync.Draft) => T | Promise<T>): Promise<T>;
    /** Fulfilled where a session is the user's; undefined: the server is asked. */
    verified(user?: string): Promise<void>;
};
export declare class Frames {
    #private;
    private readonly host;
    private readonly lists;
    /** Groups that were entered since the session said hello: its welcome may not know of them. */
    readonly entered: Set<string>;
    /** Fulfilled once what the last welcome says is stored. */
    greeted: Promise<void>;
    constructor(host: FramesHost, lists: Lists);
    stop(): void;
    /** Forgets who types. */
    end(): void;
    /** Up to where everything is stored, once all is that was to be. */
    positions(): {
        after: {
            [k: string]: string | number;
        };
        inbox_after?: string | number;
    };
    ack(group: string): void;
    /** The acks that there are, once. */
    acks(): {
        ack: {
            [k: string]: string | number;
        };
    };
    take(f: Frame): Promise<void>;
}
