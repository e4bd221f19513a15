/** The few things that the widget needs to make elements: no markup is ever parsed, so nothing that a message says becomes any. */

type Attributes = { [name: string]: unknown };
type Child = Node | string | null | false | undefined;

/** An element with attributes, and listeners for what begins with "on". */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else set(element, name, value);
  }
  element.append(...children.filter((c): c is Node | string => c instanceof Node || typeof c === "string"));
  return element;
}

/** A button with an icon and no text but for who cannot see it. */
export const iconButton = (name: Icon, label: string, onclick: (e: Event) => void, attributes: Attributes = {}) =>
  h("button", { type: "button", "aria-label": label, title: label, onclick, ...attributes }, icon(name));

/** Sets an attribute, or removes it for false, null and undefined. */
export function set(element: Element, name: string, value: unknown): void {
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : String(value));
}

export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

const ICONS = {
  back: "M15 5l-7 7 7 7",
  chat: "M5 4.5h14A1.5 1.5 0 0 1 20.5 6v9.5A1.5 1.5 0 0 1 19 17h-6.5L7.5 20.5V17H5a1.5 1.5 0 0 1-1.5-1.5V6A1.5 1.5 0 0 1 5 4.5z",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 1.8",
  close: "M6 6l12 12M18 6L6 18",
  down: "M6 9.5l6 6 6-6",
  edit: "M4.5 19.5l1-4L16 5l3 3L8.5 18.5zM14 7l3 3",
  file: "M7 3.5h7l4 4v13H7zM14 3.5v4h4",
  offline: "M4 4l16 16M8.5 8.7A8 8 0 0 0 5 11M11 5.1A11 11 0 0 1 21.5 9.5M8.5 14.5a5 5 0 0 1 3.5-1.5M12 18.5h.01M2.5 9.5a12 12 0 0 1 3-2.2",
  react: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM8.5 14a4 4 0 0 0 7 0M9 9.5h.01M15 9.5h.01",
  remove: "M5 7h14M10 7V4.5h4V7M7 7l.7 12.5h8.6L17 7M10.5 11v5M13.5 11v5",
  reply: "M9.5 6L4.5 11l5 5M4.5 11H14a5.5 5.5 0 0 1 5.5 5.5V18",
  send: "M12 19V5M5.5 11.5L12 5l6.5 6.5",
  warn: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v5M12 16h.01",
};
export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  for (const [k, v] of Object.entries({ viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true" })) svg.setAttribute(k, v);
  svg.append(path);
  return svg;
}

/** Letters on a colour: the letters by the name, the colour by the id, which stays. */
export function avatar(id: string, name: string): HTMLElement {
  let hash = 0;
  for (const c of id) hash = (hash * 31 + c.codePointAt(0)!) >>> 0;
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.slice(0, 2).map((w) => [...w][0]).join("").toUpperCase();
  return h("span", { class: `avatar tint-${hash % 8}`, "aria-hidden": "true", part: "avatar" }, letters || "?");
}

/** A text with its addresses as links: of the web only, and without telling the other site of this page. */
export function linked(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(/https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}'’”。，！？、）》」]/giu)) {
    if (!URL.canParse(found)) continue;
    parts.push(text.slice(at, index), h("a", { href: found, target: "_blank", rel: "noopener noreferrer nofollow" }, found));
    at = index + found.length;
  }
  return [...parts, text.slice(at)];
}
