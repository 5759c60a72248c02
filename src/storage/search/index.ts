/**
 * The search index: one document for each resource that can be found, changed in the transaction that changes
 * the resource. A store only calls `add`, `change` and `remove` along with its own statements.
 */
import { type Bulk, createBulk } from '../bulk.ts';
import { createCollectionVersions } from '../changes/versions.ts';
import type { Database, Session, Transaction } from '../database.ts';
import type { DialectWords } from './dialect.ts';
import { postgresWords } from './postgres.ts';
import { createSpelling, type Spelling } from './spelling.ts';
import { sqliteWords } from './sqlite.ts';
import {
  hasSameWords,
  isSameText,
  type SearchText,
  toDocumentWords,
  toDocumentWordsInSlices,
} from './text/words.ts';

export type { SearchText } from './text/words.ts';

/** What can be found. Equally good hits are in the order of these types; the number of a type (from 1) is stored. */
export const searchTypes = ['product', 'article', 'post', 'order', 'user'] as const;
export type SearchType = (typeof searchTypes)[number];
/** The types of documents in the index: archived products are apart, so that other searches need not read them. */
const documentTypes = [...searchTypes, 'archived'] as const;
export type DocumentType = (typeof documentTypes)[number];

export interface SearchDocument extends SearchText {
  readonly id: number;
}

/** A document whose words are split already: those of `toDocumentWords`, separated by spaces. */
interface SplitDocument {
  readonly id: number;
  readonly words: string;
  readonly archived?: boolean;
}

export const toTypeNumber = (type: DocumentType): number => documentTypes.indexOf(type) + 1;
export const toTypeNumbers = (types: readonly DocumentType[]): number[] =>
  types.map(toTypeNumber).sort((a, b) => a - b);

/** A document's place in the index and among equally good hits: by type, then by id. Below 2^53. */
export const toPosition = (type: DocumentType, id: number): number => toTypeNumber(type) * typeSpan + id;
/** How many positions a type has. */
export const typeSpan = 4_294_967_296;

export function getDocumentType(position: number): DocumentType {
  const type = documentTypes[Math.floor(position / typeSpan) - 1];
  if (type === undefined) throw new Error(`no type of document has the position ${position}`);
  return type;
}

/** How many documents of each of these types there are; others are not counted. */
export function countByType(positions: readonly number[], types: readonly DocumentType[]) {
  const counts = new Map<DocumentType, number>(types.map(type => [type, 0]));
  for (const position of positions) {
    const type = getDocumentType(position);
    const count = counts.get(type);
    if (count !== undefined) counts.set(type, count + 1);
  }
  return counts;
}
export const getDocumentId = (position: number): number => position % typeSpan;

/** The name under which `add`, `change` and `remove` advance collection_versions: see memory/words.ts. */
export const searchCollection = 'search';

/**
 * The name under which collection_versions is advanced when products are indexed by different words without events
 * of these products.
 */
export const rewordedCollection = 'reworded';

const table = 'search_index';
/** Documents per INSERT, largest first. */
const insertSizes = [500, 100, 32, 16, 8, 4, 2, 1] as const;
const rowColumns = { position: 'double precision', words: 'text' } as const;

export function getDialectWords({ dialect }: Pick<Database, 'dialect'>): DialectWords {
  return dialect.name === 'sqlite' ? sqliteWords : postgresWords;
}

/** The type under which the index has a document. */
export const toDocumentType = (
  type: SearchType,
  { archived }: { readonly archived?: boolean },
): DocumentType => (type === 'product' && archived === true ? 'archived' : type);

/** Misspelt words are compared with those of products, articles and posts: words of people are not kept. */
const keptBelow = toPosition('order', 0);

export function createDialectSpelling(database: Pick<Database, 'build' | 'dialect'>): Spelling {
  return createSpelling(database, getDialectWords(database).spellings, keptBelow);
}

