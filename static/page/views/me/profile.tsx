/** What others see of a person: picture, name, status. */
import type { Wire } from "@chatd/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../call.ts";
import { smallEnough } from "../../picture.ts";
import { say } from "../../say.ts";
import { useSession } from "../../session.ts";
import { problemOf } from "../../ui/confirm.tsx";
import { Avatar, Problem } from "../../ui/parts.tsx";
import { whenText } from "../when.ts";

const HOUR_MS = 3_600_000;
const ENDS: readonly (readonly [string, string])[] = [
  ["", say("Don’t clear", "不清除")], ["1", say("In 1 hour", "1 小时后")], ["4", say("In 4 hours", "4 小时后")], ["24", say("In 1 day", "1 天后")], ["168", say("In 1 week", "1 周后")]];

export function Profile() {
  const { chat, me: user, people, signIn } = useSession();
  const [me, setMe] = useState<Wire.Me | null>(null);
  const [name, setName] = useState("");
  const [status, setStatus] = useState("");
  const [hours, setHours] = useState("");
  const [receipts, setReceipts] = useState<"shown" | "hidden" | undefined>(undefined);
  const [presence, setPresence] = useState<"shown" | "hidden" | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const saved = say("Saved.", "已保存。");

  function show(now: Wire.Me): void {
    setMe(now);
    setName(now.name ?? "");
    setStatus(now.status?.text ?? "");
    setHours("");
    setReceipts(undefined);
    setPresence(undefined);
    people.changed(now);
  }
  async function attempt(doing: () => Promise<Wire.Me>, done: string): Promise<void> {
    setProblem("");
    setSaid("");
    setBusy(true);
    try {
      show(await doing());
      setSaid(done);
    } catch (err) {
      const { code, status: http } = err as { code?: string; status?: number };
      setProblem(code === "forbidden" ? say("This is set by whoever runs the server, and can’t be changed here.", "此项由服务器管理员设置，无法在此更改。")
        : http === 413 || http === 415 ? say("This picture can’t be used. Choose a PNG, JPEG, GIF or WebP of at most 2 MB.", "无法使用此图片，请选择不超过 2 MB 的 PNG、JPEG、GIF 或 WebP。") : problemOf(err));
    }
    setBusy(false);
  }
  useEffect(() => { void attempt(() => chat.me(), ""); }, []);

  const change: Wire.MeChange = {};
  if (me && name.trim() !== (me.name ?? "")) change.name = name.trim() || null;
  if (me && (status.trim() !== (me.status?.text ?? "") || hours)) {
    const { emoji } = me.status ?? {};
    change.status = status.trim() ? { text: status.trim(), ...(emoji && { emoji }), ...(hours && { until: new Date(Date.now() + Number(hours) * HOUR_MS).toISOString() }) } : null;
  }
  if (me && receipts && receipts !== me.receipts) change.receipts = receipts;
  if (me && presence && presence !== me.presence) change.presence = presence;
  const picture = (method: string, body?: Blob) => call(method, "/v1/me/avatar", { token: signIn.token(), body });
  function pick(input: HTMLInputElement): void {
    const file = input.files?.[0];
    input.value = "";
    if (file) void attempt(async () => picture("PUT", await smallEnough(file)), saved);
  }
  return (
    <form class="stack" name="profile" onSubmit={(e) => { e.preventDefault(); void attempt(() => chat.updateMe(change), saved); }}>
      <div class="profile-face">
        <Avatar user={user} />
        <div>
          <input ref={picker} type="file" name="picture" accept="image/png,image/jpeg,image/gif,image/webp" hidden onChange={(e) => pick(e.currentTarget)} />
          <p class="buttons">
            <button type="button" class="button" disabled={busy} onClick={() => picker.current?.click()}>{me?.picture ? say("Replace picture", "更换头像") : say("Upload picture", "上传头像")}</button>
            {me?.picture && (
              <button type="button" class="button" name="remove-picture" disabled={busy}
                onClick={() => attempt(async () => { await picture("DELETE"); return chat.me(); }, saved)}>{say("Remove", "移除")}</button>
            )}
          </p>
          <small dir="ltr">{user}</small>
        </div>
      </div>
      <label class="field"><span>{say("Name", "名字")}</span>
        <input name="own-name" maxlength={64} autocomplete="name" dir="auto" placeholder={user} value={name} disabled={!me} onInput={(e) => setName(e.currentTarget.value)} /></label>
      <div class="pair wide-first">
        <label class="field"><span>{say("Status", "状态")}</span>
          <input name="status" maxlength={100} autocomplete="off" dir="auto" placeholder={say("In a meeting", "开会中")} value={status} disabled={!me} onInput={(e) => setStatus(e.currentTarget.value)} /></label>
        <label class="field"><span>{say("Clear", "清除")}</span>
          <select name="status-end" value={hours} disabled={!me || !status.trim()} onChange={(e) => setHours(e.currentTarget.value)}>
            {ENDS.map(([value, text]) => <option key={value} value={value}>{value === "" && me?.status?.until ? say(`At ${whenText(new Date(me.status.until))}`, `于 ${whenText(new Date(me.status.until))}`) : text}</option>)}</select></label>
      </div>
      <label class="toggle"><input type="checkbox" name="receipts" checked={(receipts ?? me?.receipts) !== "hidden"} disabled={!me} onChange={(e) => setReceipts(e.currentTarget.checked ? "shown" : "hidden")} />
        <span><strong>{say("Show others what I have read", "让他人看到我已读的消息")}</strong><small>{say("If not, you don’t see what they have read either. Some groups don’t let anybody hide it.", "关闭后您也看不到他人的已读情况。某些群组不允许隐藏。")}</small></span></label>
      <label class="toggle"><input type="checkbox" name="presence" checked={(presence ?? me?.presence) !== "hidden"} disabled={!me} onChange={(e) => setPresence(e.currentTarget.checked ? "shown" : "hidden")} />
        <span><strong>{say("Show others when I’m online", "让他人看到我是否在线")}</strong><small>{say("If not, you don’t see who else is online, or when they were last here.", "关闭后您也看不到他人是否在线及最后在线时间。")}</small></span></label>
      <Problem text={problem} />
      <p class="buttons"><button class="button primary" disabled={busy || Object.keys(change).length === 0}>{say("Save", "保存")}</button><span class="quiet said" role="status">{said}</span></p>
    </form>
  );
}
