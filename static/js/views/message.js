/** One message, with what can be done with it. */
import { counted, fullTime, isEmoji, namesOf, pieces, timeOf } from "../format.js";
import { html, memo, useContext, useRef, useState } from "../html.js";
import { labelOf, textOf } from "../people.js";
import { Files } from "./files.js";
import { Avatar, Icon, IconButton, Name, People, Popover, Problem } from "./parts.js";

const EMOJI = ["👍", "❤️", "😂", "🎉", "👀", "🙏"];
/** Readers shown as avatars; the rest is a number. */
const READERS_MAX = 5;

/**
 * @param {{k: string, entry: import("../types.js").Entry, head: boolean, tail: boolean, me: string, manages: boolean, on: any, readers: string,
 *   current: boolean, jump: (id: number) => void, quoteFrom?: string, quoteText?: string}} props
 */
function Row({ k, entry: e, head, tail, me, manages, on, readers, current, jump, quoteFrom, quoteText }) {
  /** What is open beside the tools. */
  const [shown, setShown] = useState(/** @type {""|"picker"|"ask"} */ (""));
  const mine = e.from === me;
  const forMe = !mine && e.mentions?.includes(me);
  const classes = ["message", mine && "mine", head && "head", tail && "tail", forMe && "for-me", e.pending && `is-${e.pending}`, e.deleted_at && "deleted"];
  const react = (/** @type {string} */ emoji) => {
    setShown("");
    on.react(e.id, emoji, e.reactions.get(emoji)?.mine ?? false);
  };
  return html`
    <li class=${classes.filter(Boolean).join(" ")} data-key=${k} data-id=${e.id || undefined} data-from=${e.from} data-pending=${e.pending}
        tabindex=${current ? 0 : -1}>
      ${!mine && html`<span class="face">${head && html`<${Avatar} user=${e.from} name=${ERASED} />`}</span>`}
      <div class="column">
        ${head && html`<p class=${mine ? "author unseen" : "author"}>${mine ? "You" : e.from ? html`<${Name} user=${e.from} />` : ERASED}</p>`}
        <div class="bubble-row">
          <div class="bubble">
            ${quoteText !== undefined && html`
              <button type="button" class="quote" onClick=${() => jump(e.reply_to ?? 0)}>
                ${quoteFrom && html`<strong><${Name} user=${quoteFrom} /></strong>`}<span>${quoteText}</span></button>`}
            ${e.files && html`<${Files} files=${e.files} on=${on} />`}
            <${Body} entry=${e} me=${me} />
            <span class="meta">
              ${e.via && html`<span title="Written by a program, with the key ${e.via}">via key</span>`}
              ${e.edited_at && !e.deleted_at && html`<span title=${fullTime(e.edited_at)}>edited</span>`}
              ${e.pending === "waiting" && html`<span class="waiting" role="img" aria-label="Not sent yet"><${Icon} name="clock" /></span>`}
              <time datetime=${e.sent_at} title=${fullTime(e.sent_at)}>${timeOf(e.sent_at)}</time>
            </span>
          </div>
          ${e.id > 0 && !e.deleted_at && !e.pending && html`
            <${Tools} entry=${e} mine=${mine} manages=${manages} on=${on} shown=${shown} show=${setShown} react=${react} />`}
        </div>
        ${e.reactions.size > 0 && !e.deleted_at && html`
          <ul class="reactions" aria-label="Reactions">
            ${[...e.reactions].map(([emoji, r]) => html`
              <li key=${emoji}><button type="button" class="reaction" aria-pressed=${r.mine} aria-label="${emoji}, ${counted(r.count, "reaction")}${r.mine ? ", including yours" : ""}"
                onClick=${() => react(emoji)}><span>${emoji}</span>${r.count}</button></li>`)}
          </ul>`}
        ${e.pending === "failed" && html`
          <p class="failed" role="alert">Not sent. ${e.problem}
            <button type="button" class="text-button" onClick=${() => on.retry(e.client_id)}>Try again</button>
            <button type="button" class="text-button" onClick=${() => on.discard(e.client_id)}>Discard</button></p>`}
        ${readers && html`<${Readers} users=${readers.split(" ")} />`}
      </div>
    </li>`;
}
export const MessageRow = memo(Row);

const ERASED = "Erased user"; // what is left of a message of someone who was erased names nobody