export function createSearchIndex(database: Pick<Database, 'build' | 'dialect'>) {
  const { build } = database;
  const dialect = getDialectWords(database);
  const versions = createCollectionVersions(database);
  const words = createDialectSpelling(database);
  const inserts = createBulk(database, table, rowColumns, rows => dialect.insert(rows), {
    sizes: insertSizes,
  });
  /** New documents have no old ones to replace. */
  const added = dialect.copied === undefined ? {} : { columns: dialect.copied };
  const removals = createBulk(database, table, { position: 'double precision' }, rows =>
    dialect.remove(rows),
  );
  const changes = combineBulks(inserts, removals);

  const toRow = (type: DocumentType, id: number, entries: readonly string[]): Row => [
    toPosition(type, id),
    entries.join(' '),
  ];
  const toEmptyRow = (type: DocumentType, id: number): Row => [toPosition(type, id), null];

  const isKept = (type: DocumentType) => toPosition(type, 0) < keptBelow;

  return {
    async add(session: Transaction, type: SearchType, document: SearchDocument): Promise<void> {
      // Searches learn of new products from their events: see memory/words.ts.
      if (type !== 'product') versions.advance(session, searchCollection);
      const entries = await toDocumentWordsInSlices(document);
      const place = toDocumentType(type, document);
      if (isKept(place)) words.keep(session, entries);
      session.writeDeferred(changes, [toRow(place, document.id, entries)]);
    },

    /** Keeps the words of split documents, for searches that misspell them. */
    keep: words.keep,
    /** Removes those of the words that were kept and are no longer in any document. */
    release: words.release,

    /** Adds many new products, or the documents of a migration. For split documents, `keep` must be called, too. */
    async addMany(
      session: Transaction,
      type: SearchType,
      documents: readonly (SearchDocument | SplitDocument)[],
    ): Promise<void> {
      const rows: (readonly unknown[])[] = [];
      for (const document of documents) {
        const place = toDocumentType(type, document);
        if ('words' in document) rows.push([toPosition(place, document.id), document.words]);
        else {
          const entries = toDocumentWords(document);
          if (isKept(place)) words.keep(session, entries);
          rows.push(toRow(place, document.id, entries));
        }
      }
      await session.writeMany({ ...inserts, ...added }, rows);
    },

    /** Updates a resource that has changed; writes nothing if its text is the same. */
    async change(session: Transaction, type: SearchType, before: SearchText, after: SearchDocument) {
      if (isSameText(before, after)) return;
      // Hits show the text itself: responses change even if the words are the same.
      versions.advance(session, searchCollection);
      const [from, to] = [toDocumentType(type, before), toDocumentType(type, after)];
      const entries = await toDocumentWordsInSlices(after);
      // An archived product has the same words at another position: they are not split twice.
      const old = hasSameWords(before, after) ? entries : await toDocumentWordsInSlices(before);
      const isSame = entries.length === old.length && entries.every((word, index) => word === old[index]);
      if (isSame && from === to) return;
      if (from !== to) session.writeDeferred(changes, [toEmptyRow(from, after.id)]);
      session.writeDeferred(changes, [toRow(to, after.id, entries)]);
      const had = new Set(isKept(from) ? old : []);
      const has = new Set(isKept(to) ? entries : []);
      words.keep(session, [...has.difference(had)]);
      words.release(session, [...had.difference(has)]);
    },

    /** Removes a deleted resource. */
    async remove(session: Transaction, type: SearchType, before: SearchDocument): Promise<void> {
      versions.advance(session, searchCollection);
      const place = toDocumentType(type, before);
      session.writeDeferred(changes, [toEmptyRow(place, before.id)]);
      if (isKept(place)) words.release(session, await toDocumentWordsInSlices(before));
    },

    /** Makes searches fast again after very many additions. Takes about a second per million documents. */
    async compact(session: Session): Promise<void> {
      for (const statement of dialect.compact()) await session.run(statement.compile(build));
    },
  };
}

/** A position and the words of its document; null if it no longer has one. */
type Row = readonly [position: number, words: string | null];

/**
 * Of several rows for a position, the last counts. All are written in the order of their positions: whenever a position
 * is lower than the one before, FTS5 writes what it has collected, however little that is.
 */
function combineBulks(inserts: Bulk, removals: Bulk): Bulk {
  return {
    table,
    *statements(rows) {
      // Boundary: `toRow` and `toEmptyRow` have made them.
      const last = new Map((rows as readonly Row[]).map(([position, words]) => [position, words]));
      const sorted = [...last].sort(([one], [other]) => one - other);
      yield* removals.statements(sorted.flatMap(([position, words]) => (words === null ? [[position]] : [])));
      yield* inserts.statements(sorted.filter(([, words]) => words !== null));
    },
  };
}
