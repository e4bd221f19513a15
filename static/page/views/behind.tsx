/** Behind the scenes: what crosses the wire, where the cursors stand, and switches that break the network. For developers and operators. */
import "../whole.ts";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { codeOf, isPong } from "../behind.ts";
import { useEvent, useSnapshot, useSyncExternal } from "../hooks.ts";
import { useRoute } from "../route.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Icon, IconButton } from "../ui/parts.tsx";
import { type Entry, type Faults, entriesNow, faultsNow, onWire, setFaults } from "../wire.ts";

const HEIGHT_PX = 300;
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

export function Behind({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLElement>(null);
  // The page makes room for it, so that the conversation stays whole beside it.
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    style.setProperty("--drawer", `${Math.min(HEIGHT_PX, innerHeight * 0.45)}px`);
    ref.current?.focus({ preventScroll: true });
    return () => void style.removeProperty("--drawer");
  }, []);
  useEvent<KeyboardEvent>(document, "keydown", (e) => {
    if (e.key === "Escape" && ref.current?.contains(document.activeElement)) {
      e.preventDefault();
      onClose();
    }
  });
  return (
    <section ref={ref} class="behind" tabIndex={-1} aria-label={say("Behind the scenes", "幕后")}>
      <header class="behind-head">
        <Icon name="pulse" /><h2>{say("Behind the scenes", "幕后")}</h2>
        <Switches />
        <IconButton icon="close" label={say("Close", "关闭")} onClick={onClose} />
      </header>
      <div class="behind-body"><Wire /><Standing /></div>
    </section>
  );
}

function Switches() {
  const faults = useSyncExternal(onWire, faultsNow);
  const toggle = (name: keyof Faults, label: string) => (
    <label class="switch"><input type="checkbox" name={name} checked={faults[name]} onChange={(e) => setFaults({ [name]: e.currentTarget.checked })} /><span>{label}</span></label>
  );
  return (
    <div class="switches" role="group" aria-label={say("Break the network", "制造网络故障")}>
      {toggle("cut", say("Cut the connection", "切断连接"))}
      {toggle("lose", say("Lose every third answer", "每三个应答丢失一个"))}
      {toggle("refuse", say("Refuse websockets", "拒绝 WebSocket"))}
    </div>
  );
}

/** The frames, the newest first; they stand still while one is read. */
function Wire() {
  const entries = useSyncExternal(onWire, entriesNow);
  const [paused, setPaused] = useState<readonly Entry[] | null>(null);
  const shown = paused ?? entries;
  const missed = paused ? (entries.at(-1)?.n ?? 0) - (paused.at(-1)?.n ?? 0) : 0;
  return (
    <div class="wire">
      <p class="wire-head">
        <strong>{say("On the wire", "网络数据")}</strong>
        <button type="button" class="text-button" aria-pressed={paused !== null} onClick={() => setPaused(paused ? null : entries)}>
          {paused ? `${say("Go on", "继续")}${missed > 0 ? ` · ${missed}` : ""}` : say("Hold", "暂停")}</button>
      </p>
      <ol>{shown.toReversed().slice(0, 100).map((e) => <Frame key={e.n} entry={e} />)}</ol>
    </div>
  );
}

function Frame({ entry: e }: { entry: Entry }) {
  const { toast } = useSession();
  const code = codeOf(e);
  const copy = () => navigator.clipboard.writeText(code).then(() => toast(say("Copied.", "已复制。")), () => toast(say("The browser didn’t allow copying.", "浏览器不允许复制。"), { bad: true }));
  return (
    <li class="frame" data-way={e.way} data-what={e.what}>
      <details>
        <summary>
          <time dateTime={new Date(e.at).toISOString()}>{clock.format(e.at)}</time>
          <span class="way" aria-label={e.way === "out" ? say("sent", "发送") : e.way === "in" ? say("received", "接收") : say("connection", "连接")}>{e.way === "out" ? "↑" : e.way === "in" ? "↓" : "×"}</span>
          <b>{e.what}</b><span class="frame-text">{isPong(e) ? say("Any answer to a ping will do: the wire is alive.", "ping 得到任何应答都说明连接正常。") : e.text}</span>
        </summary>
        {e.text && <pre>{pretty(e.text)}</pre>}
      </details>
      {code && <p class="code-line"><code>{code}</code><IconButton icon="copy" label={say("Copy", "复制")} onClick={copy} /></p>}
    </li>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Where everything stands: the connection, the cursors of the group that is open, what waits. */
function Standing() {
  const { me } = useSession();
  const route = useRoute();
  const connection = useSnapshot((s) => s.connection);
  const queued = useSnapshot((s) => s.queued);
  const failed = useSnapshot((s) => s.failed);
  const stored = useSnapshot((s) => s.stored);
  const group = useSnapshot((s) => (route.view === "group" ? s.groups.find((g) => g.id === route.group) : undefined));
  const rows: [string, string, string][] = [
    ["me", say("Person", "用户"), me],
    ["phase", say("Connection", "连接"), connection.phase === "live" ? transport(connection.by) : connection.phase],
    ...(connection.phase === "waiting" ? [["retry", say("Next attempt", "下次重试"), clock.format(connection.retryAt)] as [string, string, string]] : []),
    ["queued", say("Outbox", "发件箱"), counted(queued, "message waits", "messages wait", "条等待发送")],
    ["failed", say("Refused", "被拒绝"), String(failed)],
    ["stored", say("Kept over a reload", "刷新后保留"), stored ? "IndexedDB" : say("no", "否")],
    ...(group ? ([
      ["epoch", "epoch", group.epoch], ["first", "first", String(group.first)], ["last", "last", String(group.last)], ["seen", "seen", String(group.seen)],
      ["read", "read", String(group.read)], ["unread", "unread", String(group.unread)],
    ] as [string, string, string][]) : []),
  ];
  return (
    <section class="standing" tabIndex={0} aria-label={say("State", "状态")}>
      <dl>{rows.map(([name, label, value]) => <div key={name} data-name={name}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>
    </section>
  );
}

function transport(by: "websocket" | "poll" | "tab"): string {
  switch (by) {
    case "websocket": return say("live · websocket", "在线 · WebSocket");
    case "poll": return say("live · long poll", "在线 · 长轮询");
    case "tab": return say("live · held by another tab of yours", "在线 · 由您的另一个标签页保持");
  }
}
