/** Where a message is written: Enter sends, Shift+Enter makes a new line, Escape cancels an answer or an edit. */
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { Attached, useDrop } from "./attached.js";
import { lineOf } from "../format.js";
import { textOf, withLabels } from "../people.js";
import { useMention } from "./mention.js";
import { Icon, IconButton } from "./parts.js";

/** Bytes of a body, as the server counts them. */
const BODY_BYTES_MAX = 16 * 1024;
/** The field grows with the text up to this. */
const HEIGHT_MAX_PX = 200;

/**
 * @param {{input: {current: HTMLTextAreaElement|null}, about: {kind: "reply"|"edit", entry: import("../types.js").Entry}|null, title: string,
 *   people: import("../people.js").People, members: Map<string, import("../types.js").Member>|undefined, drafts: Map<string, string>, group: string, uploads: import("../types.js").Upload[], files: import("../actions.js").Actions|null, onSubmit: (text: string) => boolean, onCancel: () => void, onTyping: () => void, onEditLast: () => void}} props
 */
export function Composer({ input, about, title, people, members, drafts, group, uploads, files, onSubmit, onCancel, onTyping, onEditLast }) {
  const [text, setText] = useState(drafts.get(group) ?? "");
  const editing = about?.kind === "edit" ? about.entry : null;
  const attaches = files !== null && !editing;
  const picker = useRef(/** @type {HTMLInputElement|null} */ (null));
  const whole = uploads.every((u) => u.phase === "whole");
  const tooLong = text.length > BODY_BYTES_MAX / 4 && new TextEncoder().encode(text).length > BODY_BYTES_MAX;

  useEffect(() => {
    // A finger should not open the keyboard by opening a group.
    if (matchMedia("(pointer: fine)").matches) input.current?.focus();
  }, []);
  useLayoutEffect(() => {
    if (editing) setText(withLabels(editing.body ?? "", people, editing.mentions ?? []));
    return () => { if (editing) setText(drafts.get(group) ?? ""); };
  }, [editing?.id]);
  function fit() {
    const area = input.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.overflowY = area.scrollHeight > HEIGHT_MAX_PX ? "auto" : "hidden"; // a fraction of a pixel would show a scrollbar
    area.style.height = `${Math.min(area.scrollHeight, HEIGHT_MAX_PX)}px`;
  }
  useLayoutEffect(fit, [text]);
  useEffect(() => {
    addEventListener("resize", fit);
    return () => removeEventListener("resize", fit);
  }, []);

  /** @param {string} next */
  function change(next) {
    setText(next);
    if (editing) return;
    drafts.set(group, next);
    if (next) onTyping();
  }
  const mention = useMention(input, text, change, people, members?.keys() ?? []);
  const sendable = !tooLong && (editing ? text.trim() !== "" : whole && (text.trim() !== "" || uploads.length > 0));
  function submit() {
    if (!sendable || !onSubmit(text.trim())) return;
    if (!editing) drafts.delete(group);
    setText(drafts.get(group) ?? "");
    input.current?.focus();
  }
  /** @param {FileList|undefined} list */
  function attach(list) {
    files?.attach(group, list ?? []);
    input.current?.focus();
  }
  const over = useDrop(attaches, attach);
  function onPaste(/** @type {ClipboardEvent} */ e) {
    const from = e.clipboardData;
    // Programs put a picture of a text beside the text.
    if (!attaches || !from?.files.length || from.types.includes("text/plain")) return;
    e.preventDefault();
    attach(from.files);
  }
  function onKeyDown(/** @type {KeyboardEvent} */ e) {
    if (e.isComposing || mention.onKeyDown(e)) return;
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      submit();
    } else if (e.key === "Escape" && about) {
      onCancel();
    } else if (e.key === "ArrowUp" && text === "" && !about) {
      e.preventDefault();
      onEditLast();
    }
  }

  return html`
    <form class=${over ? "composer over" : "composer"} onSubmit=${(/** @type {Event} */ e) => { e.preventDefault(); submit(); }}>
      ${about && html`
        <div class="about">
          <${Icon} name=${editing ? "pencil" : "reply"} />
          <p><strong>${editing ? "Editing message" : `Replying to ${textOf(people, about.entry.from)}`}</strong>
            <span>${editing ? "Press Esc to cancel" : withLabels(lineOf(about.entry), people, about.entry.mentions ?? [])}</span></p>
          <${IconButton} icon="close" label=${editing ? "Cancel editing" : "Cancel reply"} onClick=${onCancel} />
        </div>`}
      ${attaches && html`<${Attached} uploads=${uploads} onRetry=${files.retryUpload} onRemove=${files.removeUpload} />`}
      ${mention.list}
      ${over && html`<p class="quiet">Drop files anywhere to attach them</p>`}
      <div class="write">
        ${attaches && html`
          <input ref=${picker} type="file" multiple hidden onChange=${(/** @type {any} */ e) => { attach(e.target.files); e.target.value = ""; }} />
          <${IconButton} icon="clip" label="Attach files" onClick=${() => picker.current?.click()} />`}
        <textarea ref=${input} rows="1" aria-label="Message ${title}" placeholder="Write a message" value=${text} enterkeyhint="send" dir="auto" ...${mention.described}
          onInput=${(/** @type {any} */ e) => change(e.target.value)} onKeyDown=${onKeyDown} onPaste=${onPaste}></textarea>
        <button class="send" aria-label=${editing ? "Save changes" : "Send message"} title=${editing ? "Save changes" : "Send message"} disabled=${!sendable}><${Icon} name="send" /></button>
      </div>
      ${tooLong && html`<p class="problem" role="alert">This message is too long. The limit is 16 KB.</p>`}
    </form>`;
}
