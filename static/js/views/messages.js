/** The list of messages: keeps its place, loads what is older, knows when the end is in view. */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { overlaid } from "../outbox.js";
import { titleOf } from "../state.js";
import { readMarks, timeline } from "../timeline.js";
import { MessageRow } from "./message.js";
import { Icon } from "./parts.js";

/** This near to the end counts as the end, px. */
const END_PX = 48;

/**
 * @param {{state: import("../types.js").State, group: import("../types.js").Group, actions: import("../actions.js").Actions,
 *   on: any, manages: boolean}} props
 */
export function MessageList({ state, group, actions, on, manages }) {
  const log = /** @type {import("../types.js").Log} */ (state.logs.get(group.id));
  const [newAfter] = useState(() => (group.unread > 0 ? group.read : -1));
  const [active, setActive] = useState("");
  const [problem, setProblem] = useState("");
  const scroller = useRef(/** @type {HTMLElement|null} */ (null));
  const top = useRef(/** @type {HTMLElement|null} */ (null));
  const { atEnd, away } = useScroll(scroller, log);

  const outbox = state.outbox.filter((t) => t.group === group.id);
  const entries = overlaid(log, outbox, state.me);
  const lines = timeline(entries, log.gaps, newAfter, state.me);
  const members = state.members.get(group.id);
  const marks = useMemo(() => readMarks(entries, members?.values() ?? [], state.me), [log, members, state.outbox]);
  const rows = lines.filter((l) => l.type === "message").map((l) => l.key);
  const current = rows.includes(active) ? active : rows.at(-1);

  function older() {
    setProblem("");
    actions.loadOlder(group.id).catch((err) => setProblem(err.message));
  }
  // Asked again after each page: an observer does not tell again what stays in view.
  useEffect(() => {
    if (!log.more || !top.current) return;
    const observer = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && older(), { root: scroller.current, rootMargin: "400px 0px 0px 0px" });
    observer.observe(top.current);
    return () => observer.disconnect();
  }, [log.from, log.more, log.epoch, state.link.phase]);
  useEffect(() => {
    if (atEnd.current && document.visibilityState === "visible") actions.readToEnd(group.id);
  });

  /** Up and down go from message to message; Tab goes on into the buttons of the one in focus. */
  function onKeyDown(/** @type {KeyboardEvent} */ e) {
    const step = { ArrowUp: -1, ArrowDown: 1, Home: -rows.length, End: rows.length }[e.key];
    const row = /** @type {HTMLElement} */ (e.target);
    if (step === undefined || !row.matches("[data-key]")) return;
    e.preventDefault();
    const at = rows.indexOf(row.dataset.key ?? "");
    const key = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    setActive(key);
    /** @type {HTMLElement|null|undefined} */ (scroller.current?.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus();
  }
  function jump(/** @type {number} */ id) {
    const row = /** @type {HTMLElement|null|undefined} */ (scroller.current?.querySelector(`[data-id="${id}"]`));
    row?.scrollIntoView({ block: "center" });
    row?.focus();
  }

  return html`
    <div class="scroller" ref=${scroller}>
      <div class="log-top" ref=${top}>
        ${problem ? html`<p class="quiet">${problem} <button type="button" class="text-button" onClick=${older}>Try again</button></p>`
          : log.more ? html`<p class="quiet">Loading…</p>`
          : log.trimmed ? html`<p class="quiet gap">Some older messages are gone</p>`
          : html`<p class="quiet">The beginning of ${titleOf(group)}</p>`}
      </div>
      <ol class="messages" aria-label="Messages" aria-busy=${log.more && entries.length === 0} onKeyDown=${onKeyDown}>
        ${lines.map((l) => l.type === "message"
          ? html`<${MessageRow} key=${l.key} k=${l.key} entry=${l.entry} head=${l.head} tail=${l.tail} me=${state.me} manages=${manages} on=${on}
              readers=${(marks.get(l.entry?.id ?? 0) ?? []).join(" ")} current=${l.key === current} jump=${jump} ...${quoteOf(log, l.entry)} />`
          : html`<li key=${l.key} class="line ${l.type}"><span>${l.text}</span></li>`)}
      </ol>
      ${away && html`<button type="button" class="to-end" onClick=${() => { const el = scroller.current; if (el) el.scrollTop = el.scrollHeight; }}>
        <${Icon} name="down" />Newest${group.unread > 0 ? ` · ${group.unread} unread` : ""}</button>`}
    </div>`;
}

/** What a message answers. @param {import("../types.js").Log} log @param {import("../types.js").Entry|undefined} entry */
function quoteOf(log, entry) {
  if (!entry?.reply_to) return {};
  const to = log.entries.get(entry.reply_to);
  if (!to) return { quoteFrom: "", quoteText: "an older message" };
  return { quoteFrom: to.from, quoteText: to.deleted_at ? "deleted" : to.body ?? "data" };
}

/**
 * Keeps the place of the list: at the end it stays there, elsewhere what is on screen stays where it is.
 * @param {{current: HTMLElement|null}} scroller @param {import("../types.js").Log} log
 */
function useScroll(scroller, log) {
  const atEnd = useRef(true);
  const before = useRef({ height: 0, from: log.from, shown: false });
  const [away, setAway] = useState(false);
  const look = () => {
    const el = scroller.current;
    if (!el) return;
    atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < END_PX;
    setAway(!atEnd.current);
  };
  useLayoutEffect(() => {
    const el = /** @type {HTMLElement} */ (scroller.current);
    const was = before.current;
    const mark = el.querySelector(".line.new");
    if (!was.shown && log.entries.size > 0) {
      was.shown = true;
      if (mark) el.scrollTop = /** @type {HTMLElement} */ (mark).offsetTop - 80;
      else el.scrollTop = el.scrollHeight;
      look();
    } else if (atEnd.current) {
      el.scrollTop = el.scrollHeight;
    } else if (log.from < was.from) {
      el.scrollTop += el.scrollHeight - was.height;
    }
    before.current = { height: el.scrollHeight, from: log.from, shown: was.shown };
  });
  useEffect(() => {
    const el = /** @type {HTMLElement} */ (scroller.current);
    const sizes = new ResizeObserver(() => { if (atEnd.current) el.scrollTop = el.scrollHeight; });
    sizes.observe(el);
    sizes.observe(/** @type {Element} */ (el.querySelector(".messages")));
    el.addEventListener("scroll", look, { passive: true });
    return () => { sizes.disconnect(); el.removeEventListener("scroll", look); };
  }, []);
  return { atEnd, away };
}
