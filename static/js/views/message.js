/** One message, with what can be done with it. */
import { fullTime, namesOf, pieces, timeOf } from "../format.js";
import { html, memo, useState } from "../html.js";
import { Avatar, Icon, IconButton } from "./parts.js";

const EMOJI = ["👍", "❤️", "😂", "🎉", "👀", "🙏"];
/** Readers shown as avatars; the rest is a number. */
const READERS_MAX = 5;

/**
 * @param {{k: string, entry: import("../types.js").Entry, head: boolean, tail: boolean, me: string, manages: boolean, on: any, readers: string,
 *   current: boolean, jump: (id: number) => void, quoteFrom?: string, quoteText?: string}} props
 */
function Row({ k, entry: e, head, tail, me, manages, on, readers, current, jump, quoteFrom, quoteText }) {
  const [picking, setPicking] = useState(false);
  const [asking, setAsking] = useState(false);
  const mine = e.from === me;
  const forMe = !mine && e.mentions?.includes(me);
  const classes = ["message", mine && "mine", head && "head", tail && "tail", forMe && "for-me", e.pending && `is-${e.pending}`, e.deleted_at && "deleted"];
  const react = (/** @type {string} */ emoji) => {
    setPicking(false);
    on.react(e.id, emoji, e.reactions.get(emoji)?.mine ?? false);
  };
  return html`
    <li class=${classes.filter(Boolean).join(" ")} data-key=${k} data-id=${e.id || undefined} data-from=${e.from} data-pending=${e.pending}
        tabindex=${current ? 0 : -1}>
      ${!mine && html`<span class="face">${head && html`<${Avatar} name=${e.from} />`}</span>`}
      <div class="column">
        ${head && html`<p class=${mine ? "author unseen" : "author"}>${mine ? "You" : e.from}</p>`}
        <div class="bubble-row">
          <div class="bubble">
            ${quoteText !== undefined && html`
              <button type="button" class="quote" onClick=${() => jump(e.reply_to ?? 0)}>
                ${quoteFrom && html`<strong>${quoteFrom}</strong>`}<span>${quoteText}</span></button>`}
            <${Body} entry=${e} me=${me} />
            <span class="meta">
              ${e.edited_at && !e.deleted_at && html`<span title=${fullTime(e.edited_at)}>edited</span>`}
              ${e.pending === "waiting" && html`<span class="waiting" role="img" aria-label="Waiting to be sent"><${Icon} name="clock" /></span>`}
              <time datetime=${e.sent_at} title=${fullTime(e.sent_at)}>${timeOf(e.sent_at)}</time>
            </span>
          </div>
          ${e.id > 0 && !e.deleted_at && !e.pending && html`
            <div class="tools" role="group" aria-label="Message by ${e.from}">
              <${IconButton} icon="smile" label="React" aria-expanded=${picking} onClick=${() => setPicking(!picking)} />
              <${IconButton} icon="reply" label="Reply" onClick=${() => on.reply(e)} />
              ${mine && e.kind === "text" && html`<${IconButton} icon="pencil" label="Edit" onClick=${() => on.edit(e)} />`}
              ${(mine || manages) && html`<${IconButton} icon="bin" label="Delete" onClick=${() => setAsking(true)} />`}
              <${IconButton} icon="eye" label="Who has read" onClick=${() => on.receipts(e.id)} />
            </div>`}
        </div>
        ${asking && !e.deleted_at && html`<${AskDelete} onYes=${() => { setAsking(false); on.remove(e.id); }} onNo=${() => setAsking(false)} />`}
        ${picking && !e.deleted_at && html`<${Picker} react=${react} onClose=${() => setPicking(false)} />`}
        ${e.reactions.size > 0 && !e.deleted_at && html`
          <ul class="reactions" aria-label="Reactions">
            ${[...e.reactions].map(([emoji, r]) => html`
              <li key=${emoji}><button type="button" class="reaction" aria-pressed=${r.mine} aria-label="${emoji}, ${r.count}${r.mine ? ", also yours" : ""}"
                onClick=${() => react(emoji)}><span>${emoji}</span>${r.count}</button></li>`)}
          </ul>`}
        ${e.pending === "failed" && html`
          <p class="failed" role="alert">${e.problem}
            <button type="button" class="text-button" onClick=${() => on.retry(e.client_id)}>Try again</button>
            <button type="button" class="text-button" onClick=${() => on.discard(e.client_id)}>Discard</button></p>`}
        ${readers && html`<${Readers} users=${readers.split(" ")} />`}
      </div>
    </li>`;
}
export const MessageRow = memo(Row);

/** @param {{entry: import("../types.js").Entry, me: string}} props */
function Body({ entry: e, me }) {
  if (e.deleted_at) return html`<p class="body">This message was deleted</p>`;
  if (e.body === undefined) return html`<pre class="data">${JSON.stringify(e.data, null, 2)}</pre>`;
  return html`<p class="body">${pieces(e.body, e.mentions).map((p) => {
    if (p.mention) return html`<span class=${p.mention === me ? "mention self" : "mention"}>${p.text}</span>`;
    if (p.href) return html`<a href=${p.href} target="_blank" rel="noopener noreferrer">${p.text}</a>`;
    return p.text;
  })}</p>`;
}

/** A small set, and a field for any other. @param {{react: (emoji: string) => void, onClose: () => void}} props */
function Picker({ react, onClose }) {
  const submit = (/** @type {any} */ e) => {
    e.preventDefault();
    const emoji = e.target.elements.emoji.value.trim();
    if (emoji) react(emoji);
  };
  return html`
    <div class="picker" role="group" aria-label="Choose a reaction" onKeyDown=${(/** @type {KeyboardEvent} */ e) => e.key === "Escape" && onClose()}>
      ${EMOJI.map((emoji) => html`<button type="button" key=${emoji} class="emoji" aria-label="React with ${emoji}" onClick=${() => react(emoji)}>${emoji}</button>`)}
      <form onSubmit=${submit}><input name="emoji" maxlength="16" aria-label="Another emoji" placeholder="Other" autocomplete="off" /></form>
    </div>`;
}

/** @param {{onYes: () => void, onNo: () => void}} props */
const AskDelete = ({ onYes, onNo }) => html`
  <p class="ask" role="alert">Delete this message for everyone?
    <button type="button" class="text-button danger" onClick=${onYes}>Delete</button>
    <button type="button" class="text-button" onClick=${onNo}>Keep</button></p>`;

/** @param {{users: string[]}} props */
const Readers = ({ users }) => html`
  <p class="readers" data-readers=${users.join(" ")} title="Read by ${namesOf(users, 20)}">
    <span class="unseen">Read by ${namesOf(users, 20)}</span>
    ${users.slice(0, READERS_MAX).map((u) => html`<${Avatar} key=${u} name=${u} small />`)}
    ${users.length > READERS_MAX && html`<span aria-hidden="true">+${users.length - READERS_MAX}</span>`}
  </p>`;
