/** Where a person is signed in and connected, and their password. */
import { fullTime, html, Problem, say, shortTime, useEffect, useState } from "../app.js";

/** @typedef {{id: string, created_at: string, last_used_at: string, address: string, agent: string, current: boolean}} Login */
/** @typedef {{id: string, since: string, address: string, agent: string, groups: number}} Session */

/** @param {{state: import("../types.js").State, actions: import("../actions.js").Actions}} props */
export function Devices({ state, actions }) {
  const [logins, setLogins] = useState(/** @type {Login[]} */ ([]));
  const [sessions, setSessions] = useState(/** @type {Session[]} */ ([]));
  const [problem, setProblem] = useState("");
  const account = actions.hasAccount();
  /** @param {Promise<any>} doing */
  const attempt = (doing) => { setProblem(""); return doing.catch((/** @type {Error} */ err) => setProblem(err.message)); };
  const look = () => attempt(Promise.all([
    account && actions.logins().then((/** @type {any} */ answer) => setLogins(answer.logins)),
    actions.sessions().then((/** @type {any} */ answer) => setSessions(answer.sessions)),
  ]));
  useEffect(() => { look(); }, []);
  /** @param {string} id "": all others */
  const end = (id) => attempt(actions.endLogin(id).then(look));

  return html`
    <div class="stack devices-part">
      <${Problem} text=${problem} />
      ${account && html`<${Logins} logins=${logins} onEnd=${end} />`}
      <${Sessions} sessions=${sessions} />
      ${account && html`<${Password} user=${state.me} change=${actions.changePassword} onDone=${look} />`}
    </div>`;
}

/** @param {{logins: Login[], onEnd: (id: string) => void}} props */
const Logins = ({ logins, onEnd }) => html`
  <section>
    <h3>${say("Where you’re signed in", "已登录的设备")}</h3>
    <ul class="devices" data-list="logins">
      ${logins.map((l) => html`
        <li key=${l.id} data-login=${l.id}>
          <${Device} agent=${l.agent} address=${l.address} at=${l.last_used_at}
            when=${l.current ? say("this browser", "当前浏览器") : say(`last used ${shortTime(l.last_used_at)}`, `上次使用：${shortTime(l.last_used_at)}`)} />
          ${!l.current && html`<button type="button" class="button" onClick=${() => onEnd(l.id)}>${say("Sign out", "退出登录")}</button>`}
        </li>`)}
    </ul>
    ${logins.some((l) => !l.current) && html`
      <p class="buttons"><button type="button" class="button" name="end-others" onClick=${() => onEnd("")}>${say("Sign out everywhere else", "退出其他所有设备")}</button></p>`}
  </section>`;

/** @param {{sessions: Session[]}} props */
const Sessions = ({ sessions }) => html`
  <section>
    <h3>${say("Connected now", "当前连接")}</h3>
    ${sessions.length === 0 && html`<p class="quiet">${say("No live connection.", "没有实时连接。")}</p>`}
    <ul class="devices" data-list="sessions">
      ${sessions.map((s) => html`<li key=${s.id}><${Device} agent=${s.agent} address=${s.address} at=${s.since}
        when=${say(`since ${shortTime(s.since)}`, `自 ${shortTime(s.since)}`)} /></li>`)}
    </ul>
  </section>`;

/** @param {{agent: string, address: string, at: string, when: string}} props */
const Device = ({ agent, address, at, when }) => html`
  <span class="device"><strong title=${agent}>${deviceOf(agent)}</strong><small title=${fullTime(at)}>${address} · ${when}</small></span>`;

// The first that fits: browsers name those that they descend from, too.
const BROWSERS = [["Edg", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"]];
const SYSTEMS = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"], ["Mac OS", "macOS"], ["CrOS", "ChromeOS"], ["Linux", "Linux"]];

/** What a client calls itself, for people. @param {string} agent */
function deviceOf(agent) {
  const find = (/** @type {string[][]} */ list) => list.find(([mark]) => agent.includes(mark))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (!browser) return agent.split(/[\s/]/)[0] || say("Unknown device", "未知设备");
  return system ? say(`${browser} on ${system}`, `${system} 上的 ${browser}`) : browser;
}

/** @param {{user: string, change: (old: string, password: string) => Promise<void>, onDone: () => void}} props */
function Password({ user, change, onDone }) {
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const [problem, setProblem] = useState("");
  const [said, setSaid] = useState("");
  async function submit(/** @type {Event} */ e) {
    e.preventDefault();
    setProblem("");
    setSaid("");
    try {
      await change(old, next);
      setOld("");
      setNext("");
      setSaid(say("Password changed. Your other devices are signed out.", "密码已更改，您的其他设备已退出登录。"));
      onDone();
    } catch (/** @type {any} */ err) {
      setProblem(err.code === "forbidden" ? say("That isn’t your present password.", "当前密码不正确。") : err.message);
    }
  }
  return html`
    <form class="stack" name="password" onSubmit=${submit}>
      <h3>${say("Change password", "更改密码")}</h3>
      <input hidden autocomplete="username" readonly value=${user} />
      <label class="field"><span>${say("Present password", "当前密码")}</span>
        <input name="old" type="password" required autocomplete="current-password" value=${old} onInput=${(/** @type {any} */ e) => setOld(e.target.value)} /></label>
      <label class="field"><span>${say("New password", "新密码")}</span>
        <input name="new" type="password" required minlength="10" autocomplete="new-password" value=${next} onInput=${(/** @type {any} */ e) => setNext(e.target.value)} />
        <small>${say("At least 10 characters. Your other devices will be signed out.", "至少 10 个字符。您的其他设备将退出登录。")}</small></label>
      <${Problem} text=${problem} />
      <p class="quiet" role="status">${said}</p>
      <button class="button">${say("Change password", "更改密码")}</button>
    </form>`;
}
