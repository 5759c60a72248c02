/** Types of install.mjs, for what imports it and is checked. */
export const commandEnvironments: Readonly<Record<'serve' | 'import', Readonly<Record<string, string>>>>;
