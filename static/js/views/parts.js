/** Small parts that several views share: icons, avatars, the frame of a dialog. */
import { initials, tint } from "../format.js";
import { createContext, html, useContext, useLayoutEffect, useRef, useState } from "../html.js";
import { labelOf, looksAlike, nobody, pictureOf } from "../people.js";

/** What is known of people, for every view that shows one. */
export const People = createContext(nobody());

/** Strokes on a grid of 24, drawn for this page. */
const ICONS = {
  back: "M15 5l-7 7 7 7",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.5 2H4.5zM10 20.5h4",
  bin: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 11v5M13.5 11v5",
  clip: "M19 11.5l-7.2 7.2a4.5 4.5 0 0 1-6.4-6.4l7.6-7.6a3 3 0 0 1 4.3 4.3l-7.5 7.4a1.5 1.5 0 0 1-2.2-2.1l6.8-6.8",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 1.8",
  close: "M6 6l12 12M18 6L6 18",
  compass: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM15.5 8.5l-2 5-5 2 2-5z",
  down: "M12 5v14M6 13l6 6 6-6",
  again: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4.5h-4.5",
  eye: "M3 12c2.5-4.3 5.5-6.5 9-6.5s6.5 2.2 9 6.5c-2.5 4.3-5.5 6.5-9 6.5S5.5 16.3 3 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  file: "M7 3.5h7l4 4v13H7zM14 3.5v4h4",
  leave: "M13 5H6v14h7M10.5 12H20M16.5 8.5L20 12l-3.5 3.5",
  lock: "M6.5 11h11v8.5h-11zM9 11V8a3 3 0 0 1 6 0v3",
  pencil: "M5 19l1-4L16 5l3 3L9 18zM13.5 7.5l3 3",
  people: "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 19.5c.4-3.6 2.7-5.5 6-5.5s5.6 1.9 6 5.5M15.5 5a3.2 3.2 0 0 1 0 6M17.5 14.3c2 .7 3.2 2.5 3.5 5.2",
  plus: "M12 5v14M5 12h14",
  reply: "M10 6l-6 5.5 6 5.5M4.5 11.5H13c4 0 6.5 2 7 6.5",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.3 15.3L20 20",
  send: "M4.5 12L20 4.5 15.5 20l-4-6.5z M11.5 13.5L20 4.5",
  smile: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM8.5 14c1.8 2.7 5.2 2.7 7 0M9 9.5v.6M15 9.5v.6",
};

/** The picture of chatd, by the address that the page names: so that it is loaded once. */
export const MARK = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]")).href;

