/** Searching what was said: the words, and the messages that have them, each leading to its place in the log. */
import { Avatar, fullTime, html, Name, Problem, Sheet, shortTime, titleOf, useRef, useState } from "../app.js";

/** @typedef {import("../types.js").Hit} Hit */

/** @param {any} props `group` is the one that is searched, "" for all */
export function Search({ state, actions, group = "", onClose }) {
  const [text, setText] = useState("");
  const [within, setWithin] = useState(group);
  const [best, setBest] = useState(false);
  const [found, setFound] = useState(/** @type {{hits: Hit[], next: string|null, before?: string}|null} */ (null));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const newest = useRef(0);

  /** @param {Hit[]} hits those before @param {string} cursor */
  async function load(hits, cursor) {
    const mine = ++newest.current;
    setBusy(true);
    setProblem("");
    try {
      const answer = await actions.search({ q: text.trim(), group: within, sort: best ? "best" : "newest", cursor });
      if (mine === newest.current) setFound({ hits: [...hits, ...answer.hits], next: answer.next, before: answer.incomplete_before });
    } catch (/** @type {any} */ err) {
      if (mine === newest.current) setProblem(err.message);
    }
    if (mine === newest.current) setBusy(false);
  }
  /** What is found belongs to what is asked. */
  function anew() {
    newest.current++;
    setFound(null);
    setBusy(false);
    setProblem("");
  }
  function submit(/** @type {Event} */ e) {
    e.preventDefault();
    anew();
    if (text.trim()) load([], "");
  }
  const nameOf = (/** @type {string} */ id) => titleOf(state.groups.get(id) ?? { id, name: "" }, state.people);
  const open = (/** @type {Hit} */ h) => { onClose(); actions.goTo(h.message.group, h.message.id); };

  return html`
    <${Sheet} title="Search messages" side onClose=${onClose}>
      <form class="stack" role="search" onSubmit=${submit}>
        <div class="row-form">
          <label class="field"><span class="unseen">Search messages</span>
            <input type="search" name="q" autofocus maxlength="250" autocomplete="off" enterkeyhint="search" placeholder="Words, “a phrase”, -without" value=${text}
              onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></label>
          <button class="button primary" disabled=${!text.trim()}>Search</button>
        </div>
        <div class="row-form">
          ${group && html`
            <select aria-label="Where to search" value=${within} onChange=${(/** @type {any} */ e) => { setWithin(e.target.value); anew(); }}>
              <option value=${group}>This group</option><option value="">All groups</option></select>`}
          <select aria-label="Order" value=${best ? "best" : "newest"} onChange=${(/** @type {any} */ e) => { setBest(e.target.value === "best"); anew(); }}>
            <option value="newest">Newest first</option><option value="best">Best match first</option></select>
        </div>
      </form>
      <${Problem} text=${problem} />
      <p class="quiet" role="status">${busy ? "Searching…" : found?.hits.length === 0 ? "No messages found." : ""}</p>
      ${found?.before && html`<p class="quiet">Messages sent after ${fullTime(found.before)} may be missing.</p>`}
      <ul class="items hits" aria-label="Messages found">
        ${(found?.hits ?? []).map((h) => html`
          <li key=${`${h.message.group} ${h.message.id}`}>
            <button type="button" class="item hit" data-hit="${h.message.group}/${h.message.id}" onClick=${() => open(h)}>
              <${Avatar} user=${h.message.from} />
              <span class="item-text">
                <span class="item-head"><strong><${Name} user=${h.message.from} /></strong>
                  <time datetime=${h.message.sent_at} title=${fullTime(h.message.sent_at)}>${shortTime(h.message.sent_at)}</time></span>
                ${!within && html`<small>${nameOf(h.message.group)}</small>`}
                <span class="item-body">${marked(h.snippet)}</span>
              </span>
            </button>
          </li>`)}
      </ul>
      ${found?.next && html`<button type="button" class="button" disabled=${busy} onClick=${() => load(found.hits, found.next ?? "")}>Show more</button>`}
    </${Sheet}>`;
}

/** The text with what was found in it. @param {Hit["snippet"]} snippet */
function marked({ text, marks }) {
  const parts = [];
  let at = 0;
  for (const [from, to] of marks) {
    parts.push(text.slice(at, from), html`<mark>${text.slice(from, to)}</mark>`);
    at = to;
  }
  return [...parts, text.slice(at)];
}
