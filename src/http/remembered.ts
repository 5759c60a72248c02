/**
 * Answers that are given again as long as what they show has not changed; never longer.
 *
 * Two things tell whether it has. On SQLite the database's state is known for free: while it is the same,
 * nothing at all has been committed. Otherwise a collection's version is read, which every transaction that
 * changes the collection advances. Either is taken before the answer is made, so that an answer can only be
 * newer than its label: then the label matches no more, and the answer is made again (docs/decisions/0003).
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../storage/database.ts';
import { boundedMap } from './bounded-map.ts';
import { entityTag, httpDate } from './conditional.ts';
import { ok, type Reply, type ReplyOptions } from './reply.ts';

/** Characters of remembered lists at most. */
const listsSize = 16 * 1024 * 1024;
/** Remembered resources at most, by number. */
const resourcesLimit = 20_000;

/** 200 with a representation whose entity tag and date are made now, once for all who ask for it. */
function taggedReply(body: string, options: ReplyOptions = {}): Reply {
  const reply: Reply = { ...ok(body, options), etag: entityTag(body) };
  const { lastModified } = reply;
  return lastModified === undefined ? reply : { ...reply, lastModifiedText: httpDate(lastModified) };
}

interface RememberedList {
  state: number | undefined;
  readonly version: number;
  readonly reply: Reply;
}

export interface RememberedLists {
  /**
   * @param key names the answer: the complete address it was asked at
   * @param version reads the collection's version as it is now
   * @param make makes the body, from data of that version or a later one
   */
  answer(key: string, version: () => Promise<number>, make: () => Promise<string>): Reply | Promise<Reply>;
}

export function rememberedLists(database: Pick<Database, 'state'>): RememberedLists {
  const answers = new LRUCache<string, RememberedList>({
    maxSize: listsSize,
    sizeCalculation: ({ reply }, key) => key.length + (reply.body?.length ?? 0) + 200,
  });
  async function remake(
    key: string,
    state: number | undefined,
    current: number,
    make: () => Promise<string>,
  ) {
    const reply = taggedReply(await make());
    answers.set(key, { state, version: current, reply });
    return reply;
  }
  return {
    answer(key, version, make) {
      const state = database.state();
      const known = answers.get(key);
      if (known !== undefined && state !== undefined && known.state === state) return known.reply;
      return version().then(current => {
        if (known === undefined || known.version !== current) return remake(key, state, current, make);
        known.state = state;
        return known.reply;
      });
    },
  };
}

export interface RememberedResources<Row> {
  /** @param load reads the row; @param show makes the body and what goes with it */
  answer(
    id: number,
    load: () => Promise<Row>,
    show: (row: Row) => { body: string } & ReplyOptions,
  ): Reply | Promise<Reply>;
}

export function rememberedResources<Row>(database: Pick<Database, 'state'>): RememberedResources<Row> {
  const answers = boundedMap<number, { readonly state: number; readonly reply: Reply }>(resourcesLimit);
  return {
    answer(id, load, show) {
      const state = database.state();
      const known = state === undefined ? undefined : answers.get(id);
      if (known !== undefined && known.state === state) return known.reply;
      return load().then(row => {
        const { body, ...options } = show(row);
        const reply = taggedReply(body, options);
        if (state !== undefined) answers.set(id, { state, reply });
        return reply;
      });
    },
  };
}
