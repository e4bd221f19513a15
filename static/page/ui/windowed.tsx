/** A list of which only what is in view is drawn, however long it is. All rows have one height. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows drawn beyond what is in view, on either side. */
const MARGIN = 8;

/** height: px of a row. row: a <li> of that height, with a key. onEnd: the end of the list came into view. */
export function Windowed<T>({ items, height, row, onEnd, label }: {
  items: readonly T[]; height: number; row: (item: T, at: number) => ComponentChildren; onEnd?: (() => void) | undefined; label: string;
}) {
  const ref = useRef<HTMLUListElement>(null);
  const [{ from, to }, setRange] = useState({ from: 0, to: 24 });
  useLayoutEffect(() => {
    const list = ref.current!;
    const scroller = list.closest<HTMLElement>(".panel-body, .pane-body") ?? document.documentElement;
    const look = () => {
      const above = scroller.getBoundingClientRect().top - list.getBoundingClientRect().top;
      const next = { from: Math.max(0, Math.floor(above / height) - MARGIN), to: Math.max(0, Math.ceil((above + scroller.clientHeight) / height) + MARGIN) };
      setRange((was) => (was.from === next.from && was.to === next.to ? was : next));
    };
    look();
    const resized = new ResizeObserver(look);
    resized.observe(scroller);
    resized.observe(list);
    scroller.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      scroller.removeEventListener("scroll", look);
    };
  }, [height]);
  const first = Math.min(from, items.length);
  useLayoutEffect(() => {
    const { style } = ref.current!;
    style.height = `${items.length * height}px`;
    style.paddingBlockStart = `${first * height}px`;
  }, [items.length, first, height]);
  const ended = to >= items.length;
  useLayoutEffect(() => { if (ended) onEnd?.(); }, [ended, items.length]);
  return <ul ref={ref} class="people windowed" aria-label={label}>{items.slice(first, to).map((item, i) => row(item, first + i))}</ul>;
}
