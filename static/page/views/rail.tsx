/** The ways to what is not in a group: a rail at the side, on a phone a bar at the bottom. */
import type { ComponentChildren } from "preact";
import { useNarrow, useSnapshot } from "../hooks.ts";
import { useOpenItems } from "../inbox.ts";
import { pathOf, type Route } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import type { IconName } from "../ui/icons.ts";
import { Avatar, Icon } from "../ui/parts.tsx";
import { useRoving } from "../ui/roving.ts";

type View = "home" | "inbox" | "threads" | "search" | "scheduled" | "me";

/** Whether there is something to read in threads. */
function ThreadsDot() {
  const count = useSnapshot((s) => s.threads_unread);
  return count > 0 ? <i class="dot" role="img" data-threads={count} aria-label={say("Unread", "未读")} /> : null;
}

/** What the bar of a phone has no room for, above its list. */
export function Ways() {
  const { features } = useSession();
  const way = (to: Route, icon: IconName, label: string, mark?: ComponentChildren) =>
    <a class="icon-button has-dot" data-view={to.view} href={pathOf(to)} aria-label={label} title={label}><Icon name={icon} />{mark}</a>;
  return (
    <>
      {features.includes("search") && way({ view: "search", q: "" }, "search", say("Search", "搜索"))}
      {way({ view: "threads" }, "thread", say("Threads", "消息列"), <ThreadsDot />)}
      {features.includes("schedules") && way({ view: "scheduled" }, "clock", say("Scheduled", "定时消息"))}
    </>
  );
}

export function Rail({ route }: { route: Route }) {
  const { me, features } = useSession();
  const waiting = useOpenItems().length;
  const narrow = useNarrow();
  const slow = useSnapshot((s) => s.connection.phase === "live" && s.connection.by === "poll");
  const roving = useRoving<HTMLElement>();
  const link = (view: View, label: string, inside: ComponentChildren, mark?: ComponentChildren) => (
    <a class={`rail-link has-dot${view === "me" ? " me" : ""}`} data-view={view} href={pathOf(view === "search" ? { view, q: "" } : { view })} title={view === "me" ? me : label}
      aria-current={route.view === view ? "page" : undefined}>
      {inside}<span class="rail-label">{label}</span>{mark}
    </a>
  );
  const icon = (name: IconName) => <Icon name={name} />;
  return (
    <nav class="rail" aria-label={say("Views", "视图")} data-region {...roving}>
      {link("home", say("Home", "首页"), icon("home"))}
      {link("inbox", say("Inbox", "收件箱"), icon("bell"), waiting > 0 && <span class="badge">{waiting > 99 ? "99+" : waiting}</span>)}
      {!narrow && link("threads", say("Threads", "消息列"), icon("thread"), <ThreadsDot />)}
      {!narrow && features.includes("search") && link("search", say("Search", "搜索"), icon("search"))}
      {!narrow && features.includes("schedules") && link("scheduled", say("Scheduled", "定时消息"), icon("clock"))}
      {link("me", say("You", "我"), <span class="rail-face"><Avatar user={me} />{slow && <i class="slow" role="img" aria-label={say("Slow connection", "连接较慢")}
        title={say("Slow connection: websockets do not get through, so messages are asked for instead", "连接较慢：无法使用 WebSocket，改为轮询获取消息")} />}</span>)}
    </nav>
  );
}
