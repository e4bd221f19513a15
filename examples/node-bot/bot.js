// A bot that answers each text of its groups once, however often it is killed: see README.md.
import { Chatd, ChatdError } from "@chatd/client";
import { fileStore } from "@chatd/client/file";
import WebSocket from "ws"; // Node before 22 has none of its own

const { CHATD_URL = "http://127.0.0.1:8080", CHATD_TOKEN = "", BOT_DATA = "bot-data" } = process.env;

/** What the bot has to say to a message; undefined: nothing. */
const answer = ({ body }) => (body ? `You said: ${body}` : undefined);

/** Is given each entry of the logs until it is fulfilled. */
async function message({ group, id, from, kind, ...rest }) {
  const body = kind === "text" && from !== chat.snapshot().me ? answer(rest) : undefined;
  if (body === undefined) return;
  try {
    // The server takes a key once. Given again after a crash, the message has the same answer, which is there already.
    await chat.request("POST", `/v1/groups/${encodeURIComponent(group)}/messages`, { body, reply_to: id, client_id: `answer-${id}` });
  } catch (err) {
    if (!(err instanceof ChatdError) || err.retryable || err.code === "unauthenticated") throw err; // it is given again, while its group waits
    console.error(`${group} ${id} gets no answer: ${err.detail}`); // the bot may not write there any more, for one
  }
}

const chat = new Chatd({ url: CHATD_URL, getToken: async () => CHATD_TOKEN, store: fileStore(BOT_DATA, { message }), WebSocket });
chat.on("error", () => process.exit(1)); // said by the client
chat.connect();
await chat.ready;
if (!chat.snapshot().stored) process.exit(1); // it would be given nothing
console.log(`${chat.snapshot().me} is ready`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => chat.close());
