/** Caches one value of a collection until anything in the collection changes: for small values that seldom change. */
import type { Changes, Collection } from './change.ts';

export function createFollowedValue<Value>(
  changes: Changes,
  collection: Collection,
  read: () => Promise<Value>,
) {
  let known: { readonly value: Value } | undefined;
  let reading: Promise<Value> | undefined;
  changes.follow(collection, () => {
    known = undefined;
    reading = undefined;
  });
  return {
    /** The value as of a check that is made now. */
    async current(): Promise<Value> {
      await changes.check();
      if (known !== undefined) return known.value;
      const own = reading ?? read();
      reading = own;
      try {
        const value = await own;
        // If the collection has changed during the read, the next request reads the value again.
        if (reading === own) known = { value };
        return value;
      } finally {
        if (reading === own) reading = undefined;
      }
    },
    /** The value as of the last check; undefined when it is not cached. */
    peek: () => known?.value,
  };
}
