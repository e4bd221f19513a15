/** The shell: rail, list of groups, the view of the route, and what is open beside it. */
import { useRef, useState } from "preact/hooks";
import { useNarrow } from "./hooks.ts";
import { useInboxAcks } from "./inbox.ts";
import { useKeys } from "./keys.ts";
import { close, ownsId, useRoute, type Route } from "./route.ts";
import { load } from "./saved.ts";
import { say } from "./say.ts";
import { Title } from "./title.ts";
import { lazy } from "./ui/lazy.tsx";
import { BehindGate } from "./views/behind-gate.tsx";
import { LinkState } from "./views/link.tsx";
import { Rail } from "./views/rail.tsx";
import { Sidebar } from "./views/sidebar.tsx";
import { Conversation } from "./views/conversation.tsx";
import { Me } from "./views/me.tsx";
import { Browse, NewGroup } from "./views/newgroup.tsx";
import { PanelOf } from "./views/panel.tsx";
import { Direct } from "./views/direct.tsx";

const Switcher = lazy(() => import("./views/switcher.tsx").then((m) => m.Switcher));
const Shortcuts = lazy(() => import("./views/switcher.tsx").then((m) => m.Shortcuts));
const Home = lazy(() => import("./views/places.tsx").then((m) => m.Home));
const Inbox = lazy(() => import("./views/places.tsx").then((m) => m.Inbox));
const Invited = lazy(() => import("./views/places.tsx").then((m) => m.Invited), () => null);
const Threads = lazy(() => import("./views/threads.tsx").then((m) => m.Threads));
const Scheduled = lazy(() => import("./views/places.tsx").then((m) => m.Scheduled));
const SearchPage = lazy(() => import("./views/search.tsx").then((m) => m.SearchPage));

export function App() {
  const route = useRoute();
  useInboxAcks();
  const [over, setOver] = useKeys();
  const closeOver = () => setOver(null);
  const [invited] = useState(() => !!load("invite"));
  const panel = route.view === "group" ? route.panel : undefined;
  // On a narrow screen: which of list and pane is shown.
  const at = route.view === "home" ? "list" : route.view === "group" ? "group" : "view";
  const narrow = useNarrow();
  return (
    <>
      <Title route={route} />
      <a class="skip" href="#main" data-native onClick={(e) => { e.preventDefault(); (document.querySelector<HTMLElement>(".write textarea") ?? document.getElementById("main"))?.focus(); }}>
        {say("Skip to messages", "跳到消息")}</a>
      <div class="app" data-at={at} data-panel={panel}>
        <Rail route={route} />
        <Sidebar open={route.view === "group" ? route.group : ""} alone={narrow && at === "list"} />
        <main id="main" class="pane" tabIndex={-1} data-region>
          <LinkState />
          <View route={route} />
        </main>
        {route.view === "group" && panel && (
          <PanelOf key={`${route.group} ${panel} ${route.root ?? ""} ${panel === "receipts" ? route.id : ""}`} group={route.group} panel={panel} id={route.id} root={route.root}
            onClose={() => close(beneath(route))} />
        )}
      </div>
      {invited && <Invited />}
      <BehindGate />
      {over === "switcher" && <Switcher onClose={closeOver} onOver={setOver} />}
      {over === "shortcuts" && <Shortcuts onClose={closeOver} />}
    </>
  );
}

/** A group without its panel; the message of that is no place in the conversation. */
const beneath = ({ group, id, panel }: Extract<Route, { view: "group" }>): Route => ({ view: "group", group, ...(id && !ownsId(panel) && { id }) });

function View({ route }: { route: Route }) {
  const shown = useRef<Route>(route);
  // Receipts and threads are about a message and leave the conversation where it is.
  const stays = route.view === "group" && ownsId(route.panel) && shown.current.view === "group" && shown.current.group === route.group;
  if (!stays) shown.current = route.view === "group" ? beneath(route) : route;
  switch (route.view) {
    case "group": return <Conversation key={route.group} group={route.group} at={(shown.current as { id?: number }).id} />;
    case "inbox": return <Inbox />;
    case "search": return <SearchPage q={route.q} />;
    case "threads": return <Threads />;
    case "scheduled": return <Scheduled />;
    case "me": return <Me />;
    case "new": return <NewGroup />;
    case "browse": return <Browse />;
    case "direct": return <Direct user={route.user} />;
    default: return <Home />;
  }
}
