/** What is said where there is nothing else to show, and of the connection. */
import type { Chatd } from "./chatd.js";
import { type Icon, h, icon } from "./widget-dom.js";
import type { Language } from "./widget-words.js";

/** How the connection is, where that is worth a word. */
export class Status {
  readonly element = h("div", { class: "state", role: "status", part: "state", hidden: true });
  #said = "";

  constructor(private readonly chat: Chatd, private readonly language: Language) {}

  update(): void {
    const { phase } = this.chat.state;
    const what = phase === "waiting" ? "offline" : phase === "connecting" ? "connecting" : phase === "signed-out" ? "signedOut" : "";
    this.element.hidden = what === "";
    this.element.dataset.what = what;
    if (this.#said === what) return;
    this.#said = what;
    this.element.replaceChildren(...(what === "" ? [] : [what === "connecting" ? h("span", { class: "spinner" }) : icon("offline"), h("span", {}, this.language[what])]));
    if (what === "offline") this.element.append(h("button", { type: "button", class: "link", onclick: () => this.chat.hurry() }, this.language.reconnect));
  }
}

/** A picture, a word, and perhaps more in an empty place. */
export function notice(name: Icon, title: string, ...more: HTMLElement[]): HTMLElement[] {
  return [h("span", { class: "disc" }, icon(name)), h("strong", {}, title), ...more];
}

/** Lines as they may look, while they load. */
export function skeleton(): HTMLElement[] {
  return ["", "own", "", ""].map((side, i) => h("div", { class: `ghost ghost-${i} ${side}`, "aria-hidden": "true" }));
}
