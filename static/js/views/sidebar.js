/** The list of groups, with what is unread, and the ways to more. */
import { counted, lineOf, shortTime } from "../format.js";
import { html, memo, useContext } from "../html.js";
import { textOf, withLabels } from "../people.js";
import { groupsInOrder, titleOf } from "../state.js";
import { noticeText } from "../timeline.js";
import { Avatar, GroupAvatar, Icon, IconButton, MARK, Name, People } from "./parts.js";

/** @param {{state: import("../types.js").State, actions: import("../actions.js").Actions, show: (sheet: any) => void}} props */
export function Sidebar({ state, actions, show }) {
  const groups = groupsInOrder(state);
  const waiting = state.inbox.items.length;
  return html`
    <aside class="side" aria-label="Groups">
      <header class="side-head">
        <img class="mark" src=${MARK} alt="" width="26" height="26" />
        <h1>chatd</h1>
        <${IconButton} icon="search" label="Search messages" onClick=${() => show({ kind: "search" })} />
        <${IconButton} icon="compass" label="Browse public groups" onClick=${() => show({ kind: "browse" })} />
        <${IconButton} icon="plus" label="Create group" onClick=${() => show({ kind: "new" })} />
      </header>
      <button type="button" class="inbox-button" onClick=${() => show({ kind: "inbox" })}>
        <${Icon} name="bell" /><span>Inbox</span>
        ${waiting > 0 && html`<span class="badge" aria-label=${counted(waiting, "new item")}>${waiting > 99 ? "99+" : waiting}</span>`}
      </button>
      <nav class="groups" aria-label="Your groups">
        ${groups.length === 0 && state.link.phase === "live" && html`
          <div class="no-groups"><p class="quiet">No groups yet. Create one, or join a public one.</p><${Start} show=${show} /></div>`}
        <ul>
          ${groups.map((g) => html`<li key=${g.id}><${GroupLink} group=${g} me=${state.me} current=${g.id === state.open}
            typing=${[...(state.typing.get(g.id)?.keys() ?? [])].join(" ")} /></li>`)}
        </ul>
      </nav>
      <footer class="me">
        <button type="button" class="me-button" onClick=${() => show({ kind: "you" })}>
          <${Avatar} user=${state.me} /><span class="me-name"><${Name} user=${state.me} /></span></button>
        <${IconButton} icon="leave" label="Sign out" onClick=${actions.signOut} />
      </footer>
    </aside>`;
}

/** The ways to a first group. @param {{show: (sheet: any) => void}} props */
export const Start = ({ show }) => html`
  <p class="buttons">
    <button type="button" class="button primary" onClick=${() => show({ kind: "new" })}>Create group</button>
    <button type="button" class="button" onClick=${() => show({ kind: "browse" })}>Browse public groups</button>
  </p>`;

/** @param {{group: import("../types.js").Group, me: string, current: boolean, typing: string}} props */
const GroupLink = memo(({ group: g, me, current, typing }) => {
  const people = useContext(People);
  const title = titleOf(g, people);
  const at = g.last_message?.sent_at ?? (g.known ? g.created_at : "");
  return html`
    <a class="group-link" href="#${encodeURIComponent(g.id)}" data-group=${g.id} aria-current=${current ? "page" : undefined}>
      <${GroupAvatar} group=${g} title=${title} />
      <span class="group-top">
        <span class="group-name" dir="auto">${title}</span>
        ${at && html`<time class="group-time" datetime=${at}>${shortTime(at)}</time>`}
      </span>
      <span class="group-bottom">
        <span class="group-last">${typing ? html`<em>${textOf(people, typing.split(" ")[0])} is typing…</em>` : lastLine(g, me, people)}</span>
        ${g.mentions_unread > 0 && html`<span class="badge at" aria-label=${counted(g.mentions_unread, "unread mention")}>@</span>`}
        ${g.unread > 0 && html`<span class="badge" data-unread=${g.unread} aria-label=${counted(g.unread, "unread message")}>${g.unread > 999 ? "999+" : g.unread}</span>`}
      </span>
    </a>`;
});

/** @param {import("../types.js").Group} g @param {string} me @param {import("../people.js").People} people */
function lastLine(g, me, people) {
  const m = g.last_message;
  if (!m) return "No messages yet";
  const who = m.from === me ? "You" : textOf(people, m.from);
  if (m.deleted_at) return `${who}: message deleted`;
  if (m.kind === "notice") return noticeText(/** @type {any} */ (m), (user) => textOf(people, user));
  return `${who}: ${withLabels(lineOf(m), people, m.mentions ?? []).replaceAll(/\s+/g, " ").slice(0, 120)}`;
}
