import { Chatd } from "https://chat.example.com/sdk/VERSION/chatd.js";

const getToken = async () => (await fetch("/token")).text(); // of the backend of this page
const chat = new Chatd({ url: "https://chat.example.com", getToken });
chat.subscribe(() => {
  document.getElementById("phase").textContent = chat.state.phase;
});
chat.connect();
await chat.ready;

const group = chat.group("general");
const timeline = group.timeline({ at: "end" });
timeline.subscribe(() => {
  document.getElementById("lines").replaceChildren(...timeline.snapshot().items.map((item) => {
    const line = document.createElement("li");
    line.textContent = item.type === "gap" ? "Messages are missing here." : `${item.user ?? item.from}: ${item.body ?? item.notice ?? item.kind}`;
    if (item.type !== "gap" && item.state !== "sent") line.append(` (${item.state})`);
    return line;
  }));
});
document.getElementById("write").addEventListener("submit", (event) => {
  event.preventDefault();
  void group.send({ body: event.target.elements.body.value });
  event.target.reset();
});
