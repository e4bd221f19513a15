import type { Clock } from "./parts.js";
export declare const systemClock: Clock;
/**
 * How long to wait after the nth failure in a row (from 1), in ms: anything up to a bound that doubles each time, so that
 * those who lost the same server do not come back together. What the server asked for comes on top.
 */
export declare function backoff(clock: Clock, n: number, askedMs?: number): number;
