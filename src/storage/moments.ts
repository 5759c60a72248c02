/** The times of changes, as rows store them and representations show them. */

/**
 * The time to store for a change of a row: now, but never before the row's last change. If the clock shows an earlier
 * second than the last change, because it was set back or another replica's clock is ahead, it is the start of the
 * second after that change: HTTP dates have whole seconds, and a client may already hold the date of the last change
 * (RFC 9110 §8.8.2.2).
 * @param now epoch milliseconds @param before epoch milliseconds of the row's last change
 */
export function computeChangeMoment(now: number, before: number): number {
  const second = Math.floor(before / 1000);
  return Math.floor(now / 1000) < second ? (second + 1) * 1000 : Math.max(now, before);
}

/** A time as representations show it. @param moment epoch milliseconds; null where there is none */
export function toIsoDate(moment: number): string;
export function toIsoDate(moment: number | null): string | null;
export function toIsoDate(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString();
}

/** The times when a row was created and last changed, as representations show them. */
export function toDates(row: { readonly created_at: number; readonly updated_at: number }) {
  return {
    createdAt: toIsoDate(row.created_at),
    updatedAt: toIsoDate(row.updated_at),
  };
}
