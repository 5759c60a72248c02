/**
 * Answers that are given again as long as what they show has not changed; never longer.
 *
 * A collection's version tells whether it has: every transaction that changes the collection advances it. It is
 * read before the answer is made, so that an answer can only be newer than its label: then the label matches no
 * more, and the answer is made again. Where the database's state is known for free, on SQLite, the version itself
 * is read again only when something has been committed since (docs/decisions/0008).
 */
import { LRUCache } from 'lru-cache';
import { requireWhole } from '../../storage/damage.ts';
import type { Database } from '../../storage/database.ts';
import { json } from '../negotiate.ts';
import { type Reply, revalidate } from '../response/reply.ts';
import { boundedMap } from './bounded-map.ts';
import { entityTag, httpDate, lastModifiedSecond } from './conditional.ts';

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
    const second = lastModifiedSecond(milliseconds);
    const known = dates.get(second);
    if (known !== undefined) return known;
    const text = httpDate(second * 1000);
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
  async function look(state: number): Promise<number> {
    const version = await read();
    seen = { state, version };
    return version;
  }
  return () => {
    const state = database.state();
    if (state === undefined) return read();
    return seen?.state === state ? seen.version : look(state);
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
  async function remember(version: number, key: string, make: () => Promise<string>): Promise<Reply> {
    const reply = rememberedReply(version, requireWhole(await make()));
    answers.set(key, reply);
    return reply;
  }
  function at(version: number, key: string, make: () => Promise<string>): Reply | Promise<Reply> {
    const known = answers.get(key);
    return known?.version === version ? known : remember(version, key, make);
  }
  const later = async (version: Promise<number>, key: string, make: () => Promise<string>) =>
    at(await version, key, make);
  return {
    answer(key, make) {
      const version = versionNow();
      return typeof version === 'number' ? at(version, key, make) : later(version, key, make);
    },
  };
}

export interface RememberedResources {
  answer(id: number): Reply | Promise<Reply>;
}

/** What an answer shows: the body, and the epoch milliseconds of its last change. */
export interface Shown {
  readonly body: string;
  readonly lastModified: number;
}

/**
 * Remembers nothing where the version would have to be read each time: that costs what the resource does.
 * @param read reads the version of the resources' collection as it is now
 * @param load reads one resource
 */
export function rememberedResources(
  database: Pick<Database, 'state'>,
  read: () => Promise<number>,
  load: (id: number) => Promise<Shown>,
): RememberedResources {
  /** Of one database either always or never. */
  const isStateKnown = database.state() !== undefined;
  const versionNow = versionOf(database, read);
  const answers = boundedMap<number, Remembered>(resourcesLimit);
  const rememberedReply = rememberedReplies();

  async function made(version: number, id: number): Promise<Remembered> {
    const { body, lastModified } = await load(id);
    return rememberedReply(version, requireWhole(body), lastModified);
  }
  async function remember(version: number, id: number): Promise<Reply> {
    const reply = await made(version, id);
    answers.set(id, reply);
    return reply;
  }
  function at(version: number, id: number): Reply | Promise<Reply> {
    const known = answers.get(id);
    return known?.version === version ? known : remember(version, id);
  }
  const later = async (version: Promise<number>, id: number) => at(await version, id);
  return {
    answer(id) {
      if (!isStateKnown) return made(Number.NaN, id);
      const version = versionNow();
      return typeof version === 'number' ? at(version, id) : later(version, id);
    },
  };
}
