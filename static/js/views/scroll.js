/** Keeps the place of a list of messages, and knows what of it is on screen. */
import { useEffect, useLayoutEffect, useRef, useState } from "../html.js";

/** This near to the end counts as the end, px. */
const END_PX = 48;
/** What stays in view above the first unread message, px. */
const ABOVE_PX = 80;
/** How far outside the view the next page is loaded, px. */
const NEAR_PX = 400;
/** While scrolling, what is on screen is looked at this often. */
const LOOK_MS = 150;
/** A line whose lower edge is hidden by this much still counts as seen, px. */
const EDGE_PX = 4;

/** @typedef {{current: HTMLElement|null}} ElementRef */

/**
 * At the end the list stays there; elsewhere what is on screen stays where it is. It opens at the line "New" if there
 * is one.
 * @param {ElementRef} scroller
 * @param {{ready: boolean, whole: boolean, onSeen: (key: string) => void}} list ready: there are lines; whole: the last line is
 *   the newest; onSeen gets the key of the last line that is on screen, after each drawing and while scrolling
 */
export function useScroll(scroller, { ready, whole, onSeen }) {
  const now = useRef({
    atEnd: true, opened: false, whole, onSeen,
    /** Where the view was at the last look, px. */
    top: 0,
    /** The first row in view, and where it was, scrolling apart. */
    anchor: /** @type {{row: Element, top: number}|null} */ (null),
  }).current;
  const [away, setAway] = useState(false);
  Object.assign(now, { whole, onSeen });

  function look() {
    const el = /** @type {HTMLElement} */ (scroller.current);
    now.atEnd = now.whole && isNearEnd(el);
    now.top = el.scrollTop;
    now.anchor = firstInView(el);
    setAway(!now.atEnd);
  }
  function seen() {
    const el = scroller.current;
    const row = el && now.opened && document.visibilityState === "visible" ? lastInView(el) : null;
    if (row) now.onSeen(/** @type {string} */ (row.dataset.key));
  }
  function follow(/** @type {HTMLElement} */ el) {
    scrollToEnd(el);
    now.top = el.scrollTop;
  }
  function toEnd() {
    now.atEnd = true;
    if (scroller.current) follow(scroller.current);
  }

  useLayoutEffect(() => {
    const el = /** @type {HTMLElement} */ (scroller.current);
    // A scroll event comes with the next frame. What is drawn before it must not undo the scrolling.
    if (el.scrollTop !== now.top) now.atEnd = now.whole && isNearEnd(el);
    if (!now.opened && ready) {
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
  useEffect(seen);
  useEffect(() => {
    const el = /** @type {HTMLElement} */ (scroller.current);
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const later = () => { timer ??= setTimeout(() => { timer = undefined; seen(); }, LOOK_MS); };
    const scrolled = () => { look(); later(); };
    const sizes = new ResizeObserver(() => { if (now.atEnd) follow(el); later(); });
    sizes.observe(el);
    sizes.observe(/** @type {Element} */ (el.querySelector(".messages")));
    el.addEventListener("scroll", scrolled, { passive: true });
    return () => { clearTimeout(timer); sizes.disconnect(); el.removeEventListener("scroll", scrolled); };
  }, []);
  return { away, toEnd };
}

/**
 * Calls load when an element comes near the view, and again whenever `each` changes while it stays there: an observer
 * does not report again what stays.
 * @param {ElementRef} scroller @param {ElementRef} target @param {() => void} load @param {any[]} each
 */
export function useNear(scroller, target, load, each) {
  useEffect(() => {
    if (!target.current) return;
    const near = new IntersectionObserver((found) => found.some((f) => f.isIntersecting) && load(), { root: scroller.current, rootMargin: `${NEAR_PX}px 0px` });
    near.observe(target.current);
    return () => near.disconnect();
  }, each);
}

/** @param {HTMLElement} el */
const markOf = (el) => /** @type {HTMLElement|null} */ (el.querySelector(".line.new"));

/** @param {HTMLElement} el */
const isNearEnd = (el) => el.scrollHeight - el.scrollTop - el.clientHeight < END_PX;

/** Where a row is, whatever is scrolled. @param {Element} row @param {HTMLElement} el */
const topOf = (row, el) => row.getBoundingClientRect().top + el.scrollTop;

/** To the end; while nobody looks, only as far as the first unread message stays in view. @param {HTMLElement} el */
function scrollToEnd(el) {
  const end = el.scrollHeight - el.clientHeight;
  const mark = document.visibilityState === "hidden" ? markOf(el) : null;
  el.scrollTop = mark ? Math.max(el.scrollTop, Math.min(end, mark.offsetTop - ABOVE_PX)) : end;
}

/** @param {HTMLElement} el */
function firstInView(el) {
  const { top } = el.getBoundingClientRect();
  const rows = el.querySelectorAll("[data-key]");
  const row = rows[partition(rows, (r) => r.bottom <= top)];
  return row ? { row, top: topOf(row, el) } : null;
}

/** The last line of which the lower edge is in view, or above it. @param {HTMLElement} el */
function lastInView(el) {
  const { bottom, height } = el.getBoundingClientRect();
  if (height === 0) return null;
  const rows = el.querySelectorAll("[data-key]");
  return /** @type {HTMLElement|undefined} */ (rows[partition(rows, (r) => r.bottom <= bottom + EDGE_PX) - 1]) ?? null;
}

/** How many of the rows, which stand in order, satisfy a condition that none satisfies after one that does not. @param {NodeListOf<Element>} rows @param {(r: DOMRect) => boolean} ok */
function partition(rows, ok) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ok(rows[middle].getBoundingClientRect())) low = middle + 1;
    else high = middle;
  }
  return low;
}
