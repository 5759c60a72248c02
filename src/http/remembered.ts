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
import { json } from './negotiate.ts';
import { type Reply, revalidate } from './reply.ts';

/** Characters of remembered lists at most. */
const listsSize = 16 * 1024 * 1024;
/** Remembered resources at most, by number. */
const resourcesLimit = 20_000;

/** Dates of the last seconds that were shown: many resources are made in one. */
const rememberedDates = 1000;

/** A reply that is kept, with the version of its collection that it shows or that came after that. */
interface Remembered extends Reply {
  readonly version: number;
}

/**
 * @returns a function that makes 200 with a representation, its entity tag and date, once for all who ask for it:
 * one object, since what is not in the processor's cache costs more than what is done with it
 */
function rememberedReplies() {
  const dates = boundedMap<number, string>(rememberedDates);
  const dateOf = (milliseconds: number): string => {
    const second = Math.floor(milliseconds / 1000);
    const known = dates.get(second);
    if (known !== undefined) return known;
    const text = httpDate(milliseconds);
    dates.set(second, text);
    return text;
  };
  return (version: number, body: string, lastModified?: number): Remembered => ({
    version,
    status: 200,
    body,
    mediaType: json,
    cacheControl: revalidate,
    tagged: true,
    etag: entityTag(body),
    lastModified,
    lastModifiedText: lastModified === undefined ? undefined : dateOf(lastModified),
  });
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
  const rememberedReply = rememberedReplies();
  const answers = new LRUCache<string, Remembered>({
    maxSize: listsSize,
    sizeCalculation: ({ body }, key) => key.length + (body?.length ?? 0) + 200,
  });
  function at(version: number, key: string, make: () => Promise<string>): Reply | Promise<Reply> {
    const known = answers.get(key);
    if (known?.version === version) return known;
    return make().then(body => {
      const reply = rememberedReply(version, body);
      answers.set(key, reply);
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
  /** @param load reads the row; @param show makes its representation */
  answer(id: number, load: () => Promise<Row>, show: Show<Row>): Reply | Promise<Reply>;
}

/** The body, and the epoch milliseconds of its last change. */
type Show<Row> = (row: Row) => { readonly body: string; readonly lastModified: number };

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
  const answers = boundedMap<number, Remembered>(resourcesLimit);
  const rememberedReply = rememberedReplies();

  type Load = () => Promise<Row>;
  const made = (version: number, row: Row, show: Show<Row>): Remembered => {
    const { body, lastModified } = show(row);
    return rememberedReply(version, body, lastModified);
  };
  function at(version: number, id: number, load: Load, show: Show<Row>): Reply | Promise<Reply> {
    const known = answers.get(id);
    if (known?.version === version) return known;
    return load().then(row => {
      const reply = made(version, row, show);
      answers.set(id, reply);
      return reply;
    });
  }
  return {
    answer(id, load, show) {
      if (!isStateKnown) return load().then(row => made(Number.NaN, row, show));
      const version = versionNow();
      return typeof version === 'number'
        ? at(version, id, load, show)
        : version.then(current => at(current, id, load, show));
    },
  };
}
