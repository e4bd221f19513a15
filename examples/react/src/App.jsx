import { Chatd } from "@chatd/client";
import { indexedDBStore } from "@chatd/client/indexeddb";
import { ChatdProvider, useChatd, useConnection, useGroups, useSend, useTimeline } from "@chatd/react";
import { useEffect, useState } from "react";

const getToken = async () => (await fetch("/token")).text();
const chat = new Chatd({ url: import.meta.env.VITE_CHATD ?? "http://127.0.0.1:8080", getToken, store: indexedDBStore() });

export default () => <ChatdProvider chat={chat}><Groups /></ChatdProvider>;

function Groups() {
  const [group, setGroup] = useState(), { phase } = useConnection();
  const all = useGroups().map((g) => <button key={g.id} onClick={() => setGroup(g.id)}>{g.name || g.id} {g.unread || ""}</button>);
  return <><p>{phase}</p>{all}{group && <Messages key={group} group={group} />}</>;
}

function Messages({ group }) {
  const { items, before, loadBefore } = useTimeline(group), send = useSend(group), chat = useChatd();
  const last = items.findLast((item) => item.state === "sent")?.id;
  useEffect(() => void (last && chat.group(group).read(last)), [chat, group, last]);
  return <>
    {before === "more" && <button onClick={loadBefore}>Earlier</button>}
    {items.map((m) => <p key={m.key}>{m.type === "gap" ? "Messages are missing here." : `${m.from}: ${m.body ?? m.kind} ${m.state === "sent" ? "" : m.state}`}</p>)}
    <form action={(form) => send(form.get("body"))}><input name="body" required autoComplete="off" /><button>Send</button></form>
  </>;
}
