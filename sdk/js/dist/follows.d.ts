import type { Clock, Http, Link } from "./parts.js";
import type { State } from "./state.js";
import { type Draft } from "./sync.js";
export type FollowsHost = {
    readonly state: State;
    readonly clock: Clock;
    readonly link: Link;
    readonly http: Http;
    commit(make: (d: Draft) => void): Promise<void>;
};
export declare class Follows {
    #private;
    private readonly host;
    constructor(host: FollowsHost);
    stop(): void;
    some(groups: Iterable<string>): void;
    soon(): void;
}
