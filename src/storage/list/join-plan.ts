/**
 * Lists filtered by what another table says of their rows, such as the tags of products.
 *
 * Where few rows have the tag, they are found in that table and sorted. Where very many have it, rows are read in the
 * order of the list, and each is looked up in that table, until the page is full. Between the two neither is fast: a
 * list that may take long is read in the background, so that no other request waits for it.
 */
import { LRUCache } from 'lru-cache';
import type { Session } from '../database.ts';
import type { ListQueries } from './queries.ts';
import type { JoinCondition, ListRequest } from './request.ts';

/** So many rows are found and sorted within some milliseconds. */
const fewRows = 5000;
/** How many rows have a value is counted again after this long: a page is right with either plan. */
const countedForMs = 60_000;
const cachedValues = 500;

/** The first condition that another table decides. */
export function findJoin({ conditions }: ListRequest): JoinCondition | undefined {
  return conditions.find((condition): condition is JoinCondition => 'join' in condition);
}

/** @returns a function that gives a request, which has such a condition, the way it is read */
export function createJoinPlanner<Row>(session: Session, queries: ListQueries<Row>) {
  const counted = new LRUCache<string, { many: boolean }>({ max: cachedValues, ttl: countedForMs });

  async function hasMany(condition: JoinCondition): Promise<boolean> {
    const name = `${condition.column} ${condition.value}`;
    const cached = counted.get(name);
    if (cached !== undefined) return cached.many;
    const many = await queries.hasMore(session, condition, fewRows);
    counted.set(name, { many });
    return many;
  }

  return async (request: ListRequest): Promise<ListRequest> => {
    const condition = findJoin(request);
    if (condition === undefined) return request;
    const many = await hasMany(condition);
    // The other table is in the order of ids itself.
    const probed = many && request.order.column !== 'id';
    return {
      ...request,
      joinPlan: { probed, background: many && (probed || request.conditions.length > 1) },
    };
  };
}
