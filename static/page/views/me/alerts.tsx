/** Notifications of this browser: whether there can be any, their switch, and a test. */
import { useEffect, useState } from "preact/hooks";
import { useEvent } from "../../hooks.ts";
import { able, ask, registered, switchOff, switchOn, type On } from "../../notify.ts";
import { load } from "../../saved.ts";
import { say } from "../../say.ts";
import { useSession } from "../../session.ts";
import { problemOf } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/parts.tsx";

/** Why there cannot be any here; unserved: there is no service worker, which would show them. */
const HINTS = {
  install: say("On iPhone and iPad, notifications need the app: tap Share, then Add to Home Screen, open chatd from there, and turn them on.", "在 iPhone 和 iPad 上，通知需要先安装应用：点按“分享”，选择“添加到主屏幕”，再从主屏幕打开并开启通知。"),
  never: say("This browser can’t show notifications here. They need https, or localhost.", "此浏览器无法在此显示通知：需要 https 或 localhost。"),
  denied: say("Notifications of this site are blocked. Allow them in the browser’s settings for this site.", "此网站的通知已被阻止，请在浏览器的网站设置中允许。"),
  unserved: say("There can be no notifications here: the browser refuses the service worker of this page, or the server has none.", "此处无法显示通知：浏览器拒绝了此页面的 Service Worker，或服务器未提供。"),
};

/** Between two sentences. */
const GAP = say(" ", "");

/** Whether they come while no window is open, and if not, why. */
function reachOf({ lacks, detail }: On): string {
  const open = say("Only while chatd is open in some window.", "仅当 chatd 在某个窗口中打开时。");
  switch (lacks) {
    case undefined: return say("Also while chatd is closed.", "chatd 关闭时也会通知。");
    case "server": return `${open}${GAP}${say("This server sends no push messages.", "此服务器不发送推送消息。")}`;
    case "browser": return `${open}${GAP}${say("This browser has no push service.", "此浏览器没有推送服务。")}`;
    case "offline": return `${open}${GAP}${say("The server could not be reached. It’s tried again the next time the page is opened.", "无法连接服务器，下次打开页面时会重试。")}`;
    case "refused": return `${open}${GAP}${say(`The server refused this browser: ${detail}`, `服务器拒绝了此浏览器：${detail}`)}`;
  }
}

/** Where a page was installed, the word for it. */
const HERE = matchMedia("(display-mode: standalone)").matches ? say("On in this app.", "已在此应用中开启。") : say("On in this browser.", "已在此浏览器中开启。");

export function Alerts() {
  const session = useSession();
  const [, draw] = useState({});
  const [unserved, setUnserved] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const [said, setSaid] = useState("");
  const now = able(session.me);
  const state = unserved && (now === "on" || now === "off") ? "unserved" : now;
  const on: On | null = load("alerts");
  useEvent<StorageEvent>(window, "storage", (e) => { if (e.key === "chatd.alerts") draw({}); });
  useEffect(() => {
    let permission: PermissionStatus | undefined;
    let shown = true;
    const changed = () => shown && draw({});
    if (able(session.me) !== "never" && able(session.me) !== "install") registered().then((worker) => shown && setUnserved(!worker), () => {}); // by and by
    navigator.permissions?.query({ name: "notifications" }).then((found) => {
      permission = found;
      permission.addEventListener("change", changed);
    }, () => {}); // what it is shows anyway
    return () => {
      shown = false;
      permission?.removeEventListener("change", changed);
    };
  }, []);

  async function attempt(doing: () => Promise<void>, done = ""): Promise<void> {
    setProblem("");
    setSaid("");
    setBusy(true);
    await doing().then(() => setSaid(done), (err) => setProblem(problemOf(err)));
    setBusy(false);
  }
  const test = () => ask({ group: "", id: 0, test: true, title: say("Notifications work", "通知正常"), body: say("New messages look like this.", "新消息会这样显示。"), path: "/me" });
  return (
    <section data-part="alerts" data-state={state}>
      <h2>{say("Notifications", "通知")}</h2>
      {state === "off" && <p class="lead">{say("Get notified of direct messages, mentions and new messages. The bell in each group sets which.", "接收私信、提及和新消息的通知，以各群组的铃铛设置为准。")}</p>}
      {state === "on" && on && <p class="lead">{HERE}{GAP}{reachOf(on)}</p>}
      {state !== "on" && state !== "off" && <p class="lead">{HINTS[state]}</p>}
      <Problem text={problem} />
      {state === "off" && <p class="buttons"><button type="button" class="button" name="alerts-on" disabled={busy} onClick={() => attempt(() => switchOn(session))}>{say("Turn on notifications", "开启通知")}</button></p>}
      {state === "on" && (
        <p class="buttons">
          <button type="button" class="button" name="alerts-test" disabled={busy} onClick={() => attempt(test, say("Sent. If nothing appears, allow notifications of this browser in your system’s settings.", "已发送。如果没有出现，请在系统设置中允许此浏览器的通知。"))}>{say("Test", "测试")}</button>
          <button type="button" class="button" name="alerts-off" disabled={busy} onClick={() => attempt(() => switchOff(session.chat))}>{say("Turn off", "关闭")}</button>
          <span class="quiet said" role="status">{said}</span>
        </p>
      )}
    </section>
  );
}
