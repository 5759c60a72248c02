/** The moments of changes, as rows keep them. */

/**
 * When a change of a row is said to have happened: now, but never before the row's last change. Where the clock
 * says an earlier second than that, because it was set back or another replica's is ahead, it is the beginning of
 * the following second: HTTP dates have whole seconds, and a client may hold the one of the last change already
 * (RFC 9110 §8.8.2.2).
 * @param now epoch milliseconds @param before epoch milliseconds of the row's last change
 */
export function computeChangeMoment(now: number, before: number): number {
  const second = Math.floor(before / 1000);
  return Math.floor(now / 1000) < second ? (second + 1) * 1000 : Math.max(now, before);
}

/** A moment as representations show it. @param moment epoch milliseconds; null where there is none */
export function toIsoDate(moment: number): string;
export function toIsoDate(moment: number | null): string | null;
export function toIsoDate(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString();
}

/** When a row was made and last changed, as representations show it. */
export function toDates(row: { readonly created_at: number; readonly updated_at: number }) {
  return {
    createdAt: toIsoDate(row.created_at),
    updatedAt: toIsoDate(row.updated_at),
  };
}
