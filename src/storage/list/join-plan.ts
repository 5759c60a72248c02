/**
 * Lists filtered by another table, such as the tags of products.
 *
 * If few rows have the tag, they are found in that table and sorted. If very many rows have it, rows are read in the
 * order of the list, and each is looked up in that table, until the page is full. For numbers in between, neither is
 * fast: a list that may take long is read in the background, so that no other request waits for it.
 */
import { LRUCache } from 'lru-cache';
import type { Session } from '../database.ts';
import type { ListQueries } from './queries.ts';
import type { JoinCondition, ListRequest } from './request.ts';

/** Rows that can be found and sorted within some milliseconds. */
const fewRows = 5000;
/** The number of rows with a value is counted again after this long; either plan gives the right page. */
const countedForMs = 60_000;
const cachedValues = 500;

/** The first condition on another table. */
export function findJoin({ conditions }: ListRequest): JoinCondition | undefined {
  return conditions.find((condition): condition is JoinCondition => 'join' in condition);
}

/** @returns a function that adds a plan to a request with a condition on another table */
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
    // The other table is itself ordered by id.
    const probed = many && request.order.column !== 'id';
    return {
      ...request,
      joinPlan: { probed, background: many && (probed || request.conditions.length > 1) },
    };
  };
}
