/** The whole page: the sign-in, or the groups beside the group that is open. */
import { counted } from "../format.js";
import { html, useMemo, useState } from "../html.js";
import { say } from "../say.js";
import { inviteProblem } from "../signin.js";
import { titleOf } from "../state.js";
import { PictureSheet } from "./files.js";
import { GroupView } from "./group.js";
import { Icon, IconButton, People, Problem, Sheet } from "./parts.js";
import { Sidebar, Start } from "./sidebar.js";
import { Entrance } from "./signin.js";

/**
 * @param {{state: import("../types.js").State, actions: import("../actions.js").Actions,
 *   sheets: typeof import("./sheets.js").sheets|undefined, needSheets: () => void}} props
 */
export function App({ state, actions, sheets, needSheets }) {
  const [shown, setShown] = useState(/** @type {{sheet: {kind: string, [k: string]: any}, at: string}|null} */ (null));
  // What was begun in each group and not sent: nobody else sees it.
  const drafts = useMemo(() => new Map(), [state.me]);
  // A dialog belongs to where it was opened: another group, or another person, and it is gone.
  const at = `${state.me} ${state.open}`;
  const sheet = shown?.at === at ? shown.sheet : null;
  const show = (/** @type {any} */ next) => {
    if (!sheets) needSheets();
    setShown({ sheet: next, at });
  };
  const close = () => setShown(null);
  if (!state.me) return html`<${Entrance} reason=${state.signedOut || invited(state.invite)} invite=${state.invite?.shown ? state.invite.code : ""} actions=${actions} />`;
  const group = state.groups.get(state.open);
  return html`<${People.Provider} value=${state.people}>
    <div class="app" data-open=${group ? "group" : "list"}>
      <${Sidebar} state=${state} actions=${actions} show=${show} />
      <main class="pane" aria-label=${group ? titleOf(group, state.people) : "No group selected"}>
        <${LinkState} link=${state.link} onRetry=${actions.reconnect} />
        ${group
          ? html`<${GroupView} key=${group.id} state=${state} group=${group} actions=${actions} drafts=${drafts} show=${show} />`
          : (state.groups.size > 0 || state.link.phase === "live") && html`<${Nothing} some=${state.groups.size > 0} show=${show} />`}
      </main>
    </div>
    ${state.invite && html`<${Invited} invite=${state.invite} actions=${actions} />`}
    ${sheet && html`<${SheetOf} sheets=${sheets} sheet=${sheet} state=${state} actions=${actions} show=${show} close=${close} />`}
    <${Toasts} toasts=${state.toasts} onClose=${actions.dismiss} />
    <p class="unseen" role="log" aria-live="polite">${state.heard}</p>
  </${People.Provider}>`;
}

/** What an invitation says, in a line. @param {import("../types.js").State["invite"]} invite */
function invited(invite) {
  if (!invite) return "";
  if (!invite.shown) return invite.problem ?? "";
  const { from_name: from, group_name: group, members } = invite.shown;
  if (!members) return say("You’re invited to register here.", "您受邀在此注册。");
  const to = `${group ? `“${group}”` : say("a group", "一个群组")}${say(` (${counted(members, "member")})`, `（${members} 名成员）`)}`;
  return from ? say(`${from} invites you to ${to}.`, `${from} 邀请您加入${to}。`) : say(`You’re invited to ${to}.`, `您受邀加入${to}。`);
}

/** Asks whether to join. @param {{invite: NonNullable<import("../types.js").State["invite"]>, actions: import("../actions.js").Actions}} props */
function Invited({ invite, actions }) {
  const [problem, setProblem] = useState(invite.problem ?? "");
  const join = () => { setProblem(""); actions.acceptInvite().catch((/** @type {import("../api.js").Problem} */ err) => setProblem(inviteProblem(err))); };
  const open = invite.shown?.members > 0;
  return html`
    <${Sheet} title="Invitation" onClose=${actions.dropInvite}>
      <${Problem} text=${problem} />
      ${invite.shown && html`<p class="invited">${invited(invite)}</p>`}
      <p class="buttons">${open && html`<button type="button" class="button primary" name="join" onClick=${join}>Join</button>`}
        <button type="button" class="button" onClick=${actions.dropInvite}>${open ? "Not now" : "Close"}</button></p>
    </${Sheet}>`;
}

/** @param {any} props */
function SheetOf({ sheets, sheet, state, actions, show, close }) {
  const props = { state, actions, onClose: close, show, ...sheet };
  const View = sheet.kind === "picture" ? PictureSheet : sheets?.[sheet.kind];
  return View ? html`<${View} ...${props} />` : null;
}

/** @param {{some: boolean, show: (sheet: any) => void}} props */
const Nothing = ({ some, show }) => html`
  <div class="nothing">
    <svg class="nothing-mark" viewBox="0 0 32 32" aria-hidden="true"><path d="M9 3h14a7 7 0 0 1 7 7v7a7 7 0 0 1-7 7h-8.2l-6.1 4.7A1 1 0 0 1 7 27.9V23.7A7 7 0 0 1 2 17v-7a7 7 0 0 1 7-7z" /></svg>
    <h2>${some ? "Select a group" : "No groups yet"}</h2>
    <p>${some ? "Pick a group from the list to read and write, or start a new one." : "Create a group and add people to it, or join a public one."}</p>
    <${Start} show=${show} />
  </div>`;

/** Says that there is no connection, once that lasts. @param {{link: import("../types.js").Link, onRetry: () => void}} props */
const LinkState = ({ link, onRetry }) => html`
  <div class="link-state" role="status" data-phase=${link.phase} data-by=${link.by}>
    ${link.phase !== "live" && html`
      <span class="link-text"><${Icon} name="clock" />${link.phase === "connecting" ? "Connecting…" : "You’re offline. Your messages will be sent later."}</span>
      ${link.phase === "waiting" && html`<button type="button" class="text-button" onClick=${onRetry}>Reconnect</button>`}`}
  </div>`;

/** @param {{toasts: import("../types.js").State["toasts"], onClose: (id: number) => void}} props */
const Toasts = ({ toasts, onClose }) => html`
  <div class="toasts" role="status" aria-live="polite">
    ${toasts.map((t) => html`
      <div key=${t.id} class="toast ${t.bad ? "bad" : ""}"><p>${t.text}</p><${IconButton} icon="close" label="Dismiss" onClick=${() => onClose(t.id)} /></div>`)}
  </div>`;
