/** Reminders: messages to oneself, to be sent later, whose data names the message that they are about. */
import type { Json } from "@chatd/client";

export type Reminder = { readonly group: string; readonly id: number };

/** What a direct message of a person to themselves reminds of; null: it is none. */
export function reminderOf(to: string | undefined, from: string | undefined, data: Json | undefined): Reminder | null {
  if (!from || to !== from || typeof data !== "object" || data === null || Array.isArray(data)) return null;
  const { type, group, id } = data;
  return type === "reminder" && typeof group === "string" && group !== "" && Number.isSafeInteger(id) && (id as number) > 0 ? { group, id: id as number } : null;
}
