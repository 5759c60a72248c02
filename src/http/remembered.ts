/**
 * Answers that are given again as long as what they show has not changed; never longer.
 *
 * A collection's version tells whether it has: every transaction that changes the collection advances it. It is
 * read before the answer is made, so that an answer can only be newer than its label: then the label matches no
 * more, and the answer is made again. Where the database's state is known for free, on SQLite, the version itself
 * is read again only when something has been committed since (docs/decisions/0008).
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

type VersionSource = () => number | Promise<number>;

/** @param read reads the collection's version as it is now */
function versionOf(database: Pick<Database, 'state'>, read: () => Promise<number>): VersionSource {
  let seen: { readonly state: number; readonly version: number } | undefined;
  return () => {
    const state = database.state();
    if (state === undefined) return read();
    if (seen?.state === state) return seen.version;
    return read().then(version => {
      seen = { state, version };
      return version;
    });
  };
}

export interface RememberedLists {
  /**
   * @param key names the answer: the complete address it was asked at
   * @param make makes the body, from data of the collection's version or a later one
   */
  answer(key: string, make: () => Promise<string>): Reply | Promise<Reply>;
}

/** @param read reads the collection's version as it is now */
export function rememberedLists(
  database: Pick<Database, 'state'>,
  read: () => Promise<number>,
): RememberedLists {
  const versionNow = versionOf(database, read);
  const answers = new LRUCache<string, { readonly version: number; readonly reply: Reply }>({
    maxSize: listsSize,
    sizeCalculation: ({ reply }, key) => key.length + (reply.body?.length ?? 0) + 200,
  });
  function at(version: number, key: string, make: () => Promise<string>): Reply | Promise<Reply> {
    const known = answers.get(key);
    if (known?.version === version) return known.reply;
    return make().then(body => {
      const reply = taggedReply(body);
      answers.set(key, { version, reply });
      return reply;
    });
  }
  return {
    answer(key, make) {
      const version = versionNow();
      return typeof version === 'number'
        ? at(version, key, make)
        : version.then(current => at(current, key, make));
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

/**
 * Remembers nothing where the version would have to be read each time: that costs what the resource does.
 * @param read reads the version of the resources' collection as it is now
 */
export function rememberedResources<Row>(
  database: Pick<Database, 'state'>,
  read: () => Promise<number>,
): RememberedResources<Row> {
  /** Of one database either always or never. */
  const isStateKnown = database.state() !== undefined;
  const versionNow = versionOf(database, read);
  const answers = boundedMap<number, { readonly version: number; readonly reply: Reply }>(resourcesLimit);

  type Load = () => Promise<Row>;
  type Show = (row: Row) => { body: string } & ReplyOptions;
  const made = (row: Row, show: Show): Reply => {
    const { body, ...options } = show(row);
    return taggedReply(body, options);
  };
  function at(version: number, id: number, load: Load, show: Show): Reply | Promise<Reply> {
    const known = answers.get(id);
    if (known?.version === version) return known.reply;
    return load().then(row => {
      const reply = made(row, show);
      answers.set(id, { version, reply });
      return reply;
    });
  }
  return {
    answer(id, load, show) {
      if (!isStateKnown) return load().then(row => made(row, show));
      const version = versionNow();
      return typeof version === 'number'
        ? at(version, id, load, show)
        : version.then(current => at(current, id, load, show));
    },
  };
}
