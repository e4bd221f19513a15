import { say } from "../say.ts";

export const Scheduled = () => <div class="nothing"><h2>{say("Scheduled", "Scheduled")}</h2></div>;
