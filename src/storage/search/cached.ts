/** What has been found out about words, kept for as long as documents have the words that they had then. */
import { createBoundedMap } from '../../bounded-map.ts';

/**
 * Gives what `make` has made of this key before, or has it made.
 * @param seen another number when words may be others: `SearchReader.seen`
 */
export type CachedWords<Value> = (
  seen: number | undefined,
  key: string,
  make: () => Promise<Value>,
) => Promise<Value>;

/** @param most how many are kept */
export function createCachedWords<Value>(most: number): CachedWords<Value> {
  const cached = createBoundedMap<string, { readonly seen: number; readonly value: Value }>(most);
  return async (seen, key, make) => {
    const known = cached.get(key);
    if (known !== undefined && known.seen === seen) return known.value;
    const value = await make();
    if (seen !== undefined) cached.set(key, { seen, value });
    return value;
  };
}
