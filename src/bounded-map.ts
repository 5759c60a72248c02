/**
 * A map that drops entries that have not been used for long. It serves lookups that happen on each request, where a
 * library's LRU bookkeeping would cost more than an occasional miss.
 *
 * It has two generations. When the younger is full it becomes the elder, and the old elder is dropped as a whole; an
 * entry found in the elder moves to the younger. Deleting entries one by one would cost more: a Map's iterator walks
 * over deleted entries before it finds the oldest remaining one.
 */
export type BoundedMap<Key, Value> = ReturnType<typeof createBoundedMap<Key, Value>>;

/**
 * @param limit maximum total size of all entries
 * @param sizeOf the size of a value, constant while it is kept; by default each entry counts 1
 * @param dropped called with each value that is evicted or cleared
 */
export function createBoundedMap<Key, Value>(
  limit: number,
  sizeOf: (value: Value) => number = () => 1,
  dropped?: (value: Value) => void,
) {
  const generation = Math.max(1, Math.floor(limit / 2));
  let younger = new Map<Key, Value>();
  let elder = new Map<Key, Value>();
  let [youngerSize, elderSize] = [0, 0];

  /** @param kept a value that stays in the map, though it is not in the younger generation yet */
  function drop(entries: ReadonlyMap<Key, Value>, kept?: Value): void {
    if (dropped === undefined) return;
    for (const [key, value] of entries) if (value !== kept && younger.get(key) !== value) dropped(value);
  }

  function set(key: Key, value: Value): void {
    const before = younger.get(key);
    if (before !== undefined) youngerSize -= sizeOf(before);
    const size = sizeOf(value);
    if (youngerSize + size > generation && younger.size > 0) {
      drop(elder, value);
      elder = younger;
      elderSize = youngerSize;
      younger = new Map();
      youngerSize = 0;
    }
    younger.set(key, value);
    youngerSize += size;
  }
  function get(key: Key): Value | undefined {
    const value = younger.get(key);
    if (value !== undefined) return value;
    const old = elder.get(key);
    if (old !== undefined) set(key, old);
    return old;
  }
  return {
    get,
    /** Returns the value of a key, creating it if there is none. */
    getOrCreate(key: Key, create: (key: Key) => Value): Value {
      const found = get(key);
      if (found !== undefined) return found;
      const value = create(key);
      set(key, value);
      return value;
    },
    set,
    delete(key: Key): void {
      const value = younger.get(key);
      if (value !== undefined) youngerSize -= sizeOf(value);
      const old = elder.get(key);
      if (old !== undefined) elderSize -= sizeOf(old);
      younger.delete(key);
      elder.delete(key);
    },
    clear(): void {
      drop(elder);
      elder = younger;
      younger = new Map();
      drop(elder);
      elder = new Map();
      youngerSize = 0;
      elderSize = 0;
    },
    /** The total size of the entries; an entry that is in both generations counts twice. */
    size: () => youngerSize + elderSize,
  };
}
