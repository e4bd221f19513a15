import type { Clock } from "./parts.js";

const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 20_000;
/** The most that the server may ask to stay away. */
const ASKED_MAX_MS = 300_000;
/** The longest that a timer takes: whoever needs longer looks at the clock when it fires, and begins another. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, TIMER_MAX_MS));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/**
 * How long to wait after the nth failure in a row (from 1), in ms: anything up to a bound that doubles each time, so that
 * those who lost the same server do not come back together. What the server asked for comes on top.
 */
export function backoff(clock: Clock, n: number, askedMs = 0): number {
  const most = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** n);
  return Math.min(askedMs, ASKED_MAX_MS) + RETRY_MIN_MS + clock.random() * (most - RETRY_MIN_MS);
}
