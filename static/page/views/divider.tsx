/** The edge of the list, which moves it. */
import { prefs, setPrefs, usePrefs } from "../prefs.ts";
import { say } from "../say.ts";

const LEAST = 220;
const MOST = 420;
const STEP = 16;

export function Divider() {
  const { list } = usePrefs();
  const set = (px: number) => setPrefs({ list: Math.round(Math.max(LEAST, Math.min(MOST, px))) });
  function drag(e: PointerEvent): void {
    if (e.button !== 0) return;
    const line = e.currentTarget as HTMLElement;
    const { list: before } = prefs();
    const sign = getComputedStyle(line).direction === "rtl" ? -1 : 1;
    const from = e.clientX;
    line.setPointerCapture(e.pointerId);
    const move = (to: PointerEvent) => set(before + sign * (to.clientX - from));
    line.addEventListener("pointermove", move);
    line.addEventListener("lostpointercapture", () => line.removeEventListener("pointermove", move), { once: true });
    e.preventDefault();
  }
  function keyDown(e: KeyboardEvent): void {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP, Home: -MOST, End: MOST }[e.key];
    if (by === undefined || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    set(list + (e.key.startsWith("Arrow") && getComputedStyle(e.currentTarget as Element).direction === "rtl" ? -by : by));
  }
  return <div class="divider" role="separator" tabIndex={0} aria-orientation="vertical" aria-label={say("Width of the list", "列表宽度")}
    aria-valuenow={list} aria-valuemin={LEAST} aria-valuemax={MOST} onPointerDown={drag} onKeyDown={keyDown} onDblClick={() => set(280)} />;
}
