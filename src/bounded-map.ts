/**
 * A map that forgets what has not been used for long: for what each request looks up, where a library's
 * bookkeeping of recent use would cost more than an occasional miss.
 *
 * It has two generations. When the younger is full it becomes the elder, and the elder is dropped as a whole;
 * what is found in the elder moves to the younger. Deleting entries one by one would cost more: a Map's
 * iterator walks over what was deleted before it finds the oldest that is left.
 */
export type BoundedMap<Key, Value> = ReturnType<typeof createBoundedMap<Key, Value>>;

/**
 * @param limit what all entries may add up to
 * @param sizeOf what one adds, as long as it is kept; without it entries are counted
 * @param dropped called with what is kept no longer because others are, or by `clear`
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

  /** @param kept what goes on to be kept, though it is not in the younger generation yet */
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
    /** The value of a key; where there is none, that which is made now. */
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
    /** What the entries at present add up to; one that is in both generations counts twice. */
    size: () => youngerSize + elderSize,
  };
}
