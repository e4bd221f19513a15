import { say } from "../say.ts";

export const Inbox = () => <div class="nothing"><h2>{say("Inbox", "Inbox")}</h2></div>;
