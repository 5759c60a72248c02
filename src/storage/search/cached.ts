/** Caches results about words for as long as the words of documents stay the same. */
import { createBoundedMap } from '../../bounded-map.ts';

/**
 * Returns the cached value of a key, or makes it.
 * @param seen changes when words may have changed: `SearchReader.seen`
 */
export type CachedWords<Value> = (
  seen: number | undefined,
  key: string,
  make: () => Promise<Value>,
) => Promise<Value>;

/** @param most how many values are cached */
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
