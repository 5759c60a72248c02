/** Types of install.mjs, for type-checked files that import it. */
export const commandEnvironments: Readonly<Record<'serve' | 'import', Readonly<Record<string, string>>>>;
