/** Lifetimes of tokens, in seconds. */

export const accessLifetime = 900;
/** How far the clocks of machines that share a database may differ. */
export const clockSkew = 300;
export const refreshLifetime = 30 * 24 * 60 * 60;
export const refreshIdleLifetime = 7 * 24 * 60 * 60;
