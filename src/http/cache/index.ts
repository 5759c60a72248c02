/**
 * Cached responses, which are served only as long as the data they show is unchanged.
 *
 * Before a cached response is served, `changes.check` has notified this cache of everything committed before the
 * request arrived (storage/changes/), and affected responses have been dropped. A response under construction when such
 * a change arrives is not cached, since it may lack the change. A list is cached on its second request.
 */
import { LRUCache } from 'lru-cache';
import { createBoundedMap } from '../../bounded-map.ts';
import type { Change, Collection } from '../../storage/changes/change.ts';
import { type CachedRow, type CachedRows, countBytes } from '../../storage/changes/rows.ts';
import type { Database } from '../../storage/database.ts';
import {
  createDifferenceTest,
  createListIndex,
  isPageAffected,
  selectComparable,
} from '../../storage/list/affected.ts';
import type { Key, ListRequest } from '../../storage/list/request.ts';
import { json } from '../negotiate.ts';
import type { PageBody } from '../response/page-body.ts';
import { type Reply, revalidate } from '../response/reply.ts';
import { runWhenReady } from '../when-ready.ts';
import { computeEntityTag, toLastModifiedSecond } from './conditional.ts';
import { formatHttpDate } from './http-date.ts';

/** Maximum size of all cached lists in bytes. */
const listsSize = 32 * 1024 * 1024;
/** Size of a cached list without its texts, and of the key of each of its rows. */
const listBytes = 1500;
const keyBytes = 50;
/** The address names the values of filters, which the conditions hold again, each as a text of its own. */
const addressCopies = 3;
/** Addresses of requested lists: most are requested only once and would evict lists that are requested repeatedly. */
const noticedLists = 5000;

/**
 * Creates a 200 with a representation, its entity tag and date. All requests share this one object, since reading memory
 * that is not in the processor's cache costs more than the work done with it.
 */
const createCachedReply = (body: PageBody, lastModified?: number): Reply => ({
  status: 200,
  body,
  mediaType: json,
  cacheControl: revalidate,
  tagged: true,
  etag: computeEntityTag(body),
  lastModified,
  lastModifiedText:
    lastModified === undefined ? undefined : formatHttpDate(toLastModifiedSecond(lastModified) * 1000),
});

/** A list as it was read: its body, and the rows that it shows in their order. */
interface MadeList {
  readonly body: PageBody;
  readonly rows: readonly Key[];
  /** Whether the list would soon differ without any change; such a list is not cached. */
  readonly isProvisional?: boolean;
}

interface CachedList extends ListRequest {
  readonly key: string;
  readonly bytes: number;
  readonly rows: readonly Key[];
  /** A promise while the list is under construction. */
  readonly reply: Reply | Promise<Reply>;
}

/** @param collections the collections that the lists show data of; filters name values of the first one */
export function createCachedLists(
  { changes }: Pick<Database, 'changes'>,
  collections: readonly [Collection, ...Collection[]],
) {
  const index = createListIndex<CachedList>(collections[0]);
  const made = new LRUCache<string, CachedList>({
    maxSize: listsSize,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: list => index.delete(list),
  });
  const making = new Map<string, CachedList>();
  const noticed = createBoundedMap<number, true>(noticedLists);

  /** Whether an address has been requested before. About one in a million is mistaken for another. */
  function isNoticed(key: string): boolean {
    const short = Bun.hash.xxHash32(key);
    if (noticed.get(short) !== undefined) return true;
    noticed.set(short, true);
    return false;
  }
  function forget(list: CachedList): void {
    index.delete(list);
    if (making.get(list.key) === list) making.delete(list.key);
    if (made.peek(list.key) === list) made.delete(list.key);
  }
  function onChanged(changes: readonly Change[] | undefined): void {
    const all = selectComparable(changes, made.size + making.size);
    if (all === undefined) {
      made.clear();
      making.clear();
      index.clear();
      return;
    }
    for (const change of all) {
      const isOther = createDifferenceTest(change);
      for (const one of index.concerned(change)) {
        // Of a list under construction no rows are known yet: any change of a row that belongs to it counts.
        if (isPageAffected(one, change, isOther)) forget(one.list);
      }
    }
  }
  for (const collection of collections) changes.follow(collection, onChanged);

  function makeNow(
    key: string,
    request: ListRequest,
    make: (request: ListRequest) => Promise<MadeList>,
  ): Promise<Reply> {
    const makeOnce = async (): Promise<Reply> => {
      try {
        const { body, rows, isProvisional = false } = await make(request);
        const reply = createCachedReply(body);
        if (!isProvisional && isNoticed(key) && making.get(key) === unfinished) {
          const texts = typeof body === 'string' ? countBytes(body) : body.byteLength;
          const bytes = listBytes + keyBytes * rows.length + addressCopies * countBytes(key) + texts;
          const list: CachedList = { ...request, key, bytes, rows, reply };
          made.set(key, list);
          // A list larger than the limit of all lists is not cached.
          if (made.peek(key) === list) index.add(list);
        }
        return reply;
      } finally {
        forget(unfinished);
      }
    };
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const unfinished: CachedList = { ...request, key, bytes: 0, rows: [], reply: promise };
    making.set(key, unfinished);
    index.add(unfinished);
    makeOnce().then(resolve, reject);
    return promise;
  }

  function respond(
    key: string,
    requested: () => ListRequest,
    make: (request: ListRequest) => Promise<MadeList>,
  ): Reply | Promise<Reply> {
    const cached = made.get(key) ?? making.get(key);
    if (cached === undefined) {
      changes.uses.lists.misses += 1;
      return makeNow(key, requested(), make);
    }
    changes.uses.lists.hits += 1;
    return cached.reply;
  }
  return {
    /**
     * @param key identifies the response: the complete requested address
     * @param requested the meaning of the address; not called if the response is cached
     * @param make reads the current list
     */
    respond: (key: string, requested: () => ListRequest, make: (request: ListRequest) => Promise<MadeList>) =>
      runWhenReady(changes.check(), () => respond(key, requested, make)),
  };
}

/** The body of a response, and the epoch milliseconds of its last change. */
export interface Shown {
  readonly body: string;
  readonly lastModified: number;
}

/** @param show the representation of a row; throws if there is none */
export function createCachedResources<Row extends { readonly id: number }>(
  { changes }: Pick<Database, 'changes'>,
  rows: CachedRows<Row, Reply>,
  show: (row: Row | undefined, id: number) => Shown,
) {
  function showCached(cached: CachedRow<Row, Reply> | undefined, id: number): Reply {
    if (cached?.shown !== undefined) return cached.shown;
    const { body, lastModified } = show(cached?.row, id);
    const reply = createCachedReply(body, lastModified);
    if (cached !== undefined) cached.shown = reply;
    return reply;
  }
  function respond(id: number): Reply | Promise<Reply> {
    const cached = rows.get(id);
    if (cached === undefined) {
      changes.uses.resources.misses += 1;
      return rows.read(id).then(found => showCached(found, id));
    }
    changes.uses.resources.hits += 1;
    return showCached(cached, id);
  }
  return {
    respond(id: number): Reply | Promise<Reply> {
      // A row read now is current without a check.
      if (rows.get(id) === undefined) return respond(id);
      return runWhenReady(changes.check(), () => respond(id));
    },
  };
}
