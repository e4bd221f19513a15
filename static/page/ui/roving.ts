/** Several controls that are one stop of the Tab key: arrow keys, Home and End go from one to the next. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const CONTROLS = "a[href], button:not([disabled])";

/** For the element around them. The stop is the control that was used last, else the current page, else the first. */
export function useRoving<E extends HTMLElement>(): { ref: RefObject<E | null>; onKeyDown: (e: KeyboardEvent) => void; onFocusIn: (e: FocusEvent) => void } {
  const ref = useRef<E>(null);
  const last = useRef<Element | null>(null);
  const controls = () => [...(ref.current?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])].filter((c) => c.checkVisibility());
  function mark(): void {
    const all = controls();
    const stop = all.find((c) => c === last.current) ?? all.find((c) => c.ariaCurrent) ?? all[0];
    for (const c of all) {
      const tabIndex = c === stop ? 0 : -1;
      if (c.getAttribute("tabindex") !== String(tabIndex)) c.tabIndex = tabIndex;
    }
  }
  useLayoutEffect(mark);
  return {
    ref,
    onFocusIn(e) {
      last.current = (e.target as Element).closest(CONTROLS);
      mark();
    },
    onKeyDown(e) {
      const all = controls();
      const at = all.indexOf(e.target as HTMLElement);
      const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[e.key];
      if (at < 0 || to === undefined || e.altKey || e.ctrlKey || e.metaKey) return;
      e.preventDefault();
      const forward = e.key === "ArrowLeft" || e.key === "ArrowRight" ? (getComputedStyle(e.currentTarget as Element).direction === "rtl" ? 2 * at - to : to) : to;
      all[(forward + all.length) % all.length]?.focus();
    },
  };
}
