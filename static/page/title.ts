/** What the tab of the browser shows: its title, and a dot on the icon while something is unread. */
import { useLayoutEffect } from "preact/hooks";
import { titleOf } from "./groups.ts";
import { useSnapshot } from "./hooks.ts";
import { useOpenItems } from "./inbox.ts";
import { usePeople } from "./people.ts";
import type { Route } from "./route.ts";
import { say } from "./say.ts";
import { useSession } from "./session.ts";

const plain = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
const plainHref = plain?.href ?? "";
let dotted = "";

/** The icon with a dot, made from the plain one when it is first needed. */
async function withDot(): Promise<string> {
  if (dotted) return dotted;
  const svg = await (await fetch(plainHref)).text();
  const dot = svg.replace("</svg>", '<circle cx="25" cy="7" r="7" fill="#d33a2c" stroke="#fff" stroke-width="2"/></svg>');
  return (dotted ||= URL.createObjectURL(new Blob([dot], { type: "image/svg+xml" })));
}

/** A view that shows nothing in the page: what changes here draws nothing else. */
export function Title({ route }: { route: Route }): null {
  const { me } = useSession();
  const people = usePeople();
  const waiting = useOpenItems().length;
  const mentions = useSnapshot((s) => s.mentions);
  const unread = useSnapshot((s) => s.unread > 0) || waiting > 0;
  const where = useSnapshot((s) => {
    const group = route.view === "group" ? s.groups.find((g) => g.id === route.group) : undefined;
    return group ? titleOf(group, me, people) : VIEWS[route.view] ?? "";
  });
  const count = Math.max(mentions, waiting);
  const title = `${count > 0 ? `(${count}) ` : unread ? "• " : ""}${where && `${where} · `}chatd`;
  useLayoutEffect(() => { document.title = title; }, [title]);
  useLayoutEffect(() => {
    if (!plain) return;
    let current = true;
    if (!unread) plain.href = plainHref;
    else withDot().then((href) => { if (current) plain.href = href; }, () => {}); // the icon is no reason to complain
    return () => { current = false; };
  }, [unread]);
  return null;
}

const VIEWS: Partial<Record<Route["view"], string>> = {
  inbox: say("Inbox", "收件箱"), search: say("Search", "搜索"), threads: say("Threads", "消息列"), scheduled: say("Scheduled", "定时消息"), me: say("You", "我"),
  new: say("Create group", "新建群组"), browse: say("Public groups", "公开群组"),
};
