/** Who has read a message, who has it without having read it, and who has not got it yet. */
import { Avatar, counted, html, Name, Problem, Sheet, useEffect, useState } from "../app.js";

/** @param {any} props */
export function Receipts({ state, actions, group, id, onClose }) {
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState("");
  const members = state.members.get(group);
  // Asked again whenever a member's cursors move.
  useEffect(() => {
    let gone = false;
    actions.receipts(group, id).then((/** @type {any} */ a) => { if (!gone) setAnswer(a); }, (/** @type {any} */ err) => { if (!gone) setProblem(err.message); });
    return () => { gone = true; };
  }, [members]);
  const seen = answer?.seen_by ?? [];
  const read = seen.filter((/** @type {any} */ m) => m.read >= id).map((/** @type {any} */ m) => m.user);
  const only = seen.filter((/** @type {any} */ m) => m.read < id).map((/** @type {any} */ m) => m.user);
  return html`
    <${Sheet} title="Read receipts" side onClose=${onClose}>
      <${Problem} text=${problem} />
      ${!answer && !problem && html`<p class="quiet">Loading…</p>`}
      ${answer && html`
        <p class="lead">Read by ${answer.read} of ${counted(answer.members, "member")}.</p>
        <${People} title="Read" users=${read} name="read" />
        <${People} title="Delivered" users=${only} name="seen" />
        <${People} title="Not delivered yet" users=${answer.pending ?? []} name="pending" />`}
    </${Sheet}>`;
}

/** @param {{title: string, users: string[], name: string}} props */
const People = ({ title, users, name }) => users.length > 0 && html`
  <section data-receipts=${name}>
    <h3>${title}</h3>
    <ul class="people">${users.map((u) => html`<li key=${u} data-user=${u}><span class="who"><${Avatar} user=${u} /><span class="person"><${Name} user=${u} /></span></span></li>`)}</ul>
  </section>`;
