import { say } from "../say.ts";

export const Me = () => <div class="nothing"><h2>{say("Me", "Me")}</h2></div>;
