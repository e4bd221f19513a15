/** Where a person writes. */
import type { Group } from "./group.js";
import { h, icon, set } from "./widget-dom.js";
import type { Language } from "./widget-words.js";

export class Write {
  readonly element: HTMLFormElement;
  readonly #input: HTMLTextAreaElement;
  readonly #send: HTMLButtonElement;
  #ready = false;

  /** @param sent called once a message is stored on this device */
  constructor(private readonly group: Group, language: Language, private readonly sent: () => void) {
    this.#input = h("textarea", {
      rows: "1", part: "input", placeholder: language.write, "aria-label": language.write, enterkeyhint: "send",
      oninput: () => this.#changed(true), onkeydown: (e: KeyboardEvent) => this.#key(e),
    });
    this.#send = h("button", { type: "submit", class: "send", part: "send", "aria-label": language.send, title: language.send, disabled: true }, icon("send"));
    this.element = h("form", { class: "composer", part: "composer", onsubmit: (e: Event) => void this.#submit(e) }, this.#input, this.#send);
  }

  focus(): void {
    this.#input.focus();
  }

  get text(): string {
    return this.#input.value;
  }
  set text(text: string) {
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
    set(this.#input, "dir", this.text !== "" && "auto"); // what stands there while it is empty is in the widget's language
    this.#send.disabled = !this.#ready || this.text.trim() === "";
    if (typed && !this.#send.disabled) this.group.typing();
    if (CSS.supports("field-sizing", "content")) return;
    const { style } = this.#input;
    style.height = "auto";
    style.height = `${this.#input.scrollHeight}px`;
  }

  #key(e: KeyboardEvent): void {
    if (e.key !== "Enter" || e.shiftKey || e.isComposing || e.keyCode === 229) return; // 229: Safari ends a composition with it
    e.preventDefault();
    this.element.requestSubmit();
  }

  async #submit(e: Event): Promise<void> {
    e.preventDefault();
    const body = this.text.trim();
    if (!body || !this.#ready) return;
    this.text = "";
    try {
      await this.group.send({ body });
      this.sent();
    } catch {
      this.text ||= body; // not stored: it stays where it was written
    }
  }
}
