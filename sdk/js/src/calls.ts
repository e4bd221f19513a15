import { type ChatCalls, type GroupCalls, chatCalls, groupCalls } from "./calls.gen.js";
import type { Http } from "./parts.js";

/** The calls of a table: name, method and path, where {} are the first arguments; the last one is the query or the body. */
function bound(http: Http, table: string, prefix: string): any {
  const all: any = {};
  for (const line of table.split("|")) {
    const [name, method, path] = line.split(" ") as [string, string, string];
    const [outer, inner] = name.split(".") as [string, string?];
    const call = (...args: any[]) => {
      const to = prefix + path.replace(/{}/g, () => encodeURIComponent(args.shift()));
      const [given] = args;
      if (method !== "GET") return http.request(method, to, { body: given });
      const query = String(new URLSearchParams(Object.entries(given ?? {}).filter(([, v]) => v !== undefined) as [string, string][]));
      return http.request(method, query ? `${to}?${query}` : to);
    };
    if (inner) (all[outer] ??= {})[inner] = call;
    else all[outer] = call;
  }
  return all;
}

export const callsOf = (http: Http): ChatCalls => bound(http, chatCalls, "");
export const callsOfGroup = (http: Http, group: string): GroupCalls => bound(http, groupCalls, `/v1/groups/${encodeURIComponent(group)}`);
