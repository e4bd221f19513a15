import { say } from "../say.ts";

export const NewGroup = () => <div class="nothing"><h2>{say("Create group", "新建群组")}</h2></div>;
export const Browse = () => <div class="nothing"><h2>{say("Public groups", "公开群组")}</h2></div>;
