/** The list of conversations. */
import type { GroupState } from "./types.js";
import type { Shared } from "./widget-clients.js";
import { avatar, h, iconButton, say } from "./widget-dom.js";
import { Status, notice } from "./widget-status.js";
import type { Language } from "./widget-words.js";

export type ListOptions = {
  shared: Shared;
  language: Language;
  titleOf(group: GroupState): string;
  pick(group: string): void;
  close?: () => void;
};

/** What an entry was drawn from. */
type Drawn = { element: HTMLElement; parts: readonly unknown[] };

export class List {
  readonly element: HTMLElement;
  readonly #o: ListOptions;
  readonly #list: HTMLElement;
  readonly #empty = h("div", { class: "empty", part: "empty" });
  readonly #status: Status;
  readonly #entries = new Map<string, Drawn>();

  constructor(o: ListOptions) {
    this.#o = o;
    const { language } = o;
    this.#list = h("ul", { part: "list", "aria-label": language.conversations });
    this.#status = new Status(o.shared.chat, language);
    this.element = h("section", { class: "list", part: "list-pane", "aria-label": language.conversations },
      h("header", { class: "head", part: "header" }, h("div", { class: "titles" }, h("h2", { part: "title" }, language.conversations)),
        o.close && iconButton("close", language.close, o.close, { class: "plain shut", part: "close" })),
      h("div", { class: "middle" }, this.#list, this.#empty, this.#status.element));
  }

  /** Puts the focus on the entry of a conversation, or on the first. */
  focus(group = ""): void {
    const entry = this.#entries.get(group)?.element ?? this.#list.firstElementChild;
    (entry ?? this.element).querySelector("button")?.focus();
  }

  /** Draws what changed. */
  update(groups: readonly GroupState[], current: string): void {
    const { shared, language, titleOf } = this.#o;
    const { chat, names } = shared;
    const gone = new Set(this.#entries.keys());
    groups.forEach((g, i) => {
      gone.delete(g.id);
      let drawn = this.#entries.get(g.id);
      const parts = [g, g.id === current, names.version, new Date().toDateString()];
      if (!drawn || parts.some((p, i) => p !== drawn!.parts[i])) {
        const element = drawn?.element ?? h("li");
        const focused = element.matches(":focus-within");
        element.replaceChildren(this.#entry(g, titleOf(g), g.id === current));
        if (focused) element.querySelector("button")!.focus();
        this.#entries.set(g.id, (drawn = { element, parts }));
      }
      const { element } = drawn;
      if (this.#list.children[i] === element) return;
      const focused = element.matches(":focus-within");
      this.#list.insertBefore(element, this.#list.children[i] ?? null);
      if (focused) element.querySelector("button")!.focus(); // who is moved loses it
    });
    for (const id of gone) {
      this.#entries.get(id)!.element.remove();
      this.#entries.delete(id);
    }
    this.#list.hidden = groups.length === 0;
    this.#status.update();
    const none = groups.length > 0 ? "" : chat.state.phase === "live" && shared.ready ? "noConversations" : "loading";
    this.#empty.hidden = none === "";
    if (this.#empty.dataset.why === none) return;
    this.#empty.dataset.why = none;
    this.#empty.replaceChildren(...(none === "loading" ? [0, 1, 2].map(() => h("div", { class: "ghost-item", "aria-hidden": "true" })) : none ? notice("chat", language[none]) : []));
  }

  #entry(g: GroupState, title: string, current: boolean): HTMLElement {
    const { shared: { chat, names }, language } = this.#o;
    const { me } = chat.snapshot();
    const m = g.last_message;
    const by = m && !g.direct && m.kind !== "notice" ? `${m.from === me ? language.you : names.of(m.from)}: ` : "";
    const said = !m ? "" : m.deleted_at ? language.deleted : m.kind === "notice" ? (g.direct ? "" : language.notice(m, names.of)) : m.body || m.files?.map((f) => f.name).join(", ") || language.data;
    const unread = h("span", { class: "badge", part: "badge", "aria-hidden": "true" });
    say(unread, g.unread > 99 ? "99+" : String(g.unread));
    return h("button", { type: "button", class: g.unread > 0 ? "item unread" : "item", part: current ? "item item-current" : "item", "aria-current": current && "true", onclick: () => this.#o.pick(g.id) },
      avatar(g.direct?.find((u) => u !== me) ?? g.id, title),
      h("span", { class: "names" }, h("strong", { dir: "auto" }, title), h("span", { class: "said", dir: "auto" }, by + said)),
      h("span", { class: "aside" }, m && h("time", { datetime: m.sent_at }, language.short(m.sent_at)),
        g.unread > 0 && unread, g.unread > 0 && h("span", { class: "unseen" }, language.unreadCount(g.unread))));
  }
}
