/**
 * A map that forgets what has not been used for long: for what each request looks up, where a library's
 * bookkeeping of recent use would cost more than an occasional miss.
 *
 * It has two generations. When the younger is full it becomes the elder, and the elder is dropped as a whole;
 * what is found in the elder moves to the younger. Deleting entries one by one would cost more: a Map's
 * iterator walks over what was deleted before it finds the oldest that is left.
 */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  /** Entries at present; one that is in both generations counts twice. */
  size(): number;
}

/** @param limit entries at most */
export function boundedMap<Key, Value>(limit: number): BoundedMap<Key, Value> {
  const generation = Math.max(1, Math.floor(limit / 2));
  let younger = new Map<Key, Value>();
  let elder = new Map<Key, Value>();

  function set(key: Key, value: Value): void {
    if (younger.size >= generation && !younger.has(key)) {
      elder = younger;
      younger = new Map();
    }
    younger.set(key, value);
  }
  return {
    get(key) {
      const value = younger.get(key);
      if (value !== undefined) return value;
      const old = elder.get(key);
      if (old !== undefined) set(key, old);
      return old;
    },
    set,
    size: () => younger.size + elder.size,
  };
}
