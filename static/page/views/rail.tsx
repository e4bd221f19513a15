/** The ways to what is not in a group: a rail at the side, on a phone a bar at the bottom. */
import type { ComponentChildren } from "preact";
import { useSnapshot } from "../hooks.ts";
import { useOpenItems } from "../inbox.ts";
import { pathOf, type Route } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import type { IconName } from "../ui/icons.ts";
import { Avatar, Icon } from "../ui/parts.tsx";
import { useRoving } from "../ui/roving.ts";

type View = "home" | "inbox" | "threads" | "search" | "scheduled" | "me";

export function Rail({ route }: { route: Route }) {
  const { me, features } = useSession();
  const waiting = useOpenItems().length;
  const threads = useSnapshot((s) => s.threads_unread);
  const slow = useSnapshot((s) => s.connection.phase === "live" && s.connection.by === "poll");
  const roving = useRoving<HTMLElement>();
  const link = (view: View, label: string, inside: ComponentChildren, count = 0) => (
    <a class={view === "me" ? "rail-link me" : "rail-link"} data-view={view} href={pathOf(view === "search" ? { view, q: "" } : { view })} title={view === "me" ? me : label}
      aria-current={route.view === view ? "page" : undefined}>
      {inside}<span class="rail-label">{label}</span>{count > 0 && (view === "threads" ? <i class="dot" role="img" data-threads={count} aria-label={say("Unread", "未读")} /> : <span class="badge">{count > 99 ? "99+" : count}</span>)}
    </a>
  );
  const icon = (name: IconName) => <Icon name={name} />;
  return (
    <nav class="rail" aria-label={say("Views", "视图")} data-region {...roving}>
      {link("home", say("Home", "首页"), icon("home"))}
      {link("inbox", say("Inbox", "收件箱"), icon("bell"), waiting)}
      {link("threads", say("Threads", "消息列"), icon("thread"), threads)}
      {features.includes("search") && link("search", say("Search", "搜索"), icon("search"))}
      {features.includes("schedules") && link("scheduled", say("Scheduled", "定时消息"), icon("clock"))}
      {link("me", say("You", "我"), <span class="rail-face"><Avatar user={me} />{slow && <i class="slow" role="img" aria-label={say("Slow connection", "连接较慢")}
        title={say("Slow connection: websockets do not get through, so messages are asked for instead", "连接较慢：无法使用 WebSocket，改为轮询获取消息")} />}</span>)}
    </nav>
  );
}
