/** Lifetimes of tokens, in seconds. */

export const accessLifetime = 900;
export const refreshLifetime = 30 * 24 * 60 * 60;
export const refreshIdleLifetime = 7 * 24 * 60 * 60;
