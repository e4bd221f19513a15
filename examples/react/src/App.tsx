import { Chatd } from "@chatd/client";
import { indexedDBStore } from "@chatd/client/indexeddb";
import { ChatdProvider, useConnection, useGroups, useRead, useSend, useTimeline } from "@chatd/react";
import { useState } from "react";

const chat = new Chatd({ url: "http://127.0.0.1:8080", getToken: async () => location.hash.slice(1), store: indexedDBStore() });

export default function App() {
  const [group, setGroup] = useState("");
  return <ChatdProvider chat={chat}><Groups group={group} open={setGroup} />{group && <Messages key={group} group={group} />}</ChatdProvider>;
}

function Groups({ group, open }: { group: string; open: (id: string) => void }) {
  const create = async (form: FormData) => open((await chat.create({ name: String(form.get("name")), members: ["alice", "bob"] })).id);
  return <nav>
    {useGroups().map(({ id, name, unread }) => <button key={id} disabled={id === group} onClick={() => open(id)}>{name || id} {unread || ""}</button>)}
    <form action={create}><input name="name" placeholder="New group" required /></form><small>{useConnection().phase}</small>
  </nav>;
}

function Messages({ group }: { group: string }) {
  const { items, before, loadBefore } = useTimeline(group), send = useSend(group);
  useRead(group, items.findLast((m) => m.state === "sent")?.id);
  const lines = items.map((m) => <p key={m.key}>{m.type === "gap" ? "Messages are missing here." : <><b>{m.user ?? m.from}</b> {m.body ?? m.notice ?? m.kind} {m.state !== "sent" && <i>{m.state}</i>}</>}</p>);
  return <main>
    <section><div>{before === "more" && <button onClick={loadBefore}>Earlier</button>}{lines}</div></section>
    <form action={(form) => void send(String(form.get("body")))}><input name="body" placeholder="Message" required autoComplete="off" /></form>
  </main>;
}
