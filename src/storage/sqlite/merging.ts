/**
 * Merges pieces of the search index. Each statement that writes documents adds a piece. By default, FTS5 merges pieces
 * in the statement that adds one too many, which in a large index blocks the event loop for hundreds of milliseconds.
 * Here the transaction that adds pieces merges them afterwards, in slices of some pages.
 */
import { CompiledQuery } from 'kysely';
import type { Session } from '../database.ts';
import { mergedPages, mergeSome, slicedSettings } from '../search/sqlite.ts';

/** FTS5 merges pieces of similar size when there are this many of them: see `slicedSettings`. */
const fewPieces = 8;
/** Estimates the pages of a piece; each page is merged several times until it is in the largest piece. */
const pagesOfPiece = 0.5;
const charactersOfPage = 2000;

export type Merging = ReturnType<typeof createMerging>;

/** @param isActive whether transactions merge what they add: an import that defers indexes merges all at its end */
export function createMerging(session: Session, isActive: () => boolean = () => true) {
  const merge = CompiledQuery.raw(mergeSome);
  const readSettings = CompiledQuery.raw('select k, v from search_index_config');
  let isPrepared = false;
  let pieces = 0;
  let pages = 0;

  /** Writes the settings for slices where they differ: an import uses its own, and leaves FTS5's defaults. */
  async function ensureSettings(): Promise<void> {
    // Boundary: the statement's text says what its rows are.
    const rows = (await session.all(readSettings)) as readonly { k: string; v: unknown }[];
    const known = new Map(rows.map(({ k, v }) => [k, Number(v)]));
    for (const { name, value, statement } of slicedSettings)
      if (known.get(name) !== value) await session.run(CompiledQuery.raw(statement));
  }

  return {
    /** Must be awaited before a statement that writes documents. */
    prepare(): Promise<void> | undefined {
      if (isPrepared || !isActive()) return undefined;
      isPrepared = true;
      return ensureSettings();
    },
    /** Counts a statement that has written documents. */
    note({ parameters }: Pick<CompiledQuery<unknown>, 'parameters'>): void {
      pieces += 1;
      pages += pagesOfPiece;
      for (const value of parameters) if (typeof value === 'string') pages += value.length / charactersOfPage;
    },
    /** Merges about as many pages as were written since the last merge, once there are enough pieces. */
    async run(): Promise<void> {
      if (pieces < fewPieces || !isActive()) return;
      pieces = 0;
      await ensureSettings();
      for (; pages > 0; pages -= mergedPages) await session.run(merge);
      pages = 0;
    },
  };
}
