import { say } from "../say.ts";

export const SearchPage = ({ q }: { q: string }) => <div class="nothing"><h2>{say("Search", "搜索")} {q}</h2></div>;