/** @param {{entry: import("../types.js").Entry, me: string}} props */
function Body({ entry: e, me }) {
  const people = useContext(People);
  if (e.deleted_at) return html`<p class="body">This message was deleted</p>`;
  if (!e.body && e.files) return null;
  if (e.body === undefined) return html`<pre class="data">${JSON.stringify(e.data, null, 2)}</pre>`;
  return html`<p class="body">${pieces(e.body, e.mentions).map((p) => {
    if (p.mention) return html`<bdi class=${p.mention === me ? "mention self" : "mention"} title=${p.mention}>@${labelOf(people, p.mention)}</bdi>`;
    if (p.href) return html`<a href=${p.href} target="_blank" rel="noopener noreferrer">${p.text}</a>`;
    return p.text;
  })}</p>`;
}

/**
 * The buttons of a message. They stay in view as long as some of the message does, however long it is.
 * @param {{entry: import("../types.js").Entry, mine: boolean, manages: boolean, on: any, shown: string, show: (what: ""|"picker"|"ask") => void,
 *   react: (emoji: string) => void}} props
 */
function Tools({ entry: e, mine, manages, on, shown, show, react }) {
  const people = useContext(People);
  const tools = useRef(/** @type {HTMLElement|null} */ (null));
  const close = () => show("");
  // A press closes what is open before its click arrives: that click must not open it again.
  const pressed = useRef("");
  const toggle = (/** @type {"picker"|"ask"} */ what) => ({
    "aria-expanded": shown === what,
    onPointerDown: () => { pressed.current = shown; },
    onClick: () => { show(pressed.current === what ? "" : what); pressed.current = ""; },
  });
  return html`
    <div class="rail">
      <div class="tools" ref=${tools} role="group" aria-label="Actions for the message from ${textOf(people, e.from)}">
        <${IconButton} icon="smile" label="Add reaction" ...${toggle("picker")} />
        <${IconButton} icon="reply" label="Reply" onClick=${() => on.reply(e)} />
        ${mine && e.kind === "text" && html`<${IconButton} icon="pencil" label="Edit" onClick=${() => on.edit(e)} />`}
        ${(mine || manages) && html`<${IconButton} icon="bin" label="Delete" ...${toggle("ask")} />`}
        <${IconButton} icon="eye" label="View read receipts" onClick=${() => on.receipts(e.id)} />
      </div>
      ${shown === "picker" && html`<${Popover} anchor=${tools} name="picker" label="Pick a reaction" onClose=${close}><${Picker} react=${react} /></${Popover}>`}
      ${shown === "ask" && html`
        <${Popover} anchor=${tools} name="ask" label="Delete this message?" onClose=${close}>
          <p>Delete this message for everyone?</p>
          <button type="button" class="text-button danger" onClick=${() => { close(); on.remove(e.id); }}>Delete</button>
          <button type="button" class="text-button" data-focus onClick=${close}>Cancel</button>
        </${Popover}>`}
    </div>`;
}

/** A small set, and a field for any other. @param {{react: (emoji: string) => void}} props */
function Picker({ react }) {
  const [problem, setProblem] = useState("");
  const submit = (/** @type {any} */ e) => {
    e.preventDefault();
    const text = e.target.elements.emoji.value.trim();
    if (isEmoji(text)) react(text);
    else setProblem("Enter a single emoji.");
  };
  return html`
    ${EMOJI.map((emoji, i) => html`
      <button type="button" key=${emoji} class="emoji" aria-label="React with ${emoji}" data-focus=${i === 0 ? "" : undefined} onClick=${() => react(emoji)}>${emoji}</button>`)}
    <form onSubmit=${submit}><input name="emoji" maxlength="64" aria-label="Another emoji" placeholder="Other" autocomplete="off" onInput=${() => setProblem("")} /></form>
    <${Problem} text=${problem} />`;
}

/** @param {{users: string[]}} props */
function Readers({ users }) {
  const people = useContext(People);
  const names = namesOf(users.map((user) => textOf(people, user)), 20);
  return html`
    <p class="readers" data-readers=${users.join(" ")} title="Read by ${names}">
      <span class="unseen">Read by ${names}</span>
      ${users.slice(0, READERS_MAX).map((u) => html`<${Avatar} key=${u} user=${u} small />`)}
      ${users.length > READERS_MAX && html`<span aria-hidden="true">+${users.length - READERS_MAX}</span>`}
    </p>`;
}
