/** Types of install.mjs, for what imports it and is checked. */
export const serviceEnvironment: Readonly<Record<string, string>>;
