/** The shell: rail, list of groups, the view of the route, and what is open beside it. */
import { useLayoutEffect } from "preact/hooks";
import { go, groupPath, openPanel, close, pathOf, useRoute, type Route } from "./route.ts";
import { useSnapshot } from "./hooks.ts";
import { usePeople } from "./people.ts";
import { titleOf } from "./groups.ts";
import { say } from "./say.ts";
import { useSession } from "./session.ts";
import { Avatar, Icon } from "./ui/parts.tsx";
import type { IconName } from "./ui/icons.ts";
import { Invited } from "./views/invited.tsx";
import { LinkState } from "./views/link.tsx";
import { Sidebar } from "./views/sidebar.tsx";
import { Conversation } from "./views/conversation.tsx";
import { Home } from "./views/home.tsx";
import { Inbox } from "./views/inbox.tsx";
import { SearchPage } from "./views/search.tsx";
import { Scheduled } from "./views/scheduled.tsx";
import { Me } from "./views/me.tsx";
import { Browse, NewGroup } from "./views/newgroup.tsx";
import { PanelOf } from "./views/panel.tsx";
import { Direct } from "./views/direct.tsx";

export function App() {
  const route = useRoute();
  useTitle(route);
  const panel = route.view === "group" ? route.panel : undefined;
  // On a narrow screen: which of list and pane is shown.
  const at = route.view === "home" ? "list" : route.view === "group" ? "group" : "view";
  return (
    <>
      <a class="skip" href="#main" data-native onClick={(e) => { e.preventDefault(); document.querySelector<HTMLElement>(".write textarea, #main")?.focus(); }}>
        {say("Skip to messages", "跳到消息")}</a>
      <div class="app" data-at={at} data-panel={panel}>
        <Rail route={route} />
        <Sidebar open={route.view === "group" ? route.group : ""} />
        <main id="main" class="pane" tabIndex={-1}>
          <LinkState />
          <View route={route} />
        </main>
        {route.view === "group" && panel && (
          <PanelOf key={`${route.group} ${panel} ${panel === "receipts" ? route.id : ""}`} group={route.group} panel={panel} id={route.id}
            onClose={() => close({ view: "group", group: route.group })} />
        )}
      </div>
      <Invited />
    </>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "group": return <Conversation key={route.group} group={route.group} at={route.panel === "receipts" ? undefined : route.id} />;
    case "inbox": return <Inbox />;
    case "search": return <SearchPage q={route.q} />;
    case "scheduled": return <Scheduled />;
    case "me": return <Me />;
    case "new": return <NewGroup />;
    case "browse": return <Browse />;
    case "direct": return <Direct user={route.user} />;
    default: return <Home />;
  }
}

function Rail({ route }: { route: Route }) {
  const { me } = useSession();
  const waiting = useSnapshot((s) => s.inbox.items.length);
  const link = (view: "home" | "inbox" | "scheduled", icon: IconName, label: string, count = 0) => (
    <a class="rail-link" data-view={view} href={pathOf({ view })} aria-current={route.view === view ? "page" : undefined} aria-label={label} title={label}>
      <Icon name={icon} />{count > 0 && <span class="badge">{count > 99 ? "99+" : count}</span>}
    </a>
  );
  return (
    <nav class="rail" aria-label="chatd">
      {link("home", "home", say("Home", "首页"))}
      {link("inbox", "bell", say("Inbox", "收件箱"), waiting)}
      {link("scheduled", "clock", say("Scheduled", "定时消息"))}
      <a class="rail-link me" data-view="me" href={pathOf({ view: "me" })} aria-current={route.view === "me" ? "page" : undefined} aria-label={say("You", "我")} title={me}>
        <Avatar user={me} /></a>
    </nav>
  );
}

/** What the tab of the browser says: mentions and what waits in the inbox first, then where one is. */
function useTitle(route: Route): void {
  const { me } = useSession();
  const people = usePeople();
  const title = useSnapshot((s) => {
    const group = route.view === "group" ? s.groups.find((g) => g.id === route.group) : undefined;
    const count = s.mentions + s.inbox.items.length;
    return `${count > 0 ? `(${count}) ` : s.unread > 0 ? "• " : ""}${group ? `${titleOf(group, me, people)} · ` : ""}chatd`;
  });
  useLayoutEffect(() => { document.title = title; }, [title]);
}

export { go, groupPath, openPanel };
