/**
 * Caches the totals of lists, and the keys before pages that were read, as of the last check for changes: a change is
 * added to the totals that it concerns, and removes the keys that it may have moved.
 */
import { LRUCache } from 'lru-cache';
import type { Change, Changes, Collection } from '../changes/change.ts';
import { type Concerned, compareKeys, createListIndex, selectComparable } from './affected.ts';
import type { Key, ListedAt, ListRequest, Positioned } from './request.ts';

export interface ListPositions extends Pick<ListRequest, 'conditions' | 'order'> {
  total: number;
  /** offset → key of the row before it */
  readonly anchors: Map<number, Key>;
}

export type ListPositionCache = ReturnType<typeof createListPositionCache>;

/** With `anchorsPerList`, lists take at most some 10 MB. */
const listsLimit = 500;
const anchorsPerList = 256;

export function createListPositionCache(changes: Changes, collection: Collection) {
  const index = createListIndex<ListPositions>(collection);
  const lists = new LRUCache<string, ListPositions>({
    max: listsLimit,
    dispose: list => index.delete(list),
  });
  changes.follow(collection, committed => {
    const all = selectComparable(committed, lists.size);
    if (all === undefined) lists.clear();
    for (const change of all ?? []) for (const one of index.concerned(change)) applyChange(one, change);
  });
  return {
    get: (name: string) => lists.get(name),
    /** Caches a list that was read in the state of a version, if that is the version of the last check. */
    keep(name: string, list: ListPositions, version: number): void {
      if (version === changes.version(collection)) {
        lists.set(name, list);
        index.add(list);
        return;
      }
      // The version may be newer than the last check: checks, so that the next list can be cached.
      changes.check()?.catch(() => undefined);
    },
  };
}

export function buildListKey({ conditions, order }: ListRequest): string {
  return `${order.column} ${order.descending} ${JSON.stringify(conditions.map(c => [c.column, c.operator, c.value]))}`;
}

export const createListPositions = ({ conditions, order }: ListRequest, total: number): ListPositions => ({
  conditions,
  order,
  total,
  anchors: new Map(),
});

/** The nearest smaller offset whose key is known, or 0. */
export function findNearestOffset(offset: number, list: ListPositions | undefined): number {
  return Math.max(0, ...[...(list?.anchors.keys() ?? [])].filter(known => known < offset));
}

/** Makes a page of a list, both of which are in the state of a version. */
export function buildOffsetPage<Row>(
  rows: readonly (Row & Positioned)[],
  list: ListPositions,
  offset: number,
  version: number,
): ListedAt<Row> {
  const end = offset + rows.length;
  const last = rows.at(-1);
  if (last !== undefined) noteAnchor(list, end, { value: last.sort_value, id: last.id });
  return { rows, total: list.total, hasPrevious: offset > 0, hasNext: end < list.total, version };
}

/** Stores the key of the row before an offset. */
export function noteAnchor({ anchors }: ListPositions, offset: number, key: Key): void {
  if (anchors.size < anchorsPerList || anchors.has(offset)) anchors.set(offset, key);
}

function applyChange({ list, had, has }: Concerned<ListPositions>, { id, before, after }: Change): void {
  const { order, anchors } = list;
  list.total += Number(has) - Number(had);
  const [old, now] = [before?.[order.column], after?.[order.column]];
  if (had && has && old === now && old !== undefined) return;
  for (const [offset, key] of anchors) {
    const isBefore = (value: unknown) => (compareKeys(value, id, key, order.descending) ?? 0) > 0;
    const stays = (!had || isBefore(old)) && (!has || isBefore(now));
    if (!stays) anchors.delete(offset);
  }
}
