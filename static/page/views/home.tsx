import { say } from "../say.ts";

export const Home = () => <div class="nothing"><h2>{say("Home", "Home")}</h2></div>;
