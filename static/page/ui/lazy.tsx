/** Views that are loaded when they are first shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { say } from "../say.ts";
import { Problem } from "./problem.tsx";

/** A view of a file of its own. What is loaded once is there at once the next time. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let View: ComponentType<P> | undefined;
  return (props) => {
    const [, draw] = useState(0);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (View) return;
      let shown = true;
      load().then((view) => { View = view; if (shown) draw(1); }, () => shown && setFailed(true));
      return () => { shown = false; };
    }, []);
    if (View) return <View {...props} />;
    return failed ? <Problem text={say("This part of the page could not be loaded. Check your connection and reload the page.", "页面的这一部分无法加载，请检查网络后刷新。")} /> : null;
  };
}
