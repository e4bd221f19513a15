import { Component, h, type ComponentType } from "preact";

/** Wraps a view so that it is drawn again only when one of its properties is another value than before. */
export function memo<P extends object>(view: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const now = this.props as Record<string, unknown>;
      const keys = Object.keys(next);
      return keys.length !== Object.keys(now).length || keys.some((k) => (next as Record<string, unknown>)[k] !== now[k]);
    }
    override render() {
      return h(view, this.props as P);
    }
  };
}
