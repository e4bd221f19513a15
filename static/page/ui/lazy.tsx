/** Views that are loaded when they are first shown. */
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { say } from "../say.ts";

/** A view of a file of its own. What is loaded once is there at once the next time. Where there is a view for the meantime, that stays if it cannot be loaded. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>, meanwhile?: (props: P) => ComponentChildren): ComponentType<P> {
  let View: ComponentType<P> | undefined;
  return (props) => {
    const [tries, setTries] = useState(0);
    const [failed, setFailed] = useState(-1); // the last try that was in vain
    const [, draw] = useState(0);
    useEffect(() => {
      if (View) return;
      let shown = true;
      load().then((view) => { View = view; if (shown) draw(1); }, () => shown && setFailed(tries));
      return () => { shown = false; };
    }, [tries]);
    if (View) return <View {...props} />;
    if (meanwhile) return <>{meanwhile(props)}</>;
    return failed < tries ? null : (
      <p class="problem" role="alert">{say("This part of the page could not be loaded. Check your connection.", "页面的这一部分无法加载，请检查网络。")}{" "}
        <button type="button" class="text-button" onClick={() => setTries(tries + 1)}>{say("Try again", "重试")}</button></p>
    );
  };
}
