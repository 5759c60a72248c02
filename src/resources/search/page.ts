/** Reads the requested page of the results of a query, with its hits as they are shown. */

import { cutKeyPage, type Listed, type Order, type PageRequest } from '../../storage/list/request.ts';
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

/** In the requested order; without one, best first. */
export async function readPage(
  tools: Tools,
  session: SearchSession,
  results: Results,
  { page, order }: Pick<ReadyRequest, 'page' | 'order'>,
): Promise<Page> {
  if (order !== undefined)
    return readPageInOrder(tools, session, results, { ids: await readIds(session, results), order, page });
  return page.kind === 'offset'
    ? readPageByOffset(session, results, page, tools)
    : readPageByKey(session, results, page, tools);
}

/** The ids of all products found. */
async function readIds(session: SearchSession, { reader, ranking }: Results): Promise<number[]> {
  const { all, head, types } = ranking;
  if (all === undefined) return toProductIds(head.map(({ position }) => position));
  return toProductIds(await readAllHits(reader, { session, expression: all, types }));
}

/** The ids of all products that the query finds, whether they match the filters or not. */
export async function readUnfilteredIds(
  { reader }: Pick<Tools, 'reader'>,
  session: SearchSession,
  { unfiltered, ranking }: Results,
): Promise<number[]> {
  const { expression, positions } = unfiltered;
  const { types } = ranking;
  const found = expression === undefined ? [] : await readAllHits(reader, { session, expression, types });
  for (const position of positions) found.push(position);
  return toProductIds(found);
}

interface Sorting {
  readonly ids: readonly number[];
  readonly order: Order;
  readonly page: PageRequest;
}

async function readPageInOrder(
  tools: Tools,
  session: SearchSession,
  results: Results,
  { ids, order, page }: Sorting,
): Promise<Page> {
  const { head, types } = results.ranking;
  const type = types.find(isProduct) ?? 'product';
  const listed = await tools.sorted(session, ids, order, page);
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

async function readPageByOffset(
  session: SearchSession,
  results: Results,
  page: PageRequest & { kind: 'offset' },
  tools: Tools,
): Promise<Page> {
  const { ranking } = results;
  const skip = (page.page - 1) * page.perPage;
  const limit = Math.max(0, Math.min(page.perPage, ranking.total - skip));
  const hits = await readSlice({ reader: results.reader, session, ranking }, { limit, skip });
  const rows = await readHits(tools, session, hits, results);
  return { rows, total: ranking.total, hasPrevious: skip > 0, hasNext: skip + hits.length < ranking.total };
}

async function readPageByKey(
  session: SearchSession,
  results: Results,
  page: PageRequest & { kind: 'key' },
  tools: Tools,
): Promise<Page> {
  const { ranking } = results;
  const { before, after, limit } = page;
  const slice = { limit: limit + 1, start: before ?? after, backwards: before !== undefined };
  const cut = cutKeyPage(page, await readSlice({ reader: results.reader, session, ranking }, slice));
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
    const snippet = await buildSnippet({ ...document, fields: getShownFields(document) }, marks);
    const hit = { type, document, snippet, score: Math.max(0, score), missing };
    rows.push({ id: position, sort_value: score, hit });
  }
  return rows;
}
