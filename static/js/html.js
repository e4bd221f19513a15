/**
 * The one place that knows the view library. `html` makes elements from template literals; text put into a template is
 * always a text node, so nothing that a person wrote is ever read as markup.
 */
import { Component, Fragment, createContext, h, render } from "../vendor/preact.js";
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(/** @type {any} */ (h));
export { Fragment, createContext, render, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState };

/**
 * Wraps a view so that it is drawn again only when one of its properties is another value than before.
 * @param {(props: any) => any} view
 */
export function memo(view) {
  return class extends Component {
    /** @param {any} next */
    shouldComponentUpdate(next) {
      const now = /** @type {any} */ (this).props;
      const keys = Object.keys(next);
      return keys.length !== Object.keys(now).length || keys.some((k) => next[k] !== now[k]);
    }
    render() {
      return h(view, /** @type {any} */ (this).props);
    }
  };
}
