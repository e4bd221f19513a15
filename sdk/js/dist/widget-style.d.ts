export declare function style(): CSSStyleSheet;
