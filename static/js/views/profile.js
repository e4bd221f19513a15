/** What a person shows of themselves: picture, name, status. */
import { Avatar, html, Problem, say, useEffect, useRef, useState } from "../app.js";

/** @param {{state: import("../types.js").State, actions: import("../actions.js").Actions}} props */
export function Profile({ state, actions }) {
  const [me, setMe] = useState(/** @type {any} */ (null));
  const [name, setName] = useState("");
  const [status, setStatus] = useState("");
  const [problem, setProblem] = useState("");
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const picker = useRef(/** @type {HTMLInputElement|null} */ (null));
  /** @param {Promise<any>} doing @param {string} done */
  const attempt = async (doing, done) => {
    setProblem("");
    setSaid("");
    setBusy(true);
    try {
      show(await doing);
      setSaid(done);
    } catch (/** @type {any} */ err) {
      setProblem(err.message);
    }
    setBusy(false);
  };
  function show(/** @type {any} */ now) {
    setMe(now);
    setName(now.name ?? "");
    setStatus(now.status?.text ?? "");
  }
  useEffect(() => { attempt(actions.me(), ""); }, []);

  /** @type {{name?: string|null, status?: {text: string}|null}} */
  const change = {};
  if (me && name.trim() !== (me.name ?? "")) change.name = name.trim() || null;
  if (me && status.trim() !== (me.status?.text ?? "")) change.status = status.trim() ? { ...me.status, text: status.trim() } : null;
  const saved = say("Saved.", "已保存。");
  const submit = (/** @type {Event} */ e) => { e.preventDefault(); attempt(actions.changeMe(change), saved); };
  function pick(/** @type {any} */ e) {
    const [file] = e.target.files;
    e.target.value = "";
    if (file) attempt(actions.putAvatar(file), saved);
  }
  return html`
    <form class="stack profile" name="profile" onSubmit=${submit}>
      <div class="profile-face">
        <${Avatar} user=${state.me} />
        <div>
          <input ref=${picker} type="file" name="picture" accept="image/png,image/jpeg,image/gif,image/webp" hidden onChange=${pick} />
          <p class="buttons">
            <button type="button" class="button" disabled=${busy} onClick=${() => picker.current?.click()}>${me?.picture ? say("Replace", "更换头像") : say("Upload picture", "上传头像")}</button>
            ${me?.picture && html`<button type="button" class="button" name="remove-picture" disabled=${busy}
              onClick=${() => attempt(actions.removeAvatar(), saved)}>${say("Remove", "移除")}</button>`}
          </p>
          <small class="quiet">${state.me}</small>
        </div>
      </div>
      <label class="field"><span>${say("Name", "名字")}</span>
        <input name="own-name" maxlength="64" autocomplete="name" dir="auto" placeholder=${state.me} value=${name} disabled=${!me}
          onInput=${(/** @type {any} */ e) => setName(e.target.value)} /></label>
      <label class="field"><span>${say("Status", "状态")}</span>
        <input name="status" maxlength="100" autocomplete="off" dir="auto" placeholder=${say("In a meeting", "开会中")} value=${status} disabled=${!me}
          onInput=${(/** @type {any} */ e) => setStatus(e.target.value)} /></label>
      <${Problem} text=${problem} />
      <p class="quiet" role="status">${said}</p>
      <button class="button primary" disabled=${busy || Object.keys(change).length === 0}>${say("Save", "保存")}</button>
    </form>`;
}
