// A reader in English at a wide screen, for modules that ask the browser about such things. Import it before them.
globalThis.navigator ??= { language: "en" };
globalThis.location = new URL("http://localhost/");
globalThis.addEventListener = () => {};
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
