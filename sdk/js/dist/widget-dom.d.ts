/** The few things that the widget needs to make elements: no markup is ever parsed, so nothing that a message says becomes any. */
type Attributes = {
    [name: string]: unknown;
};
type Child = Node | string | null | false | undefined;
/** An element with attributes, and listeners for what begins with "on". */
export declare function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes?: Attributes, ...children: Child[]): HTMLElementTagNameMap[K];
/** A button with an icon and no text but for who cannot see it. */
export declare const iconButton: (name: Icon, label: string, onclick: (e: Event) => void, attributes?: Attributes) => HTMLButtonElement;
/** Sets an attribute, or removes it for false, null and undefined. */
export declare function set(element: Element, name: string, value: unknown): void;
export declare function say(element: Element, text: string): void;
declare const ICONS: {
    back: string;
    chat: string;
    clock: string;
    close: string;
    down: string;
    edit: string;
    file: string;
    offline: string;
    react: string;
    remove: string;
    reply: string;
    send: string;
    warn: string;
};
export type Icon = keyof typeof ICONS;
export declare function icon(name: Icon): SVGElement;
/** Letters on a colour: the letters by the name, the colour by the id, which stays. */
export declare function avatar(id: string, name: string): HTMLElement;
/** A text with its addresses as links: of the web only, and without telling the other site of this page. */
export declare function linked(text: string): (Node | string)[];
export {};
