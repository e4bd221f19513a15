/** One group: its head, its messages, who is typing, and the place to write. */
import { counted, namesOf } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { textOf } from "../people.js";
import { roleOf, titleOf } from "../state.js";
import { Composer } from "./composer.js";
import { MessageList } from "./messages.js";
import { GroupAvatar, Icon, IconButton } from "./parts.js";

/**
 * @param {{state: import("../types.js").State, group: import("../types.js").Group, actions: import("../actions.js").Actions,
 *   drafts: Map<string, string>, show: (sheet: any) => void}} props
 */
export function GroupView({ state, group, actions, drafts, show }) {
  /** What the composer is about: nothing, or a message that is answered or edited. */
  const [about, setAbout] = useState(/** @type {{kind: "reply"|"edit", entry: import("../types.js").Entry}|null} */ (null));
  const input = useRef(/** @type {HTMLTextAreaElement|null} */ (null));
  const role = roleOf(state, group.id);
  const manages = role === "owner" || role === "admin";
  const mayPost = group.post === "members" || manages;
  const typing = [...(state.typing.get(group.id)?.keys() ?? [])];
  const title = titleOf(group, state.people);
  const live = state.link.phase === "live";

  // After a reconnect, and on the long poll, the cursors of the others may have moved unseen.
  useEffect(() => {
    if (!live) return;
    actions.loadMembers(group.id);
    actions.loadFileMax(group.id);
  }, [live, state.link.by]);

  const on = useMemo(() => ({
    reply: (/** @type {any} */ entry) => { setAbout({ kind: "reply", entry }); input.current?.focus(); },
    edit: (/** @type {any} */ entry) => { setAbout({ kind: "edit", entry }); input.current?.focus(); },
    remove: (/** @type {number} */ id) => actions.remove(group.id, id),
    react: (/** @type {number} */ id, /** @type {string} */ emoji, /** @type {boolean} */ removed) => actions.react(group.id, id, emoji, removed),
    receipts: (/** @type {number} */ id) => show({ kind: "receipts", group: group.id, id }),
    retry: actions.retry,
    discard: actions.discard,
    file: (/** @type {string} */ id, /** @type {"inline=1"|"size=preview"} */ as) => actions.file(group.id, id, as),
    picture: (/** @type {import("../types.js").File} */ file) => show({ kind: "picture", group: group.id, file }),
  }), []);

  /** @param {string} text */
  function submit(text) {
    const done = about?.kind === "edit" ? actions.edit(group.id, about.entry.id, text) : actions.send(group.id, { body: text, reply_to: about?.entry.id });
    if (done) setAbout(null);
    return done;
  }
  function editLast() {
    const own = [...(state.logs.get(group.id)?.entries.values() ?? [])].findLast((e) => e.from === state.me && e.kind === "text" && !e.deleted_at);
    if (own) setAbout({ kind: "edit", entry: own });
  }

  return html`
    <header class="group-head">
      <a class="icon-button back" href="#" aria-label="Back to groups" title="Back to groups"><${Icon} name="back" /></a>
      <${GroupAvatar} group=${group} title=${title} />
      <div class="group-title">
        <h2 title=${group.peer ?? group.id} dir="auto">${title}</h2>
        ${group.peer
          ? html`<p dir="auto">${state.people.known.get(group.peer)?.status || group.peer}</p>`
          : html`<p>${group.visibility === "private" && html`<${Icon} name="lock" />`}${group.visibility === "public" ? "Public" : "Private"} · ${counted(group.members, "member")}</p>`}
      </div>
      <${IconButton} icon="search" label="Search in this group" onClick=${() => show({ kind: "search", group: group.id })} />
      <${IconButton} icon="people" label="Members" onClick=${() => show({ kind: "members", group: group.id })} />
    </header>
    <${MessageList} state=${state} group=${group} actions=${actions} on=${on} manages=${manages} />
    <p class="typing" role="status">${typing.length > 0 && html`<span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${namesOf(typing.map((user) => textOf(state.people, user)))} ${typing.length === 1 ? "is" : "are"} typing…`}</p>
    ${mayPost
      ? html`<${Composer} input=${input} about=${about} title=${title} people=${state.people} members=${state.members.get(group.id)} drafts=${drafts} group=${group.id}
          uploads=${state.uploads.filter((u) => u.group === group.id)} files=${(state.fileMax ?? 0) > 0 ? actions : null}
          onSubmit=${submit} onCancel=${() => setAbout(null)} onTyping=${() => actions.typing(group.id)} onEditLast=${editLast} />`
      : html`<p class="no-post">Only the owner and admins can post in this group.</p>`}`;
}
