import type { Clock, Http, Link } from "./parts.js";
import type { State } from "./state.js";
import type { Draft } from "./sync.js";
export type ListsHost = {
    readonly state: State;
    readonly clock: Clock;
    readonly link: Link;
    readonly http: Http;
    commit(make: (d: Draft) => void): Promise<void>;
    /** There is an ack that the server does not have. */
    ack(group: string): void;
    /** All groups are known. */
    ready(): void;
    log(level: "warn", text: string, cause: unknown): void;
};
export declare class Lists {
    #private;
    private readonly host;
    /** Groups of which a read position was answered while a list was on its way, which may be older. */
    readonly read: Set<string>;
    /** How often a group was entered or left: a list that was on its way then may say either. */
    memberships: number;
    constructor(host: ListsHost);
    stop(): void;
    /** Asks for all groups; of while polling, once in a while. */
    all(polling?: boolean): void;
    /** Asks for groups whose counts may be wrong. */
    some(groups: Iterable<string>): void;
    soon(): void;
}
