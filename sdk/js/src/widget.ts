/**
 * `<chatd-chat url mode="group|direct|list|launcher" group user lang theme token-url>`: a chat for any page. It is made of
 * what is public of the client, and of nothing else.
 */
import type { Chatd } from "./chatd.js";
import type { GetToken, GroupState } from "./types.js";
import { type Shared, leave, take } from "./widget-clients.js";
import { h, icon, say, set } from "./widget-dom.js";
import { List } from "./widget-list.js";
import { style } from "./widget-style.js";
import { Status, notice, skeleton } from "./widget-status.js";
import { Talk } from "./widget-talk.js";
import { type Language, type Words, isRtl, languageOf } from "./widget-words.js";

export { Chatd } from "./chatd.js";
export { ChatdError, SignedOut } from "./error.js";
export type { Words } from "./widget-words.js";
export type { GetToken } from "./types.js";

/** What the element tells, by CustomEvents with these details; they bubble. */
export type WidgetEvents = {
  "chatd-message": import("./types.js").Message;
  "chatd-unread": { unread: number; mentions: number };
  "chatd-group": { group: string };
  "chatd-toggle": { open: boolean };
  "chatd-failed": { key: string; group: string; error: { code: string; detail: string } };
  "chatd-error": unknown;
  "chatd-signed-out": unknown;
};

/** Those that can be set before the element is defined. */
const PROPERTIES = ["getToken", "words"] as const;

