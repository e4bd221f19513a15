/** The files that go with the next message: how far each is, and what can be done about it. */
import { sizeOf } from "../format.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { IconButton } from "./parts.js";

/** @typedef {import("../types.js").Upload} Upload */

/** @param {{uploads: Upload[], onRetry: (key: string) => void, onRemove: (key: string) => void}} props */
export const Attached = ({ uploads, onRetry, onRemove }) => (uploads.length > 0 ? html`
  <ul class="attached" aria-label="Attached files">
    ${uploads.map((u) => html`
      <li key=${u.key} data-phase=${u.phase}>
        <p class="attached-name"><strong>${u.name}</strong>
          <span role=${u.phase === "failed" ? "alert" : undefined}>${progressOf(u)}</span></p>
        ${u.phase === "failed" && html`<${IconButton} icon="again" label="Retry ${u.name}" onClick=${() => onRetry(u.key)} />`}
        <${IconButton} icon="close" label="Remove ${u.name}" onClick=${() => onRemove(u.key)} />
        ${(u.phase === "sending" || u.phase === "waiting") && html`<progress max=${u.size} value=${u.sent} aria-label="Upload of ${u.name}"></progress>`}
      </li>`)}
  </ul>` : null);

/** @param {Upload} u */
function progressOf(u) {
  switch (u.phase) {
    case "sending": return `${sizeOf(u.sent)} of ${sizeOf(u.size)}`;
    case "waiting": return u.id ? `Paused at ${sizeOf(u.sent)} of ${sizeOf(u.size)}` : "Waiting…";
    case "failed": return u.problem;
    default: return sizeOf(u.size);
  }
}

/**
 * Takes files that are dropped anywhere on the page.
 * @param {boolean} takes @param {(files: FileList|undefined) => void} drop
 * @returns {boolean} whether files are being dragged over the page
 */
export function useDrop(takes, drop) {
  const [over, setOver] = useState(false);
  const now = useRef(drop);
  now.current = drop;
  useEffect(() => {
    if (!takes) return undefined;
    const ended = new AbortController();
    const on = (/** @type {string} */ type, /** @type {boolean} */ over) => addEventListener(type, (e) => {
      const drag = /** @type {DragEvent} */ (e);
      if (!drag.dataTransfer?.types.includes("Files")) return;
      drag.preventDefault();
      setOver(over);
      if (type === "drop") now.current(drag.dataTransfer.files);
    }, ended);
    on("dragover", true);
    on("dragleave", false);
    on("drop", false);
    return () => ended.abort();
  }, [takes]);
  return takes && over;
}
