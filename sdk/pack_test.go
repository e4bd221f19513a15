package sdk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/internal/jstest"
	"github.com/chatd/chatd/internal/npm"
)

// consumer is what an application writes. Its types are checked as strictly as TypeScript can.
const consumer = `import { Chatd, ChatdError, SignedOut, memoryStore, type MessageItem, type Store, type TimelineItem, type Wire } from "@chatd/client";
import { fileStore } from "@chatd/client/file";
import { indexedDBStore } from "@chatd/client/indexeddb";
import { ChatdChat, type WidgetEvents, type Words } from "@chatd/client/widget"; // on a server, too

const stores: Store[] = [memoryStore(), fileStore("data"), indexedDBStore({ name: "app" })];
const chat = new Chatd({
  url: "http://localhost:1", user: "ann", store: stores[0]!,
  getToken: async ({ reason, signal }) => {
    if (reason === "refused" && signal.aborted) throw new SignedOut("gone");
    return "token";
  },
});
const group = chat.group("general");
const line = (item: TimelineItem): string => (item.type === "gap" ? "gap" : text(item));
const text = (item: MessageItem): string => item.body ?? item.kind;
export async function calls(): Promise<Wire.SearchPage> {
  const { key, done } = await group.send({ body: "hi", replyTo: 1 });
  await done.catch((err: unknown) => {
    if (err instanceof ChatdError && err.code !== "forbidden") return group.retry(key);
    throw err;
  });
  await chat.schedules.create({ group: "general", body: "later", at: "2027-01-01T00:00:00Z" });
  const later = await (await group.send({ body: "hi", deliverAt: new Date() })).done;
  if ("sent_at" in later ? later.id < 1 : later.state === "failed") throw new Error("later");
  const { members } = await group.members({ limit: 10 });
  return chat.search({ q: members[0]?.user ?? "x" });
}
export const embedded = (words: Partial<Words>): ChatdChat => {
  const element = document.createElement("chatd-chat");
  element.getToken = async () => "token";
  element.words = { ...words, members: (n) => String(n) };
  element.addEventListener("chatd-unread", (e) => console.log((e as CustomEvent<WidgetEvents["chatd-unread"]>).detail.unread));
  return element;
};
if (typeof ChatdChat !== "function") throw new Error("widget");
// @ts-expect-error what is no field of a message
export const wrong = () => group.send({ bodi: "hi" });
// @ts-expect-error a search needs words
export const none = () => chat.search({});
export { chat, line };
`

const run = `import { chat, line } from "./consumer.js";
import { ChatdError } from "@chatd/client";
const { me, groups, connection } = chat.snapshot();
if (groups.length !== 0 || connection.phase !== "off") throw new Error(JSON.stringify({ me, groups, connection }));
if (line({ type: "gap", key: "g", from: 1, to: 2 }) !== "gap") throw new Error("line");
if (!new ChatdError("offline", "").retryable || typeof chat.schedules.list !== "function") throw new Error("exports");
`

// TestPackageInstalls makes the tarball that npm would publish, installs it into a new project, compiles a program against its
// types, and runs that with node.
func TestPackageInstalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"private": true, "type": "module"}`, "src/consumer.ts": consumer, "src/run.ts": run,
		"tsconfig.json": `{"compilerOptions": {"target": "es2022", "module": "nodenext", "lib": ["es2023", "dom"], "types": [], "strict": true,
			"exactOptionalPropertyTypes": true, "noUncheckedIndexedAccess": true, "rootDir": "src", "outDir": "out"}, "include": ["src"]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	npmRun := func(in string, args ...string) {
		t.Helper()
		if err := npm.Run(t.Context(), in, args[0], args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	npmRun("js", "npm", "pack", "--ignore-scripts", "--pack-destination", dir)
	tarballs, err := filepath.Glob(filepath.Join(dir, "chatd-client-*.tgz"))
	if err != nil || len(tarballs) != 1 {
		t.Fatalf("npm pack made %q (%v)", tarballs, err)
	}
	npmRun(dir, "npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarballs[0])
	npmRun(dir, "node", filepath.Join(jstest.Modules(t), "typescript", "bin", "tsc"))
	npmRun(dir, "node", "out/run.js")
	installed := filepath.Join(dir, "node_modules", "@chatd", "client")
	for _, name := range []string{"README.md", "dist/chatd.js", "dist/chatd.js.map", "dist/index.d.ts"} {
		if _, err := os.Stat(filepath.Join(installed, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(installed, "src")); err == nil {
		t.Error("the sources are in the package: its source maps have them")
	}
}
