/** The form that creates a group. */
import { html, newKey, Problem, Sheet, useRef, useState } from "../app.js";

/** @param {any} props */
export function NewGroup({ actions, onClose }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  /** The key of a try stays as long as what is asked for stays: a repeated click makes one group. */
  const tried = useRef({ content: "", key: "" });

  async function submit(/** @type {any} */ e) {
    e.preventDefault();
    const data = new FormData(e.target);
    const text = (/** @type {string} */ name) => String(data.get(name) ?? "").trim();
    const members = text("members").split(/[\s,]+/).filter(Boolean);
    const draft = {
      name: text("name"), id: text("id") || undefined, visibility: text("visibility"), members: members.length > 0 ? members : undefined,
    };
    const content = JSON.stringify(draft);
    if (tried.current.content !== content) tried.current = { content, key: newKey() };
    setBusy(true);
    setProblem("");
    try {
      await actions.createGroup(draft, tried.current.key);
      onClose();
    } catch (/** @type {any} */ err) {
      setProblem(err.code === "exists" ? "This ID is already in use. Choose another one." : err.message);
      setBusy(false);
    }
  }

  return html`
    <${Sheet} title="New group" onClose=${onClose}>
      <form class="stack" onSubmit=${submit}>
        <label class="field"><span>Name</span><input name="name" required autofocus maxlength="200" autocomplete="off" placeholder="Weekend trip" /></label>
        <label class="field"><span>Members</span><input name="members" autocomplete="off" autocapitalize="none" spellcheck=${false} placeholder="bob, carol" />
          <small>${actions.hasAccount()
            ? "Usernames of people with an account, separated by commas. Others join by an invite link, later." // an id that is added can’t be registered
            : "Separate names with commas. You can add more people later."}</small></label>
        <fieldset class="choice">
          <legend>Who can join</legend>
          <label><input type="radio" name="visibility" value="private" checked /><span><strong>Private</strong><small>Only people you add</small></span></label>
          <label><input type="radio" name="visibility" value="public" /><span><strong>Public</strong><small>Anyone on this server</small></span></label>
        </fieldset>
        <details><summary>Set a custom ID</summary>
          <label class="field"><span class="unseen">Custom ID</span><input name="id" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${false} placeholder="weekend-trip" />
            <small>The group’s name in the API: letters, digits and . _ - @ + | : only. It can’t be changed later.</small></label></details>
        <${Problem} text=${problem} />
        <button class="button primary wide" disabled=${busy}>Create group</button>
      </form>
    </${Sheet}>`;
}
