/**
 * A map that forgets what was put in first once it is full: for what each request looks up, where a library's
 * bookkeeping of recent use would cost more than an occasional miss.
 */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
}

/** @param limit entries at most */
export function boundedMap<Key, Value>(limit: number): BoundedMap<Key, Value> {
  const entries = new Map<Key, Value>();
  return {
    get: key => entries.get(key),
    set(key, value) {
      if (entries.size >= limit && !entries.has(key)) {
        for (const oldest of entries.keys()) {
          entries.delete(oldest);
          break;
        }
      }
      entries.set(key, value);
    },
  };
}
