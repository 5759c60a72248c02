/**
 * Puts pieces of the search index together. Each statement that writes documents adds a piece, and by itself FTS5 merges
 * pieces within the statement that adds one too many: of a large index for hundreds of milliseconds, in which no request is
 * served. Here each statement merges some pages, in the transaction that has added the pieces, and in slices.
 */
import { CompiledQuery } from 'kysely';
import type { Session } from '../database.ts';
import { mergedPages, mergeSome, slicedSettings } from '../search/sqlite.ts';

/** FTS5 merges pieces of about one size when there are so many of them: see `slicedSettings`. */
const fewPieces = 8;
/** The pages of a piece by its characters; each page is merged several times until it is in the largest piece. */
const pagesOfPiece = 0.5;
const charactersOfPage = 2000;

export type Merging = ReturnType<typeof createMerging>;

export function createMerging(session: Session) {
  const merge = CompiledQuery.raw(mergeSome);
  const readSettings = CompiledQuery.raw('select k, v from search_index_config');
  let isPrepared = false;
  let pieces = 0;
  let pages = 0;

  /** An import has its own, and leaves the usual ones. */
  async function ensureSettings(): Promise<void> {
    // Boundary: the statement's text says what its rows are.
    const rows = (await session.all(readSettings)) as readonly { k: string; v: unknown }[];
    const known = new Map(rows.map(({ k, v }) => [k, Number(v)]));
    for (const { name, value, statement } of slicedSettings)
      if (known.get(name) !== value) await session.run(CompiledQuery.raw(statement));
  }

  return {
    /** To be waited for before a statement that writes documents. */
    prepare(): Promise<void> | undefined {
      if (isPrepared) return undefined;
      isPrepared = true;
      return ensureSettings();
    },
    /** Notes a statement that has written documents. */
    note({ parameters }: Pick<CompiledQuery<unknown>, 'parameters'>): void {
      pieces += 1;
      pages += pagesOfPiece;
      for (const value of parameters) if (typeof value === 'string') pages += value.length / charactersOfPage;
    },
    /** Merges about as much as has been written since it was last called, when that is worth while. */
    async run(): Promise<void> {
      if (pieces < fewPieces) return;
      pieces = 0;
      await ensureSettings();
      for (; pages > 0; pages -= mergedPages) await session.run(merge);
      pages = 0;
    },
  };
}
