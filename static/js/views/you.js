/** The person who is signed in. */
import { html, say, Sheet } from "../app.js";
import { Devices } from "./devices.js";
import { Profile } from "./profile.js";

/** @param {any} props */
export const You = ({ state, actions, onClose }) => html`
  <${Sheet} title=${say("You", "我")} side onClose=${onClose}>
    <${Profile} state=${state} actions=${actions} />
    <${Devices} state=${state} actions=${actions} />
  </${Sheet}>`;
