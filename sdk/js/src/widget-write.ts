/** Where a person writes. */
import type { Group } from "./group.js";
import type { MessageItem } from "./types.js";
import { h, icon, iconButton, set } from "./widget-dom.js";
import type { Language } from "./widget-words.js";

/** What is written about a message: a reply to it, or what shall stand in its place; kept is what was being written before. */
type About = { kind: "reply" | "edit"; id: number; kept: string };

export class Write {
  readonly element: HTMLElement;
  readonly #form: HTMLFormElement;
  readonly #input: HTMLTextAreaElement;
  readonly #send: HTMLButtonElement;
  readonly #told = h("div", { class: "about", part: "about", hidden: true });
  #about: About | undefined;
  #ready = false;

  /** @param sent called once a message is stored on this device */
  constructor(private readonly group: Group, private readonly language: Language, private readonly sent: () => void) {
    this.#input = h("textarea", {
      rows: "1", part: "input", placeholder: language.write, "aria-label": language.write, enterkeyhint: "send",
      oninput: () => this.#changed(true), onkeydown: (e: KeyboardEvent) => this.#key(e),
    });
    this.#send = h("button", { type: "submit", class: "send", part: "send", "aria-label": language.send, title: language.send, disabled: true }, icon("send"));
    this.#form = h("form", { class: "composer", part: "composer", onsubmit: (e: Event) => void this.#submit(e) }, this.#input, this.#send);
    this.element = h("div", { class: "write" }, this.#told, this.#form);
  }

  focus(): void {
    this.#input.focus();
  }

  /** What was being written: not what is written about a message. */
  get draft(): string {
    return this.#about?.kind === "edit" ? this.#about.kept : this.#text;
  }
  set draft(text: string) {
    this.#text = text;
  }

  /** Has a person reply to a message, or edit it. name: of its author. */
  about(kind: About["kind"], { id, body = "", files, data }: MessageItem, name: string): void {
    const { language } = this;
    this.#about = { kind, id, kept: this.draft };
    const said = body || files?.map((f) => f.name).join(", ") || (data === undefined ? "" : language.data);
    this.#told.replaceChildren(icon(kind), h("div", { class: "names" }, h("strong", { dir: "auto" }, kind === "reply" ? language.replyTo(name) : language.editing), h("span", { dir: "auto" }, said)),
      iconButton("close", language.cancel, () => this.#end(), { class: "plain" }));
    this.#told.hidden = false;
    this.#text = kind === "edit" ? body : this.#about.kept;
    this.focus();
  }

  #end(): void {
    if (this.#about?.kind === "edit") this.#text = this.#about.kept;
    this.#about = undefined;
    this.#told.hidden = true;
    this.focus();
  }

  get #text(): string {
    return this.#input.value;
  }
  set #text(text: string) {
    this.#input.value = text;
    this.#changed(false);
  }

  /** Whether something can be sent, or kept for sending. Until then one can write. */
  set ready(ready: boolean) {
    if (this.#ready === ready) return;
    this.#ready = ready;
    this.#changed(false);
  }

  #changed(typed: boolean): void {
    set(this.#input, "dir", this.#text !== "" && "auto"); // what stands there while it is empty is in the widget's language
    this.#send.disabled = !this.#ready || this.#text.trim() === "";
    if (typed && !this.#send.disabled) this.group.typing();
    if (CSS.supports("field-sizing", "content")) return;
    const { style } = this.#input;
    style.height = "auto";
    style.height = `${this.#input.scrollHeight}px`;
  }

  #key(e: KeyboardEvent): void {
    if (e.isComposing || e.keyCode === 229) return; // 229: Safari ends a composition with it
    if (e.key === "Escape" && this.#about) {
      e.stopPropagation(); // the panel stays
      this.#end();
    } else if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      this.#form.requestSubmit();
    }
  }

  async #submit(e: Event): Promise<void> {
    e.preventDefault();
    const body = this.#text.trim();
    const about = this.#about;
    if (!body || !this.#ready) return;
    this.#text = "";
    if (about) this.#end();
    try {
      if (about?.kind === "edit") await this.group.edit(about.id, { body });
      else {
        await this.group.send({ body, ...(about && { replyTo: about.id }) });
        this.sent();
      }
    } catch {
      if (this.#text === "") this.#text = body; // not stored: it stays where it was written
    }
  }
}
