/** One conversation: who it is with, its lines, and the place to write. */
import type { Group } from "./group.js";
import type { Timeline } from "./timeline.js";
import type { GroupState } from "./types.js";
import type { Shared } from "./widget-clients.js";
import { avatar, h, iconButton, say, set } from "./widget-dom.js";
import { Lines } from "./widget-lines.js";
import { rowsOf } from "./widget-rows.js";
import { Status, notice, skeleton } from "./widget-status.js";
import type { Language } from "./widget-words.js";
import { Write } from "./widget-write.js";

/** More than this are several. */
const TYPING_MAX = 3;

export type TalkOptions = {
  shared: Shared;
  id: string;
  language: Language;
  titleOf(group: GroupState): string;
  back?: () => void;
  close?: () => void;
};

export class Talk {
  readonly element: HTMLElement;
  readonly #o: TalkOptions;
  readonly #group: Group;
  readonly #timeline: Timeline;
  readonly #lines: Lines;
  readonly #write: Write;
  readonly #face = h("span", { class: "face" });
  readonly #title = h("bdi");
  readonly #about = h("bdi");
  readonly #status: Status;
  readonly #empty = h("div", { class: "empty", part: "empty" });
  #stop: () => void;
  #titled = "";

  constructor(o: TalkOptions) {
    this.#o = o;
    const { language } = o;
    this.#group = o.shared.chat.group(o.id);
    this.#timeline = this.#group.timeline({ at: "unread" });
    this.#lines = new Lines({ timeline: this.#timeline, language, seen: (id) => void this.#group.read(id).catch(() => {}) });
    this.#status = new Status(o.shared.chat, language);
    this.#write = new Write(this.#group, language, () => void this.#lines.end());
    this.element = h("section", { class: "talk", part: "conversation", "aria-label": language.chat },
      h("header", { class: "head", part: "header" },
        o.back && iconButton("back", language.back, o.back, { class: "plain back", part: "back" }),
        this.#face, h("div", { class: "titles" }, h("h2", { part: "title" }, this.#title), h("p", { part: "subtitle" }, this.#about)),
        o.close && iconButton("close", language.close, o.close, { class: "plain shut", part: "close" })),
      h("div", { class: "middle" }, this.#lines.element, this.#empty, this.#status.element),
      this.#write.element);
    const looked = () => this.#lines.looked();
    document.addEventListener("visibilitychange", looked);
    window.addEventListener("focus", looked);
    const unsubscribe = this.#timeline.subscribe(() => this.update());
    this.#stop = () => {
      unsubscribe();
      document.removeEventListener("visibilitychange", looked);
      window.removeEventListener("focus", looked);
    };
    this.update();
  }

  close(): void {
    this.#stop();
    this.#lines.close();
    this.#timeline.close();
    this.element.remove();
  }

  focus(): void {
    this.#write.focus();
  }

  /** What is being written. */
  get draft(): string {
    return this.#write.draft;
  }
  set draft(text: string) {
    this.#write.draft = text;
  }

  /** Draws what changed. */
  update(): void {
    const { shared: { chat, names }, language } = this.#o;
    const { me, connection: { phase } } = chat.snapshot();
    const group = this.#group.snapshot();
    const state = this.#timeline.snapshot();
    const rows = rowsOf(state, { me, group: this.#group, language, direct: group?.direct !== undefined, nameOf: names.of, jump: (id) => this.#lines.jump(id), load: (gap) => this.#timeline.loadGap(gap), write: (about, item) => this.#write.about(about, item, item.from === me ? language.you : names.of(item.from)) });
    const typing = group?.typing ?? [];
    this.#lines.draw(state, rows, typing.length > TYPING_MAX ? language.severalTyping : typing.length > 0 ? language.typing(typing.map(names.of)) : "", group?.unread ?? 0);
    const ready = phase === "live" && this.#o.shared.ready;
    this.#head(group, ready);
    const loading = state.before === "loading" || state.after === "loading" || (!group && !ready);
    this.#nothing(rows.length > 0 ? "" : !group && ready ? "notMember" : state.error ? "notLoaded" : loading ? "loading" : "noMessages");
    this.#status.update();
    this.#write.ready = me !== "";
    this.#write.element.hidden = phase === "signed-out" || (!group && ready);
  }

  #head(group: GroupState | undefined, ready: boolean): void {
    const { language, titleOf } = this.#o;
    const title = group ? titleOf(group) : "";
    if (group && this.#titled !== title) {
      this.#titled = title;
      say(this.#title, title);
      set(this.element, "aria-label", title);
      this.#face.replaceChildren(avatar(group.direct?.find((u) => u !== this.#o.shared.chat.snapshot().me) ?? group.id, title));
    }
    this.#face.hidden = !group && ready;
    if (!group && ready) say(this.#title, language.chat);
    say(this.#about, group && !group.direct ? language.members(group.members) : "");
  }

  /** What is said where there are no lines. */
  #nothing(why: "" | "loading" | "notMember" | "notLoaded" | "noMessages"): void {
    const { language } = this.#o;
    this.#empty.hidden = why === "";
    if (this.#empty.dataset.why === why) return;
    this.#empty.dataset.why = why;
    if (why === "" || why === "loading") return this.#empty.replaceChildren(...(why ? skeleton() : []));
    const more = why === "noMessages" ? [h("span", {}, language.sayHello)]
      : why === "notLoaded" ? [h("button", { type: "button", class: "button", onclick: () => void this.#timeline.jump("unread").catch(() => {}) }, language.retry)] : [];
    this.#empty.replaceChildren(...notice(why === "noMessages" ? "chat" : "warn", language[why], ...more));
  }
}
