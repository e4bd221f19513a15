/** The public groups of the server. */
import { Avatar, counted, html, Problem, Sheet, titleOf, useEffect, useState } from "../app.js";

/** @param {any} props */
export function Browse({ state, actions, onClose }) {
  const [groups, setGroups] = useState(/** @type {any[]|null} */ (null));
  const [problem, setProblem] = useState("");
  const [filter, setFilter] = useState("");
  useEffect(() => { actions.publicGroups().then(setGroups, (/** @type {Error} */ err) => setProblem(err.message)); }, []);
  const join = (/** @type {string} */ id) => actions.join(id).then(onClose, (/** @type {Error} */ err) => setProblem(err.message));
  const shown = (groups ?? []).filter((/** @type {import("../types.js").Group} */ g) => `${g.name} ${g.id}`.toLowerCase().includes(filter.toLowerCase()));
  return html`
    <${Sheet} title="Public groups" onClose=${onClose}>
      <${Problem} text=${problem} />
      <label class="field"><span class="unseen">Search public groups</span><input type="search" placeholder="Search groups" autofocus value=${filter}
        onInput=${(/** @type {any} */ e) => setFilter(e.target.value)} /></label>
      ${groups === null && !problem && html`<p class="quiet">Loading…</p>`}
      ${groups !== null && shown.length === 0 && html`<p class="quiet">${groups.length === 0 ? "No public groups yet. Create one and let anyone join." : `No groups match “${filter}”.`}</p>`}
      <ul class="people">
        ${shown.map((/** @type {import("../types.js").Group} */ g) => html`
          <li key=${g.id} data-public=${g.id}>
            <span class="who"><${Avatar} name=${titleOf(g, state.people)} square /><span class="person">${titleOf(g, state.people)}<small>${counted(g.members, "member")}</small></span></span>
            ${state.groups.has(g.id)
              ? html`<a class="button" href="#${encodeURIComponent(g.id)}" aria-label="Open ${titleOf(g, state.people)}" onClick=${onClose}>Open</a>`
              : html`<button type="button" class="button primary" aria-label="Join ${titleOf(g, state.people)}" onClick=${() => join(g.id)}>Join</button>`}
          </li>`)}
      </ul>
    </${Sheet}>`;
}
