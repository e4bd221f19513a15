/** The lines of a conversation in a box that scrolls: more is loaded at its edges, and what a person looks at stays where it is. */
import type { Timeline } from "./timeline.js";
import type { TimelineState } from "./types.js";
import { h, icon, iconButton, say, set } from "./widget-dom.js";
import type { Row } from "./widget-rows.js";
import type { Language } from "./widget-words.js";

/** So close to an edge, more is loaded; so close to the end, it is followed. */
const NEAR_PX = 600;
const END_PX = 48;
/** The mark of what is new stands so far below the top at first. */
const MARK_PX = 56;

type Held = { row: Row; element: HTMLElement };

export type LinesOptions = {
  timeline: Timeline;
  language: Language;
  /** Everything up to this message was on screen. */
  seen(id: number): void;
};

export class Lines {
  readonly element: HTMLElement;
  readonly #o: LinesOptions;
  readonly #edge = h("div", { class: "edge" });
  readonly #log: HTMLElement;
  readonly #typing = h("div", { class: "typing", role: "status", part: "typing", hidden: true }, h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), h("bdi"));
  readonly #scroller: HTMLElement;
  readonly #newest: HTMLButtonElement;
  readonly #newestText = h("span");
  readonly #rows = new Map<string, Held>();
  readonly #resize = new ResizeObserver(() => {
    if (this.#following) this.#toEnd();
    this.#settle();
  });
  /** Whether the end is shown and followed. */
  #following = true;
  /** Whether the place where it opens was found. */
  #placed = false;
  /** A message that is shown as soon as it is there. */
  #wanted = 0;
  #unread = 0;
  #seen = 0;
  #frame = 0;

  constructor(o: LinesOptions) {
    this.#o = o;
    const { language } = o;
    this.#log = h("div", { class: "log", role: "log", "aria-label": language.messages, part: "log" });
    this.#scroller = h("div", { class: "scroller", tabindex: "0", part: "scroller", onscroll: () => this.#scrolled(), onkeydown: (e: KeyboardEvent) => this.#key(e) }, this.#edge, this.#log, this.#typing);
    this.#newest = iconButton("down", language.newest, () => void this.end(), { class: "newest", part: "newest", hidden: true });
    this.#newest.append(this.#newestText);
    this.element = h("div", { class: "lines" }, this.#scroller, this.#newest);
    this.#resize.observe(this.#scroller);
    this.#resize.observe(this.#log);
  }

  close(): void {
    this.#resize.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  /** Draws what changed. typing: what is said of who types. unread: how many messages wait. */
  draw(state: TimelineState, rows: Row[], typing: string, unread: number): void {
    this.#unread = unread;
    if (this.#placed && this.#scroller.clientHeight > 0) this.#following &&= this.#below() < END_PX; // a scroll may not have been told yet
    this.#keepPlace(rows, () => {
      this.#bound(state, rows.length === 0);
      this.#put(rows);
      this.#typing.hidden = typing === "";
      say(this.#typing.lastElementChild!, typing);
    });
    set(this.#log, "aria-busy", (state.before === "loading" || state.after === "loading") && "true");
    this.#settle();
  }

  /** Shows the newest lines, and goes on with what comes. */
  async end(): Promise<void> {
    const { timeline } = this.#o;
    if (timeline.snapshot().after) await timeline.jump("end").catch(() => {});
    this.#following = true;
    this.#toEnd();
    this.#settle();
  }

  /** Shows a message. */
  jump(id: number): void {
    this.#wanted = id;
    this.#following = false;
    if (!this.#show()) void this.#o.timeline.jump(id).catch(() => {});
  }

  #show(): boolean {
    const held = [...this.#rows.values()].find(({ row }) => row.id === this.#wanted);
    if (!held) return false;
    this.#wanted = 0;
    held.element.scrollIntoView({ block: "center" });
    held.element.classList.remove("found");
    held.element.getBoundingClientRect(); // so that the animation begins anew
    held.element.classList.add("found");
    return true;
  }

  /** The upper edge: there is more, or it could not be loaded. */
  #bound({ before, error }: TimelineState, empty: boolean): void {
    const { language, timeline } = this.#o;
    this.#edge.hidden = !before || empty;
    const kind = error ? "error" : String(before);
    if (this.#edge.dataset.kind === kind) return;
    this.#edge.dataset.kind = kind;
    const button = h("button", { type: "button", class: "link", onclick: () => void timeline.loadBefore().catch(() => {}) }, error ? language.retry : language.earlier);
    this.#edge.replaceChildren(...(before === "loading" ? [h("span", { class: "spinner" })] : error ? [h("span", {}, language.notLoaded), button] : [button]));
  }

  #put(rows: Row[]): void {
    const keys = new Set(rows.map((r) => r.key));
    for (const [key, { element }] of this.#rows) {
      if (keys.has(key)) continue;
      element.remove();
      this.#rows.delete(key);
    }
    let at = this.#log.firstChild;
    for (const row of rows) {
      let held = this.#rows.get(row.key);
      if (!held || row.parts.some((p, i) => p !== held!.row.parts[i])) {
        const element = row.draw();
        if (at === held?.element) at = element;
        const focused = held?.element.matches(":focus-within");
        const open = held?.element.querySelector<HTMLElement>(".tools")?.dataset.open;
        held?.element.replaceWith(element);
        if (focused) element.focus({ preventScroll: true });
        if (open) element.querySelector<HTMLElement>(`.tools button:has(.icon-${open})`)?.click(); // asks again what it asked
        this.#rows.set(row.key, (held = { row, element }));
      }
      if (held.element === at) at = at.nextSibling;
      else this.#log.insertBefore(held.element, at);
    }
  }

  /** What is at the top of the view stays there while others come and go above it, unless the end is followed. */
  #keepPlace(rows: Row[], change: () => void): void {
    const { top } = this.#scroller.getBoundingClientRect();
    const stay = new Set(rows.filter((r) => r.id > 0).map((r) => r.key)); // not a day, which stands above what is loaded of it
    const anchor = this.#following ? undefined : [...this.#rows.values()].filter(({ row }) => stay.has(row.key)).find(({ element }) => element.getBoundingClientRect().bottom > top);
    const was = anchor?.element.getBoundingClientRect().top ?? 0;
    change();
    if (this.#following) this.#toEnd();
    else if (anchor) this.#scroller.scrollTop += this.#rows.get(anchor.row.key)!.element.getBoundingClientRect().top - was;
  }

  /** How much there is below what is shown, px. */
  #below(): number {
    const s = this.#scroller;
    return s.scrollHeight - s.scrollTop - s.clientHeight;
  }

  #toEnd(): void {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  /** After what is shown, or where, has changed. */
  #settle(): void {
    const { timeline } = this.#o;
    const s = this.#scroller;
    if (s.clientHeight === 0 || this.#rows.size === 0) return; // nobody sees it
    if (!this.#placed) {
      this.#placed = true;
      const mark = this.#rows.get("unread");
      if (mark) s.scrollTop += mark.element.getBoundingClientRect().top - s.getBoundingClientRect().top - MARK_PX;
    }
    if (this.#wanted) this.#show();
    const state = timeline.snapshot();
    const below = this.#below();
    this.#following = below < END_PX && !state.after;
    if (!state.error) this.#load(state, below);
    this.#newest.hidden = this.#following;
    say(this.#newestText, this.#unread > 0 ? this.#o.language.fresh(this.#unread) : "");
    set(this.#newest, "aria-label", this.#unread > 0 ? null : this.#o.language.newest);
    this.#look();
  }

  #load({ before, after }: TimelineState, below: number): void {
    const { timeline } = this.#o;
    if (this.#scroller.scrollTop < NEAR_PX && before === "more") void timeline.loadBefore().catch(() => {});
    else if (below < NEAR_PX && after === "more") void timeline.loadAfter().catch(() => {});
  }

  #scrolled(): void {
    const state = this.#o.timeline.snapshot();
    if (state.error) this.#load(state, this.#below()); // a person tries again
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#settle());
  }

  /** The arrows go from message to message. */
  #key(e: KeyboardEvent): void {
    if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
    const rows = [...this.#log.querySelectorAll<HTMLElement>(".row")];
    const at = rows.findIndex((r) => r.contains(e.target as Node));
    const to = at < 0 ? (e.key === "ArrowUp" ? rows.at(-1) : undefined) : rows[e.key === "ArrowUp" ? at - 1 : at + 1];
    if (!to) return;
    e.preventDefault();
    to.focus();
  }

  /** Says what was on screen, and nothing else. */
  #look(): void {
    if (document.visibilityState !== "visible" || !document.hasFocus()) return;
    const { bottom } = this.#scroller.getBoundingClientRect();
    let last = 0;
    for (const { row, element } of this.#rows.values()) {
      if (row.id > last && element.getBoundingClientRect().bottom <= bottom + 4) last = row.id;
    }
    if (last > this.#seen) this.#o.seen((this.#seen = last));
  }

  /** Somebody looks at the page again. */
  looked(): void {
    this.#settle();
  }
}
