/** Whom a message can mention: offered while the name is being written behind an @. */
import { html, useLayoutEffect, useState } from "../html.js";
import { labelOf, looksAlike } from "../people.js";
import { Avatar, Name } from "./parts.js";

/** People who are offered at a time. */
const OFFERED_MAX = 6;

/** @param {string} text */
const plain = (text) => text.normalize("NFKD").replaceAll(/\p{Mn}/gu, "").toLowerCase();

/**
 * @param {{current: HTMLTextAreaElement|null}} input @param {string} text what is in it @param {(next: string) => void} change
 * @param {import("../people.js").People} people @param {Iterable<string>} members
 */
export function useMention(input, text, change, people, members) {
  const [at, setAt] = useState(0);
  const [left, setLeft] = useState(""); // the beginning of a name that is to be left alone
  const caret = input.current?.selectionStart ?? text.length;
  const begun = /(?<![\w@.])@([^\s@]{0,64})$/u.exec(text.slice(0, caret));
  const word = begun && begun[0] !== left ? plain(begun[1]) : null;
  const found = word === null ? [] : [...members]
    .filter((user) => [user, ...labelOf(people, user).split(/\s+/)].some((part) => plain(part).startsWith(word)) || plain(labelOf(people, user)).startsWith(word))
    .sort((a, b) => labelOf(people, a).localeCompare(labelOf(people, b))).slice(0, OFFERED_MAX);
  // A name that is written out needs no offer: Enter sends.
  const offered = found.length === 1 && [found[0], labelOf(people, found[0])].some((name) => plain(name) === word) ? [] : found;
  const active = Math.min(at, offered.length - 1);
  useLayoutEffect(() => setAt(0), [word]);

  /** @param {string} user */
  function choose(user) {
    if (!begun) return;
    const label = looksAlike(people, user) ? user : labelOf(people, user);
    const before = `${text.slice(0, begun.index)}@${label} `;
    change(before + text.slice(caret));
    setTimeout(() => input.current?.setSelectionRange(before.length, before.length));
    input.current?.focus();
  }
  /** Whether the key was for the list. @param {KeyboardEvent} e */
  function onKeyDown(e) {
    if (offered.length === 0) return false;
    const step = { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (step) setAt((active + step + offered.length) % offered.length);
    else if (e.key === "Enter" || e.key === "Tab") choose(offered[active]);
    else if (e.key === "Escape") setLeft(begun?.[0] ?? "");
    else return false;
    e.preventDefault();
    e.stopPropagation();
    return true;
  }
  const list = offered.length > 0 && html`
    <ul class="offered" role="listbox" id="mentions" aria-label="People to mention">
      ${offered.map((user, i) => html`
        <li key=${user} role="option" id="mention-${i}" aria-selected=${i === active} data-mention=${user}
            onMouseDown=${(/** @type {Event} */ e) => { e.preventDefault(); choose(user); }}>
          <${Avatar} user=${user} small /><${Name} user=${user} /></li>`)}
    </ul>`;
  return { list, onKeyDown, described: offered.length > 0 ? { "aria-controls": "mentions", "aria-activedescendant": `mention-${active}` } : {} };
}
