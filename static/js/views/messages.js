/** The list of messages: opens at the first unread one, loads what is before and after, says what was on screen. */
import { lineOf } from "../format.js";
import { html, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { reachesEnd } from "../log.js";
import { overlaid } from "../outbox.js";
import { textOf, withLabels } from "../people.js";
import { titleOf } from "../state.js";
import { readMarks, timeline, upTo } from "../timeline.js";
import { MessageRow } from "./message.js";
import { Icon } from "./parts.js";
import { useNear, useScroll } from "./scroll.js";

/**
 * @param {{state: import("../types.js").State, group: import("../types.js").Group, actions: import("../actions.js").Actions,
 *   on: any, manages: boolean}} props
 */
export function MessageList({ state, group, actions, on, manages }) {
  const log = /** @type {import("../types.js").Log} */ (state.logs.get(group.id));
  const whole = reachesEnd(log);
  const [active, setActive] = useState("");
  const [problem, setProblem] = useState({ older: "", newer: "" });
  const scroller = useRef(/** @type {HTMLElement|null} */ (null));
  const top = useRef(/** @type {HTMLElement|null} */ (null));
  const bottom = useRef(/** @type {HTMLElement|null} */ (null));

  // What comes while nobody looks begins a new "New".
  const newAfter = useRef(group.unread > 0 ? group.read : -1);
  if (document.visibilityState === "hidden" && group.unread > 0) newAfter.current = Math.max(newAfter.current, group.read);

  const outbox = state.outbox.filter((t) => t.group === group.id);
  const entries = overlaid(log, outbox, state.me);
  // That the two of a direct group are in it needs no line.
  const shown = group.direct ? entries.filter((e) => e.kind !== "notice" || (e.notice !== "created" && e.notice !== "joined")) : entries;
  const lines = timeline(shown, log.gaps, newAfter.current, state.me, (user) => textOf(state.people, user));
  const ids = upTo(lines, log.to);
  const members = state.members.get(group.id);
  const marks = useMemo(() => readMarks(entries, members?.values() ?? [], state.me, whole ? Infinity : log.to), [log, members, state.outbox]);
  const rows = lines.filter((l) => l.type === "message").map((l) => l.key);
  const current = rows.includes(active) ? active : rows.at(-1);

  const place = state.place?.group === group.id ? state.place : null;
  // Where a message was looked for, the list has left the unread ones.
  const elsewhere = useRef(false);
  elsewhere.current ||= place !== null;
  // The first unread message is there, or nothing older is left.
  const ready = !log.more || elsewhere.current || (log.from <= log.to && (newAfter.current < 0 || log.from <= newAfter.current + 1));
  const { away, toEnd } = useScroll(scroller, {
    ready: ready && log.entries.size > 0, whole, onSeen: (key) => actions.read(group.id, ids.get(key) ?? 0),
  });
  /** @param {"older"|"newer"} which @param {Promise<void>} loading */
  const load = (which, loading) => {
    setProblem((p) => (p[which] ? { ...p, [which]: "" } : p));
    loading.catch((err) => setProblem((p) => ({ ...p, [which]: err.message })));
  };
  const older = () => load("older", actions.loadOlder(group.id));
  const newer = () => load("newer", actions.loadNewer(group.id));
  useNear(scroller, top, () => log.more && older(), [log.from, log.more, log.epoch, state.link.phase]);
  useNear(scroller, bottom, () => ready && newer(), [log.to, whole, ready, log.epoch, state.link.phase]);

  function newest() {
    actions.toNewest(group.id);
    toEnd();
  }
  // Who writes wants to see it.
  const own = outbox.findLast((t) => t.kind === "text" && !t.problem)?.client_id;
  const written = useRef(own);
  useLayoutEffect(() => {
    if (own && own !== written.current) newest();
    written.current = own;
  }, [own]);
  useLayoutEffect(() => {
    if (!place) return;
    if (log.from <= place.id && place.id <= log.to) jump(place.id);
    else if (log.more || log.entries.size === 0) return;
    actions.arrived(place);
  }, [place, log]);

  /** Up and down go from message to message; Tab goes on into the buttons of the one in focus. */
  function onKeyDown(/** @type {KeyboardEvent} */ e) {
    const step = { ArrowUp: -1, ArrowDown: 1, Home: -rows.length, End: rows.length }[e.key];
    const row = /** @type {HTMLElement} */ (e.target);
    if (step === undefined || !row.matches(".message")) return;
    e.preventDefault();
    const at = rows.indexOf(row.dataset.key ?? "");
    const key = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    setActive(key);
    /** @type {HTMLElement|null|undefined} */ (scroller.current?.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus();
  }
  function jump(/** @type {number} */ id) {
    const row = /** @type {HTMLElement|null|undefined} */ (scroller.current?.querySelector(`[data-id="${id}"]`));
    if (!row) return;
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
    row.classList.add("found");
    row.addEventListener("animationend", () => row.classList.remove("found"), { once: true });
  }
  /** To a message that may not be loaded. */
  const goTo = useMemo(() => (/** @type {number} */ id) => actions.goTo(group.id, id), []);

  return html`
    <div class="scroller" ref=${scroller}>
      <div class="log-top" ref=${top}>
        ${problem.older ? html`<${LoadProblem} text=${problem.older} onRetry=${older} />`
          : log.more ? html`<p class="quiet">Loading…</p>`
          : log.trimmed ? html`<p class="quiet gap">Older messages are no longer available</p>`
          : html`<p class="quiet">This is the beginning of ${group.peer && !group.name ? "your conversation with " : ""}${titleOf(group, state.people)}</p>`}
      </div>
      <ol class="messages" aria-label="Messages" aria-busy=${log.more && entries.length === 0} onKeyDown=${onKeyDown}>
        ${lines.map((l) => l.type === "message"
          ? html`<${MessageRow} key=${l.key} k=${l.key} entry=${l.entry} head=${l.head} tail=${l.tail} me=${state.me} manages=${manages} on=${on}
              readers=${(marks.get(l.entry?.id ?? 0) ?? []).join(" ")} current=${l.key === current} jump=${goTo} ...${quoteOf(log, l.entry, state.people)} />`
          : l.type === "notice" ? html`<${NoticeLine} key=${l.key} line=${l} />`
          : html`<li key=${l.key} class="line ${l.type}"><span>${l.text}</span></li>`)}
      </ol>
      ${!whole && html`<div class="log-bottom" ref=${bottom}>
        ${problem.newer ? html`<${LoadProblem} text=${problem.newer} onRetry=${newer} />` : html`<p class="quiet">Loading…</p>`}</div>`}
      ${away && html`<button type="button" class="to-end" onClick=${newest}>
        <${Icon} name="down" />Jump to latest${group.unread > 0 ? ` · ${group.unread} unread` : ""}</button>`}
    </div>`;
}

/** @param {{text: string, onRetry: () => void}} props */
const LoadProblem = ({ text, onRetry }) => html`
  <p class="quiet">${text} <button type="button" class="text-button" onClick=${onRetry}>Try again</button></p>`;

/** Notices of one kind in one line, which opens. @param {{line: import("../timeline.js").Line}} props */
const NoticeLine = ({ line }) => html`
  <li class="line notice" data-key=${line.key}>
    ${line.each && line.each.length > 1
      ? html`<details><summary>${line.text}</summary><ul>${line.each.map((n) => html`<li key=${n.id}>${n.text}</li>`)}</ul></details>`
      : html`<span>${line.text}</span>`}
  </li>`;

/** What a message answers. @param {import("../types.js").Log} log @param {import("../types.js").Entry|undefined} entry @param {import("../people.js").People} people */
function quoteOf(log, entry, people) {
  if (!entry?.reply_to) return {};
  const to = log.entries.get(entry.reply_to);
  if (!to) return { quoteFrom: "", quoteText: "Earlier message" };
  return { quoteFrom: to.from, quoteText: to.deleted_at ? "Deleted message" : withLabels(lineOf(to), people, to.mentions ?? []) };
}
