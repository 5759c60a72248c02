/** Reads the requested page of the results of a query, with its hits as they are shown. */
import {
  cutKeyPage,
  type Listed,
  type Order,
  type PageByKey,
  type PageByOffset,
  type PageRequest,
} from '../../storage/list/request.ts';
import { getDocumentType, toPosition } from '../../storage/search/index.ts';
import type { SearchSession } from '../../storage/search/reading/frequency.ts';
import { getShownFields } from '../../storage/search/text/words.ts';
import { takeTurn } from '../../turns/index.ts';
import { readAllHits, toProductIds } from './ranking/filtered.ts';
import { type RankedHit, readSlice } from './ranking/ranked.ts';
import type { ReadyRequest, Results, Tools } from './results.ts';
import { buildSnippet } from './snippet.ts';
import { type Hit, isProduct, toSearchType } from './sources.ts';

type Page = Listed<{ readonly hit: Hit }>;

/** What pages of the results of a query are read with. */
interface Reading {
  readonly tools: Tools;
  readonly session: SearchSession;
  readonly results: Results;
}

/** In the requested order; without one, best first. */
export async function readPage(
  reading: Reading,
  { page, order }: Pick<ReadyRequest, 'page' | 'order'>,
): Promise<Page> {
  if (order !== undefined) return readPageInOrder(reading, order, page);
  return page.kind === 'offset' ? readPageByOffset(reading, page) : readPageByKey(reading, page);
}

/** The ids of all products found. */
async function readIds({ session, results: { reader, ranking } }: Reading): Promise<number[]> {
  const { all, head, types } = ranking;
  if (all === undefined) return toProductIds(head.map(({ position }) => position));
  return toProductIds(await readAllHits(reader, { session, expression: all, types }));
}

/** The ids of all products that the query finds, whether they match the filters or not. */
export async function readUnfilteredIds({ tools, session, results }: Reading): Promise<number[]> {
  const { expression, positions } = results.unfiltered;
  const { types } = results.ranking;
  const found =
    expression === undefined ? [] : await readAllHits(tools.reader, { session, expression, types });
  for (const position of positions) found.push(position);
  return toProductIds(found);
}

async function readPageInOrder(reading: Reading, order: Order, page: PageRequest): Promise<Page> {
  const { tools, session, results } = reading;
  const { head, types } = results.ranking;
  const type = types.find(isProduct) ?? 'product';
  const listed = await tools.sorted(session, await readIds(reading), order, page);
  const ranked = new Map(head.map(hit => [hit.position, hit]));
  const rankedHits = listed.rows.map(({ id }) => {
    const position = toPosition(type, id);
    return ranked.get(position) ?? { position, score: 0, missing: [] };
  });
  const hits = new Map((await readHits(tools, session, rankedHits, results)).map(row => [row.id, row.hit]));
  const rows = listed.rows.flatMap(({ id, sort_value }) => {
    const hit = hits.get(toPosition(type, id));
    return hit === undefined ? [] : [{ id, sort_value, hit }];
  });
  return { ...listed, rows };
}

async function readPageByOffset({ tools, session, results }: Reading, page: PageByOffset): Promise<Page> {
  const { reader, ranking } = results;
  const skip = (page.page - 1) * page.perPage;
  const limit = Math.max(0, Math.min(page.perPage, ranking.total - skip));
  const hits = await readSlice({ reader, session, ranking }, { limit, skip });
  const rows = await readHits(tools, session, hits, results);
  return { rows, total: ranking.total, hasPrevious: skip > 0, hasNext: skip + hits.length < ranking.total };
}

async function readPageByKey({ tools, session, results }: Reading, page: PageByKey): Promise<Page> {
  const { reader, ranking } = results;
  const { before, after, limit } = page;
  const slice = { limit: limit + 1, start: before ?? after, backwards: before !== undefined };
  const cut = cutKeyPage(page, await readSlice({ reader, session, ranking }, slice));
  const rows = await readHits(tools, session, cut.rows, results);
  return { ...cut, rows, total: page.count ? ranking.total : undefined };
}

export async function readHits(
  { documentsOf }: Pick<Tools, 'documentsOf'>,
  session: SearchSession,
  hits: readonly RankedHit[],
  { marks }: Pick<Results, 'marks'>,
) {
  const documents = await documentsOf(
    session,
    hits.map(({ position }) => position),
  );
  const rows: { readonly id: number; readonly sort_value: number; readonly hit: Hit }[] = [];
  for (const { score, position, missing } of hits) {
    const document = documents.get(position);
    if (document === undefined) continue;
    await takeTurn();
    const type = toSearchType(getDocumentType(position));
    const { title, body } = document;
    const snippet = await buildSnippet({ title, body, fields: () => getShownFields(document) }, marks);
    const hit = { type, document, snippet, score: Math.max(0, score), missing };
    rows.push({ id: position, sort_value: score, hit });
  }
  return rows;
}
