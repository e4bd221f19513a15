/** Which row the toolbar and the focus are at, and what keys and presses do there. */
import { useMemo, useRef, useState } from "preact/hooks";
import type { Line, MessageLine } from "../lines.ts";
import type { RowActions } from "./row.tsx";

/** A finger that stays this long asks for the menu, and one that moves further scrolls. */
const LONG_MS = 500;
const MOVED_PX = 8;

const rowOf = (e: Event): HTMLElement | null => (e.target as HTMLElement).closest<HTMLElement>(".message");

/** @param open the key of the row at which something is open: the toolbar stays there */
export function useRowKeys({ lines, open, on, me }: { lines: readonly Line[]; open: string; on: RowActions; me: string }) {
  const [current, setCurrent] = useState("");
  const [active, setActive] = useState("");
  const rows = lines.filter((l): l is MessageLine => l.type === "message");
  const held = useRef({ rows, current: "", me });
  const first = rows.some((l) => l.key === current) ? current : rows.at(-1)?.key ?? "";
  held.current = { rows, current: first, me };

  const events = useMemo(() => {
    let press: { timer: ReturnType<typeof setTimeout>; x: number; y: number } | undefined;
    let down: { pointer: number; on: Node } | undefined; // what is pressed, and where it began
    let mouse = { x: -1, y: -1 };
    let touched = false; // the last press was a finger's
    let long = false; // the finger that is pressed has opened the menu
    const release = () => {
      clearTimeout(press?.timer);
      press = undefined;
    };
    const lift = () => {
      release();
      down = undefined;
    };
    const lineOf = (row: HTMLElement | null) => held.current.rows.find((l) => l.key === row?.dataset.key);
    function menu(row: HTMLElement | null): boolean {
      const line = lineOf(row);
      if (!row || line?.item.state !== "sent") return false;
      if (row.querySelector(".actions:popover-open")) return true; // a finger that stays asks twice
      row.focus({ preventScroll: true });
      on.show(line.key, "menu");
      return true;
    }
    function onKeyDown(e: KeyboardEvent): void {
      const row = e.target as HTMLElement;
      if (!row.matches(".message")) {
        if (e.key === "Escape" && !document.querySelector(":popover-open")) rowOf(e)?.focus(); // the browser closes that, and gives the focus back
        return;
      }
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const { rows } = held.current;
      const step = { ArrowUp: -1, k: -1, ArrowDown: 1, j: 1, Home: -rows.length, End: rows.length }[e.key];
      const line = lineOf(row);
      if (!line) return;
      const { item } = line;
      if (step !== undefined) {
        const to = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(line) + step))]!;
        row.parentElement!.querySelector<HTMLElement>(`.message[data-key="${CSS.escape(to.key)}"]`)?.focus();
      } else if (item.state !== "sent") return;
      else if (e.key === "r") on.reply(item);
      else if (e.key === "e" && item.from === held.current.me && item.kind === "text") on.edit(item);
      else if (e.key === "t" && on.thread) on.thread(item);
      else if (e.key === "u" && on.unread) on.unread(item);
      else if (e.key === ".") on.show(line.key, "menu");
      else if (e.key === "+") on.show(line.key, "picker");
      else return;
      e.preventDefault();
    }
    return {
      onKeyDown,
      onFocusIn(e: FocusEvent): void {
        const key = rowOf(e)?.dataset.key;
        if (key) {
          setCurrent(key);
          // A tap gives the focus before its click: the toolbar may move that away only after it.
          if (touched) requestAnimationFrame(() => setActive(key));
          else setActive(key);
        }
        // What opens under a finger or button that is still pressed would be closed when that is lifted outside it. A press that began in it is
        // a click of what is there.
        const box = (e.target as Element).closest("[popover]");
        if (down && box && !box.contains(down.on)) box.setPointerCapture(down.pointer);
      },
      onPointerOver(e: PointerEvent): void {
        // Rows that move under a mouse at rest take nothing from whoever works by keyboard.
        const rests = e.clientX === mouse.x && e.clientY === mouse.y;
        mouse = { x: e.clientX, y: e.clientY };
        const key = rowOf(e)?.dataset.key;
        if (key && !rests && e.pointerType !== "touch") setActive(key);
      },
      onPointerLeave(e: PointerEvent): void {
        if (e.pointerType !== "touch") setActive((e.currentTarget as HTMLElement).contains(document.activeElement) ? held.current.current : "");
      },
      onPointerDown(e: PointerEvent): void {
        const row = rowOf(e);
        lift();
        long = false;
        touched = e.pointerType === "touch";
        down = { pointer: e.pointerId, on: e.target as Node };
        if (!touched || !row) return;
        press = { x: e.clientX, y: e.clientY, timer: setTimeout(() => { long = menu(row); }, LONG_MS) };
      },
      onPointerMove(e: PointerEvent): void {
        mouse = { x: e.clientX, y: e.clientY };
        if (press && Math.hypot(e.clientX - press.x, e.clientY - press.y) > MOVED_PX) release();
      },
      onPointerUp: lift,
      onPointerCancel: lift,
      onTouchEnd(e: TouchEvent): void {
        if (long) e.preventDefault(); // no click: that would choose what of the menu is under the finger
      },
      onContextMenu(e: MouseEvent): void {
        // Links and a selection have a menu of the browser's own.
        if ((e.target as Element).closest("a, input, textarea, .picture") || String(getSelection())) return;
        if (menu(rowOf(e))) e.preventDefault();
      },
    };
  }, [on]);
  const at = open || active;
  return { events, of: (key: string) => ({ current: key === first, active: key === at }) };
}
