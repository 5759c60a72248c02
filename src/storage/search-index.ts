/**
 * The search index: one document for each resource that can be found, changed in the transaction that changes
 * the resource. A store calls `add`, `change` and `remove` beside its own statements, and that is all it does.
 */
import { type CompiledQuery, sql } from 'kysely';
import type { Database, Session, Transaction } from './database.ts';
import { type DialectWords, postgresWords } from './search-postgres.ts';
import { type Spelling, spelling } from './search-spelling.ts';
import { sqliteWords } from './search-sqlite.ts';
import { documentWords, type SearchText } from './search-words.ts';
import { collectionVersions } from './totals.ts';

export type { SearchText } from './search-words.ts';

/** What can be found; the order is that of equally good hits, and a type's number (from 1) is stored. */
export const searchTypes = ['product', 'article', 'post', 'order', 'user'] as const;
export type SearchType = (typeof searchTypes)[number];

export interface SearchDocument extends SearchText {
  readonly id: number;
}

export interface SearchIndex {
  /** A new resource. */
  add(session: Transaction, type: SearchType, document: SearchDocument): Promise<void>;
  /** Many new products at once; or what a migration finds. */
  addMany(session: Session, type: SearchType, documents: readonly SearchDocument[]): Promise<void>;
  /** A resource that has changed; writes nothing when its words are the same. */
  change(session: Transaction, type: SearchType, before: SearchText, after: SearchDocument): Promise<void>;
  remove(session: Transaction, type: SearchType, id: number): Promise<void>;
}

/** A document's place in the index and among equally good hits: by type, then by id. Below 2^53. */
export const positionOf = (type: SearchType, id: number): number =>
  (searchTypes.indexOf(type) + 1) * typeSpan + id;
/** How many positions a type has. */
export const typeSpan = 4_294_967_296;

export function typeAt(position: number): SearchType {
  const type = searchTypes[Math.floor(position / typeSpan) - 1];
  if (type === undefined) throw new Error(`no type of document has the position ${position}`);
  return type;
}
export const idAt = (position: number): number => position % typeSpan;

/** The name under which `add`, `change` and `remove` advance collection_versions: see search-counts.ts. */
export const searchCollection = 'search';

/** Documents per INSERT, largest first. */
const insertSizes = [100, 10, 1] as const;

export function wordsOfDialect({ dialect }: Pick<Database, 'dialect'>): DialectWords {
  return dialect.name === 'sqlite' ? sqliteWords : postgresWords;
}

export function searchIndex(
  database: Pick<Database, 'build' | 'dialect'>,
  words: Spelling = spelling(database),
): SearchIndex {
  const { build } = database;
  const dialect = wordsOfDialect(database);
  const versions = collectionVersions(database);
  const inserts = insertSizes.map(size => ({ size, query: dialect.insert(size).compile(build) }));
  const [one] = inserts.slice(-1);
  const remove = dialect.remove(sql`${null}`).compile(build);

  function insertion(
    query: CompiledQuery<unknown>,
    type: SearchType,
    documents: readonly Entries[],
  ): CompiledQuery<unknown> {
    const parameters = documents.flatMap(({ id, entries }) => [positionOf(type, id), entries.join(' ')]);
    return { ...query, parameters };
  }

  async function write(session: Transaction, type: SearchType, id: number, entries: readonly string[]) {
    if (one === undefined) throw new Error('there is no INSERT of one document');
    await words.keep(session, entries);
    await session.runLate(insertion(one.query, type, [{ id, entries }]));
  }

  return {
    async add(session, type, document) {
      // New products are told by their ids: see search-counts.ts.
      if (type !== 'product') versions.advance(session, searchCollection);
      await write(session, type, document.id, documentWords(document));
    },

    async addMany(session, type, documents) {
      const entries = documents.map(document => ({ id: document.id, entries: documentWords(document) }));
      for (const document of entries) await words.keep(session, document.entries);
      let start = 0;
      for (const { size, query } of inserts) {
        for (; entries.length - start >= size; start += size) {
          await session.run(insertion(query, type, entries.slice(start, start + size)));
        }
      }
    },

    async change(session, type, before, after) {
      const entries = documentWords(after);
      const old = documentWords(before);
      if (entries.length === old.length && entries.every((word, index) => word === old[index])) return;
      versions.advance(session, searchCollection);
      await write(session, type, after.id, entries);
    },

    async remove(session, type, id) {
      versions.advance(session, searchCollection);
      await session.runLate({ ...remove, parameters: [positionOf(type, id)] });
    },
  };
}

interface Entries {
  readonly id: number;
  readonly entries: readonly string[];
}
