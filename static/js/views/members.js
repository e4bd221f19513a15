/** Who is in a group, and what its owner and admins change. */
import { Avatar, html, IconButton, inviteLink, KnownPeople, labelOf, Name, Problem, roleOf, Sheet, textOf, titleOf, useEffect, useState } from "../app.js";

const RANK = { owner: 0, admin: 1, member: 2 };

/** @param {any} props */
export function Members({ state, actions, group: id, onClose }) {
  const [problem, setProblem] = useState("");
  const [leaving, setLeaving] = useState(false);
  const group = state.groups.get(id);
  if (!group) return null;
  const role = roleOf(state, id);
  const manages = role === "owner" || role === "admin";
  const members = /** @type {import("../types.js").Member[]} */ ([...(state.members.get(id)?.values() ?? [])]);
  const nameOf = (/** @type {string} */ user) => textOf(state.people, user);
  members.sort((a, b) => RANK[a.role] - RANK[b.role] || labelOf(state.people, a.user).localeCompare(labelOf(state.people, b.user)) || (a.user < b.user ? -1 : 1));
  /** @param {Promise<any>} doing */
  const attempt = (doing) => { setProblem(""); return doing.then(() => true, (err) => { setProblem(err.message); return false; }); };

  return html`
    <${Sheet} title="Members of ${titleOf(group, state.people)}" side onClose=${onClose}>
      <${Problem} text=${problem} />
      ${!group.direct && html`<${Invite} group=${group} manages=${manages} actions=${actions} />`}
      ${manages && html`<${AddMember} people=${state.people} members=${state.members.get(id)} onAdd=${(/** @type {string} */ u, /** @type {string} */ r) => attempt(actions.addMember(id, u, r))} />`}
      <ul class="people">
        ${members.map((m) => html`
          <li key=${m.user} data-user=${m.user}>
            <span class="who"><${Avatar} user=${m.user} /><span class="person"><${Name} user=${m.user} />${m.user === state.me && html` <small>(you)</small>`}</span></span>
            <span class="controls">${!group.direct && m.user !== state.me && html`<${IconButton} icon="send" label="Message ${nameOf(m.user)}" onClick=${async () => { if (await attempt(actions.openDirect(m.user))) onClose(); }} />`}
            ${manages && m.role !== "owner" && m.user !== state.me
              ? html`<select aria-label="Role of ${nameOf(m.user)}" value=${m.role} onChange=${(/** @type {any} */ e) => attempt(actions.addMember(id, m.user, e.target.value))}>
                  <option value="member">Member</option><option value="admin">Admin</option></select>
                  <${IconButton} icon="close" label="Remove ${nameOf(m.user)}" onClick=${() => attempt(actions.removeMember(id, m.user))} />`
              : html`<span class="role">${m.role[0].toUpperCase()}${m.role.slice(1)}</span>`}</span>
          </li>`)}
      </ul>
      ${members.length < group.members && html`<p class="quiet">and ${(group.members - members.length).toLocaleString()} more</p>`}
      ${manages && html`<${Rename} name=${group.name} onSave=${(/** @type {string} */ n) => attempt(actions.changeGroup(id, { name: n }))} />
        <${Retention} group=${group} onSave=${(/** @type {any} */ change) => attempt(actions.changeGroup(id, change))} />`}
      ${!group.direct && html`<div class="sheet-foot">
        ${leaving
          ? html`<p>Leave ${titleOf(group, state.people)}?${group.members <= 1 ? " You’re the last member, so the group will be deleted." : ""}</p>
              <p class="buttons"><button type="button" class="button danger" onClick=${() => attempt(actions.leave(id))}>Leave group</button>
              <button type="button" class="button" onClick=${() => setLeaving(false)}>Cancel</button></p>`
          : html`<button type="button" class="button" onClick=${() => setLeaving(true)}>Leave group</button>`}
      </div>`}
    </${Sheet}>`;
}

/** How many people may join by one link. */
const USES = 100;

/**
 * How the next person gets here.
 * @param {{group: import("../types.js").Group, manages: boolean, actions: import("../actions.js").Actions}} props
 */
