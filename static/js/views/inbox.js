/** What is addressed to this person alone: direct messages, mentions, being added. */
import { Avatar, fullTime, html, Icon, KnownPeople, Name, Problem, Sheet, shortTime, textOf, titleOf, useState, withLabels } from "../app.js";

/** @param {any} props */
export function Inbox({ state, actions, onClose }) {
  const [problem, setProblem] = useState("");
  const [to, setTo] = useState("");
  const items = [...state.inbox.items].reverse();
  const clear = () => { setProblem(""); actions.clearInbox().catch((/** @type {Error} */ err) => setProblem(err.message)); };
  return html`
    <${Sheet} title="Inbox" side onClose=${onClose}>
      <${Problem} text=${problem} />
      ${!state.inbox.complete && html`<p class="quiet">Some older items are no longer available.</p>`}
      ${items.length === 0 && html`<p class="quiet">You’re all caught up. Direct messages and mentions appear here.</p>`}
      <ul class="items">
        ${items.map((i) => html`<li key=${i.seq} class="item" data-seq=${i.seq} data-kind=${i.kind}><${Item} item=${i} groups=${state.groups} people=${state.people} me=${state.me} onReply=${setTo} onOpen=${onClose} /></li>`)}
      </ul>
      ${items.length > 0 && html`<p class="buttons"><button type="button" class="button" onClick=${clear}>Mark all as read</button></p>`}
      <${Direct} key=${to} to=${to} people=${state.people} me=${state.me} send=${actions.direct} />
    </${Sheet}>`;
}

/** @param {{item: import("../types.js").Item, groups: Map<string, import("../types.js").Group>, people: import("../people.js").People, me: string, onReply: (user: string) => void, onOpen: () => void}} props */
function Item({ item: i, groups, people, me, onReply, onOpen }) {
  const group = groups.get(i.group ?? "");
  const name = group ? titleOf(group, people) : i.group;
  return html`
    <${Avatar} user=${i.from} name=${i.group ?? "?"} />
    <div class="item-text">
      <p class="item-head"><strong>${headOf(i, name, textOf(people, i.from ?? ""))}</strong><time datetime=${i.sent_at} title=${fullTime(i.sent_at)}>${shortTime(i.sent_at)}</time></p>
      ${i.body !== undefined && html`<p class="item-body">${withLabels(i.body, people, [me])}</p>`}
      ${i.kind === "direct" && i.from && html`<button type="button" class="text-button" onClick=${() => onReply(i.from ?? "")}><${Icon} name="reply" />Reply</button>`}
      ${group && html`<a class="text-button" href="#${encodeURIComponent(group.id)}" onClick=${onOpen}>Open ${name}</a>`}
    </div>`;
}

/** @param {import("../types.js").Item} i @param {string|undefined} group @param {string} from */
function headOf(i, group, from) {
  switch (i.kind) {
    case "direct": return html`<${Name} user=${i.from} />`;
    case "mention": return `${from} mentioned you in ${group}`;
    case "added": return `${from} added you to ${group}`;
    case "removed": return `${from} removed you from ${group}`;
    case "announcement": return `Announcement${from && ` from ${from}`}`;
    case "schedule_failed": return "A scheduled message could not be sent";
    default: return i.kind.replaceAll("_", " ");
  }
}

/** @param {{to: string, people: import("../people.js").People, me: string, send: (user: string, body: string) => Promise<void>}} props */
function Direct({ to, people, me, send }) {
  const [user, setUser] = useState(to);
  const [body, setBody] = useState("");
  const [problem, setProblem] = useState("");
  const [done, setDone] = useState("");
  async function submit(/** @type {Event} */ e) {
    e.preventDefault();
    setProblem("");
    setDone("");
    try {
      await send(user.trim(), body.trim());
      setBody("");
      setDone(`Sent to ${textOf(people, user.trim())}.`);
    } catch (/** @type {any} */ err) {
      setProblem(err.message);
    }
  }
  return html`
    <form class="sheet-foot stack" onSubmit=${submit}>
      <h3>Send a direct message</h3>
      <label class="field"><span>To</span><input name="to" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${false} placeholder="bob"
        value=${user} list="known-people" onInput=${(/** @type {any} */ e) => setUser(e.target.value)} /></label>
      <${KnownPeople} people=${people} except=${new Map([[me, true]])} />
      <label class="field"><span>Message</span><textarea name="direct" rows="2" required autofocus=${to !== ""} value=${body}
        onInput=${(/** @type {any} */ e) => setBody(e.target.value)}></textarea></label>
      <${Problem} text=${problem} />
      <p class="quiet" role="status">${done}</p>
      <button class="button primary">Send</button>
    </form>`;
}