/** Absent where pages are rendered on a server, which may import this all the same. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

export class ChatdChat extends Base {
  static readonly observedAttributes = ["url", "token-url", "mode", "group", "user", "lang", "dir", "open"];

  readonly #root = this.attachShadow({ mode: "open" });
  #getToken: GetToken | undefined;
  #words: Partial<Words> | undefined;
  #shared: Shared | undefined;
  #stop: (() => void)[] = [];
  #due: "" | "build" | "restart" = "";
  #language!: Language;
  readonly #frame = h("div", { class: "frame", part: "frame" });
  #list: List | undefined;
  #talk: Talk | undefined;
  #status: Status | undefined;
  #launch: { panel: HTMLElement; button: HTMLElement; badge: HTMLElement } | undefined;
  /** The conversation that is shown. */
  #group = "";
  readonly #drafts = new Map<string, string>();
  #counts = "";

  /** Gives a token whenever one is needed; throw SignedOut to stop. In the place of the attribute token-url. */
  get getToken(): GetToken | undefined {
    return this.#getToken;
  }
  set getToken(fn: GetToken | undefined) {
    this.#getToken = fn;
    this.#later("restart");
  }

  /** Words in the place of those that the widget has, for another language or another tone. */
  get words(): Partial<Words> | undefined {
    return this.#words;
  }
  set words(words: Partial<Words> | undefined) {
    this.#words = words;
    this.#later("build");
  }

  /** The client, for what the element does not do; undefined until it has an address and tokens. Do not close it. */
  get chat(): Chatd | undefined {
    return this.#shared?.chat;
  }

  /** Whether the panel of a launcher is open: the attribute. */
  get open(): boolean {
    return this.hasAttribute("open");
  }
  set open(open: boolean) {
    this.toggleAttribute("open", open);
  }

  connectedCallback(): void {
    this.#root.adoptedStyleSheets = [style()];
    for (const name of PROPERTIES) {
      const given = Object.getOwnPropertyDescriptor(this, name);
      if (!given) continue;
      Reflect.deleteProperty(this, name);
      (this as Record<string, unknown>)[name] = given.value;
    }
    this.#restart();
  }

  disconnectedCallback(): void {
    this.#end();
  }

  attributeChangedCallback(name: string, was: string | null, is: string | null): void {
    if (was === is) return;
    if (name === "open") this.#toggled();
    else this.#later(name === "url" || name === "token-url" ? "restart" : "build");
  }

  get #mode(): string {
    return this.getAttribute("mode") ?? "group";
  }

  /** What is set one after the other is done at once. */
  #later(what: "build" | "restart"): void {
    if (!this.isConnected) return;
    if (this.#due === "") {
      queueMicrotask(() => {
        const due = this.#due;
        this.#due = "";
        if (!this.isConnected) return;
        if (due === "restart") this.#restart();
        else this.#build();
      });
    }
    if (this.#due !== "restart") this.#due = what;
  }

  #restart(): void {
    this.#end();
    const url = this.getAttribute("url");
    const source = this.#getToken ?? this.getAttribute("token-url");
    if (url !== null && source !== null) {
      try {
        this.#shared = take(url, source);
      } catch (err) {
        this.#tell("chatd-error", err);
      }
    }
    if (this.#shared) {
      const { chat, names } = this.#shared;
      const update = () => this.#update();
      names.listeners.add(update);
      this.#stop = [
        chat.subscribe(update), () => names.listeners.delete(update),
        chat.on("message", (m) => this.#tell("chatd-message", m)), chat.on("failed", (f) => this.#tell("chatd-failed", f)),
        chat.on("error", (err) => this.#tell("chatd-error", err)), chat.on("signed-out", (err) => this.#tell("chatd-signed-out", err)),
      ];
    }
    this.#build();
  }

  #end(): void {
    for (const stop of this.#stop) stop();
    this.#stop = [];
    this.#shut();
    this.#counts = "";
    if (this.#shared) leave(this.#shared);
    this.#shared = undefined;
    this.#root.replaceChildren();
  }

  #tell<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void {
    this.dispatchEvent(new CustomEvent(event, { detail, bubbles: true }));
  }

  #shut(): void {
    if (this.#talk) this.#drafts.set(this.#group, this.#talk.draft);
    this.#talk?.close();
    this.#talk = undefined;
    this.#group = "";
  }

  // What stands where.

  #build(): void {
    this.#shut();
    const lang = this.lang || this.closest<HTMLElement>("[lang]")?.lang || navigator.language;
    const language = (this.#language = languageOf(lang, this.#words));
    const launcher = this.#mode === "launcher";
    const outer = h("div", { class: launcher ? "dock" : "whole", part: launcher ? "dock" : false, lang: language.tag,
      dir: this.dir || (this.lang ? (isRtl(language.tag) ? "rtl" : "ltr") : getComputedStyle(this).direction) });
    this.#launch = undefined;
    if (launcher) {
      const badge = h("span", { class: "badge", part: "badge", "aria-hidden": "true", hidden: true });
      const button = h("button", { type: "button", class: "launch", part: "launcher", "aria-haspopup": "dialog", onclick: () => (this.open = !this.open) });
      const panel = h("div", { class: "panel", part: "panel", role: "dialog", "aria-label": language.chat, onkeydown: (e: KeyboardEvent) => this.#key(e) }, this.#frame);
      this.#launch = { panel, button, badge };
      outer.append(panel, button);
    } else outer.append(this.#frame);
    this.#root.replaceChildren(outer);
    this.#list = undefined;
    this.#frame.className = "frame only-talk";
    this.#frame.replaceChildren(this.#blank(...skeleton()));
    if (launcher) this.#toggled(false);
    if (this.#shared) void this.#choose(this.#shared);
  }

  /** The place of a conversation without one. */
  #blank(...said: HTMLElement[]): HTMLElement {
    const status = (this.#status = this.#shared && new Status(this.#shared.chat, this.#language));
    return h("section", { class: "talk", part: "conversation", "aria-label": this.#language.chat },
      h("div", { class: "middle" }, h("div", { class: "empty" }, ...(said.length > 0 ? said : [h("span", { class: "disc" }, icon("chat"))])), status?.element));
  }

  /** Shows the conversation that the attributes name, or the list of all. */
  async #choose(shared: Shared): Promise<void> {
    const mode = this.#mode;
    const user = this.getAttribute("user");
    let group = this.getAttribute("group") ?? "";
    const goesOn = this.#root.firstChild;
    if (mode !== "list" && !group && user !== null) {
      try {
        await shared.chat.ready;
        const { groups, me } = shared.chat.snapshot();
        const known = groups.find((g) => g.direct?.includes(user) && (user !== me || g.direct.every((u) => u === me)));
        group = known?.id ?? (await shared.chat.direct(user)).id;
      } catch (err) {
        if (goesOn !== this.#root.firstChild) return;
        this.#tell("chatd-error", err);
        this.#frame.replaceChildren(this.#blank(...notice("warn", this.#language.notLoaded,
          h("button", { type: "button", class: "button", onclick: () => this.#build() }, this.#language.retry))));
        return;
      }
    }
    if (goesOn !== this.#root.firstChild) return;
    if (mode === "list" || (mode === "launcher" && !group)) {
      this.#list = new List({
        shared, language: this.#language, titleOf: (g) => this.#titleOf(g), pick: (id) => this.#show(id, true),
        ...(mode === "launcher" && { close: () => (this.open = false) }),
      });
      this.#frame.className = mode === "list" ? "frame both" : "frame only-list";
      this.#frame.replaceChildren(this.#list.element, this.#blank());
    }
    this.#update();
    if (!group) return;
    if (!shared.ready) {
      this.#frame.lastElementChild!.replaceWith(this.#blank(...skeleton()));
      await shared.chat.ready; // what is unread is known then, and where to begin
    }
    if (goesOn === this.#root.firstChild) this.#show(group);
  }

  #show(group: string, focus = false): void {
    this.#shut();
    this.#status = undefined;
    this.#group = group;
    this.#talk = new Talk({
      shared: this.#shared!, id: group, language: this.#language, titleOf: (g) => this.#titleOf(g),
      ...(this.#list && { back: () => this.#back() }), ...(this.#launch && { close: () => (this.open = false) }),
    });
    this.#talk.draft = this.#drafts.get(group) ?? "";
    if (this.#launch) this.#frame.className = "frame only-talk";
    this.#frame.classList.add("open");
    this.#frame.replaceChildren(...(this.#list ? [this.#list.element] : []), this.#talk.element);
    this.#update();
    if (focus) this.#talk.focus();
    this.#tell("chatd-group", { group });
  }

  #back(): void {
    const was = this.#group;
    this.#shut();
    this.#frame.className = this.#launch ? "frame only-list" : "frame both";
    this.#frame.replaceChildren(this.#list!.element, this.#blank());
    this.#update();
    this.#list!.focus(was);
    this.#tell("chatd-group", { group: "" });
  }

  #key(e: KeyboardEvent): void {
    if (e.key === "Escape" && !e.isComposing) this.open = false;
  }

  /** The panel is shown or not, as the attribute says. */
  #toggled(asked = true): void {
    if (!this.#launch) return;
    const { panel, button, badge } = this.#launch;
    const open = this.open;
    panel.hidden = !open;
    set(button, "aria-expanded", String(open));
    button.replaceChildren(icon(open ? "close" : "chat"), badge);
    this.#update();
    if (!asked) return;
    if (!open) button.focus();
    else if (this.#talk) this.#talk.focus();
    else this.#list?.focus();
    this.#tell("chatd-toggle", { open });
  }

  // What it shows.

  #update(): void {
    if (!this.#shared) return;
    const { unread, mentions, groups } = this.#shared.chat.snapshot();
    this.#talk?.update();
    this.#status?.update();
    this.#list?.update(groups, this.#group);
    if (this.#launch) {
      const { badge, button } = this.#launch;
      badge.hidden = unread === 0 || this.open;
      say(badge, unread > 99 ? "99+" : String(unread));
      const { open, close, unreadCount } = this.#language;
      set(button, "aria-label", this.open ? close : unread > 0 ? `${open}, ${unreadCount(unread)}` : open);
    }
    const counts = `${unread} ${mentions}`;
    if (counts === this.#counts) return;
    this.#counts = counts;
    this.#tell("chatd-unread", { unread, mentions });
  }

  #titleOf(g: GroupState): string {
    const { chat, names } = this.#shared!;
    const other = g.direct?.find((u) => u !== chat.snapshot().me) ?? g.direct?.[0];
    return other !== undefined ? names.of(other) : g.name || g.id;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "chatd-chat": ChatdChat;
  }
}

if (globalThis.customElements?.get("chatd-chat") === undefined) globalThis.customElements?.define("chatd-chat", ChatdChat);
