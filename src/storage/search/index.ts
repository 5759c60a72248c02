/**
 * The search index: one document for each resource that can be found, changed in the transaction that changes
 * the resource. A store calls `add`, `change` and `remove` beside its own statements, and that is all it does.
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

/** What can be found; the order is that of equally good hits, and a type's number (from 1) is stored. */
export const searchTypes = ['product', 'article', 'post', 'order', 'user'] as const;
export type SearchType = (typeof searchTypes)[number];
/** What has a place in the index: archived products have one of their own, so that others need not look at them. */
export const documentTypes = [...searchTypes, 'archived'] as const;
export type DocumentType = (typeof documentTypes)[number];

export interface SearchDocument extends SearchText {
  readonly id: number;
}

/** A document whose words have been split already: as `toDocumentWords` gives them, with spaces between. */
interface SplitDocument {
  readonly id: number;
  readonly words: string;
  readonly archived?: boolean;
}

/** A document's place in the index and among equally good hits: by type, then by id. Below 2^53. */
export const toPosition = (type: DocumentType, id: number): number =>
  (documentTypes.indexOf(type) + 1) * typeSpan + id;
/** How many positions a type has. */
export const typeSpan = 4_294_967_296;

export function getDocumentType(position: number): DocumentType {
  const type = documentTypes[Math.floor(position / typeSpan) - 1];
  if (type === undefined) throw new Error(`no type of document has the position ${position}`);
  return type;
}
export const getDocumentId = (position: number): number => position % typeSpan;

/** The name under which `add`, `change` and `remove` advance collection_versions: see reading/index.ts. */
export const searchCollection = 'search';

/**
 * The name under which collection_versions is advanced where products are indexed by other words than before
 * without an event of theirs that says so.
 */
export const rewordedCollection = 'reworded';

const table = 'search_index';
/** Documents per INSERT, largest first. */
const insertSizes = [500, 100, 32, 16, 8, 4, 2, 1] as const;
const rowColumns = { position: 'double precision', words: 'text' } as const;

export function getDialectWords({ dialect }: Pick<Database, 'dialect'>): DialectWords {
  return dialect.name === 'sqlite' ? sqliteWords : postgresWords;
}

/** Where a document is kept in the index. */
export const toDocumentType = (
  type: SearchType,
  { archived }: { readonly archived?: boolean },
): DocumentType => (type === 'product' && archived === true ? 'archived' : type);

/** Misspelt words are looked for among those of products, articles and posts: words of people are not kept. */
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
  /** New documents need not look for old ones in their places. */
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
    /** A new resource. */
    async add(session: Transaction, type: SearchType, document: SearchDocument): Promise<void> {
      // New products are recognized by their ids: see reading/index.ts.
      if (type !== 'product') versions.advance(session, searchCollection);
      const entries = await toDocumentWordsInSlices(document);
      const place = toDocumentType(type, document);
      if (isKept(place)) words.keep(session, entries);
      session.writeDeferred(changes, [toRow(place, document.id, entries)]);
    },

    /** Keeps words for searches that misspell them: those of split documents. */
    keep: words.keep,
    /** Removes, of words that were kept, those that are in no document. */
    release: words.release,

    /** Many new products at once; or what a migration finds. Of split documents the words have to be kept as well. */
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

    /** A resource that has changed; writes nothing when its text is the same. */
    async change(session: Transaction, type: SearchType, before: SearchText, after: SearchDocument) {
      if (isSameText(before, after)) return;
      // Hits show the text itself: also when its words are the same, responses are others now.
      versions.advance(session, searchCollection);
      const [from, to] = [toDocumentType(type, before), toDocumentType(type, after)];
      const entries = await toDocumentWordsInSlices(after);
      // What is archived is found in another place by the same words: they are not split twice.
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

    /** A resource that is gone. */
    async remove(session: Transaction, type: SearchType, before: SearchDocument): Promise<void> {
      versions.advance(session, searchCollection);
      const place = toDocumentType(type, before);
      session.writeDeferred(changes, [toEmptyRow(place, before.id)]);
      if (isKept(place)) words.release(session, await toDocumentWordsInSlices(before));
    },

    /** After very many additions: makes searches fast again. Takes about a second per million documents. */
    async compact(session: Session): Promise<void> {
      for (const statement of dialect.compact()) await session.run(statement.compile(build));
    },
  };
}

/** A position and the words of its document; null where it has none any more. */
type Row = readonly [position: number, words: string | null];

/**
 * Of several rows for a position the last counts. All are written in the order of their positions: FTS5 writes what it
 * has collected each time that a position comes before the last one, however little that is.
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
