/** Keeps the place of a list of messages while lines come and go at both of its ends, and knows what of it is on screen. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

type Element = HTMLElement;
/** This near to the end counts as the end, px. */
const END_PX = 48;
/** What stays in view above the first unread message, px. */
const ABOVE_PX = 80;
/** How far outside the view the next page is loaded, px. */
export const NEAR_PX = 400;
/** A line whose lower edge is hidden by this much still counts as seen, px. */
const EDGE_PX = 4;
/** What was on screen this long counts as read. */
const READ_MS = 1000;

export type List = {
  /** There are lines to open at. */
  ready: boolean;
  /** The last line is the newest there is. */
  whole: boolean;
  /** Lines are loaded on one side because of that: the end is not followed meanwhile. */
  target: number;
  /** The row of the target is shown: it has been gone to. */
  arrived: (row: Element) => void;
  /** Gets the key of the lowest row that was on screen for a second, of a window that is looked at. */
  onRead: (key: string) => void;
};

/**
 * At the end the list stays there; elsewhere what is on screen stays where it is. It opens at the target, else at the line
 * "New", else at the end.
 */
export function useScroll(scroller: RefObject<Element | null>, list: List) {
  const now = useRef({
    list, atEnd: true, opened: false,
    /** Where the view was at the last look, px. */
    top: 0,
    /** The first row in view, and where it was, scrolling apart. */
    anchor: null as { row: Element; top: number } | null,
    /** The lowest row when the second began. */
    lowest: null as Element | null,
    timer: undefined as ReturnType<typeof setTimeout> | undefined,
  }).current;
  const [away, setAway] = useState(false);
  now.list = list;

  function look(): void {
    const el = scroller.current;
    if (!el) return; // the view has gone; its listeners go a little later
    now.atEnd = now.list.whole && isNearEnd(el);
    now.top = el.scrollTop;
    now.anchor = firstInView(el);
    setAway(!now.atEnd && now.opened);
    watch();
  }
  const isLooked = () => now.opened && document.visibilityState === "visible" && document.hasFocus();
  /** A second begins for the row that is lowest now. */
  function watch(): void {
    if (now.timer || !scroller.current || !isLooked()) return;
    const lowest = lastInView(scroller.current);
    if (!lowest || lowest === now.lowest) return;
    now.timer = setTimeout(() => {
      now.timer = undefined;
      const el = scroller.current;
      const last = el && isLooked() ? lastInView(el) : null;
      if (el && last && lowest.isConnected) {
        const { top, bottom } = el.getBoundingClientRect();
        const row = lowest.getBoundingClientRect();
        if (row.bottom > top && row.bottom <= bottom + EDGE_PX) now.list.onRead((now.lowest = lowest).dataset.key!);
      }
      watch();
    }, READ_MS);
  }
  function follow(el: Element): void {
    scrollToEnd(el);
    now.top = el.scrollTop;
  }
  function toEnd(): void {
    now.atEnd = true;
    if (scroller.current) follow(scroller.current);
    setAway(false);
  }

  useLayoutEffect(() => {
    const el = scroller.current!;
    // A scroll event comes with the next frame. What is drawn before it must not undo the scrolling.
    if (el.scrollTop !== now.top) now.atEnd = now.list.whole && isNearEnd(el);
    const wanted = list.ready && list.target ? el.querySelector<Element>(`[data-id="${list.target}"]`) : null;
    if (wanted) {
      now.opened = true;
      wanted.scrollIntoView({ block: "center" });
      list.arrived(wanted);
    } else if (!now.opened && list.ready) {
      now.opened = true;
      const mark = markOf(el);
      el.scrollTop = mark ? mark.offsetTop - ABOVE_PX : el.scrollHeight;
    } else if (now.atEnd) {
      follow(el);
    } else if (now.anchor?.row.isConnected) {
      el.scrollTop += topOf(now.anchor.row, el) - now.anchor.top;
    }
    look();
  });
  useEffect(() => {
    const el = scroller.current!;
    const scrolled = () => look();
    const sizes = new ResizeObserver(() => {
      if (now.atEnd) follow(el);
      else if (el.scrollTop === now.top && now.anchor?.row.isConnected) { // a card of a link came above
        el.scrollTop += topOf(now.anchor.row, el) - now.anchor.top;
        now.top = el.scrollTop;
      }
      watch();
    });
    sizes.observe(el);
    sizes.observe(el.querySelector(".messages")!);
    el.addEventListener("scroll", scrolled, { passive: true });
    addEventListener("focus", watch);
    document.addEventListener("visibilitychange", watch);
    return () => {
      clearTimeout(now.timer);
      sizes.disconnect();
      el.removeEventListener("scroll", scrolled);
      removeEventListener("focus", watch);
      document.removeEventListener("visibilitychange", watch);
    };
  }, []);
  return { away, toEnd };
}

/**
 * Calls load when an element comes near the view, and again whenever `each` changes while it stays there: an observer does not
 * report again what stays.
 */
export function useNear(scroller: RefObject<Element | null>, target: RefObject<Element | null>, load: () => void, each: readonly unknown[]): void {
  useEffect(() => {
    if (!target.current) return;
    const near = new IntersectionObserver((found) => scroller.current && found.some((f) => f.isIntersecting) && load(), { root: scroller.current, rootMargin: `${NEAR_PX}px 0px` });
    near.observe(target.current);
    return () => near.disconnect();
  }, [...each]);
}

const markOf = (el: Element) => el.querySelector<Element>(".line.new");
const isNearEnd = (el: Element) => el.scrollHeight - el.scrollTop - el.clientHeight < END_PX;

/** Where a row is, whatever is scrolled. */
const topOf = (row: Element, el: Element) => row.getBoundingClientRect().top + el.scrollTop;

/** To the end; while nobody looks, only as far as the first unread message stays in view. */
function scrollToEnd(el: Element): void {
  const end = el.scrollHeight - el.clientHeight;
  const mark = document.visibilityState === "hidden" ? markOf(el) : null;
  el.scrollTop = mark ? Math.max(el.scrollTop, Math.min(end, mark.offsetTop - ABOVE_PX)) : end;
}

function firstInView(el: Element): { row: Element; top: number } | null {
  const { top } = el.getBoundingClientRect();
  const rows = el.querySelectorAll<Element>("[data-key]");
  const row = rows[partition(rows, (r) => r.bottom <= top)];
  return row ? { row, top: topOf(row, el) } : null;
}

/** The last line of which the lower edge is in view, or above it. */
function lastInView(el: Element): Element | null {
  const { bottom, height } = el.getBoundingClientRect();
  if (height === 0) return null;
  const rows = el.querySelectorAll<Element>("[data-key]");
  return rows[partition(rows, (r) => r.bottom <= bottom + EDGE_PX) - 1] ?? null;
}

/** How many of the rows, which stand in order, satisfy a condition that none satisfies after one that does not. */
function partition(rows: NodeListOf<Element>, ok: (r: DOMRect) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ok(rows[middle]!.getBoundingClientRect())) low = middle + 1;
    else high = middle;
  }
  return low;
}
