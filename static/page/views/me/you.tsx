/** Oneself: what others see, how the page looks, where one is signed in, and one's data. */
import { say } from "../../say.ts";
import { leave } from "../../leave.ts";
import { useSession } from "../../session.ts";
import { Icon } from "../../ui/parts.tsx";
import { useOperator } from "../behind-gate.tsx";
import { Head } from "../create.tsx";
import { Alerts } from "./alerts.tsx";
import { Blocked } from "./blocked.tsx";
import { Devices } from "./devices.tsx";
import { Looks } from "./looks.tsx";
import { Own } from "./own.tsx";
import { Profile } from "./profile.tsx";

export function You() {
  const session = useSession();
  return (
    <>
      <Head title={say("You", "我")}>
        {useOperator() && <a class="button" data-way="admin" href="/admin"><Icon name="shield" />{say("Administration", "管理")}</a>}
      </Head>
      <div class="pane-body">
        <div class="column me-parts">
          <Profile />
          <Looks />
          <Alerts />
          <Blocked />
          <Devices />
          <Own />
          <section>
            <p class="buttons"><button type="button" class="button" name="sign-out" onClick={() => leave(session)}>{say("Sign out", "退出登录")}</button></p>
            <small>{say("What is kept of you in this browser is deleted, also messages that wait to be sent.", "此浏览器中保存的内容将被删除，包括等待发送的消息。")}</small>
          </section>
        </div>
      </div>
    </>
  );
}