function Invite({ group, manages, actions }) {
  const [said, setSaid] = useState("");
  const [link, setLink] = useState("");
  const [drawn, setDrawn] = useState(/** @type {{QR: (props: any) => any}|null} */ (null));
  useEffect(() => { if (link) import("./qr.js").then(setDrawn, () => {}); }, [link]); // without it, there is the link
  const make = () => actions.invite(group.id, USES).then(
    (/** @type {string} */ made) => { setLink(made); setSaid(`Whoever has this link can join: up to ${USES} people.`); },
    (/** @type {Error} */ err) => setSaid(err.message),
  );
  async function copy(/** @type {any} */ e) {
    e.preventDefault();
    const field = /** @type {HTMLInputElement} */ (e.target.elements.invite);
    field.focus();
    field.select();
    // The old way needs neither a permission nor https. Where both fail, the link is selected all the same.
    const copied = document.execCommand("copy") || await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
    setSaid(copied ? "Link copied." : "Press Ctrl+C to copy the link.");
  }
  const how = group.visibility === "public" ? "They sign in, and join under “Public groups”."
    : manages ? "They sign in, and you add them by name below." : "They sign in, and the owner or an admin adds them.";
  if (actions.hasAccount() && !link) { // who has none gets one by an invitation
    return manages && html`
      <div class="stack">
        <button type="button" class="button primary wide" name="invite-people" onClick=${make}>Invite people</button>
        <small role="status">${said || "Makes a link. Whoever opens it can create an account, and is in the group."}</small>
      </div>`;
  }
  return html`
    <form class="row-form" name="invite" onSubmit=${copy}>
      <label class="field"><span>Invite link</span>
        <input name="invite" readonly value=${link || inviteLink(group.id)} onFocus=${(/** @type {any} */ e) => e.target.select()} />
        <small role="status">${said || how}</small></label>
      <button class="button">Copy</button>
      ${manages && !link && html`<button type="button" class="button" name="invite-people" onClick=${make}>Invite people</button>`}
    </form>
    ${link && drawn && html`<${drawn.QR} text=${link} label="QR code of the invite link" />`}`;
}

/** @param {{people: import("../people.js").People, members: Map<string, any>|undefined, onAdd: (user: string, role: string) => Promise<boolean>}} props */
function AddMember({ people, members, onAdd }) {
  const [user, setUser] = useState("");
  const [role, setRole] = useState("member");
  async function submit(/** @type {Event} */ e) {
    e.preventDefault();
    if (await onAdd(user.trim(), role)) setUser("");
  }
  return html`
    <form class="row-form" onSubmit=${submit}>
      <label class="field"><span>Add member</span>
        <input name="user" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${false} placeholder="bob" value=${user} list="known-people"
          onInput=${(/** @type {any} */ e) => setUser(e.target.value)} /></label>
      <select aria-label="Role" value=${role} onChange=${(/** @type {any} */ e) => setRole(e.target.value)}>
        <option value="member">Member</option><option value="admin">Admin</option></select>
      <button class="button primary">Add</button>
      <${KnownPeople} people=${people} except=${members} />
    </form>`;
}

/** @param {{name: string, onSave: (name: string) => Promise<boolean>}} props */
function Rename({ name, onSave }) {
  const [text, setText] = useState(name);
  const submit = (/** @type {Event} */ e) => { e.preventDefault(); onSave(text.trim()); };
  return html`
    <form class="row-form" onSubmit=${submit}>
      <label class="field"><span>Group name</span>
        <input name="group-name" maxlength="200" autocomplete="off" value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></label>
      <button class="button" disabled=${text.trim() === name}>Rename</button>
    </form>`;
}

/** How much is kept, and for how long. @param {{group: import("../types.js").Group, onSave: (change: import("../types.js").Settings) => Promise<boolean>}} props */
function Retention({ group, onSave }) {
  const [keep, setKeep] = useState(String(group.keep ?? ""));
  const [days, setDays] = useState(String(group.retain_days ?? ""));
  const limited = group.retain_days !== undefined;
  /** @type {import("../types.js").Settings} */
  const change = {};
  if (keep !== "" && Number(keep) !== group.keep) change.keep = Number(keep);
  if (limited && days !== "" && Number(days) !== group.retain_days) change.retain_days = Number(days);
  const submit = (/** @type {Event} */ e) => { e.preventDefault(); onSave(change); };
  return html`
    <form class="stack" name="retention" onSubmit=${submit}>
      <label class="field"><span>Recent messages to keep</span>
        <input type="number" name="keep" required min="0" max="100000" value=${keep} onInput=${(/** @type {any} */ e) => setKeep(e.target.value)} />
        <small>They stay even when everyone has read them. With an archive, older ones stay available too.</small></label>
      ${limited && html`
        <label class="field"><span>Days until messages are removed</span>
          <input type="number" name="retain_days" required min="0" max="36500" value=${days} onInput=${(/** @type {any} */ e) => setDays(e.target.value)} />
          <small>0 keeps them forever. The server may have a shorter limit.</small></label>`}
      <button class="button" disabled=${Object.keys(change).length === 0}>Save</button>
    </form>`;
}
