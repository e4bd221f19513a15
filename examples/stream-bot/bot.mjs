// Answers each text of its groups with what a language model says, as it says it: what main.go does, for Node.
import { Chatd } from "@chatd/client";
import { write } from "@chatd/client/writing";
import WebSocket from "ws"; // Node before 22 has none of its own

const { CHATD_URL = "http://127.0.0.1:8080", CHATD_TOKEN = "", MODEL_URL = "http://127.0.0.1:11434/v1", MODEL_NAME = "llama3.2", MODEL_KEY = "" } = process.env;

/** What the model says to a text, piece by piece. */
async function* ask(text, signal) {
  const headers = { "content-type": "application/json", ...(MODEL_KEY && { authorization: `Bearer ${MODEL_KEY}` }) };
  const body = JSON.stringify({ model: MODEL_NAME, stream: true, messages: [{ role: "user", content: text }] });
  const res = await fetch(`${MODEL_URL}/chat/completions`, { method: "POST", headers, body, signal });
  if (!res.ok) throw new Error(`the model answers ${res.status}`);
  let rest = "";
  for await (const chunk of res.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const data = line.startsWith("data:") ? line.slice(5).trim() : "";
      if (data && data !== "[DONE]") yield JSON.parse(data).choices[0]?.delta?.content ?? "";
    }
  }
}

async function answer({ group, id, body }) {
  const message = await write({ url: CHATD_URL, token: CHATD_TOKEN }, group, { reply_to: id });
  try {
    for await (const piece of ask(body, message.cancelled)) message.write(piece);
  } catch (err) {
    if (!message.cancelled.aborted) message.write(" (The model gave no answer.)");
    console.error(err.message);
  }
  await message.close();
}

const chat = new Chatd({ url: CHATD_URL, getToken: async () => CHATD_TOKEN, WebSocket });
chat.on("message", (m) => {
  if (m.kind === "text" && m.from !== chat.snapshot().me && m.body) answer(m).catch((err) => console.error(err.message));
});
chat.on("error", () => process.exit(1)); // said by the client
chat.connect();
await chat.ready;
console.log(`${chat.snapshot().me} is ready`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => chat.close());
