/** Names those who should read a message. */
import { useState } from "preact/hooks";
import { say } from "../say.ts";
import { nobody, PeopleField, usersOf } from "../ui/people-field.tsx";

export function Readers({ author, onUsers }: { author: string; onUsers: (users: readonly string[]) => void }) {
  const [value, setValue] = useState(nobody);
  return <PeopleField label={say("People", "人员")} name="readers" value={value} onValue={(next) => { setValue(next); onUsers(usersOf(next)); }} except={(u) => u === author} placeholder={say("Name or username", "姓名或用户名")} />;
}
