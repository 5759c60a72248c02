/** What has been found out about words, kept for as long as documents have the words that they had then. */
import { LRUCache } from 'lru-cache';
import type { Mark } from '../../storage/search/dialect.ts';

/** Gives what `make` has made of this key before, or has it made. */
export type CachedWords<Value> = (mark: Mark, key: string, make: () => Promise<Value>) => Promise<Value>;

/** @param most how many are kept */
export function cachedWords<Value>(most: number): CachedWords<Value> {
  const cached = new LRUCache<string, Mark & { readonly value: Value }>({ max: most });
  return async ({ version, last }, key, make) => {
    const known = cached.get(key);
    if (known?.version === version && known.last === last) return known.value;
    const value = await make();
    cached.set(key, { version, last, value });
    return value;
  };
}
