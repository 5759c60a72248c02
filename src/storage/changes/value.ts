/** One value that is read of a collection, kept until any of the collection changes: for what is small and seldom changed. */
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
    /** As it was at the last check, which is made now. */
    async current(): Promise<Value> {
      await changes.check();
      if (known !== undefined) return known.value;
      const own = reading ?? read();
      reading = own;
      try {
        const value = await own;
        // What has changed meanwhile is read by the next request.
        if (reading === own) known = { value };
        return value;
      } finally {
        if (reading === own) reading = undefined;
      }
    },
    /** The same without a check; undefined when it is not in memory. */
    peek: () => known?.value,
  };
}