/** @param {{name: keyof typeof ICONS}} props */
export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${ICONS[name]} /></svg>`;

/**
 * The picture of a user, or letters: of the user, or of what has only a name.
 * @param {{user?: string, name?: string, small?: boolean, square?: boolean}} props
 */
export function Avatar({ user = "", name = "", small, square }) {
  const people = useContext(People);
  const [broken, setBroken] = useState("");
  const picture = pictureOf(people, user);
  return html`
    <span class="avatar tint-${tint(user || name)} ${small ? "small" : ""} ${square ? "square" : ""}" aria-hidden="true">
      ${picture && picture !== broken
        ? html`<img src=${picture} alt="" decoding="async" draggable=${false} onError=${() => setBroken(picture)} />`
        : initials(user ? labelOf(people, user) : name)}</span>`;
}

/** The other person of a direct group, or letters. @param {{group: import("../types.js").Group, title: string}} props */
export const GroupAvatar = ({ group, title }) => (group.peer && !group.name ? html`<${Avatar} user=${group.peer} />` : html`<${Avatar} name=${title} square />`);

/** How a user is called, with the id where that looks like somebody else. @param {{user: string}} props */
export function Name({ user }) {
  const people = useContext(People);
  return html`<bdi class="name" title=${user}>${labelOf(people, user)}</bdi>${looksAlike(people, user) && html` <small class="id">${user}</small>`}`;
}

/** People who are offered in a field. */
const OFFERED_MAX = 200;

/** What the browser offers in a field for an id: people whom the page knows, by name. @param {{people: import("../people.js").People, except?: Map<string, any>}} props */
export const KnownPeople = ({ people, except }) => html`
  <datalist id="known-people">
    ${[...people.known.keys()].filter((user) => !except?.has(user)).slice(-OFFERED_MAX).map((user) => html`<option key=${user} value=${user}>${labelOf(people, user)}</option>`)}
  </datalist>`;

/** A button that shows only an icon; its label is its name. @param {any} props */
export const IconButton = ({ icon, label, ...rest }) => html`
  <button type="button" class="icon-button" aria-label=${label} title=${label} ...${rest}><${Icon} name=${icon} /></button>`;

/**
 * A modal dialog. The browser keeps the focus inside, closes it with Escape and gives the focus back.
 * @param {{title: string, onClose: () => void, side?: boolean, children?: any}} props
 */
export function Sheet({ title, onClose, side, children }) {
  const ref = useRef(/** @type {HTMLDialogElement|null} */ (null));
  // Before anyone can see it and begin to type: showModal moves the focus.
  useLayoutEffect(() => {
    const dialog = /** @type {HTMLDialogElement} */ (ref.current);
    const opener = /** @type {HTMLElement|null} */ (document.activeElement);
    if (!dialog.open) dialog.showModal();
    return () => {
      dialog.close();
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  // A click on the dialog itself, not on what is in it, is a click beside the sheet.
  const beside = (/** @type {MouseEvent} */ e) => e.target === ref.current && onClose();
  return html`
    <dialog ref=${ref} class=${side ? "sheet side" : "sheet"} aria-label=${title} onMouseDown=${beside}
        onCancel=${(/** @type {Event} */ e) => { e.preventDefault(); onClose(); }}>
      <div class="sheet-body">
        <header class="sheet-head"><h2>${title}</h2><${IconButton} icon="close" label="Close" onClick=${onClose} /></header>
        ${children}
      </div>
    </dialog>`;
}

/** Between what opens and the edge of the window, px. */
const MARGIN_PX = 8;

/**
 * What opens beside an element and above everything else. Escape, a click elsewhere and the next one that opens close
 * it: the browser does that, and gives the focus back, which goes to what has data-focus.
 * @param {{anchor: {current: HTMLElement|null}, name: string, label: string, onClose: () => void, children?: any}} props
 */
export function Popover({ anchor, name, label, onClose, children }) {
  const ref = useRef(/** @type {HTMLElement|null} */ (null));
  useLayoutEffect(() => {
    const box = /** @type {HTMLElement} */ (ref.current);
    function place() {
      if (!anchor.current) return;
      const at = anchor.current.getBoundingClientRect();
      const { width, height } = box.getBoundingClientRect();
      const top = at.bottom + height + MARGIN_PX < innerHeight ? at.bottom : at.top - height;
      box.style.left = `${Math.max(MARGIN_PX, Math.min(at.left, innerWidth - width - MARGIN_PX))}px`;
      box.style.top = `${Math.max(MARGIN_PX, top)}px`;
    }
    const toggled = (/** @type {any} */ e) => e.newState === "closed" && onClose();
    box.showPopover();
    place();
    /** @type {HTMLElement|null} */ (box.querySelector("[data-focus]"))?.focus();
    box.addEventListener("toggle", toggled);
    addEventListener("resize", place);
    addEventListener("scroll", place, true);
    return () => {
      box.removeEventListener("toggle", toggled);
      removeEventListener("resize", place);
      removeEventListener("scroll", place, true);
    };
  }, []);
  return html`<div ref=${ref} popover="auto" class="popover ${name}" role="group" aria-label=${label}>${children}</div>`;
}

/** What went wrong, beside the form that it concerns. @param {{text: string}} props */
export const Problem = ({ text }) => (text ? html`<p class="problem" role="alert">${text}</p>` : null);
